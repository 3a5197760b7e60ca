"""Transpositions that name only the axes that move, as NumPy's `moveaxis` and `swapaxes` do."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from numpy import ndarray

from ttlg._arguments.axes import read_axes, read_axis
from ttlg._arguments.words import count_of
from ttlg._functions.transpose import transpose
from ttlg._libraries import names_of, shape_of
from ttlg._typing import (
    Array,
    Buffer,
    CallOptions,
    MovedT,
    NamedAxes,
    NamedT,
    NewOptions,
    OneOrMore,
    OutT,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack  # typing's came with Python 3.11


@overload
def moveaxis(
    x: MovedT, source: OneOrMore, destination: OneOrMore, **options: "Unpack[NewOptions]"
) -> MovedT: ...
@overload
def moveaxis(
    x: NamedT,
    source: Hashable | NamedAxes,
    destination: OneOrMore,
    **options: "Unpack[NewOptions]",
) -> NamedT: ...
@overload
def moveaxis(
    x: Buffer, source: OneOrMore, destination: OneOrMore, **options: "Unpack[NewOptions]"
) -> ndarray[Any, Any]: ...
@overload
def moveaxis(
    x: Array | Buffer,
    source: OneOrMore,
    destination: OneOrMore,
    *,
    out: OutT,
    **options: "Unpack[CallOptions]",
) -> OutT: ...
def moveaxis(
    x: Any,
    source: Any,
    destination: OneOrMore,
    *,
    out: Any = None,
    stream: Any = None,
    threads: int | None = None,
) -> Any:
    """Copy an array with some axes moved to other positions: `numpy.moveaxis`, contiguous.

    The other axes keep their order. Unlike NumPy's function it never returns a view. `movedim` is
    the same function under PyTorch's name.

    Parameters
    ----------
    x : array
        As for `transpose`.
    source : int or iterable of int
        The axes of `x` that move; negative numbers count from the end. Axes of xarray may be given
        by their names.
    destination : int or iterable of int
        Where they are in the result, one position for each of them; negative numbers count from
        the end.
    out, stream, threads : optional
        As for `transpose`.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of the library of `x`.

    Raises
    ------
    ValueError
        An axis is out of range or appears twice, or `source` and `destination` are not as many;
        and as for `transpose`.
    TypeError
        `source` or `destination` are no integers; and as for `transpose`.
    BufferError, CudaError
        As for `transpose`.

    See Also
    --------
    swapaxes : Two axes are exchanged.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> images = np.zeros((8, 32, 48, 3), np.float32)  # NHWC
    >>> ttlg.moveaxis(images, -1, 1).shape             # NCHW
    (8, 3, 32, 48)
    >>> ttlg.moveaxis(images, (0, 1), (-1, -2)).shape
    (48, 3, 32, 8)
    """
    rank = len(shape_of(x, "x"))
    sources = read_axes("source", source, rank, names_of(x))
    destinations = read_axes("destination", destination, rank)
    if len(sources) != len(destinations):
        raise ValueError(
            f"source {source!r} names {count_of(len(sources), 'axis')} and destination {destination!r} "
            f"{len(destinations)}; give one destination for each axis that moves"
        )
    axes = [axis for axis in range(rank) if axis not in sources]
    for position, axis in sorted(zip(destinations, sources, strict=True)):
        axes.insert(position, axis)
    return transpose(x, tuple(axes), out=out, stream=stream, threads=threads)


movedim = moveaxis  # PyTorch's name


@overload
def swapaxes(
    x: MovedT, axis1: SupportsIndex, axis2: SupportsIndex, **options: "Unpack[NewOptions]"
) -> MovedT: ...
@overload
def swapaxes(
    x: NamedT, axis1: Hashable, axis2: Hashable, **options: "Unpack[NewOptions]"
) -> NamedT: ...
@overload
def swapaxes(
    x: Buffer, axis1: SupportsIndex, axis2: SupportsIndex, **options: "Unpack[NewOptions]"
) -> ndarray[Any, Any]: ...
@overload
def swapaxes(
    x: Array | Buffer,
    axis1: SupportsIndex,
    axis2: SupportsIndex,
    *,
    out: OutT,
    **options: "Unpack[CallOptions]",
) -> OutT: ...
def swapaxes(
    x: Any,
    axis1: Any,
    axis2: Any,
    *,
    out: Any = None,
    stream: Any = None,
    threads: int | None = None,
) -> Any:
    """Copy an array with two axes exchanged: `numpy.swapaxes`, contiguous.

    Unlike NumPy's function it never returns a view.

    Parameters
    ----------
    x : array
        As for `transpose`.
    axis1 : int
        One axis; negative numbers count from the end. Axes of xarray may be given by their names.
    axis2 : int
        The other.
    out, stream, threads : optional
        As for `transpose`.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of the library of `x`.

    Raises
    ------
    ValueError
        An axis is out of range; and as for `transpose`.
    TypeError
        An axis is no integer; and as for `transpose`.
    BufferError, CudaError
        As for `transpose`.

    See Also
    --------
    moveaxis : Axes move past others, which keep their order.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.arange(6).reshape(1, 2, 3)
    >>> ttlg.swapaxes(x, 1, 2)
    array([[[0, 3],
            [1, 4],
            [2, 5]]])
    """
    rank = len(shape_of(x, "x"))
    names = names_of(x)
    first, second = (
        read_axis(name, axis, rank, names) for name, axis in (("axis1", axis1), ("axis2", axis2))
    )
    axes = list(range(rank))
    axes[first], axes[second] = second, first
    return transpose(x, tuple(axes), out=out, stream=stream, threads=threads)
