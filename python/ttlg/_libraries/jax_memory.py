"""JAX's arrays as memory: they never change, and JAX has streams of its own that calls wait for."""

import math
import sys
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._arguments.dtypes import numpy_dtype
from ttlg._libraries.dlpack import Library

# JAX takes a buffer over without copying when it starts on a multiple of this many bytes.
_ALIGNMENT_BYTES = 64


def is_default(device: Any) -> bool:
    """Whether JAX leaves arrays on `device` that are not committed to it."""
    jax = sys.modules["jax"]
    return jax.config.jax_default_device is None and bool(device == jax.local_devices()[0])


class JaxMemory(Library):
    """JAX's arrays that have memory."""

    array_class = ("jax", "Array")

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Wait until `x` is ready and look at it."""
        if x.is_deleted():
            raise ValueError(f"{name} has been deleted or donated; pass an array that holds data")
        x.block_until_ready()
        seen = super().view(x, name, stream)
        seen.freeze()  # not every export says that JAX arrays never change
        return seen

    def empty(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: str | None = None
    ) -> Any:
        """Allocate memory that JAX takes over in `wrap_result`; on a CUDA device, an array of JAX."""
        jax = sys.modules["jax"]
        kind = np.dtype(x.dtype) if dtype is None else numpy_dtype(dtype)
        if not source.on_host:
            # JAX has streams of its own, so it must have finished with the buffer.
            with jax.enable_x64(True):
                return jax.numpy.empty(shape, kind, device=x.device).block_until_ready()
        # JAX arrays never change, so the result is written before JAX sees it.
        size = math.prod(shape) * kind.itemsize
        raw = _core.new_ndarray((size + _ALIGNMENT_BYTES,), np.dtype(np.uint8))
        start = -raw.ctypes.data % _ALIGNMENT_BYTES
        return raw[start : start + size].view(kind).reshape(shape)

    def wrap_result(self, x: Any, source: _core.TensorView, buffer: Any) -> Any:
        """Hand the memory to JAX without a copy; on a CUDA device, wait for the work on it."""
        if not source.on_host:
            _core.synchronize(source)
            return buffer
        jax = sys.modules["jax"]
        # Even in JAX's 32-bit mode x may have 64-bit elements, which device_put would convert.
        with jax.enable_x64(True):
            # A function compiled for arrays that are committed is another program to JAX.
            is_free = not x.committed and is_default(x.device)
            return jax.device_put(buffer, None if is_free else x.device, may_alias=True)
