"""JAX: arrays that never change, streams of its own that calls wait for, and traced arrays."""

import math
import sys
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._libraries.dlpack import Library

# JAX takes a buffer over without copying when it starts on a multiple of this many bytes.
_ALIGNMENT_BYTES = 64
# The first version that has what the operator is made of.
_OPERATOR_SINCE = (0, 8)


def _is_traced(x: Any) -> bool:
    return isinstance(x, getattr(sys.modules.get("jax.core"), "Tracer", ()))


def _transpose_traced(x: Any, axes: Any, threads: int | None) -> Any:
    """Add the transposition to the program that JAX is tracing."""
    jax = sys.modules["jax"]
    if jax.__version_info__ < _OPERATOR_SINCE:
        raise TypeError(
            f"x is being traced by JAX {jax.__version__}, and ttlg needs JAX 0.8 or newer for "
            "that; update JAX, or use jax.numpy.transpose here"
        )
    from ttlg._libraries import jax_operator  # imports jax

    # Extents that are symbols have no number to quote in an error.
    shape = [extent if isinstance(extent, int) else -1 for extent in x.shape]
    order = _core.normalize_axes(axes, shape)
    most = None if threads is None else _core.resolve_threads(threads)
    return jax_operator.transpose(x, order, most)


class Jax(Library):
    """JAX's arrays, traced ones included."""

    array_class = ("jax", "Array")

    def transpose(self, x: Any, axes: Any, stream: Any, threads: int | None) -> Any:
        """Move `x` now or, where JAX is tracing it, as an operation of the traced program."""
        if not _is_traced(x):
            return super().transpose(x, axes, stream, threads)
        if stream is not None:
            raise ValueError(
                "x is being traced by JAX, which has streams of its own: leave stream= out"
            )
        return _transpose_traced(x, axes, threads)

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Wait until `x` is ready and look at it, unless it has no memory."""
        if _is_traced(x):
            raise TypeError(
                f"{name} is being traced by JAX and has no memory yet; call ttlg.transpose(x, "
                "axes), without out= and without a plan, or do this outside of jax.jit"
            )
        if x.is_deleted():
            raise ValueError(f"{name} has been deleted or donated; pass an array that holds data")
        x.block_until_ready()
        seen = super().view(x, name, stream)
        seen.freeze()  # not every export says that JAX arrays never change
        return seen

    def empty(self, x: Any, source: _core.TensorView, shape: tuple[int, ...]) -> Any:
        """Allocate memory that JAX takes over in `deliver`; on a CUDA device, an array of JAX."""
        jax = sys.modules["jax"]
        dtype = np.dtype(x.dtype)
        if not source.on_host:
            # JAX has streams of its own, so it must have finished with the buffer.
            with jax.enable_x64(True):
                return jax.numpy.empty(shape, dtype, device=x.device).block_until_ready()
        # JAX arrays never change, so the result is written before JAX sees it.
        size = math.prod(shape) * dtype.itemsize
        raw = np.empty(size + _ALIGNMENT_BYTES, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT_BYTES
        return raw[start : start + size].view(dtype).reshape(shape)

    def deliver(self, x: Any, source: _core.TensorView, buffer: Any) -> Any:
        """Hand the memory to JAX without a copy; on a CUDA device, wait for the work on it."""
        if not source.on_host:
            _core.synchronize(source)
            return buffer
        jax = sys.modules["jax"]
        # Even in JAX's 32-bit mode x may have 64-bit elements, which device_put would convert.
        with jax.enable_x64(True):
            return jax.device_put(buffer, x.device, may_alias=True)
