"""Transpositions written in the notation of einops, which parses it."""

import operator
from typing import Any, overload

from ttlg._functions.transpose import transpose
from ttlg._libraries import library_of
from ttlg._libraries.advice import refuse_without_reshape, type_name
from ttlg._typing import Array, ArrayT, OutT


@overload
def rearrange(
    x: ArrayT | list[ArrayT],
    pattern: str,
    *,
    out: None = None,
    threads: int | None = None,
    **axes_lengths: int,
) -> ArrayT: ...
@overload
def rearrange(
    x: Array | list[Any],
    pattern: str,
    *,
    out: OutT,
    threads: int | None = None,
    **axes_lengths: int,
) -> OutT: ...
def rearrange(
    x: Any,
    pattern: str,
    *,
    out: Any = None,
    threads: int | None = None,
    **axes_lengths: int,
) -> Any:
    """Copy an array with its axes split, permuted and merged: `einops.rearrange`, contiguous.

    Parameters
    ----------
    x : array or list of arrays
        As for `transpose`, and with a ``reshape`` of its own. The arrays of a list have one shape
        and dtype; they are stacked along a new first axis by their own library, which copies them
        once more.
    pattern : str
        In the notation of einops, such as ``"b h w c -> b c h w"``.
    out : array, optional
        As for `transpose`: where to write, of the result's shape. An axis cannot have this name.
    threads : int, optional
        As for `transpose`. An axis cannot have this name.
    **axes_lengths : int
        Extents of axes that the pattern splits off.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of the library of `x`.

    Raises
    ------
    ImportError
        einops 0.7 or newer is not installed.
    einops.EinopsError
        The pattern is none of einops' or does not fit the shape of `x`.
    TypeError, ValueError, BufferError, CudaError
        As for `transpose`, also for an axis whose length is no integer and for a list of arrays
        that differ in shape or dtype.

    Notes
    -----
    einops parses the pattern and finds the shapes and the axes; ttlg moves the elements, once.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> images = np.zeros((2, 8, 12, 3))
    >>> try:
    ...     ttlg.rearrange(images, "b (y h) (x w) c -> b (y x) c h w", h=4, w=4).shape
    ... except ImportError:
    ...     (2, 6, 3, 4, 4)
    (2, 6, 3, 4, 4)
    """
    try:
        from einops import array_api
    except ImportError as error:
        raise ImportError(
            "ttlg.rearrange needs einops 0.7 or newer to parse patterns; pip install einops"
        ) from error
    for name, length in axes_lengths.items():
        _check_length(name, length)
    given = _stack(x) if isinstance(x, list) else _Rearranged(_checked(x))
    rearranged: Any = array_api.rearrange(given, pattern, **axes_lengths)
    return rearranged.copied(out, threads)


def _check_length(name: str, length: Any) -> None:
    try:
        operator.index(length)
    except TypeError:
        raise TypeError(
            f"the length of axis {name!r} must be an integer, not {type_name(length)}"
        ) from None


def _checked(x: Any, name: str = "x") -> Any:
    refuse_without_reshape(x, name)
    return x


def _stack(arrays: list[Any]) -> "_Rearranged":
    """Stack arrays along a new first axis, as einops does."""
    if not arrays:
        raise ValueError("x is an empty list; pass an array, or a list of one array or more")
    first = _checked(arrays[0], "x[0]")
    for number, each in enumerate(arrays):
        _checked(each, f"x[{number}]")
        if type(each) is not type(first) or each.dtype != first.dtype or each.shape != first.shape:
            raise ValueError(
                f"x[{number}] is a {type(each).__qualname__} of shape {tuple(each.shape)} and "
                f"dtype {each.dtype}, but x[0] a {type(first).__qualname__} of shape "
                f"{tuple(first.shape)} and dtype {first.dtype}; pass arrays that agree in all three"
            )
    return _Rearranged(library_of(first).stack(arrays), is_new=True)


class _Rearranged:
    """An array for einops, which knows the array API, to call the functions below on.

    They note what is to be done; `copied` does it.
    """

    def __init__(
        self, array: Any, axes: list[int] | None = None, shape: Any = None, is_new: bool = False
    ) -> None:
        self.array = array
        self.axes = axes
        self.shape = array.shape if shape is None else tuple(shape)
        self.ndim = len(self.shape)
        self.is_new = is_new

    def __array_namespace__(self) -> "type[_Functions]":
        return _Functions

    def copied(self, out: Any, threads: int | None) -> Any:
        """Permute the axes, into `out` if there is one, and merge them."""
        axes = range(self.ndim) if self.axes is None else self.axes
        if out is None:
            if self.axes is None and self.is_new:
                return self.array
            moved = transpose(self.array, axes, threads=threads)
            return moved if tuple(moved.shape) == self.shape else moved.reshape(self.shape)
        if tuple(_checked(out, "out").shape) != tuple(self.shape):
            raise ValueError(
                f"out has shape {tuple(out.shape)}, but the result has shape {tuple(self.shape)}; "
                "pass an array of that shape"
            )
        # A view, as its axes are only split.
        apart = out.reshape(tuple(self.array.shape[axis] for axis in axes))
        transpose(self.array, axes, out=apart, threads=threads)
        return out


class _Functions:
    """The part of the array API that rearranging takes."""

    @staticmethod
    def reshape(x: _Rearranged, shape: list[int]) -> _Rearranged:
        if x.axes is None:
            return _Rearranged(x.array.reshape(tuple(shape)), is_new=x.is_new)
        return _Rearranged(x.array, x.axes, shape)

    @staticmethod
    def permute_dims(x: _Rearranged, axes: list[int]) -> _Rearranged:
        return _Rearranged(x.array, axes, [x.shape[axis] for axis in axes])
