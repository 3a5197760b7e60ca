"""Sparse arrays of pydata's library ``sparse``: COO, GCXS and DOK."""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ttlg._libraries.advice import type_name
from ttlg.sparse._adapter import Adapter, Source
from ttlg.sparse._arrays import as_indices, as_values, restore_width
from ttlg.sparse._layout import Layout, layout_of
from ttlg.sparse._nonzeros import Nonzeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttlg.sparse._arrays import Indices


class PyData(Adapter):
    """Arrays with a fill value, which the result keeps."""

    library = "pydata's sparse"
    formats = ("coo", "gcxs", "dok")

    def owns(self, x: Any) -> bool:
        """Whether `x` is one of pydata's."""
        return isinstance(x, getattr(sys.modules.get("sparse"), "SparseArray", ()))

    def check(self, x: Any) -> None:
        """Refuse classes whose arrays are unknown."""
        library = sys.modules["sparse"]
        if not isinstance(x, library.COO | library.GCXS | library.DOK):
            raise TypeError(f"A is a {type_name(x)}; pass A.asformat('coo')")

    def format(self, x: Any) -> str:
        """Return pydata's name."""
        library = sys.modules["sparse"]
        if isinstance(x, library.GCXS):
            return "gcxs"
        return "coo" if isinstance(x, library.COO) else "dok"

    def read(self, x: Any, fmt: str, axes: tuple[int, ...]) -> Source:
        """Take the arrays of COO and GCXS, and convert DOK."""
        if isinstance(x, sys.modules["sparse"].GCXS):
            return _read_gcxs(x)
        if self.format(x) == "dok":
            x = x.to_coo()
        coords = [as_indices(mode, f"A.coords[{number}]") for number, mode in enumerate(x.coords)]
        return Source(
            Nonzeros(tuple(x.shape), coords, None, as_values(x.data, "A.data")),
            layout_of("coo", x.ndim),
        )

    def layout(self, x: Any, fmt: str, shape: tuple[int, ...]) -> Layout:
        """Compress the axis of a GCXS that pydata would; of a matrix the one that was."""
        rank = len(shape)
        if fmt != "gcxs" or rank < 2:
            return layout_of("coo", rank)
        axis = int(np.argmin(shape))
        if rank == 2 and self.format(x) == "gcxs":
            (axis,) = x.compressed_axes
        return Layout((axis, *(other for other in range(rank) if other != axis)), True)

    def write(self, x: Any, fmt: str, layout: Layout, moved: Nonzeros) -> Any:
        """Build an array without a check or another sort."""
        library = sys.modules["sparse"]
        shape = layout.shape(moved.extents)
        own: Any = getattr(x, "coords", getattr(x, "indices", np.empty(0, np.int64)))
        if moved.row_pointers is None:
            coords: Any = moved.coords
            result = library.COO(
                restore_width(coords, own.dtype, max(shape, default=1) - 1),
                data=moved.values,
                shape=shape,
                has_duplicates=False,
                sorted=True,
                fill_value=x.fill_value,
            )
            return result.asformat(fmt)
        inner = moved.extents[1:]
        indices = _ravel(moved.coords, inner)
        largest = max(math.prod(inner) - 1, len(indices))
        return library.GCXS(
            (
                moved.values,
                restore_width(indices, own.dtype, largest),
                restore_width(moved.row_pointers, own.dtype, largest),
            ),
            shape=shape,
            compressed_axes=layout.order[:1],
            fill_value=x.fill_value,
        )


def _read_gcxs(x: Any) -> Source:
    """Take the rows of a GCXS apart, which the compressed axes make up, and its columns."""
    shape, compressed = tuple(x.shape), tuple(x.compressed_axes)
    indices = as_indices(x.indices, "A.indices")
    values = as_values(x.data, "A.data")
    order = (*compressed, *(axis for axis in range(len(shape)) if axis not in compressed))
    extents = tuple(shape[axis] for axis in order)
    if not shape:
        return Source(Nonzeros((), [], None, values), Layout((), False))
    if not compressed:
        return Source(Nonzeros(shape, [indices], None, values), Layout(order, False))
    row_pointers = as_indices(x.indptr, "A.indptr")
    rows, columns = extents[: len(compressed)], extents[len(compressed) :]
    coords = _unravel(indices, columns, "A.indices")
    if len(compressed) == 1:
        return Source(Nonzeros(extents, coords, row_pointers, values), Layout(order, True))
    counts = np.diff(row_pointers)
    if len(counts) != math.prod(rows) or row_pointers[0] or (counts < 0).any():
        raise ValueError(
            f"A.indptr must ascend from 0 through {math.prod(rows)} rows, those of the compressed "
            f"axes {compressed}"
        )
    numbers = np.repeat(np.arange(len(counts)), counts)
    coords = [*_unravel(numbers, rows, "A.indptr"), *coords]
    return Source(Nonzeros(extents, coords, None, values), Layout(order, False))


def _unravel(numbers: "Indices", extents: Sequence[int], name: str) -> "list[Indices]":
    """Return the coordinates that numbers in C order stand for."""
    if len(extents) == 1:
        return [numbers]
    count = math.prod(extents)
    wrong = np.flatnonzero((numbers < 0) | (numbers >= count))
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] is {numbers[wrong[0]]}, which is out of range for {count} entries"
        )
    return [np.ascontiguousarray(mode) for mode in np.unravel_index(numbers, extents)]


def _ravel(coords: "Sequence[Indices] | Indices", extents: Sequence[int]) -> "NDArray[Any]":
    """Return the numbers of coordinates in C order."""
    if len(extents) == 1:
        return coords[0]
    if math.prod(extents) >= 2**63:
        raise ValueError(
            f"format 'gcxs' numbers the entries of axes with extents {tuple(extents)}, which "
            "exceeds 64 bits; pass format='coo'"
        )
    numbers = coords[0].astype(np.int64)
    for mode, extent in zip(coords[1:], extents[1:], strict=True):
        numbers *= extent
        numbers += mode
    return numbers
