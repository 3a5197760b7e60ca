"""The nonzeros of a sparse tensor between its library and the core, and the one call of that."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ttlg import _core
from ttlg.sparse._algorithms import read_algorithm
from ttlg.sparse._arrays import of_one_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttlg.sparse._arrays import Indices


class Nonzeros(NamedTuple):
    """Coordinates and values, with the modes in the order of memory, from the outermost.

    Attributes
    ----------
    extents : tuple of int
        Of the modes.
    coords : sequence of ndarray
        Of each mode that has them, which mode 0 does not where its rows are compressed. What the
        core returns is one array of shape (modes, nonzeros).
    row_pointers : ndarray or None
        Of compressed rows: where each row begins, and where the last one ends.
    values : ndarray
        One for each nonzero; further axes belong to the element.
    distinct : bool
        No two nonzeros are known to have the same coordinates. False where nobody has looked.
    """

    extents: tuple[int, ...]
    coords: "Sequence[Indices] | Indices"
    row_pointers: "Indices | None"
    values: "NDArray[Any]"
    distinct: bool = False


class Options(NamedTuple):
    """How a call sorts: see `transpose`."""

    algorithm: str
    threads: int


def read_options(algorithm: str | None, threads: int | None) -> Options:
    """Read ``algorithm=`` and ``threads=``."""
    return Options(read_algorithm(algorithm), _core.resolve_threads(threads))


def move(source: Nonzeros, perm: Sequence[int], compress: bool, options: Options) -> Nonzeros:
    """Sort the nonzeros by their coordinates with the modes permuted, into new arrays.

    Mode ``i`` of the result is mode ``perm[i]`` of the source. With `compress` mode 0 of the result
    is held as row pointers. Nonzeros of equal coordinates keep their order.
    """
    if not perm:  # a scalar, whose nonzeros have no coordinates to be sorted by
        return source._replace(
            coords=np.empty((0, len(source.values)), np.int64), values=source.values.copy()
        )
    compressed = source.row_pointers is not None
    indices = [*source.coords] if source.row_pointers is None else [source.row_pointers]
    if compressed:
        indices += source.coords
    indices = of_one_width(indices)
    extents = tuple(source.extents[mode] for mode in perm)
    largest = max(*extents, 1) - 1
    if compress:
        largest = max(largest, len(source.values))
    wide = indices[0].dtype.itemsize == 8 or largest > np.iinfo(np.int32).max
    coords, row_pointers, values = _core.sparse_transpose(
        [None, *indices[1:]] if compressed else indices,
        indices[0] if compressed else None,
        source.values,
        list(source.extents),
        list(perm),
        wide,
        compress,
        *options,
    )
    return Nonzeros(extents, coords, row_pointers, values, source.distinct)


def repeats(nonzeros: Nonzeros) -> "NDArray[np.intp]":
    """Return the positions of nonzeros, sorted as by `move`, that lie where their neighbour does.

    The neighbour is the one before. The innermost mode rules most positions out.
    """
    if nonzeros.distinct:
        return np.empty(0, np.intp)
    found: NDArray[np.intp] | None = None
    for mode in nonzeros.coords[::-1]:
        if found is None:
            found = np.flatnonzero(mode[1:] == mode[:-1]) + 1
        else:
            found = found[mode[found] == mode[found - 1]]
    if found is None:
        found = np.arange(1, len(nonzeros.values), dtype=np.intp)
    pointers = nonzeros.row_pointers
    if pointers is not None:  # the first nonzero of a row repeats none
        found = found[pointers[np.searchsorted(pointers, found)] != found]
    return found


def keep(nonzeros: Nonzeros, starts: "NDArray[np.intp]", values: "NDArray[Any]") -> Nonzeros:
    """Keep one nonzero of each run of equal coordinates, those at `starts`, with other values."""
    coords: Any = nonzeros.coords
    pointers: Any = nonzeros.row_pointers
    if pointers is not None:
        pointers = np.searchsorted(starts, pointers).astype(pointers.dtype)
    return Nonzeros(nonzeros.extents, coords[:, starts], pointers, values, True)


def run_starts(count: int, repeated: "NDArray[np.intp]") -> "NDArray[np.intp]":
    """Return the positions of `count` nonzeros that are not among the repeated ones."""
    first = np.ones(count, np.bool_)
    first[repeated] = False
    return np.flatnonzero(first)


def refuse_sum(dtype: object) -> str:
    """Word the refusal of `sum_duplicates` for values that cannot be added."""
    return f"values of dtype {dtype} cannot be added; leave out sum_duplicates=True"


def check_addable(dtype: "np.dtype[Any]") -> None:
    """Refuse values whose sum NumPy does not know, or has in another dtype."""
    try:
        total = np.add(np.empty(0, dtype), np.empty(0, dtype)).dtype
    except TypeError:
        total = None
    if total != dtype.newbyteorder("="):
        raise TypeError(refuse_sum(dtype))
