"""Tensors, and what transposes them: PyTorch's own line and ttlg's."""

import pytest
import torch

import ttlg

AXES = (-1, 0, 1)  # as they are, these numbers sort otherwise than the axes they stand for
# PyTorch warns of its own use of what it deprecates, and of what it calls a prototype.
WARNINGS_OF_PYTORCH = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.* is deprecated"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype"),
]


def random_tensor(*shape, **options):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.manual_seed(0), **options)


def own(x):
    return x.permute(AXES).contiguous()


def ours(x):
    return ttlg.transpose(x, AXES)


def check_equal(result, expected):
    assert torch.equal(result, expected)
    assert result.is_contiguous()


def weighted(function):
    """Make a function of one number that depends on where every element goes."""
    return lambda x: (function(x) ** 3 * torch.arange(x.numel()).reshape(function(x).shape)).sum()
