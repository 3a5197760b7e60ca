"""What ttlg uses of PyTorch that PyTorch does not document, and nowhere else.

There is no other way to ask whether a transform, a mode or a tracer is at work, nor to register a
rule of differentiation that keeps tangents and works under `torch.func`.
"""

from typing import Any, NamedTuple

from torch.autograd import forward_ad

from ttlg._libraries.private_names import find

are_transforms_active = find("torch._C", "_are_functorch_transforms_active")
is_tracing = find("torch._C", "_is_tracing")
count_of_modes = find("torch._C", "_len_torch_dispatch_stack")
find("torch.autograd.forward_ad", "_current_level")


def is_forward_differentiating() -> bool:
    """Whether a level of forward-mode differentiation is open."""
    return forward_ad._current_level >= 0


class OperatorNames(NamedTuple):
    """What the operators alone need, which PyTorch has since 2.5."""

    enable_single_level_function: Any
    single_level_function: Any
    set_forward_grad_enabled: Any
    below_autograd: Any
    keys_below_autograd: Any


def operator_names() -> OperatorNames:
    """Look up what the operators need."""
    return OperatorNames(
        find("torch._functorch.autograd_function", "enable_single_level_autograd_function"),
        find("torch.autograd.function", "_SingleLevelFunction"),
        find("torch.autograd.forward_ad", "_set_fwd_grad_enabled"),
        find("torch._C", "_AutoDispatchBelowAutograd"),
        find("torch._C", "_after_autograd_keyset"),
    )
