"""Which tensors of PyTorch are memory alone, so that it need not know what happens to them."""

from typing import Any, NoReturn

from torch import Tensor, get_num_threads, is_grad_enabled
from torch.autograd.graph import increment_version
from torch.nn import Parameter

from ttlg import _models
from ttlg._libraries.advice import refuse_tensor, type_name
from ttlg._libraries.torch_private import (
    are_transforms_active,
    count_of_modes,
    is_forward_differentiating,
    is_tracing,
)

# What _core.transpose_tensor has to know, which moves tensors that are plain and have the values of
# their memory: what is false for these and while nothing is at work, and what to call.
HOOKS = (
    ("requires_grad",),
    ("is_neg",),
    ("is_conj",),  # of complex numbers
    (are_transforms_active, count_of_modes, is_forward_differentiating, is_tracing),
    "new_empty",
    get_num_threads,
    increment_version,
    lambda device: _models.model_of(device),
)
HOOKS_BELOW_DISPATCHER = (*HOOKS[:3], (), *HOOKS[4:])


def is_plain(x: Any) -> bool:
    """Whether `x` is no subclass, and no derivative, transform, mode or tracer is at work."""
    cls = type(x)
    return not (
        (cls is not Tensor and cls is not Parameter)
        or (x.requires_grad and is_grad_enabled())
        or are_transforms_active()
        or count_of_modes() > 0
        or is_forward_differentiating()
        or is_tracing()
        or x.is_nested
        or x.is_meta
    )


def is_traced(x: Any) -> bool:
    """Whether `x` only stands for a value, or a mode or tracer records what is done to it."""
    return x.is_meta or hasattr(x, "fake_mode") or count_of_modes() > 0 or is_tracing()


def refuse_special(x: Any, name: str) -> NoReturn:
    """Say why `x` is not memory alone, and what to pass instead."""
    if x.is_nested:
        refuse_tensor(
            name, "is a nested tensor, whose parts have shapes of their own", ".unbind()'s parts"
        )
    if type(x) not in (Tensor, Parameter):
        what = f"is a {type_name(x)}, not a torch.Tensor"
        refuse_tensor(
            name, f"{what}, and may lack memory or hold more", ".as_subclass(torch.Tensor)"
        )
    if x.requires_grad and is_grad_enabled():
        refuse_tensor(name, "requires grad, which a bitwise copy cannot carry", ".detach()")
    raise BufferError(
        f"{name} is a meta tensor, or under a transform, mode or tracer of PyTorch, such as vmap, "
        "forward-mode differentiation or make_fx, which has to see what is done to it; call "
        "ttlg.transpose(x, axes), without out= and without a plan, or ttlg.copyto outside of it"
    )
