"""Which order of its modes a sparse tensor is stored in, and whether its rows are compressed."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Layout(NamedTuple):
    """The order in memory of the modes of a sparse tensor.

    Attributes
    ----------
    order : tuple of int
        Mode ``k`` in memory, from the outermost, is axis ``order[k]`` of the tensor.
    compressed : bool
        The outermost mode in memory is held as row pointers instead of coordinates.
    """

    order: tuple[int, ...]
    compressed: bool

    def shape(self, extents: Sequence[int]) -> tuple[int, ...]:
        """Return the tensor's shape, of the extents of the modes in memory."""
        return tuple(extents[self.order.index(axis)] for axis in range(len(self.order)))


# CSC is CSR with the axes exchanged, so the same transposition of compressed rows does for both.
_MATRICES = {"csr": Layout((0, 1), True), "csc": Layout((1, 0), True)}
MATRIX_FORMATS = tuple(_MATRICES)


def layout_of(fmt: str, rank: int) -> Layout:
    """Return how the format of this name lies in memory: CSR, CSC, or coordinates in C order."""
    return _MATRICES.get(fmt) or Layout(tuple(range(rank)), False)


def check_matrix(fmt: str, rank: int) -> None:
    """Refuse a format of matrices for tensors of another rank."""
    if fmt in _MATRICES and rank != 2:
        raise ValueError(f"format {fmt!r} is for two dimensions, not {rank}")


def perm_between(stored: Layout, axes: Sequence[int], result: Layout) -> tuple[int, ...]:
    """Return which mode in memory of the input each mode in memory of the result is.

    Axis ``i`` of the result is axis ``axes[i]`` of the input.
    """
    return tuple(stored.order.index(axes[axis]) for axis in result.order)


def read_format(fmt: Any, own: str, formats: tuple[str, ...], library: str) -> str:
    """Read a ``format=`` argument, None for the input's `own`, for a result of `library`."""
    if fmt is None:
        return own
    if not isinstance(fmt, str):
        raise TypeError(f"format must be a name, not {fmt!r}")
    if fmt.lower() not in formats:
        known = ", ".join(map(repr, formats))
        raise ValueError(f"unknown format {fmt!r} for {library}; choose one of {known}")
    return fmt.lower()
