"""Transpositions that name only the axes that move, as NumPy's `moveaxis` and `swapaxes` do."""

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from numpy import ndarray

from ttlg._arguments.words import count_of
from ttlg._functions.transpose import transpose
from ttlg._libraries import shape_of
from ttlg._typing import Array, Buffer, CallOptions, MovedT, NewOptions, OneOrMore, OutT

if TYPE_CHECKING:
    from typing_extensions import Unpack  # typing's came with Python 3.11


@overload
def moveaxis(
    x: MovedT, source: OneOrMore, destination: OneOrMore, **options: "Unpack[NewOptions]"
) -> MovedT: ...
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
    source: OneOrMore,
    destination: OneOrMore,
    *,
    out: Any = None,
    stream: Any = None,
    threads: int | None = None,
) -> Any:
    """Copy an array with some axes moved to other positions: `numpy.moveaxis`, contiguous.

    The other axes keep their order. Unlike NumPy's function it never returns a view.

    Parameters
    ----------
    x : array
        As for `transpose`.
    source : int or iterable of int
        The axes of `x` that move; negative numbers count from the end.
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
    sources = _positions("source", source, rank)
    destinations = _positions("destination", destination, rank)
    if len(sources) != len(destinations):
        raise ValueError(
            f"source {source!r} names {count_of(len(sources), 'axis')} and destination {destination!r} "
            f"{len(destinations)}; give one destination for each axis that moves"
        )
    axes = [axis for axis in range(rank) if axis not in sources]
    for position, axis in sorted(zip(destinations, sources, strict=True)):
        axes.insert(position, axis)
    return transpose(x, tuple(axes), out=out, stream=stream, threads=threads)


@overload
def swapaxes(
    x: MovedT, axis1: SupportsIndex, axis2: SupportsIndex, **options: "Unpack[NewOptions]"
) -> MovedT: ...
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
    axis1: SupportsIndex,
    axis2: SupportsIndex,
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
        One axis; negative numbers count from the end.
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
    first, second = _position("axis1", axis1, rank), _position("axis2", axis2, rank)
    axes = list(range(rank))
    axes[first], axes[second] = second, first
    return transpose(x, tuple(axes), out=out, stream=stream, threads=threads)


def _positions(name: str, axes: OneOrMore, rank: int) -> list[int]:
    """Read one axis, or several that are all different, as numbers from 0."""
    given: Any = axes
    try:  # first, as NumPy's arrays of one integer can be iterated over as well
        given = [operator.index(given)]
    except TypeError:
        if not isinstance(axes, Iterable):
            raise TypeError(f"{name} must be an integer or several, not {axes!r}") from None
    positions = [_position(name, axis, rank) for axis in given]
    for position in positions:
        if positions.count(position) > 1:
            raise ValueError(f"{name} {axes!r} names axis {position} twice; name every axis once")
    return positions


def _position(name: str, axis: Any, rank: int) -> int:
    try:
        position = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name}: {axis!r} is not an axis number; pass an integer") from None
    if not -rank <= position < rank:
        raise ValueError(f"{name}: axis {position} is out of range {-rank}..{rank - 1}")
    return position % rank
