"""The operator by which PyTorch differentiates, batches and traces `ttlg.transform`."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.library import register_fake, register_vmap

from ttlg import _core
from ttlg._arguments.axes import read_axis
from ttlg._arguments.dtypes import describe_dtype, element_type
from ttlg._libraries.dlpack import known_extents
from ttlg._libraries.element_maps import refuse_variable, transform_memory
from ttlg._libraries.torch_linear import (
    LIBRARY,
    MEMORY,
    differentiation,
    inverse_of,
    order_of,
)
from ttlg._libraries.torch_private import count_of_modes, is_tracing
from ttlg._typing import Axes

_Values: TypeAlias = "torch.Tensor | None"

LIBRARY.define(
    "transform(Tensor x, int[] axes, ScalarType dtype, Tensor? scale=None, Tensor? offset=None, "
    "bool conj=False, int? axis=None, bool saturate=True, int? threads=None) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_operator: Callable[..., torch.Tensor] = torch.ops.ttlg.transform.default
_jit: Any = torch.jit


def transform(
    x: Any,
    axes: Axes | None,
    *,
    dtype: Any = None,
    scale: Any = None,
    offset: Any = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> Any:
    """Transform a tensor, or what stands for one, by the operator."""
    order = order_of(x, axes)
    along = axis if axis is None else read_axis("axis", axis, len(order))
    constants = (_constant(x, value) for value in (scale, offset))
    kind = x.dtype if dtype is None else _read_dtype(dtype)
    return _operator(x, order, kind, *constants, bool(conj), along, bool(saturate), threads)


def _read_dtype(dtype: Any) -> torch.dtype:
    name = describe_dtype(dtype)[0]
    own = getattr(torch, name, None)
    if not isinstance(own, torch.dtype):
        own = getattr(torch, element_type(name, "dtype=")[0])
    return own


def _constant(x: Any, value: Any) -> _Values:
    """Turn numbers into a tensor of the same precision that may be used beside `x`."""
    if value is None or isinstance(value, torch.Tensor):
        return value
    if torch.compiler.is_dynamo_compiling():
        return torch.as_tensor(np.asarray(value))
    numbers = np.array(value)  # a copy, as PyTorch takes neither negative strides nor constants
    kind = np.float32 if numbers.dtype.name == "bfloat16" else numbers.dtype.newbyteorder("=")
    with warnings.catch_warnings() if is_tracing() else nullcontext():
        if is_tracing():  # by torch.jit.trace, which warns of what it takes for constants
            warnings.simplefilter("ignore", _jit.TracerWarning)
        tensor = torch.as_tensor(numbers.astype(kind))
    mode = getattr(x, "fake_mode", None) if isinstance(x, torch.Tensor) else None
    # Where a mode is at work, it has made a fake tensor already.
    return tensor if mode is None or count_of_modes() else mode.from_tensor(tensor)


def _run(
    x: torch.Tensor,
    axes: list[int],
    dtype: torch.dtype,
    scale: _Values = None,
    offset: _Values = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> torch.Tensor:
    # The dispatcher has resolved conjugate and negative bits.
    scales, offsets = (_numbers(value) for value in (scale, offset))
    result: torch.Tensor = transform_memory(
        MEMORY,
        x,
        axes,
        dtype=dtype,
        scale=scales,
        offset=offsets,
        conj=conj,
        axis=axis,
        saturate=saturate,
        threads=threads,
    )
    return result


def _numbers(values: _Values) -> Any:
    """Look at constants by NumPy, which has no bfloat16."""
    if values is None:
        return None
    return (values.float() if values.dtype == torch.bfloat16 else values).detach().numpy()


def _infer(
    x: torch.Tensor,
    axes: list[int],
    dtype: torch.dtype,
    scale: _Values = None,
    offset: _Values = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> torch.Tensor:
    order = _core.normalize_axes(axes, known_extents(x.shape))
    along = axis if axis is None else read_axis("axis", axis, len(order))
    for name, kind in (("x", x.dtype), ("dtype=", dtype)):
        element_type(str(kind).removeprefix("torch."), name)
    for name, values in (("scale", scale), ("offset", offset)):
        if values is None or values.ndim == 0:
            continue
        if values.ndim > 1 or along is None or values.shape[0] != x.shape[along]:
            raise ValueError(
                f"{name} has shape {tuple(values.shape)}; pass a number, or by axis= the axis of x, of "
                f"shape {tuple(x.shape)}, along which it has one for each index"
            )
    return x.new_empty([x.shape[axis] for axis in order], dtype=dtype)


def _run_batch(
    info: Any,
    in_dims: Any,
    x: torch.Tensor,
    axes: list[int],
    dtype: torch.dtype,
    scale: _Values = None,
    offset: _Values = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> tuple[torch.Tensor, int]:
    """Transform the axis of the batch along, to become the first one of the result."""
    batch = in_dims[0]
    if any(in_dims[place] is not None for place in range(3, min(len(in_dims), 5))):
        refuse_variable("scale", "offset")
    rest = [place for place in range(x.ndim) if place != batch]
    order = _core.normalize_axes(axes, known_extents(x.shape[place] for place in rest))
    along = axis if axis is None else rest[axis]
    moved = [batch, *(rest[place] for place in order)]
    return _operator(x, moved, dtype, scale, offset, conj, along, saturate, threads), 0


def _tangent(
    tangent: torch.Tensor,
    axes: list[int],
    dtype: torch.dtype,
    scale: _Values = None,
    offset: _Values = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> torch.Tensor:
    return _operator(tangent, axes, dtype, scale, None, conj, axis, saturate, threads)


def _adjoint(
    gradient: torch.Tensor,
    x_dtype: torch.dtype,
    axes: list[int],
    dtype: torch.dtype,
    scale: _Values = None,
    offset: _Values = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> torch.Tensor:
    """Multiply by the conjugates, except where that of `x` is what they have multiplied."""
    inverse = inverse_of(axes)
    along = axis if axis is None else inverse[axis]
    factors = scale if conj or scale is None else scale.conj()
    return _operator(gradient, inverse, x_dtype, factors, None, conj, along, saturate, threads)


_differentiate = differentiation(_operator, _tangent, _adjoint, "scale", "offset")

LIBRARY.impl("transform", _run, "CompositeExplicitAutograd")
LIBRARY.impl("transform", _differentiate, "Autograd", with_keyset=True)
register_fake("ttlg::transform", _infer, lib=LIBRARY)
register_vmap("ttlg::transform", _run_batch, lib=LIBRARY)
