"""Transpositions written in the notation of einops, which parses it."""

from typing import Any

from ttlg._api import transpose
from ttlg._typing import ArrayT


def rearrange(x: ArrayT, pattern: str, **axes_lengths: int) -> ArrayT:
    """Copy an array with its axes split, permuted and merged: `einops.rearrange`, contiguous.

    Parameters
    ----------
    x : array
        As for `transpose`, and with a ``reshape`` of its own.
    pattern : str
        In the notation of einops, such as ``"b h w c -> b c h w"``.
    **axes_lengths : int
        Extents of axes that the pattern splits off.

    Returns
    -------
    array
        A new C-contiguous array of the library of `x`.

    Raises
    ------
    ImportError
        einops 0.7 or newer is not installed.
    einops.EinopsError
        The pattern is none of einops' or does not fit the shape of `x`.
    TypeError, ValueError, BufferError, CudaError
        As for `transpose`.

    Notes
    -----
    einops parses the pattern and finds the shapes and the axes; ttlg moves the elements, once.
    A list of arrays is not taken: stack it first.

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
    if not hasattr(x, "reshape"):
        raise TypeError(f"x must be an array with a reshape of its own, not {type(x).__qualname__}")
    rearranged: Any = array_api.rearrange(_Rearranged(x), pattern, **axes_lengths)
    result: ArrayT = rearranged.contiguous()
    return result


class _Rearranged:
    """An array for einops, which knows the array API, to call the functions below on."""

    def __init__(self, array: Any, is_new: bool = False) -> None:
        self.array = array
        self.is_new = is_new
        self.shape = array.shape
        self.ndim = len(array.shape)

    def __array_namespace__(self) -> "type[_Functions]":
        return _Functions

    def contiguous(self) -> Any:
        """Give the array, or a copy where nothing has been moved."""
        return self.array if self.is_new else transpose(self.array, range(self.ndim))


class _Functions:
    """The part of the array API that rearranging takes."""

    @staticmethod
    def reshape(x: _Rearranged, shape: list[int]) -> _Rearranged:
        # Before the permutation this only splits axes, after it the array is contiguous: a view.
        return _Rearranged(x.array.reshape(tuple(shape)), x.is_new)

    @staticmethod
    def permute_dims(x: _Rearranged, axes: list[int]) -> _Rearranged:
        return _Rearranged(transpose(x.array, axes), True)
