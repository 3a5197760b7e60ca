"""Contractions of two tensors in parts, each of which lays little memory out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ttlg._contract.outputs import deliver

if TYPE_CHECKING:
    from ttlg._contract.libraries import Products


class Part(Protocol):
    """The contraction of a part of two tensors, as a step of a contraction is one of the whole."""

    terms: tuple[str, str]
    chosen: Any
    call: Callable[[Any, Any, Any], Any]


class Cut(NamedTuple):
    """A contraction of two tensors as one for each range of the indices of a label.

    Attributes
    ----------
    label : str
        The label whose indices are divided.
    extent, step : int
        How many they are, and how many a part has; the last part may have fewer.
    axes : tuple of tuple of int
        The axes of each operand that have the label: several for a diagonal.
    joined : int or None
        The axis of the result that has it, or None where the label is summed.
    parts : tuple of Part
        The contraction of a whole part, and of the last one.
    """

    label: str
    extent: int
    step: int
    axes: tuple[tuple[int, ...], tuple[int, ...]]
    joined: int | None
    parts: tuple[Part, Part]

    @property
    def number(self) -> int:
        """Number of parts."""
        return -(-self.extent // self.step)

    def contract(self, products: "Products", x: Any, y: Any, out: Any) -> Any:
        """Contract two arrays; `out` is written to when the result is complete."""
        (first, second), joined = self.axes, self.joined
        whole, last = self.parts
        results: list[Any] = []
        for start in range(0, self.extent, self.step):
            stop = start + self.step
            part = whole if stop <= self.extent else last
            result = part.call(_range(x, first, start, stop), _range(y, second, start, stop), None)
            if joined is None and results:
                results[0] = results[0] + result
            else:
                results.append(result)
        return deliver(results[0] if joined is None else products.join(results, joined), out)


def _range(x: Any, axes: tuple[int, ...], start: int, stop: int) -> Any:
    for axis in axes:
        x = x[(slice(None),) * axis + (slice(start, stop),)]
    return x


def label_to_cut(axes: Sequence[tuple[str, int, int]], kept: str, parts: int) -> tuple[str, int]:
    """Choose the label whose indices are divided into at least `parts` parts, and its extent.

    `axes` are labels, extents and strides of the operand that takes most memory. A kept label needs
    no sums of results; else the slowest one lets parts read little memory at a time.
    """

    def preference(axis: tuple[str, int, int]) -> tuple[bool, int, bool, int]:
        label, extent, stride = axis
        return label in kept and extent >= parts, abs(stride), label in kept, extent

    label, extent, _ = max((each for each in axes if each[1] > 1), key=preference)
    return label, extent
