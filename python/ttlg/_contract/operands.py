"""Operands as labelled memory, and which labels may count as one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ttlg._core import contiguous_byte_strides

Extents = Mapping[str, int]


class Operand(NamedTuple):
    """A tensor in memory, without its data.

    Attributes
    ----------
    labels : tuple of str
        One for each axis, slowest first: in the order of the strides.
    strides : tuple of int
        In bytes.
    """

    labels: tuple[str, ...]
    strides: tuple[int, ...]

    def stride(self, label: str) -> int:
        """Return the bytes from one index of `label` to the next."""
        return self.strides[self.labels.index(label)]


def in_memory_order(labels: Iterable[str], strides: Iterable[int], extents: Extents) -> Operand:
    """Sort the axes of more than one index by their strides."""
    axes = [each for each in zip(labels, strides, strict=True) if extents[each[0]] != 1]
    axes.sort(key=lambda each: -abs(each[1]))
    return Operand(tuple(label for label, _ in axes), tuple(stride for _, stride in axes))


def contiguous(labels: Sequence[str], extents: Extents, itemsize: int) -> Operand:
    """Return a new tensor of these labels, slowest first."""
    kept = tuple(label for label in labels if extents[label] != 1)
    return Operand(kept, contiguous_byte_strides([extents[label] for label in kept], itemsize))


def distinct_elements(extents: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many elements of memory axes of these strides reach, at most.

    It is exact for slices, broadcast axes and sliding windows of contiguous tensors. Axes whose steps
    are shorter than what faster axes span share elements with them, and reach no more positions than
    there are multiples of a common step.
    """
    if 0 in extents:
        return 0
    axes = sorted((abs(stride), extent) for extent, stride in zip(extents, strides, strict=True))
    number, span = 1, 1
    level: list[tuple[int, int]] = []
    for stride, extent in axes:
        if stride == 0 or extent == 1:
            continue
        if stride >= span:
            number *= _positions(level)
            level = []
        level.append((stride, extent))
        span += stride * (extent - 1)
    return number * _positions(level)


def _positions(axes: Sequence[tuple[int, int]]) -> int:
    """Return how many sums of multiples of strides there are, at most."""
    if not axes:
        return 1
    step = math.gcd(*(stride for stride, _ in axes))
    reached = sum(stride * (extent - 1) for stride, extent in axes)
    return min(math.prod(extent for _, extent in axes), reached // step + 1)


def is_one_axis(operand: Operand, labels: Sequence[str], extents: Extents) -> bool:
    """Whether these labels, slowest first, follow each other in memory."""
    strides = [operand.stride(label) for label in labels]
    return all(
        outer == inner * extents[label]
        for outer, inner, label in zip(strides, strides[1:], labels[1:], strict=False)
    )


def fuse(
    operands: Sequence[Operand], extents: Extents, kept: frozenset[str]
) -> tuple[list[Operand], dict[str, int], frozenset[str]]:
    """Count labels as one that follow each other in the memory of all operands that have them.

    Returns the operands, extents and kept labels with the names of such labels joined.
    """
    following = [_following(operand, extents) for operand in operands]
    after = {}
    for neighbours in following:
        for label, other in neighbours.items():
            if (label in kept) == (other in kept) and all(
                (label in operand.labels) == (other in operand.labels)
                and (label not in operand.labels or each.get(label) == other)
                for operand, each in zip(operands, following, strict=True)
            ):
                after[label] = other
    chains = {}
    for label in {each for operand in operands for each in operand.labels} - set(after.values()):
        chain = [label]
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        chains[label] = chain
    joined = [
        Operand(
            tuple("".join(chains[label]) for label in operand.labels if label in chains),
            tuple(operand.stride(chains[label][-1]) for label in operand.labels if label in chains),
        )
        for operand in operands
    ]
    sizes = {
        "".join(chain): math.prod(extents[label] for label in chain) for chain in chains.values()
    }
    return joined, sizes, frozenset("".join(c) for first, c in chains.items() if first in kept)


def _following(operand: Operand, extents: Extents) -> dict[str, str]:
    labels, strides = operand
    return {
        labels[i]: labels[i + 1]
        for i in range(len(labels) - 1)
        if strides[i] == strides[i + 1] * extents[labels[i + 1]]
    }
