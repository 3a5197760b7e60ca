"""Images as networks take them: planes of normalised numbers from pixels, and back.

Each function is one pass of memory by `ttlg.transform`, where the usual two lines (torchvision's
``ToTensor`` and ``Normalize``, for example) take two to four.
"""

import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ttlg._arguments.dtypes import describe_dtype, element_type
from ttlg._functions.transform import transform
from ttlg._libraries import library_of, shape_of
from ttlg._libraries.element_maps import type_of

__all__ = ["to_pixels", "to_planes"]

Numbers = Any  # a number, or one for each channel


def to_planes(
    batch: Any,
    mean: Numbers | None = None,
    std: Numbers | None = None,
    dtype: Any = None,
    *,
    channels: Sequence[int] | None = None,
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Turn images whose pixels are structures into normalised planes.

    Parameters
    ----------
    batch : array, or sequence of arrays
        One image of shape (H, W, C), several of shape (N, H, W, C), or several of one shape (H, W, C)
        one by one, of what `ttlg.transform` takes; crops and flips by slices cost nothing. Integers
        are divided by the greatest that their type holds, 255 for uint8, so that they become 0 to 1.
    mean, std : number or sequence of numbers, optional
        Subtracted, and divided by then: one for all channels or one for each, in the order of the
        result. By default 0 and 1.
    dtype : dtype, optional
        Of the result: float16, bfloat16, float32 or float64. By default that of `out`, else float32.
    channels : sequence of int, optional
        Which channels to take, in which order: ``(2, 1, 0)`` for BGR to RGB, ``(0, 1, 2)`` for RGBA
        to RGB. By default all as they are.
    out : array, optional
        Where to write; of any strides. By default a new array of the library of the images.
    threads : int, optional
        As for `ttlg.transform`.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of shape (C, H, W) or (N, C, H, W).

    Raises
    ------
    TypeError, ValueError, BufferError
        As for `ttlg.transform`; or the images have other axes, different shapes or no such channel.

    See Also
    --------
    to_pixels : The way back.

    Notes
    -----
    With ``S = 1 / (255 * std)`` and ``O = -mean / std``, computed in float64 and rounded to float32,
    the result is ``images.transpose(0, 3, 1, 2) * S + O``, rounded after the product and after the
    sum.

    Examples
    --------
    >>> import numpy as np, ttlg.images
    >>> images = np.random.default_rng(0).integers(0, 256, (8, 224, 224, 3), np.uint8)
    >>> planes = ttlg.images.to_planes(images, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    >>> planes.shape, planes.dtype
    ((8, 3, 224, 224), dtype('float32'))
    """
    kind = _result_type(dtype, out, "float32")
    if not kind.startswith(("float", "bfloat")):
        raise TypeError(f"planes must be of floating-point numbers, not {kind}")
    if isinstance(batch, list | tuple):
        return _each_to_planes(list(batch), mean, std, kind, channels, out, threads)
    pixels = _select(batch, -1, channels, "(H, W, C) or (N, H, W, C)")
    rank = len(shape_of(pixels, "batch"))
    top = _greatest(_type_of(pixels, "batch"))
    mean, std = _numbers("mean", mean, 0), _numbers("std", std, 1)
    return transform(
        pixels,
        (*range(rank - 3), rank - 1, rank - 3, rank - 2),
        dtype=kind,
        scale=1 / (top * std),
        offset=-mean / std,
        axis=-1,
        out=out,
        threads=threads,
    )


def to_pixels(
    planes: Any,
    mean: Numbers | None = None,
    std: Numbers | None = None,
    dtype: Any = None,
    *,
    channels: Sequence[int] | None = None,
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Turn normalised planes back into images whose pixels are structures.

    Parameters
    ----------
    planes : array
        Of shape (C, H, W) or (N, C, H, W), of what `ttlg.transform` takes.
    mean, std : number or sequence of numbers, optional
        What `to_planes` was given: one for all channels or one for each, in the order of `planes`.
    dtype : dtype, optional
        Of the result, by default that of `out`, else uint8. Integers are rounded, half to even, and
        clipped; 1 becomes the greatest that the type holds, 255 for uint8.
    channels : sequence of int, optional
        Which channels to take, in which order: ``(2, 1, 0)`` for RGB to BGR.
    out : array, optional
        Where to write; of any strides. By default a new array of the library of `planes`.
    threads : int, optional
        As for `ttlg.transform`.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of shape (H, W, C) or (N, H, W, C).

    Raises
    ------
    TypeError, ValueError, BufferError
        As for `ttlg.transform`; or `planes` have other axes or no such channel.

    See Also
    --------
    to_planes : The way there.

    Examples
    --------
    >>> import numpy as np, ttlg.images
    >>> images = np.random.default_rng(0).integers(0, 256, (8, 224, 224, 3), np.uint8)
    >>> planes = ttlg.images.to_planes(images, 0.5, 0.25)
    >>> bool((ttlg.images.to_pixels(planes, 0.5, 0.25) == images).all())
    True
    """
    selected = _select(planes, -3, channels, "(C, H, W) or (N, C, H, W)")
    rank = len(shape_of(selected, "planes"))
    kind = _result_type(dtype, out, "uint8")
    top = _greatest(kind)
    return transform(
        selected,
        (*range(rank - 3), rank - 2, rank - 1, rank - 3),
        dtype=kind,
        scale=top * _chosen(_numbers("std", std, 1), channels),
        offset=top * _chosen(_numbers("mean", mean, 0), channels),
        axis=-3,
        out=out,
        threads=threads,
    )


def _each_to_planes(
    images: list[Any],
    mean: Numbers,
    std: Numbers,
    dtype: str,
    channels: Sequence[int] | None,
    out: Any,
    threads: int | None,
) -> Any:
    """Turn images of one shape, each an array of its own, into one array of planes."""
    shapes = {shape_of(image, "an image") for image in images}
    if len(shapes) != 1 or len(next(iter(shapes))) != 3:
        raise ValueError(f"images must be some of one shape (H, W, C), not of {sorted(shapes)}")
    height, width, depth = next(iter(shapes))
    shape = (len(images), depth if channels is None else len(channels), height, width)
    if out is not None and shape_of(out, "out") != shape:
        raise ValueError(f"out has shape {shape_of(out, 'out')}; pass out of shape {shape}")
    library = library_of(images[0])
    if out is None and library.transform_operator(images[0], None) is not None:
        return library.stack(
            [to_planes(x, mean, std, dtype, channels=channels, threads=threads) for x in images]
        )
    source = library.view_input(images[0], None)
    result = library.empty(images[0], source, shape, dtype) if out is None else out
    for image, planes in zip(images, result, strict=True):
        to_planes(image, mean, std, dtype, channels=channels, out=planes, threads=threads)
    return library.wrap_result(images[0], source, result) if out is None else out


def _select(x: Any, axis: int, channels: Sequence[int] | None, axes: str) -> Any:
    """View the channels of images that a caller has chosen."""
    shape = shape_of(x, "images")
    if len(shape) not in (3, 4):
        raise ValueError(f"images have axes {axes}, not the shape {shape}")
    if channels is None:
        return x
    chosen, count = [operator.index(channel) for channel in channels], shape[axis]
    if not chosen or not all(0 <= channel < count for channel in chosen):
        raise ValueError(f"channels must be of 0 to {count - 1}, not {tuple(channels)}")
    step = chosen[1] - chosen[0] if len(chosen) > 1 else 1
    if step == 0 or chosen != list(range(chosen[0], chosen[0] + step * len(chosen), step)):
        raise ValueError(
            f"channels must be at equal steps, such as (2, 1, 0), not {tuple(channels)}; index the "
            "images with them before"
        )
    low, high = min(chosen), max(chosen)
    place = axis + len(shape)
    view = x[(slice(None),) * place + (slice(low, high + 1, abs(step)),)]
    return view if step > 0 else library_of(view).flip(view, [place])


def _numbers(name: str, value: Numbers, default: float) -> Any:
    numbers = np.asarray(default if value is None else value, np.float64)
    if name == "std" and not _is_compiling() and not numbers.all():
        raise ValueError("std has a zero, by which nothing can be divided")
    return numbers


def _is_compiling() -> bool:
    """Whether `torch.compile` traces this very code, which knows the values of no array."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_dynamo_compiling()


def _chosen(numbers: Any, channels: Sequence[int] | None) -> Any:
    """Take the numbers of chosen channels, where there is one for each."""
    return numbers if channels is None or numbers.ndim == 0 else numbers[list(channels)]


def _type_of(x: Any, name: str) -> str:
    library = library_of(x)
    if library.transform_operator(x, None) is not None:
        return describe_dtype(x.dtype)[0]  # which the operator checks
    return type_of(x, library.view(x, name), name)[0]


def _result_type(dtype: Any, out: Any, default: str) -> str:
    if dtype is not None:
        name = describe_dtype(dtype)[0]
        return element_type(name, "dtype=")[0] if name[0] in "<>" else name
    return default if out is None else _type_of(out, "out")


def _greatest(element_type: str) -> int:
    """Return the greatest integer of a type; 1 of others."""
    integral = element_type.startswith(("int", "uint"))
    return int(np.iinfo(element_type).max) if integral else 1
