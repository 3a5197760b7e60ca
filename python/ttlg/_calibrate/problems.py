"""Transpositions that the CPU's time model is fitted to and tested on (TTLG, section V)."""

import itertools
import math
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ttlg import _core
from ttlg._arguments.sizes import LINE_BYTES

T = TypeVar("T")
Random = random.Random

RANKS = range(1, 9)
DTYPES = ("f4", "f8", "u1", "u2", "c16", "f4", "f8", "V3", "V12")
MIN_BYTES = 64
# The greatest volume of a bin that volumes are drawn from, as a multiple of its least.
_BIN = 4
# The ratio of neighbouring extents where they are not all equal.
_RATIO = 1.6
FOLDS = 5


@dataclass(frozen=True)
class Problem:
    """One transposition in NumPy's terms.

    `strides` are the input's, in bytes, None: contiguous. `out_alignment` is a power of two that
    divides the output's address for sure.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    out_alignment: int = 1

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.dtype).itemsize

    @property
    def bytes(self) -> int:
        """Bytes of the output."""
        return math.prod(self.shape) * self.itemsize

    @property
    def fold(self) -> int:
        """The part of the data set, 0 to 4, that this problem is in: the same everywhere.

        Wherever its output begins.
        """
        key = (self.shape, self.axes, self.dtype, self.strides)
        return zlib.crc32(repr(key).encode()) % FOLDS

    def request(self) -> _core.Request:
        """Return what the planner takes."""
        strides = self.strides or _core.contiguous_byte_strides(self.shape, self.itemsize)
        return _core.Request(
            self.shape, strides, self.itemsize, self.axes, out_alignment=self.out_alignment
        )


def _peak(extents: list[int]) -> list[int]:
    """Arrange sorted extents so that they grow up to the centre and then shrink."""
    return extents[::2] + extents[1::2][::-1]


# From the slowest axis to the fastest; the paper's five orderings (TTLG, section V).
ORDERINGS: dict[str, Callable[[list[int]], list[int]]] = {
    "equal": lambda extents: extents,
    "increasing": lambda extents: extents,
    "decreasing": lambda extents: extents[::-1],
    "peak": _peak,
    "valley": lambda extents: _peak(extents[::-1]),
}


def shape(rank: int, elements: int, ordering: str) -> tuple[int, ...]:
    """Choose extents of 2 or more in an ordering whose product is close to `elements`."""
    mean = elements ** (1 / rank)
    ratio = 1.0 if ordering == "equal" else _RATIO
    exact = [mean * ratio ** (number - (rank - 1) / 2) for number in range(rank)]
    return tuple(ORDERINGS[ordering]([max(2, round(extent)) for extent in exact]))


def _permutation(draw: Random, rank: int) -> tuple[int, ...]:
    return tuple(draw.sample(range(rank), rank))


def _strides(draw: Random, extents: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Lay an array out as a slice of a larger one: padded, with a step, reversed or transposed."""
    rank = len(extents)
    memory_order = range(rank) if draw.random() < 0.5 else draw.sample(range(rank), rank)
    padded, stepped, reverse = (draw.randrange(rank) for _ in range(3))
    kind = draw.choice(("padded", "stepped", "reversed", "transposed"))
    strides = [0] * rank
    step = itemsize
    for axis in reversed(memory_order):
        step *= 2 if kind == "stepped" and axis == stepped else 1
        strides[axis] = -step if kind == "reversed" and axis == reverse else step
        step *= extents[axis] + (draw.choice((1, 8)) if kind == "padded" and axis == padded else 0)
    return tuple(strides)


def _matrix(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rows = round(math.sqrt(elements) * 2 ** draw.uniform(-2, 2))
    if draw.random() < 0.3:  # powers of two alias
        rows = 1 << round(math.log2(max(rows, 2)))
        return (rows, rows), (1, 0)
    return (max(rows, 2), max(elements // max(rows, 2), 2)), (1, 0)


def _skinny(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    fields = draw.choice((2, 3, 4, 5, 8, 16))
    extents = (max(elements // fields, 2), fields)
    return extents[:: draw.choice((1, -1))], (1, 0)


def _images(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    channels = draw.choice((3, 4, 16, 64, 96, 256, 512))
    side = draw.choice((7, 14, 28, 56, 112, 224))
    batch = max(elements // (channels * side * side), 1)
    if draw.random() < 0.5:
        return (batch, side, side, channels), (0, 3, 1, 2)
    return (batch, channels, side, side), (0, 2, 3, 1)


def _uneven(draw: Random, elements: int, rank: int) -> tuple[int, ...]:
    mean = elements ** (1 / rank)
    return tuple(max(2, round(mean * 2 ** draw.uniform(-1.2, 1.2))) for _ in range(rank))


def _contraction(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """As TTC's: rank 2 to 6, no two axes that stay neighbours."""
    rank = draw.randint(2, 6)
    axes = _permutation(draw, rank)
    while any(b == a + 1 for a, b in itertools.pairwise(axes)):
        axes = _permutation(draw, rank)
    return _uneven(draw, elements, rank), axes


def _rounded(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Most extents a multiple of some power of two, so that all rows begin alike in their lines."""
    extents, axes = _contraction(draw, elements)
    unit = draw.choice((4, 8, 16))
    rounded = (max(unit, round(extent / unit) * unit) for extent in extents)
    return tuple(
        new if draw.random() < 0.75 else old for new, old in zip(rounded, extents, strict=True)
    ), axes


def _rows(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Keep the fastest axis where it is."""
    rank = draw.randint(3, 6)
    axes = _permutation(draw, rank - 1)
    while rank > 2 and axes == tuple(range(rank - 1)):
        axes = _permutation(draw, rank - 1)
    row = min(round(2 ** draw.uniform(1, 9)), max(elements // 4, 2))
    return (*_uneven(draw, max(elements // row, 2), rank - 1), row), (*axes, rank - 1)


def _cube(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rank = draw.choice((3, 3, 4, 6))
    axes = draw.choice(list(itertools.permutations(range(rank)))[1:])
    return (max(2, round(elements ** (1 / rank))),) * rank, axes


def _bits(draw: Random, elements: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rank = max(2, round(math.log2(elements)))
    reverse = tuple(range(rank))[::-1]
    return (2,) * rank, draw.choice((reverse, _permutation(draw, rank)))


_USUAL = (
    _matrix,
    _skinny,
    _images,
    _contraction,
    _rows,
    _cube,
    _matrix,
    _rounded,
    _rows,
    _bits,
)


def _deal(draw: Random, cards: Sequence[T]) -> Iterator[T]:
    """Yield every card once before any comes again, in a new order each time, without end."""
    while True:
        yield from draw.sample(cards, len(cards))


def problems(seed: int, max_bytes: int) -> Iterator[Problem]:
    """Draw problems without end: from the strata, and of the kinds that users have, alternately.

    The same problems come from the same `seed`: ranks 1 to 8 by five orderings of extents by
    volumes from 64 bytes to `max_bytes`, of an input without gaps and of an output, each about
    equally often however few are taken; one in four strided, and half of them with an output that
    begins at a cache line.
    """
    draw = random.Random(seed)
    bins = range(max(1, math.ceil(math.log(max_bytes / MIN_BYTES, _BIN))))
    volumes, dtypes = _deal(draw, bins), _deal(draw, DTYPES)
    strata = _deal(draw, list(itertools.product(RANKS, ORDERINGS)))
    kinds = _deal(draw, _USUAL)
    for number in itertools.count():
        dtype = next(dtypes)
        itemsize = np.dtype(dtype).itemsize
        volume = min(MIN_BYTES * _BIN ** (next(volumes) + draw.random()), max_bytes)
        elements = max(round(volume / itemsize), 2)
        if number % 2 == 0:
            extents, axes = next(kinds)(draw, elements)
        else:
            rank, ordering = next(strata)
            extents, axes = shape(rank, elements, ordering), _permutation(draw, rank)
        strides = _strides(draw, extents, itemsize) if draw.random() < 0.25 else None
        alignment = (1, LINE_BYTES)[number // 2 % 2]
        problem = Problem(extents, axes, dtype, strides, alignment)
        if problem.bytes <= max_bytes:
            yield problem
