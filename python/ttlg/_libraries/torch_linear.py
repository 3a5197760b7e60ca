"""What operators of PyTorch share that are linear in their first argument, or linear and a constant.

`torch.library.custom_op` would do for most of them, but the operators that it makes lose the tangents
of forward-mode differentiation without a word and fail under `torch.func.grad`, so the rule for
autograd is registered in the dispatcher.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import torch
from torch.library import Library

from ttlg import _core
from ttlg._libraries.dlpack import known_extents
from ttlg._libraries.element_maps import refuse_variable
from ttlg._libraries.torch import Torch
from ttlg._libraries.torch_private import operator_names
from ttlg._libraries.torch_state import refuse_special
from ttlg._typing import Axes

MEMORY = Torch()
_Library: Any = Library  # which has no types
LIBRARY = _Library("ttlg", "FRAGMENT")
_PRIVATE = operator_names()
_SingleLevelFunction: Any = _PRIVATE.single_level_function


def order_of(x: Any, axes: Axes | None) -> list[Any]:
    """Read `axes` for operators, which take no None; the rest of the errors is left to them."""
    if torch.compiler.is_dynamo_compiling() or not isinstance(x, torch.Tensor):
        if isinstance(axes, AbstractSet | Mapping):  # what else is no axes, the operators refuse
            raise TypeError(f"axes must be a sequence of integers, not {axes!r}")
        return list(range(x.ndim)[::-1] if axes is None else axes)
    if x.is_nested:
        refuse_special(x, "x")
    return list(_core.normalize_axes(axes, known_extents(x.shape)))


def inverse_of(axes: list[int]) -> list[int]:
    """Return the permutation that undoes `axes`, which may be negative."""
    rank = len(axes)
    return sorted(range(rank), key=lambda axis: axes[axis] % rank)


def differentiation(
    operator: Any, tangent: Callable[..., Any], adjoint: Callable[..., Any], *constants: str
) -> Callable[..., Any]:
    """Return the kernel by which the dispatcher differentiates an operator.

    ``operator(x, *rest)`` calls ``tangent(tangent of x, *rest)`` for the tangent of the result and
    ``adjoint(gradient of the result, dtype of x, *rest)`` for the gradient of `x`. `constants` are
    the names of the tensors in `rest`.
    """

    class Differentiated(_SingleLevelFunction):  # type: ignore[misc]
        @staticmethod
        def forward(keys: Any, x: torch.Tensor, *rest: Any) -> Any:
            # Outer levels of torch.func still differentiate, which PyTorch turns off in here.
            with (
                torch.enable_grad(),
                _PRIVATE.set_forward_grad_enabled(True),
                _PRIVATE.below_autograd(),
            ):
                return operator.redispatch(keys & _PRIVATE.keys_below_autograd, x, *rest)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.dtype, rest = inputs[1].dtype, inputs[2:]
            ctx.is_smooth = output.dtype.is_floating_point or output.dtype.is_complex
            tensors = {i: each for i, each in enumerate(rest) if isinstance(each, torch.Tensor)}
            ctx.places = list(tensors)
            ctx.rest = [None if i in tensors else each for i, each in enumerate(rest)]
            ctx.save_for_backward(*tensors.values())
            ctx.save_for_forward(*tensors.values())
            ctx.set_materialize_grads(False)  # so that constants have no tangents of zeros

        @staticmethod
        def backward(ctx: Any, gradient: "torch.Tensor | None") -> Any:
            rest = _restored(ctx)
            back = None if gradient is None else adjoint(gradient, ctx.dtype, *rest)
            return None, back, *[None] * len(rest)

        @staticmethod
        def jvp(ctx: Any, _keys: Any, x: "torch.Tensor | None", *others: Any) -> Any:
            if any(each is not None for each in others):
                refuse_variable(*constants)
            return tangent(x, *_restored(ctx)) if ctx.is_smooth else None

    def differentiate(keys: Any, x: torch.Tensor, *rest: Any) -> Any:
        # The dispatcher comes here once for each level of differentiation.
        if torch.is_grad_enabled() and any(getattr(each, "requires_grad", False) for each in rest):
            refuse_variable(*constants)
        with _PRIVATE.enable_single_level_function():
            return Differentiated.apply(keys, x, *rest)

    return differentiate


def _restored(ctx: Any) -> list[Any]:
    """Put the tensors that autograd has kept back among the other arguments."""
    rest = list(ctx.rest)
    for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
        rest[place] = tensor
    return rest
