"""CuPy: a memory pool that gives memory out for work on one stream."""

import sys
from typing import Any

from ttlg import _core
from ttlg._libraries.dlpack import Library, handle_of


class CuPy(Library):
    """CuPy's arrays."""

    array_class = ("cupy", "ndarray")

    def current_stream(self, x: Any) -> int:
        """Return the handle of the current stream of the device of `x`."""
        return handle_of(sys.modules["cupy"].cuda.get_current_stream(x.device.id))

    def empty(self, x: Any, source: _core.TensorView, shape: tuple[int, ...]) -> Any:
        """Allocate an array on the device of `x`, for the stream that `source` is ordered on."""
        cupy = sys.modules["cupy"]
        with x.device:
            if self.current_stream(x) == source.stream:
                return cupy.empty(shape, x.dtype)
            # The pool reuses memory for work on the stream that it was allocated on.
            with cupy.cuda.ExternalStream(source.stream, x.device.id):
                return cupy.empty(shape, x.dtype)
