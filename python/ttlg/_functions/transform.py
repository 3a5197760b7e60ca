"""Conversion, scaling and addition while axes are permuted."""

import functools
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._arguments.axes import read_axis
from ttlg._arguments.dtypes import describe_dtype, element_type, is_complex
from ttlg._arguments.values import read_values
from ttlg._functions.copies import copyto
from ttlg._functions.transpose import transpose
from ttlg._libraries import library_of
from ttlg._typing import Axes


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
        Where to write, as for `transpose`, but of any of these dtypes.
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
        As for `transpose`; or the array is on a GPU.

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
    source = library.view_input(x, stream)
    if not source.on_host:
        raise BufferError(
            f"x lives on {source.device}, and ttlg.transform takes arrays in host memory so far; call "
            "ttlg.transpose, and convert by the array's own library"
        )
    other = library_of(out) if out is not None else library
    target = other.view_output(out, source, stream) if out is not None else None
    from_type, swaps = type_of(x, source, "x")
    to_type = _result_type(dtype, from_type, out, target)
    along = None if axis is None else read_axis("axis", axis, len(source.shape))
    given = {"scale": scale, "offset": offset, "beta": beta}
    element_map, vary = _map_of(from_type, to_type, swaps, conj, saturate, along, given)
    if element_map.is_identity:
        return transpose(x, axes, out=out, stream=stream, threads=threads)
    are_pairs = is_complex(from_type) and is_complex(to_type)
    scales, offsets, factor = (
        read_values(name, value, element_map.computed_in, are_pairs, source.shape, along)
        for name, value in given.items()
    )
    if vary:
        scales, offsets = (_repeated(each, source.shape[along or 0]) for each in (scales, offsets))
    values = (element_map, scales, offsets, factor)
    most = library.threads_for(source, threads)
    if target is None:
        call = _core.cpu_transform_for(source, axes, None, *values, most)
        return library.run_into_new(call, x, source, to_type)
    if any(step % target.itemsize for step in target.byte_strides):
        # Elements that lie at odd places are computed elsewhere.
        result = np.array(out)
        options: dict[str, Any] = {"conj": conj, "axis": axis, "saturate": saturate}
        transform(x, axes, scale=scale, offset=offset, beta=beta, out=result, **options)
        copyto(out, result)
        return out
    call = _core.cpu_transform_for(source, axes, target, *values, most)
    other.run_into(call, out, source, target)
    return out


def type_of(x: Any, view: _core.TensorView, name: str) -> tuple[str, bool]:
    """Return what `element_type` does of an array, whose dtype takes NumPy long to name."""
    return element_type(x.dtype if x.__class__ is np.ndarray else view.dtype, name)


def _result_type(dtype: Any, from_type: str, out: Any, target: _core.TensorView | None) -> str:
    """Return the type of the result's elements."""
    wanted = None if dtype is None else element_type(describe_dtype(dtype)[0], "dtype=")
    if target is None:
        return from_type if wanted is None else wanted[0]
    given = type_of(out, target, "out")
    if given[1]:
        raise TypeError(f"out has dtype {target.dtype}; pass out in the machine's byte order")
    if wanted is not None and wanted != given:
        raise TypeError(f"out has dtype {target.dtype}, but dtype is {wanted[0]}; leave dtype out")
    return given[0]


def _map_of(
    from_type: str,
    to_type: str,
    swaps: bool,
    conj: bool,
    saturate: bool,
    axis: int | None,
    given: dict[str, Any],
) -> tuple[_core.ElementMap, bool]:
    """Return what becomes of elements, and whether that varies along `axis`."""
    computes = tuple(value is not None for value in given.values())
    vary = axis is not None and any(np.ndim(given[name]) for name in ("scale", "offset"))
    if swaps and from_type == to_type == "float16" and not any(computes):
        from_type = to_type = "int16"  # so that NaN keep their bits
    conjugates = bool(conj) and is_complex(from_type) and is_complex(to_type)
    along = axis if vary and axis is not None else -1
    flags = (swaps, conjugates, *computes, bool(saturate))
    return _element_map(from_type, to_type, flags, along), vary


@functools.lru_cache
def _element_map(
    from_type: str, to_type: str, flags: tuple[bool, ...], axis: int
) -> _core.ElementMap:
    swaps, conjugates, scales, adds, accumulates, saturates = flags
    return _core.ElementMap(
        from_type,
        to_type,
        swaps_bytes=swaps,
        conjugates=conjugates,
        scales=scales,
        adds=adds,
        accumulates=accumulates,
        saturates=saturates,
        axis=axis,
    )


def _repeated(values: tuple[Any, bool], count: int) -> tuple[Any, bool]:
    """Repeat a number for every index of an axis, where there is one alone."""
    numbers, is_complex = values
    if numbers is not None and len(numbers) < count:
        numbers = np.repeat(numbers, count, axis=0)
    return numbers, is_complex
