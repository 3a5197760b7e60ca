"""Sparse matrices and tensors to be transposed, drawn the same at every call."""

import functools
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ttlg.benchmarks.contenders import Array
from ttlg.benchmarks.sparse import matrices
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.published import PUBLISHED, Published
from ttlg.benchmarks.sparse.skew import skewed

_LARGEST_KEY = 2**63
_MOST_ROUNDS = 40

Draw = Callable[[int], Sequence[Array]]


@dataclass(frozen=True)
class Nonzeros:
    """Coordinates that ascend lexicographically, none twice, and values, all of which differ.

    `coords` has an array for each mode.
    """

    shape: tuple[int, ...]
    coords: tuple[Array, ...]
    values: Array

    @property
    def row_pointers(self) -> Array:
        """Where the nonzeros of each index of the first mode begin, and where the last end."""
        return row_pointers(self.coords[0], self.shape[0])


def row_pointers(rows: Array, count: int) -> Array:
    """Return where each of `count` rows begins, and where the last ends, of ascending `rows`."""
    return np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=count)))).astype(np.int32)


class TooDenseError(ValueError):
    """The generator cannot find as many different nonzeros."""


def _unique(coords: Sequence[Array], shape: Sequence[int]) -> tuple[Array, ...]:
    """Sort coordinates lexicographically and leave out repeated ones."""
    if math.prod(shape) < _LARGEST_KEY:
        keys = coords[0].astype(np.int64)
        for mode, extent in zip(coords[1:], shape[1:], strict=True):
            keys *= extent
            keys += mode
        keys.sort()
        keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
        found = []
        for extent in reversed(shape[1:]):
            outer = keys // extent
            found.append((keys - outer * extent).astype(np.int32))
            keys = outer
        return (keys.astype(np.int32), *reversed(found))
    order = np.lexsort(coords[::-1])
    coords = [mode[order] for mode in coords]
    first = np.zeros(len(order), np.bool_)
    first[:1] = True
    for mode in coords:
        first[1:] |= mode[1:] != mode[:-1]
    return tuple(mode[first].astype(np.int32) for mode in coords)


def distinct(
    draw: Draw, shape: Sequence[int], nnz: int, generator: np.random.Generator
) -> tuple[Array, ...]:
    """Draw until there are `nnz` different coordinates, and drop at random what is too many.

    `draw` is called with about how many coordinates are wanted, and returns an array for each mode.
    Returns them in lexicographic order.
    """
    found = _unique(draw(nnz + nnz // 50 + 16), shape)
    for _ in range(_MOST_ROUNDS):
        missing = nnz - len(found[0])
        if missing <= 0:
            break
        more = draw(2 * missing + 16)
        joined = [np.concatenate(both) for both in zip(found, more, strict=True)]
        found = _unique(joined, shape)
    else:
        raise TooDenseError(f"{nnz} nonzeros of {tuple(shape)} are too many for this distribution")
    kept = np.ones(len(found[0]), np.bool_)
    kept[generator.choice(len(kept), len(kept) - nnz, replace=False, shuffle=False)] = False
    return tuple(mode[kept] for mode in found)


def _draws(
    shape: tuple[int, ...], nnz: int, published: Published, generator: np.random.Generator
) -> Draw:
    if published.structure != "independent":
        make = matrices.STRUCTURES[published.structure]
        return make(shape, nnz, generator, **published.parameters)  # type: ignore[arg-type]
    modes = [
        skewed(extent, skew, generator) for extent, skew in zip(shape, published.skews, strict=True)
    ]
    return lambda count: [mode(count) for mode in modes]


def generate(case: SparseCase) -> Nonzeros:
    """Draw the nonzeros of a case, which depend on its pattern, shape, number and dtype alone."""
    return _generate(case.pattern, case.shape, case.nnz, case.dtype)


# The permutations of a tensor follow one another and share its nonzeros.
@functools.lru_cache(maxsize=1)
def _generate(pattern: str, shape: tuple[int, ...], nnz: int, dtype: str) -> Nonzeros:
    generator = np.random.default_rng(zlib.crc32(repr((pattern, shape, nnz)).encode()))
    draw = _draws(shape, nnz, PUBLISHED[pattern], generator)
    coords = distinct(draw, shape, nnz, generator)
    # Counted, so that a value tells where its nonzero was.
    values = np.arange(1, nnz + 1).astype(dtype)
    for array in (*coords, values):
        array.flags.writeable = False
    return Nonzeros(shape, coords, values)
