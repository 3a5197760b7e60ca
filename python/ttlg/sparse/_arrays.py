"""Arrays that make up a sparse tensor: indices, values and shapes, as callers pass them."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ttlg._arguments.layouts import read_integers
from ttlg._arguments.words import count_of
from ttlg._libraries.advice import type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

_WIDTHS = (np.dtype(np.int32), np.dtype(np.int64))


def as_indices(array: Any, name: str) -> "Indices":
    """Read indices: contiguous, of 32 or 64 bits, copied only where they are not so yet."""
    indices = np.asarray(array)
    if indices.size == 0 and not hasattr(array, "dtype"):
        indices = indices.astype(np.int64)  # an empty list, which NumPy takes for float64
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {indices.dtype}")
    if indices.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not shape {indices.shape}")
    if indices.dtype not in _WIDTHS:
        if indices.dtype.kind == "u" and indices.max(initial=0) >= 2**63:
            raise ValueError(f"{name} holds {indices.max()}, which exceeds the 64-bit range")
        indices = indices.astype(np.int64)
    return np.ascontiguousarray(indices)


def of_one_width(arrays: "list[Indices]") -> "list[Indices]":
    """Widen indices to 64 bits where some of them are that wide."""
    if len({array.dtype for array in arrays}) < 2:
        return arrays
    return [array.astype(np.int64, copy=False) for array in arrays]


def restore_width(indices: "NDArray[Any]", dtype: "np.dtype[Any]", largest: int) -> "NDArray[Any]":
    """Convert indices back to the dtype of the input's if that holds the largest possible one."""
    if dtype.kind in "iu" and largest <= np.iinfo(dtype).max:
        return indices.astype(dtype, copy=False)
    return indices


def as_values(array: Any, name: str) -> "NDArray[Any]":
    """Read values, one for each nonzero along the first axis: contiguous, of a fixed size."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; pass {name}.data")
    values = np.asarray(array)
    if values.dtype.hasobject:
        raise TypeError(
            f"{name} of dtype {values.dtype} holds Python objects; ttlg moves fixed-size elements"
        )
    if values.ndim == 0:
        raise ValueError(f"{name} must have one value for each nonzero, not be a scalar")
    return np.ascontiguousarray(values)


def as_shape(shape: Any) -> tuple[int, ...]:
    """Read the shape of a sparse tensor."""
    extents = read_integers("shape", shape)
    if min(extents, default=0) < 0:
        raise ValueError(f"shape {extents} has a negative extent")
    return extents


def as_coords(coords: Any, rank: int, shape: tuple[int, ...]) -> "list[Indices]":
    """Read coordinates: of shape (modes, nonzeros), or a sequence of an array for each mode."""
    if isinstance(coords, np.ndarray):
        coords = np.asarray(coords)  # a matrix has no rows of one dimension
        if coords.ndim != 2:
            raise ValueError(f"coords must be of shape (modes, nonzeros), not {coords.shape}")
    elif not isinstance(coords, list | tuple):
        raise TypeError(
            "coords must be an array of shape (modes, nonzeros) or a sequence of arrays, not "
            f"{type_name(coords)}"
        )
    if len(coords) != rank:
        raise ValueError(
            f"coords has {count_of(len(coords), 'mode')}, but shape {shape} has {rank}"
        )
    return [as_indices(mode, f"coords[{number}]") for number, mode in enumerate(coords)]
