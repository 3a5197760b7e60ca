"""The operator that `ttlg.transpose` uses for tensors that PyTorch differentiates or traces.

Importing this module imports PyTorch and registers ``torch.ops.ttlg.transpose``.
"""

import torch

from ttlg._libraries import torch_operator
from ttlg._typing import Axes


def transpose(
    x: torch.Tensor, axes: Axes | None = None, *, threads: int | None = None
) -> torch.Tensor:
    """Copy a tensor with its axes permuted, by an operator that PyTorch knows.

    `ttlg.transpose` comes here by itself where it has to: for tensors that require grad or have a
    tangent, subclasses, FakeTensor and meta tensors, and under `torch.compile`, `torch.export`,
    ``make_fx``, `torch.jit.trace` and the transforms of `torch.func`. Plain tensors take this way
    only through this function.

    Parameters
    ----------
    x : torch.Tensor
        Any strided tensor.
    axes : iterable of int, optional
        As for `ttlg.transpose`; reversed by default.
    threads : int, optional
        For tensors in host memory: the most threads to use. By default
        ``torch.get_num_threads()``, unless a number was chosen for ttlg (`ttlg.set_num_threads`).

    Returns
    -------
    torch.Tensor
        A new contiguous tensor with ``shape[i] == x.shape[axes[i]]``. Its gradient is permuted
        back by the same operator, and so is every higher derivative.

    Raises
    ------
    TypeError, ValueError
        As for `ttlg.transpose`.
    BufferError
        The tensor is sparse, nested, or on a device that ttlg does not reach.

    Examples
    --------
    >>> import torch, ttlg.torch
    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> ttlg.torch.transpose(x, (1, 0)).sum().backward()
    >>> x.grad.shape
    torch.Size([2, 3])
    """
    return torch_operator.transpose(x, axes, threads)
