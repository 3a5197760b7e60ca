"""CUDA streams: which one the work on an array is ordered on."""

import operator
import sys
from typing import Any

from ttlg import _core

# DLPack's number for CUDA's default stream, which CUDA itself takes as a handle. Libraries give
# that stream the handle 0, which DLPack forbids because it might mean the per-thread one.
_DEFAULT = 1


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
    return number or _DEFAULT


def stream_for(x: Any, stream: Any) -> int:
    """Return the handle of `stream`, or of the one that the library of `x` uses at this moment."""
    if stream is not None:
        return handle_of(stream)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return handle_of(cupy.cuda.get_current_stream(x.device.id))
    return _DEFAULT


def view_torch(x: Any, name: str, stream: Any) -> _core.TensorView:
    """Look at a CUDA tensor of PyTorch, whose own export orders on streams of one device only."""
    torch = sys.modules["torch"]
    current = torch.cuda.current_stream(x.device)
    own = handle_of(current)
    handle = own if stream is None else handle_of(stream)
    if handle != own:
        # PyTorch takes no handle that stands for the default stream.
        other = (
            torch.cuda.default_stream(x.device)
            if handle == _DEFAULT
            else torch.cuda.ExternalStream(handle, device=x.device)
        )
        other.wait_stream(current)
        # Lest the allocator give the memory away before the work on the other stream is done.
        x.record_stream(other)
    # PyTorch's export in Python refuses tensors of a device that is not the current one.
    with torch.cuda.device(x.device):
        return _core.view_on_stream(x, name, handle, ordered=True)
