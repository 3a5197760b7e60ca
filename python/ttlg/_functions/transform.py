"""Conversion, scaling and addition while axes are permuted."""

from typing import Any

from ttlg._libraries import library_of
from ttlg._libraries.element_maps import transform_memory
from ttlg._typing import Axes

_REFUSED_OUT = (
    "x is differentiated or traced by its library, for which ttlg.transform returns a new array; "
    "leave out= away, or pass an x that is not, such as PyTorch's x.detach() outside of tracing"
)


def transform(
    x: Any,
    axes: Axes | None = None,
    *,
    dtype: Any = None,
    scale: Any = None,
    offset: Any = None,
    beta: Any = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    out: Any = None,
    stream: Any = None,
    threads: int | None = None,
) -> Any:
    """Convert, scale and add elements while their axes are permuted, in one pass of memory.

    The result is ``convert(scale * x.transpose(axes) + offset + beta * out)``.

    Parameters
    ----------
    x : array
        In host memory; as for `transpose`, of elements that are bool, int8 to int32, uint8 to
        uint32, int64, float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64, complex64 or
        complex128. In NumPy's other byte order (``">f4"``) too.
    axes : iterable of int, optional
        As for `transpose`: by default the axes are reversed.
    dtype : dtype, optional
        Of the result: one of those above, by an array library's own dtype or by its name. By
        default that of `out`, else that of `x` in the machine's byte order.
    scale, offset : number or one-dimensional array, optional
        What elements are multiplied by, and what is added then. By default neither is done. An array
        has one number for each index of `x` along `axis`. Complex where `x` and the result are.
    beta : number, optional
        The elements that `out` has are multiplied by it and added.
    conj : bool, default False
        Take the conjugates of complex elements.
    axis : int, optional
        The axis of `x` along which `scale` and `offset` have their numbers, such as that of
        the channels; negative numbers count from the end.
    saturate : bool, default True
        Whether integers that the result's type does not hold become its least or its greatest one.
        Else their lowest bits are kept, as by ``ndarray.astype``.
    out : array, optional
        Where to write, as for `transpose`, but of any of these dtypes. It may be the memory of `x`
        where both have elements of one size at the same places, such as `x` itself for
        ``axes=range(x.ndim)``.
    stream : optional
        For arrays on a CUDA device, which are refused so far.
    threads : int, optional
        As for `transpose`.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of the library of `x` with ``shape[i] ==
        x.shape[axes[i]]``.

    Raises
    ------
    TypeError
        As for `transpose`; or `x` or the result has another dtype than those above, `dtype` and that
        of `out` differ, or `scale`, `offset` or `beta` is complex where the elements are not.
    ValueError
        As for `transpose`; or `scale` or `offset` has another length than `x` along `axis`, or
        `axis` is missing; or `beta` is given without `out`.
    BufferError
        As for `transpose`; or the array is on a GPU; or `out` is given for an `x` that PyTorch
        differentiates or traces, or it differentiates by `scale`, `offset` or `beta`.

    See Also
    --------
    transpose : Moves elements of any dtype bit for bit.

    Notes
    -----
    Elements are computed in float32, or in float64 where `x` or the result has more than 24 bits
    (int32, uint32, int64, float64, complex128); complex numbers part by part. Each of the products,
    sums and conversions is rounded once, to nearest and half to even; no product and sum are fused.
    With ``C`` that type, the result is to the bit::

        y = x.transpose(axes).astype(C)
        y = y * scale.astype(C)               # where it is given
        y = y + offset.astype(C)              # where it is given
        y = y + beta.astype(C) * out.astype(C)  # where it is given
        y.astype(dtype)                       # floating-point and complex types
        np.clip(np.rint(y), least, greatest).astype(dtype)  # integers; NaN becomes 0

    and `scale` and `offset` with an axis are ``scale.reshape(-1, 1, ...)``, as broadcasting has them.
    Integers that become integers without arithmetic are not rounded: ``np.clip(x, least,
    greatest).astype(dtype)``, or ``x.astype(dtype)`` with ``saturate=False``. What becomes bool is
    ``y != 0``. Where `saturate` is False, results beyond int64 become 0.

    Where float16, bfloat16 and float8 are concerned, the rounding is that of ml_dtypes and NumPy: what
    is too large becomes infinite or, as float8_e4m3fn has no infinities, NaN. A NaN stays one,
    with its sign, and of its other bits those that fit. Subnormal numbers are kept.

    Real numbers become complex ones with an imaginary part of zero, and of complex numbers that become
    real ones the real part is kept. A real `scale` multiplies both parts, and a complex one as NumPy
    does, with a rounding for each product and each sum.

    Where nothing is computed or converted this is `transpose`, and NaN keep all their bits.

    Tensors that PyTorch differentiates or traces go through the operator `ttlg.torch.transform`, as
    those of `transpose` do, into a new tensor. Its derivative by `x` is that of
    ``x.permute(axes) * scale + offset``, converted, and integers have none; `scale` and `offset` are
    constants.

    The sum of products ``alpha * A^perm + beta * B`` is what HPTT computes (Springer, Su and
    Bientinesi: HPTT, a high-performance tensor transposition C++ library, 2017, equation 1).

    Examples
    --------
    Images to normalised planes:

    >>> import numpy as np, ttlg
    >>> images = np.full((2, 4, 5, 3), 128, np.uint8)
    >>> mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    >>> planes = ttlg.transform(
    ...     images, (0, 3, 1, 2), dtype="float32",
    ...     scale=1 / (255 * std), offset=-mean / std, axis=3,
    ... )
    >>> planes.shape, planes.dtype
    ((2, 3, 4, 5), dtype('float32'))
    >>> bool(np.allclose(planes[0, :, 0, 0], (128 / 255 - mean) / std))
    True

    A matrix that is added to, as by HPTT:

    >>> b = np.ones((3, 2), np.float32)
    >>> ttlg.transform(np.ones((2, 3), np.float32), scale=2, beta=0.5, out=b)[0]
    array([2.5, 2.5], dtype=float32)
    """
    if beta is not None and out is None:
        raise ValueError("beta= multiplies what out has: pass out=, or leave beta out")
    library = library_of(x)
    given = {"dtype": dtype, "scale": scale, "offset": offset, "conj": conj, "axis": axis}
    traced = library.transform_operator(x, stream)
    if traced is None:
        other = None if out is None else library_of(out)
        rest = {"beta": beta, "out": out, "out_library": other, "stream": stream}
        return transform_memory(
            library, x, axes, **given, **rest, saturate=saturate, threads=threads
        )
    if out is not None:
        raise BufferError(_REFUSED_OUT)
    return traced(x, axes, **given, saturate=saturate, threads=threads)
