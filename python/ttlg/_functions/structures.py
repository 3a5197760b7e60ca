"""Arrays of structures and structures of arrays."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ttlg._functions.inplace import transpose_inplace
from ttlg._libraries import library_of
from ttlg._libraries.fields import refuse_shared_padding
from ttlg._typing import ArrayT

if TYPE_CHECKING:
    from numpy.typing import NDArray


class StructureOfArrays(Mapping[str, "NDArray[Any]"]):
    """The fields of an array of structures, each contiguous for itself.

    What `aos_to_soa` returns for structured arrays: it maps a field's name to the array of its
    elements, a view of the memory that the structures had.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the structures.
    shape : tuple of int
        Of the array of structures, and so of the array of every field.
    """

    __slots__ = ("_fields", "_words", "dtype", "shape")

    def __init__(
        self, words: "NDArray[np.void]", dtype: "np.dtype[Any]", shape: tuple[int, ...]
    ) -> None:
        self._words = words  # a row for each field, in the order of their offsets
        self.dtype = dtype
        self.shape = shape
        rows = {name: row for (*_, name), row in zip(_list_fields(dtype), words, strict=True)}
        self._fields = {name: self._field(name, rows[name]) for name in dtype.names or ()}

    def _field(self, name: str, row: "NDArray[np.void]") -> "NDArray[Any]":
        field = self.dtype[name]
        return row.view(field.base).reshape(self.shape + field.shape)

    def __getitem__(self, name: str) -> "NDArray[Any]":
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"<ttlg.StructureOfArrays {self.shape} {self.dtype}>"

    def join(self) -> "NDArray[Any]":
        """Make structures of the fields again, in the same memory: see `soa_to_aos`."""
        structures = transpose_inplace(self._words)
        return structures.reshape(-1).view(self.dtype).reshape(self.shape)


def _list_fields(dtype: "np.dtype[Any]") -> list[tuple[int, int, str]]:
    """List offset, size and name of each field, by offset."""
    fields: Mapping[str, Any] = dtype.fields or {}
    return sorted((offset, field.itemsize, name) for name, (field, offset, *_) in fields.items())


def _word_bytes(dtype: "np.dtype[Any]") -> int:
    """Return the size of each field, or say why the fields cannot be transposed."""
    fields = [field[:2] for field in _list_fields(dtype)]
    size = dtype.itemsize // max(len(fields), 1)
    if size == 0 or fields != [(offset, size) for offset in range(0, dtype.itemsize, size)]:
        raise ValueError(
            f"the fields of {dtype} are not of one size or have gaps between them; pack them with "
            "numpy.lib.recfunctions.repack_fields, and handle fields of other sizes apart"
        )
    return size


@overload
def aos_to_soa(x: "np.ndarray[Any, np.dtype[np.void]]") -> StructureOfArrays: ...
@overload
def aos_to_soa(x: ArrayT) -> ArrayT: ...
def aos_to_soa(x: Any) -> Any:
    """Turn an array of structures into a structure of arrays, in place.

    Parameters
    ----------
    x : array
        Either of shape ``(structures, fields)``, as for `transpose_inplace`; or a NumPy array of
        any shape in C order whose dtype has fields of one size without gaps.

    Returns
    -------
    array or StructureOfArrays
        A view of the memory of `x`: of shape ``(fields, structures)``; or, by the names of the
        fields, the array of each. `x` itself shows other elements than before.

    Raises
    ------
    TypeError, ValueError, BufferError, MemoryError
        As for `transpose_inplace`, and ValueError for another number of axes and for fields of
        several sizes or with gaps.

    See Also
    --------
    soa_to_aos : The way back.

    Notes
    -----
    The skinny matrices of Catanzaro et al., PPoPP 2014, section 6.1: pieces of many structures are
    transposed in the caches, and then moved to their fields.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> points = np.array([(1, 2, 3), (4, 5, 6)], [("x", "f4"), ("y", "f4"), ("z", "f4")])
    >>> fields = ttlg.aos_to_soa(points)
    >>> fields["y"]
    array([2., 5.], dtype=float32)
    >>> ttlg.soa_to_aos(fields)
    array([(1., 2., 3.), (4., 5., 6.)],
          dtype=[('x', '<f4'), ('y', '<f4'), ('z', '<f4')])
    """
    if not isinstance(x, np.ndarray) or x.dtype.names is None:
        return _transpose_matrix(x, "(structures, fields)")
    refuse_shared_padding(library_of(x).view_inplace(x))  # before the words have no fields
    if not x.flags.c_contiguous:
        raise ValueError(
            f"x of shape {x.shape} and byte strides {x.strides} is not in C order; pass a "
            "contiguous copy"
        )
    names = x.dtype.names
    words = np.asarray(x).reshape(-1).view(f"V{_word_bytes(x.dtype)}").reshape(-1, len(names))
    return StructureOfArrays(transpose_inplace(words), x.dtype, x.shape)


@overload
def soa_to_aos(x: StructureOfArrays) -> "NDArray[Any]": ...
@overload
def soa_to_aos(x: ArrayT) -> ArrayT: ...
def soa_to_aos(x: Any) -> Any:
    """Turn a structure of arrays into an array of structures, in place: undo `aos_to_soa`.

    Parameters
    ----------
    x : array or StructureOfArrays
        Of shape ``(fields, structures)``, as for `transpose_inplace`; or what `aos_to_soa` has
        returned.

    Returns
    -------
    array
        A view of the same memory: of shape ``(structures, fields)``; or of the dtype and shape of
        the structures. `x` itself shows other elements than before.

    Raises
    ------
    TypeError, ValueError, BufferError, MemoryError
        As for `aos_to_soa`.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.soa_to_aos(np.array([[1, 4], [2, 5], [3, 6]]))
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    if isinstance(x, StructureOfArrays):
        return x.join()
    return _transpose_matrix(x, "(fields, structures)")


def _transpose_matrix(x: Any, what: str) -> Any:
    if len(getattr(x, "shape", (0, 0))) != 2:
        raise ValueError(f"x must be of shape {what} or have a dtype with fields, not {x.shape}")
    return transpose_inplace(x)
