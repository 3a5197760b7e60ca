"""One module for each array library, and the choice among them.

None of them imports its library: an array of PyTorch, CuPy or JAX exists only where the caller has
imported it.
"""

from typing import Any

from ttlg import _core
from ttlg._libraries.cupy import CuPy
from ttlg._libraries.dlpack import Library
from ttlg._libraries.jax import Jax
from ttlg._libraries.numpy import NumPy
from ttlg._libraries.torch import Torch

_LIBRARIES = (NumPy(), Torch(), CuPy(), Jax())
_ANY = Library()


def library_of(x: Any) -> Library:
    """Find the library that `x` is an array of."""
    for library in _LIBRARIES:
        if library.owns(x):
            return library
    return _ANY


def view_input(x: Any, stream: Any) -> tuple[Library, _core.TensorView]:
    """Find the library of `x` and look at `x`; refuse a stream where there is none."""
    library = library_of(x)
    source = library.view(x, "x", stream)
    if stream is not None and source.on_host:
        raise ValueError(
            "stream= is for arrays on a CUDA device; x is in host memory: leave it out"
        )
    return library, source


def view_output(out: Any, x: _core.TensorView) -> _core.TensorView:
    """Look at the array that takes the result for `x`, on the same stream."""
    return library_of(out).view(out, "out", None if x.on_host else x.stream)
