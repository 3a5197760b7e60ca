"""Arrays that callers give results to be written to."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._contract.libraries import NUMPY, Products
from ttlg._functions.copies import copyto
from ttlg._functions.transform import transform
from ttlg._libraries import library_of


def check_shape(out: Any, shape: tuple[int, ...]) -> None:
    """Refuse what is no array of this shape."""
    if not hasattr(out, "shape"):
        raise TypeError(f"out must be an array, not {out!r}")
    if tuple(out.shape) != shape:
        raise ValueError(f"out has shape {tuple(out.shape)}, but the result has shape {shape}")


def check_out(
    products: Products, operands: Sequence[Any], out: Any, shape: tuple[int, ...]
) -> None:
    """Refuse what cannot take the result of this shape, before anything is computed."""
    check_shape(out, shape)
    if products is NUMPY and _is_simple(out, operands):
        return
    like = products.like_result(operands, shape)
    if like is None:
        return
    result = library_of(like).view(like, "the result")
    target = library_of(out).view_output(out, result, None)
    _core.check_out(result, range(len(shape)), target)
    for number, x in enumerate(operands):
        if _core.share_memory(library_of(x).view(x, f"operand {number}"), target):
            raise ValueError(
                f"out of shape {shape} shares memory with operand {number} of shape "
                f"{tuple(x.shape)}; pass an array of its own, or copy the operand first"
            )


def _is_simple(out: Any, operands: Sequence[Any]) -> bool:
    """Whether flags and bounds of memory alone say that an array of NumPy takes the result."""
    return (
        out.__class__ is np.ndarray
        and out.dtype == operands[0].dtype
        and not out.dtype.hasobject
        and out.flags.writeable
        and out.flags.forc
        and not any(np.may_share_memory(x, out) for x in operands)
    )


def out_strides(out: Any) -> tuple[int, ...] | None:
    """Return the strides in bytes that are planned for where a result is written to."""
    return out.strides if out.__class__ is np.ndarray else None


def deliver(result: Any, out: Any) -> Any:
    """Return a result, or copy it to `out`."""
    if out is None:
        return result
    copyto(out, np.asarray(result) if isinstance(result, np.generic) else result)
    return out


_SUMMED_BY_TRANSFORM = frozenset(
    ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)


def add_to(out: Any, result: Any, threads: int | None = None) -> Any:
    """Add a result to what `out` has, wherever its axes lie, and return `out`."""
    if isinstance(result, np.generic):
        result = np.asarray(result)
    view = library_of(result).view(result, "the result")
    name = result.dtype.name if result.__class__ is np.ndarray else view.dtype
    if view.on_host and name in _SUMMED_BY_TRANSFORM:
        return transform(result, range(len(result.shape)), beta=1, out=out, threads=threads)
    out += result
    return out
