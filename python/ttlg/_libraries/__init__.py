"""One class for each array library, and the choice among them.

None of them imports its library: an array of PyTorch, CuPy or JAX exists only where the caller has
imported it. What a module ``*_memory`` holds is for arrays that have memory, and what needs the
library at import (``*_operator``, ``torch_state``) is imported when such an array comes.
"""

import sys
from collections.abc import Hashable
from types import ModuleType
from typing import Any

from ttlg._libraries.cupy import CuPy
from ttlg._libraries.dlpack import Library
from ttlg._libraries.jax import Jax
from ttlg._libraries.numpy import Buffers, NumPy
from ttlg._libraries.torch import Torch
from ttlg._libraries.xarray import Xarray
from ttlg._typing import Axes


def transpose(x: Any, axes: Axes, stream: Any = None, threads: int | None = None) -> Any:
    """Transpose an array of any library into a new one."""
    return library_of(x).move_to_new(x, axes, stream, threads)


def _find_torch_operators() -> ModuleType:
    from ttlg._libraries import torch_operator

    return torch_operator


_TORCH = Torch(_find_torch_operators)
_LIBRARIES = (_TORCH, NumPy(), CuPy(), Jax(), Xarray(transpose))
_BUFFERS = Buffers()
_ANY = Library()


def library_of(x: Any) -> Library:
    """Find the library that `x` is an array of."""
    for library in _LIBRARIES:
        if library.owns(x):
            return library
    # PyTorch's proxies and other stand-ins for tensors.
    stands_for_tensor = "torch" in sys.modules and hasattr(type(x), "__torch_function__")
    if stands_for_tensor:
        return _TORCH
    return _BUFFERS if _BUFFERS.owns(x) else _ANY


def names_of(x: Any) -> tuple[Hashable, ...]:
    """Return the names of the axes of `x`, of which only arrays of xarray have some."""
    return library_of(x).names(x)


def shape_of(x: Any, name: str) -> tuple[Any, ...]:
    """Return the shape of `x`, which messages call `name`, also where it has no such attribute."""
    shape = getattr(x, "shape", None)
    return tuple(library_of(x).view(x, name).shape if shape is None else shape)
