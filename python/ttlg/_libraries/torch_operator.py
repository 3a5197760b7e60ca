"""The operators by which PyTorch differentiates, batches and traces a transposition."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.library import custom_op, fallthrough_kernel, register_fake, register_vmap

from ttlg import _core
from ttlg._libraries import torch_transform
from ttlg._libraries.advice import refuse_tensor
from ttlg._libraries.dlpack import inplace_plan_for, known_extents
from ttlg._libraries.torch import refuse_lazy_output
from ttlg._libraries.torch_linear import LIBRARY, MEMORY, differentiation, inverse_of, order_of
from ttlg._typing import Axes

transform = torch_transform.transform

LIBRARY.define(
    "transpose(Tensor x, int[] axes, int? threads=None) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_operator = torch.ops.ttlg.transpose.default


def transpose(x: Any, axes: Axes | None, threads: int | None) -> Any:
    """Transpose a tensor, or what stands for one, by the operator."""
    return _operator(x, order_of(x, axes), threads)


def transpose_into(
    x: Any,
    axes: Axes | None,
    out: Any,
    threads: int | None,
    names: tuple[str, str] = ("x", "out"),
) -> None:
    """Transpose `x` into `out` by an operator that PyTorch knows to write to it."""
    if x.requires_grad and torch.is_grad_enabled():
        refuse_tensor(names[0], f"requires grad, which {names[1]} cannot carry", ".detach()")
    # Here, because the compiler's own operator around one that writes takes no lazy bits.
    source = x.resolve_conj().resolve_neg()
    _operator_into(source, order_of(x, axes), out, threads)


def transpose_inplace(x: Any, axes: Axes | None, threads: int | None, workspace: int | None) -> Any:
    """Transpose `x` in its memory by an operator that writes to it, and view that memory."""
    if x.requires_grad and torch.is_grad_enabled():
        refuse_tensor(
            "x", "requires grad, which a transposition in place cannot carry", ".detach()"
        )
    order = order_of(x, axes)
    fortran = not x.is_contiguous()
    _operator_inplace(x, order, threads, workspace)
    return MEMORY.reshaped(x, tuple(x.shape[axis] for axis in order), fortran)


def _run(x: torch.Tensor, axes: list[int], threads: int | None = None) -> torch.Tensor:
    # The dispatcher has resolved conjugate and negative bits.
    return MEMORY.move_to_new(x, axes, None, threads)


def _infer(x: torch.Tensor, axes: list[int], threads: int | None = None) -> torch.Tensor:
    order = _core.normalize_axes(axes, known_extents(x.shape))
    return x.new_empty([x.shape[axis] for axis in order])


def _run_batch(
    info: Any,
    in_dims: tuple[int, None, None],
    x: torch.Tensor,
    axes: list[int],
    threads: int | None = None,
) -> tuple[torch.Tensor, int]:
    """Transpose the axis of the batch along, to become the first one of the result."""
    batch = in_dims[0]
    rest = [axis for axis in range(x.ndim) if axis != batch]
    order = _core.normalize_axes(axes, known_extents(x.shape[axis] for axis in rest))
    return _operator(x, [batch, *(rest[axis] for axis in order)], threads), 0


def _tangent(tangent: torch.Tensor, axes: list[int], threads: int | None = None) -> torch.Tensor:
    return _operator(tangent, axes, threads)


def _adjoint(
    gradient: torch.Tensor, _: torch.dtype, axes: list[int], threads: int | None = None
) -> torch.Tensor:
    return _operator(gradient, inverse_of(axes), threads)


LIBRARY.impl("transpose", _run, "CompositeExplicitAutograd")
LIBRARY.impl(
    "transpose", differentiation(_operator, _tangent, _adjoint), "Autograd", with_keyset=True
)
register_fake("ttlg::transpose", _infer, lib=LIBRARY)
register_vmap("ttlg::transpose", _run_batch, lib=LIBRARY)


@custom_op("ttlg::transpose_into", mutates_args=("out",))
def _operator_into(
    x: torch.Tensor, axes: Sequence[int], out: torch.Tensor, threads: int | None = None
) -> None:
    MEMORY.move_into(x, axes, out, MEMORY, None, threads)


@_operator_into.register_fake
def _(x: torch.Tensor, axes: Sequence[int], out: torch.Tensor, threads: int | None = None) -> None:
    shape = _infer(x, list(axes)).shape
    if out.shape != shape or out.dtype != x.dtype or out.device != x.device:
        raise ValueError(
            f"out must have shape {tuple(shape)}, dtype {x.dtype} and device {x.device}, not "
            f"{tuple(out.shape)}, {out.dtype} and {out.device}"
        )
    refuse_lazy_output(out, "out")


# The result has another shape and shares the memory of `x`, which operators cannot say of what they
# return, so callers of this one view `x` afterwards.
@custom_op("ttlg::transpose_inplace", mutates_args=("x",))
def _operator_inplace(
    x: torch.Tensor, axes: Sequence[int], threads: int | None = None, workspace: int | None = None
) -> None:
    view = MEMORY.view_inplace(x)
    most = MEMORY.threads_for(view, threads)
    MEMORY.run_inplace(inplace_plan_for(view, axes, most, workspace), x, view)


@_operator_inplace.register_fake
def _(
    x: torch.Tensor, axes: Sequence[int], threads: int | None = None, workspace: int | None = None
) -> None:
    _infer(x, list(axes))
    if x.is_conj() or x.is_neg():
        raise BufferError(
            "x has its conjugate or negative bit set, which torch.compile does not write through; "
            "call ttlg.transpose_inplace outside of it, or pass x.resolve_conj().resolve_neg()"
        )
    if not any(MEMORY.has_order(x, order) for order in "CF"):
        raise ValueError(
            f"x of shape {tuple(x.shape)} and strides {x.stride()} does not fill its memory in C "
            "or Fortran order; pass x.contiguous(), or call ttlg.transpose(x, axes)"
        )


# Lazy bits reach both of these operators, because PyTorch resolves them only for operators that
# return a tensor.
for _name in ("transpose_into", "transpose_inplace"):
    for _key in ("Conjugate", "Negative"):
        LIBRARY.impl(_name, fallthrough_kernel, _key)
