"""What `transpose` asks of each kind of sparse tensor, and the results that all of them have."""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ttlg.sparse._csf import CSF
from ttlg.sparse._layout import Layout, layout_of
from ttlg.sparse._nonzeros import Nonzeros, check_addable

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The formats that a tensor of any library can be returned in.
COMMON_FORMATS = ("csf", "raw")


class Source(NamedTuple):
    """The nonzeros of an input, and which of its axes the modes in memory are."""

    nonzeros: Nonzeros
    layout: Layout


class Adapter:
    """A kind of sparse tensor.

    Attributes
    ----------
    library : str
        What messages call it.
    formats : tuple of str
        The formats that it has, besides the common ones.
    """

    library: ClassVar[str]
    formats: ClassVar[tuple[str, ...]] = ()

    def owns(self, x: Any) -> bool:
        """Whether `x` is of this kind, whose library is imported then."""
        raise NotImplementedError

    def check(self, x: Any) -> None:
        """Refuse what looks like a tensor of this kind but cannot be read."""

    def shape(self, x: Any) -> tuple[int, ...]:
        """Return the shape that axes refer to."""
        return tuple(x.shape)

    def format(self, x: Any) -> str:
        """Name the format of `x`."""
        raise NotImplementedError

    def threads(self, threads: int | None) -> int | None:
        """Return how many threads the caller means."""
        return threads

    def read(self, x: Any, fmt: str, axes: tuple[int, ...]) -> Source:
        """Take `x` apart for a result of format `fmt`, without a copy where that can be avoided.

        Axes that belong to an element are permuted here, by `ttlg.transpose`.
        """
        raise NotImplementedError

    def transpose_on_device(
        self, x: Any, axes: tuple[int, ...], fmt: str, algorithm: str, sum_duplicates: bool
    ) -> Any:
        """Return the whole result, of an `x` that is not in the memory of the host; else None."""

    def layout(self, x: Any, fmt: str, shape: tuple[int, ...]) -> Layout:
        """Return how a result of format `fmt` and `shape` lies in memory, or refuse the format."""
        raise NotImplementedError

    def write(self, x: Any, fmt: str, layout: Layout, moved: Nonzeros) -> Any:
        """Put a result of format `fmt` together, of the kind of `x`."""
        raise NotImplementedError

    def check_sum(self, values: "NDArray[Any]") -> None:
        """Refuse values that cannot be added, before anything is moved."""
        check_addable(values.dtype)

    def sum_runs(
        self,
        x: Any,
        values: "NDArray[Any]",
        starts: "NDArray[np.intp]",
        repeated: "NDArray[np.intp]",
    ) -> "NDArray[Any]":
        """Add the values from each of the `starts` to the next, as SciPy does: bool by "or"."""
        total: NDArray[Any] = np.add.reduceat(values, starts, axis=0)
        return total.astype(values.dtype, copy=False)


class Common(Adapter):
    """What writes the `COMMON_FORMATS`, of nonzeros that any other adapter has read."""

    library = "ttlg"
    formats = COMMON_FORMATS

    def layout(self, x: Any, fmt: str, shape: tuple[int, ...]) -> Layout:
        """Return the order of the axes, or refuse a scalar, which has no levels."""
        if fmt == "csf" and not shape:
            raise ValueError("format 'csf' needs a level for each mode, and a scalar has none")
        return layout_of("coo", len(shape))

    def write(self, x: Any, fmt: str, layout: Layout, moved: Nonzeros) -> Any:
        """Build the levels, or return the arrays as they are."""
        if fmt == "csf":
            return CSF._of_sorted(moved)
        return moved.coords, moved.values, moved.extents
