"""Sparse arrays and matrices of SciPy, in all of its formats."""

import sys
from typing import TYPE_CHECKING, Any

from ttlg._functions.transpose import transpose as dense_transpose
from ttlg.sparse._adapter import Adapter, Source
from ttlg.sparse._arrays import as_indices, as_values
from ttlg.sparse._layout import MATRIX_FORMATS, Layout, layout_of
from ttlg.sparse._nonzeros import Nonzeros, repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is sorted where SciPy makes another format of the result, or of the input before.
_SORTED_AS = {"bsr": "csr", "dia": "csr", "lil": "csr", "dok": "coo"}
# What has one dimension too; all other formats but "coo" have two.
_VECTOR_FORMATS = ("csr", "dok")


class SciPy(Adapter):
    """Sparse arrays and matrices: the result is the one or the other as the input is.

    Its class is SciPy's own, also where the input's is derived from that.
    """

    library = "SciPy"
    formats = ("coo", "csr", "csc", "bsr", "dia", "lil", "dok")

    def owns(self, x: Any) -> bool:
        """Whether `x` is one of SciPy's."""
        scipy = sys.modules.get("scipy.sparse")
        return scipy is not None and scipy.issparse(x)

    def format(self, x: Any) -> str:
        """Return SciPy's name."""
        fmt: str = x.format
        return fmt

    def read(self, x: Any, fmt: str, axes: tuple[int, ...]) -> Source:
        """Take the arrays of COO, CSR, CSC and BSR as they are, and convert other formats."""
        if x.format == "bsr" and fmt == "bsr":
            return _read_blocks(x, axes)
        stored = _sorted_as(x.format, x.ndim)
        if stored != x.format:
            x = x.asformat(stored)
        layout = layout_of(stored, x.ndim)
        if layout.compressed:
            shape = tuple(x.shape[axis] for axis in layout.order)
            return Source(_read_rows(x, shape), layout)
        given = getattr(x, "coords", None) or (x.row, x.col)  # before SciPy 1.13
        coords = [as_indices(mode, f"A.coords[{number}]") for number, mode in enumerate(given)]
        values = as_values(x.data, "A.data")
        distinct = bool(x.has_canonical_format)
        return Source(Nonzeros(tuple(x.shape), coords, None, values, distinct), layout)

    def layout(self, x: Any, fmt: str, shape: tuple[int, ...]) -> Layout:
        """Return how the format lies in memory that is sorted for `fmt`."""
        rank = len(shape)
        if rank != 2 and fmt != "coo" and (rank != 1 or fmt not in _VECTOR_FORMATS):
            raise ValueError(f"format {fmt!r} of SciPy is for two dimensions, not {rank}")
        return layout_of(_sorted_as(fmt, rank), rank)

    def write(self, x: Any, fmt: str, layout: Layout, moved: Nonzeros) -> Any:
        """Fill an empty array of SciPy, whose constructors would check, and narrow, the indices."""
        shape = layout.shape(moved.extents)
        if moved.row_pointers is None:
            return _write_coo(x, shape, moved).asformat(fmt)
        if fmt == "bsr" and moved.values.ndim == 3:
            block: tuple[int, ...] = moved.values.shape[1:]
            result = _new(
                x, "bsr", (shape[0] * block[0], shape[1] * block[1]), moved.values, blocksize=block
            )
        else:
            stored = fmt if fmt in MATRIX_FORMATS else "csr"
            result = _new(x, stored, shape, moved.values)
        result.data, result.indices = moved.values, moved.coords[0]
        result.indptr = moved.row_pointers
        result.has_sorted_indices = True
        return result if result.format == fmt else result.asformat(fmt)


def _sorted_as(fmt: str, rank: int) -> str:
    """Return the format that is sorted in place of `fmt`."""
    return _SORTED_AS.get(fmt, fmt) if rank == 2 else "coo"


def _read_rows(x: Any, extents: tuple[int, int]) -> Nonzeros:
    """Take the arrays of compressed rows, columns or rows of blocks, without unused memory."""
    row_pointers = as_indices(x.indptr, "A.indptr")
    indices = as_indices(x.indices, "A.indices")
    values = as_values(x.data, "A.data")
    # SciPy may have room for more; what else does not fit the core refuses.
    used = int(row_pointers[-1]) if len(row_pointers) else 0
    if 0 <= used < min(len(indices), len(values)):
        indices, values = indices[:used], values[:used]
    return Nonzeros(extents, [indices], row_pointers, values)


def _read_blocks(x: Any, axes: tuple[int, ...]) -> Source:
    """Take blocks as elements, transposed if the axes are exchanged."""
    block: tuple[int, int] = x.blocksize
    rows = _read_rows(x, (x.shape[0] // block[0], x.shape[1] // block[1]))
    if axes == (1, 0):
        rows = rows._replace(values=dense_transpose(rows.values, (0, 2, 1)))
    return Source(rows, layout_of("csr", 2))


def _new(
    x: Any,
    fmt: str,
    shape: tuple[int, ...],
    values: "NDArray[Any]",
    **options: Any,
) -> Any:
    """Make an empty array, or matrix where `x` is one."""
    scipy = sys.modules["scipy.sparse"]
    kind = "array" if isinstance(x, scipy.sparray) else "matrix"
    return getattr(scipy, f"{fmt}_{kind}")(shape, dtype=values.dtype, **options)


def _write_coo(x: Any, shape: tuple[int, ...], moved: Nonzeros) -> Any:
    result = _new(x, "coo", shape, moved.values)
    if hasattr(result, "coords"):
        result.coords = tuple(moved.coords)
    else:  # before SciPy 1.13
        result.row, result.col = moved.coords
    result.data = moved.values
    result.has_canonical_format = not repeats(moved).size
    return result
