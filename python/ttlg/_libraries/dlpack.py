"""What holds for any array library with DLPack, and what the others override."""

import operator
import sys
from typing import Any, ClassVar

from ttlg import _core

# CUDA's default stream in DLPack's numbering, which CUDA itself takes as a handle. Libraries give
# that stream the handle 0, which DLPack forbids because it might mean the per-thread one.
DEFAULT_STREAM = 1


def is_instance(x: Any, module: str, name: str) -> bool:
    """Whether `x` is of a class of a module that the caller must have imported to make it."""
    cls = getattr(sys.modules.get(module), name, None)
    return cls is not None and isinstance(x, cls)


def handle_of(stream: Any) -> int:
    """Read a `stream=` argument: a handle, or an object of any library that holds one."""
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        _version, handle = protocol() if callable(protocol) else protocol
    else:
        handle = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
    try:
        number = operator.index(handle)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise TypeError(
            f"stream must be the handle of a CUDA stream, a stream of PyTorch or CuPy, or an "
            f"object with __cuda_stream__, not {stream!r}"
        )
    return number or DEFAULT_STREAM


class Library:
    """A library that ttlg knows through DLPack and the array API standard alone."""

    array_class: ClassVar[tuple[str, str]]  # of libraries that ttlg knows: module and name

    def owns(self, x: Any) -> bool:
        """Whether `x` is an array of this library."""
        return is_instance(x, *self.array_class)

    def current_stream(self, x: Any) -> int:
        """Return the handle of the stream that the library uses for `x` at this moment.

        CUDA's default stream for libraries that do not tell.
        """
        return DEFAULT_STREAM

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Look at `x` without copying, or say why that cannot be done and what to do about it.

        What lives on a CUDA device is ordered on `stream`, by default on the library's current
        one. `name` is what messages call the array.
        """
        handle = self.current_stream(x) if stream is None else handle_of(stream)
        return _core.view_on_stream(x, name, handle, ordered=False)

    def empty(self, x: Any, source: _core.TensorView, shape: tuple[int, ...]) -> Any:
        """Allocate memory for a result of the dtype, device and stream of `x`, seen as `source`."""
        if not hasattr(x, "__array_namespace__"):
            raise TypeError(
                f"cannot allocate a result for x of type {type(x).__module__}."
                f"{type(x).__qualname__}, which has no __array_namespace__; pass a writable array "
                "as out="
            )
        return x.__array_namespace__().empty(shape, dtype=x.dtype, device=x.device)

    def deliver(self, x: Any, source: _core.TensorView, buffer: Any) -> Any:
        """Turn what `empty` allocated, now written to, into the result for the caller."""
        return buffer

    def run_into_new(
        self, plan: _core.CpuPlan | _core.CudaPlan, x: Any, source: _core.TensorView
    ) -> Any:
        """Carry `plan` out on `x`, seen as `source`, into a new array of this library."""
        buffer = self.empty(x, source, plan.out_shape)
        if source.on_host:
            target = _core.view(buffer, "out")
        else:
            target = self.view(buffer, "out", source.stream)
        plan.run(source, target)
        return self.deliver(x, source, buffer)
