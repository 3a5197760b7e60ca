"""Reversed and rotated axes, as views that the next call reads where the library has such views."""

import operator
from collections.abc import Hashable
from typing import Any, SupportsIndex, overload

from numpy import ndarray

from ttlg._arguments.axes import read_axes
from ttlg._libraries import library_of, names_of, shape_of
from ttlg._typing import Buffer, MovedT, NamedAxes, NamedT, OneOrMore


@overload
def flip(m: MovedT, axis: OneOrMore | None = None) -> MovedT: ...
@overload
def flip(m: NamedT, axis: Hashable | NamedAxes | None = None) -> NamedT: ...
@overload
def flip(m: Buffer, axis: OneOrMore | None = None) -> ndarray[Any, Any]: ...
def flip(m: Any, axis: Any = None) -> Any:
    """Reverse the order of the elements along axes: `numpy.flip`.

    It moves nothing where the library has negative strides; what is called next, such as
    `transpose`, reads the view as it is.

    Parameters
    ----------
    m : array
        As for `transpose`.
    axis : int or iterable of int, optional
        Which axes; negative numbers count from the end. By default all. Axes of xarray may be
        given by their names.

    Returns
    -------
    array
        What the library's own function returns: a view for NumPy, CuPy, buffers and xarray over
        these, and a copy for PyTorch, whose tensors have no negative strides, and JAX.

    Raises
    ------
    TypeError
        `m` is no array, or of a library that neither ttlg knows nor the array API describes; or
        an axis is no integer.
    ValueError
        An axis is out of range or given twice.

    See Also
    --------
    rot90 : Two axes are rotated.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.arange(6).reshape(2, 3)
    >>> ttlg.transpose(ttlg.flip(x, 1))  # moves the elements once
    array([[2, 5],
           [1, 4],
           [0, 3]])
    >>> np.shares_memory(x, ttlg.flip(x))
    True
    """
    rank = len(shape_of(m, "m"))
    axes = list(range(rank)) if axis is None else read_axes("axis", axis, rank, names_of(m))
    return library_of(m).flip(m, axes)


@overload
def rot90(
    m: MovedT, k: SupportsIndex = 1, axes: tuple[SupportsIndex, SupportsIndex] = (0, 1)
) -> MovedT: ...
@overload
def rot90(m: NamedT, k: SupportsIndex = 1, axes: tuple[Hashable, Hashable] = (0, 1)) -> NamedT: ...
@overload
def rot90(
    m: Buffer, k: SupportsIndex = 1, axes: tuple[SupportsIndex, SupportsIndex] = (0, 1)
) -> ndarray[Any, Any]: ...
def rot90(m: Any, k: SupportsIndex = 1, axes: Any = (0, 1)) -> Any:
    """Rotate an array by multiples of 90 degrees in the plane of two axes: `numpy.rot90`.

    Like `flip` it moves nothing where the library has views for that.

    Parameters
    ----------
    m : array
        As for `transpose`, of two axes or more.
    k : int
        How often, from the first of `axes` towards the second; a negative number the other way.
    axes : pair of int
        The plane; negative numbers count from the end. Axes of xarray may be given by their names.

    Returns
    -------
    array
        As of `flip`.

    Raises
    ------
    TypeError, ValueError
        As for `flip`; and `k` is no integer, or `axes` are not two.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> image = np.arange(6).reshape(2, 3)
    >>> ttlg.ascontiguousarray(ttlg.rot90(image))
    array([[2, 5],
           [1, 4],
           [0, 3]])
    """
    shape = shape_of(m, "m")
    plane = read_axes("axes", axes, len(shape), names_of(m))
    if len(plane) != 2:
        raise ValueError(f"axes {axes!r} must be the two of the plane, not {len(plane)}")
    try:
        turns = operator.index(k) % 4
    except TypeError:
        raise TypeError(f"k must be an integer, not {k!r}") from None
    first, second = plane
    library = library_of(m)
    if turns % 2 == 0:
        return library.flip(m, plane if turns else [])
    order = list(range(len(shape)))
    order[first], order[second] = second, first
    return library.permute(library.flip(m, [second if turns == 1 else first]), tuple(order))
