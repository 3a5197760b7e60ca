"""What differs between array libraries: looking at an array, and allocating its like."""

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ttlg import _core, _models, _streams
from ttlg._config import resolve_threads

# JAX takes a buffer over without copying when it starts on a multiple of this.
_JAX_ALIGNMENT = 64
# Steps that NumPy may spend on deciding whether two strided arrays share an element.
_OVERLAP_WORK = 1_000_000


class Library(NamedTuple):
    """How a library allocates: `empty` makes a writable buffer, `deliver` turns it into a result.

    Both get the array and its view, from which the buffer takes dtype, device and stream.
    """

    empty: Callable[[Any, _core.TensorView, tuple[int, ...]], Any]
    deliver: Callable[[Any, _core.TensorView, Any], Any]


def _same(_x: Any, _source: _core.TensorView, buffer: Any) -> Any:
    return buffer


def _numpy_empty(x: Any, _source: _core.TensorView, shape: tuple[int, ...]) -> Any:
    # numpy.empty turns a dtype of no bytes, such as S0, into one of one byte.
    return np.empty(shape, x.dtype) if x.itemsize else np.ndarray(shape, x.dtype)


def _torch_empty(x: Any, _source: _core.TensorView, shape: tuple[int, ...]) -> Any:
    return sys.modules["torch"].empty(shape, dtype=x.dtype, device=x.device)


def _cupy_empty(x: Any, source: _core.TensorView, shape: tuple[int, ...]) -> Any:
    cupy = sys.modules["cupy"]
    with x.device:
        if _streams.stream_for(x, None) == source.stream:
            return cupy.empty(shape, x.dtype)
        # The pool gives memory away for work on the stream that it was allocated on.
        with cupy.cuda.ExternalStream(source.stream, x.device.id):
            return cupy.empty(shape, x.dtype)


def _jax_empty(x: Any, source: _core.TensorView, shape: tuple[int, ...]) -> Any:
    jax = sys.modules["jax"]
    dtype = np.dtype(x.dtype)
    if source.device != "cpu":
        # JAX has streams of its own, so nothing may be left to do on the buffer.
        with jax.enable_x64(True):
            return jax.numpy.empty(shape, dtype, device=x.device).block_until_ready()
    # JAX arrays are immutable, so the result is written before JAX sees it.
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + _JAX_ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _JAX_ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def _jax_deliver(x: Any, source: _core.TensorView, buffer: Any) -> Any:
    if source.device != "cpu":
        _core.synchronize(source)
        return buffer
    jax = sys.modules["jax"]
    # In JAX's 32-bit mode device_put would convert 64-bit elements, which x may have all the same.
    with jax.enable_x64(True):
        return jax.device_put(buffer, x.device, may_alias=True)


def _namespace_empty(x: Any, _source: _core.TensorView, shape: tuple[int, ...]) -> Any:
    return x.__array_namespace__().empty(shape, dtype=x.dtype, device=x.device)


_NUMPY = Library(_numpy_empty, _same)
_TORCH = Library(_torch_empty, _same)
_CUPY = Library(_cupy_empty, _same)
_JAX = Library(_jax_empty, _jax_deliver)
_NAMESPACE = Library(_namespace_empty, _same)


def _is(x: Any, module: str, name: str) -> bool:
    """Whether `x` is of a class of a module that the caller must have imported to make it."""
    loaded = sys.modules.get(module)
    cls = getattr(loaded, name, None)
    return cls is not None and isinstance(x, cls)


def library_of(x: Any) -> Library:
    """Find the library that allocates the result for `x`."""
    if isinstance(x, np.ndarray):
        return _NUMPY
    if _is(x, "torch", "Tensor"):
        return _TORCH
    if _is(x, "cupy", "ndarray"):
        return _CUPY
    if _is(x, "jax", "Array"):
        return _JAX
    if hasattr(x, "__array_namespace__"):
        return _NAMESPACE
    raise TypeError(
        f"cannot allocate a result for x of type {type(x).__module__}.{type(x).__qualname__}, "
        "which has no __array_namespace__; pass a writable array as out="
    )


def check_stream(x: _core.TensorView) -> None:
    """Refuse a stream for an array that needs none."""
    if x.device == "cpu":
        raise ValueError(
            "stream= is for arrays on a CUDA device; x is in host memory: leave it out"
        )


def plan_for(
    x: _core.TensorView,
    axes: tuple[int, ...],
    out: _core.TensorView | None,
    threads: int | None,
) -> _core.CpuPlan | _core.CudaPlan:
    """Take the plan for moving `x` into `out`, or into a new array, from the planner cache."""
    if x.stream == 0:  # on the host
        return _core.cpu_plan_for(x, axes, out, resolve_threads(threads))
    if threads is not None:
        raise ValueError(
            f"threads= is for arrays in host memory; x lives on {x.device}: leave it out"
        )
    return _core.cuda_plan_for(x, axes, out, _models.model_of(x.device))


def run_into_new(plan: _core.CpuPlan | _core.CudaPlan, x: Any, source: _core.TensorView) -> Any:
    """Carry `plan` out on `x`, seen as `source`, into a new array of its library."""
    library = library_of(x)
    buffer = library.empty(x, source, plan.out_shape)
    stream = source.stream  # 0 on the host
    plan.run(source, view(buffer, "out", stream) if stream else _core.view(buffer, "out"))
    return library.deliver(x, source, buffer)


def _refuse(name: str, what: str, method: str) -> NoReturn:
    mend = f"x{method}" if name == "x" else f"an {name} without that, such as a fresh tensor"
    raise BufferError(f"{name} {what}; pass {mend}")


def view(x: Any, name: str, stream: Any = None) -> _core.TensorView:
    """Look at `x` without copying, or say why that cannot be done and what to do about it.

    What lives on a CUDA device is ordered on `stream`, or on the stream of its library.
    """
    if type(x) is np.ndarray:
        return _core.view(x, name)
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost; transpose {name}.data and "
            f"{name}.mask, or pass {name}.filled()"
        )
    if _is(x, "torch", "Tensor"):
        if x.layout is not sys.modules["torch"].strided:
            _refuse(name, f"has the layout {x.layout}, not torch.strided", ".to_dense()")
        if x.requires_grad:
            _refuse(name, "requires grad, which a bitwise copy cannot carry", ".detach()")
        if x.is_conj():
            _refuse(name, "has its conjugate bit set", ".resolve_conj()")
        if x.is_neg():
            _refuse(name, "has its negative bit set", ".resolve_neg()")
        return _streams.view_torch(x, name, stream) if x.is_cuda else _core.view(x, name)
    if _is(x, "jax", "Array"):
        if _is(x, "jax.core", "Tracer"):
            raise TypeError(
                f"{name} is being traced by JAX and has no memory yet; call ttlg outside jax.jit, "
                "or use jax.numpy.transpose inside it"
            )
        if x.is_deleted():
            raise ValueError(f"{name} has been deleted or donated; pass an array that holds data")
        x.block_until_ready()
    return _core.view_on_stream(x, name, _streams.stream_for(x, stream), ordered=False)


class _ArrayInterface:
    """Lets NumPy see a view's bytes, whatever their dtype."""

    def __init__(self, tensor: _core.TensorView) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr, True),
            "shape": tensor.shape,
            "strides": tensor.byte_strides,
            "typestr": f"|V{tensor.itemsize}",
        }


def shares_memory(x: _core.TensorView, out: _core.TensorView) -> bool:
    """Whether the two views have a byte in common: exact, or True where that is too hard to say."""
    if not _core.may_share_memory(x, out):
        return False
    try:
        return np.shares_memory(
            np.asarray(_ArrayInterface(x)),
            np.asarray(_ArrayInterface(out)),
            max_work=_OVERLAP_WORK,  # type: ignore[arg-type]  # NumPy's stub knows -1 and 0 only
        )
    except np.exceptions.TooHardError:
        return True


def check_out(
    x: _core.TensorView, axes: tuple[int, ...], out: Any, target: _core.TensorView
) -> None:
    """Refuse an `out` that cannot take the result, before anything is written."""
    shape = tuple(x.shape[axis] for axis in axes)
    if target.device != x.device:
        raise BufferError(
            f"out lives on {target.device}, but x lives on {x.device}; pass out on {x.device}"
        )
    if target.shape != shape:
        raise ValueError(
            f"out has shape {target.shape}, but x of shape {x.shape} permuted by axes {axes} has "
            f"shape {shape}; pass out of shape {shape}"
        )
    if not _core.same_dtype(x, target):
        raise TypeError(
            f"out has dtype {target.dtype}, but x has {x.dtype}; ttlg moves bits and converts "
            f"nothing: pass out of dtype {x.dtype}"
        )
    if target.readonly or _is(out, "jax", "Array"):
        raise ValueError(f"out of shape {shape} is read-only; pass a writable array")
    if not _core.is_free_of_self_overlap(target):
        raise ValueError(
            f"out of shape {shape} and byte strides {target.byte_strides} may hold several "
            "elements at one place; pass an array whose elements are apart"
        )
    if shares_memory(x, target):
        raise ValueError(
            f"out of shape {shape} overlaps x of shape {x.shape}; pass an array of its own, or "
            "copy x first"
        )
