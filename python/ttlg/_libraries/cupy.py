"""CuPy: a memory pool that gives memory out for work on one stream."""

import sys
from typing import Any

from ttlg import _core
from ttlg._libraries.dlpack import handle_of
from ttlg._libraries.numpy import Ndarrays


class CuPy(Ndarrays):
    """CuPy's arrays."""

    array_class = ("cupy", "ndarray")

    def current_stream(self, x: Any) -> int:
        """Return the handle of the current stream of the device of `x`."""
        return handle_of(sys.modules["cupy"].cuda.get_current_stream(x.device.id))

    def empty(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: str | None = None
    ) -> Any:
        """Allocate an array on the device of `x`, for the stream that `source` is ordered on."""
        return self._allocate(x, source, shape, x.dtype if dtype is None else dtype)

    def workspace(self, x: Any, source: _core.TensorView, size: int) -> _core.TensorView:
        """Allocate bytes of the memory pool."""
        return self.view(self._allocate(x, source, (size,), "u1"), "the workspace", source.stream)

    def _allocate(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: Any
    ) -> Any:
        cupy = sys.modules["cupy"]
        with x.device:
            if self.current_stream(x) == source.stream:
                return cupy.empty(shape, dtype)
            # The pool reuses memory for work on the stream that it was allocated on.
            with cupy.cuda.ExternalStream(source.stream, x.device.id):
                return cupy.empty(shape, dtype)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """View `x` in another shape."""
        return sys.modules["cupy"].broadcast_to(x, shape)
