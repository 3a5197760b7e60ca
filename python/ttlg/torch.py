"""The operators that ttlg uses for tensors that PyTorch differentiates or traces.

Importing this module imports PyTorch and registers ``torch.ops.ttlg.transpose`` and
``torch.ops.ttlg.transform``.
"""

from typing import Any

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


def transform(
    x: torch.Tensor,
    axes: Axes | None = None,
    *,
    dtype: Any = None,
    scale: Any = None,
    offset: Any = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
) -> torch.Tensor:
    """Convert, scale and add elements while their axes are permuted, by an operator of PyTorch.

    `ttlg.transform` comes here by itself for the tensors for which `ttlg.transpose` calls
    `transpose`.

    Parameters
    ----------
    x : torch.Tensor
        In host memory, of a dtype that `ttlg.transform` takes.
    axes, dtype : optional
        As for `ttlg.transform`.
    scale, offset : number, array or torch.Tensor, optional
        As for `ttlg.transform`: constants, by which nothing is differentiated.
    conj, axis, saturate : optional
        As for `ttlg.transform`.
    threads : int, optional
        As for `transpose`.

    Returns
    -------
    torch.Tensor
        A new contiguous tensor with ``shape[i] == x.shape[axes[i]]``. Its gradient is multiplied by
        the conjugate of `scale`, permuted back and converted to the dtype of `x` by the same
        operator, and so is every higher derivative. Integers and bool have no derivatives.

    Raises
    ------
    TypeError, ValueError
        As for `ttlg.transform`.
    BufferError
        As for `transpose`; or `scale` or `offset` requires grad, has a tangent or is batched.

    Examples
    --------
    >>> import torch, ttlg.torch
    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> ttlg.torch.transform(x, scale=[1, 2, 3], offset=0.5, axis=1).sum().backward()
    >>> x.grad[0]
    tensor([1., 2., 3.])
    """
    options: dict[str, Any] = {"dtype": dtype, "scale": scale, "offset": offset, "conj": conj}
    return torch_operator.transform(
        x, axes, **options, axis=axis, saturate=saturate, threads=threads
    )
