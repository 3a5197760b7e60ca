"""What holds for any array library with DLPack, and what the others override."""

import operator
import sys
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar

from ttlg import _core, _models
from ttlg._arguments.devices import refuse_on_gpu
from ttlg._libraries.advice import refuse_if_no_array, type_name
from ttlg._libraries.fields import FieldsCall, refuse_shared_padding
from ttlg._typing import Axes

# CUDA's default stream in DLPack's numbering, which CUDA itself takes as a handle. Libraries give
# that stream the handle 0, which DLPack forbids because it might mean the per-thread one.
DEFAULT_STREAM = 1


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


def known_extents(shape: Iterable[Any]) -> list[int]:
    """Return the extents of a traced array, with -1 for symbols, whose values only errors quote."""
    return [extent if isinstance(extent, int) else -1 for extent in shape]


def call_for(
    x: _core.TensorView,
    axes: Axes | None,
    out: _core.TensorView | None,
    threads: int | None,
) -> _core.CpuCall | _core.CudaCall:
    """Take what moves `x` into `out`, or into a new array, from the planner cache.

    An `out` that cannot take the result is refused.
    """
    if x.on_host:
        return _core.cpu_call_for(x, axes, out, threads)
    return _core.cuda_call_for(x, axes, out, _models.model_of(x.device))


def call_into(
    x: _core.TensorView, axes: Axes | None, out: _core.TensorView, threads: int | None
) -> _core.CpuCall | _core.CudaCall | FieldsCall:
    """Do the same for an array of the caller, of which no more than its fields are written."""
    runs = _core.fields_to_write(out)
    if runs is None:
        return call_for(x, axes, out, threads)
    return FieldsCall(x, axes, out, runs, threads)


def inplace_plan_for(
    view: _core.TensorView,
    axes: Axes | None,
    threads: int | None = None,
    workspace: int | None = None,
    kernel: str | None = None,
) -> _core.CpuInplacePlan | _core.CudaInplacePlan:
    """Take the plan for an array where it lies from the planner cache."""
    if view.on_host:
        return _core.cpu_inplace_plan_for(view, axes, threads, workspace, kernel)
    model = _models.model_of(view.device)
    return _core.cuda_inplace_plan_for(view, axes, workspace, model, kernel)


class Library:
    """A library that ttlg knows through DLPack and the array API standard alone."""

    array_class: ClassVar[tuple[str, str]]  # of libraries that ttlg knows: module and name

    def owns(self, x: Any) -> bool:
        """Whether `x` is an array of this library, which is imported then."""
        module, name = self.array_class
        return isinstance(x, getattr(sys.modules.get(module), name, ()))

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
        refuse_if_no_array(x, name)
        handle = self.current_stream(x) if stream is None else handle_of(stream)
        return _core.view_on_stream(x, name, handle, ordered=False)

    def view_input(self, x: Any, stream: Any, name: str = "x") -> _core.TensorView:
        """Look at an array that is to be transposed; refuse a stream where there is none."""
        source = self.view(x, name, stream)
        if stream is not None and source.on_host:
            raise ValueError(
                f"stream= is for arrays on a CUDA device; {name} is in host memory: leave it out"
            )
        return source

    def view_output(
        self, out: Any, x: _core.TensorView, stream: Any, name: str = "out"
    ) -> _core.TensorView:
        """Look at an array that is to take the result for `x`.

        What this library does with it next is ordered too, unless the caller has named a `stream`.
        """
        target = self.view(out, name, None if x.on_host else x.stream)
        if target.unversioned and type(self) is Library:
            raise BufferError(
                f"{name} of type {type_name(out)} and shape {target.shape} comes by DLPack without "
                "a version, which does not say whether it may be written to, so it counts as "
                "read-only, as for numpy.from_dlpack; pass an array of NumPy, PyTorch or CuPy that "
                "shares its memory, or export version 1 of DLPack"
            )
        if stream is None and not target.on_host:
            target.set_owner_stream(self.current_stream(out))
        return target

    def view_inplace(self, x: Any, stream: Any = None) -> _core.TensorView:
        """Look at an array that is to be transposed where it lies."""
        if type(self).reshaped is Library.reshaped:
            refuse_if_no_array(x, "x")
            raise TypeError(
                f"x of type {type_name(x)} cannot be transposed in "
                "place; pass an array of NumPy, PyTorch or CuPy that shares its memory, or call "
                "ttlg.transpose(x, axes), which returns a new array"
            )
        return self.view_input(x, stream)

    def inplace_operator(self, stream: Any) -> Any:
        """Return what transposes in place where a compiler traces the call, else None."""

    def transform_operator(self, x: Any, stream: Any) -> Callable[..., Any] | None:
        """Return what transforms `x` where its library differentiates or traces it, else None.

        It takes `x` and the axes, and by name ``dtype``, ``scale``, ``offset``, ``conj``, ``axis``,
        ``saturate`` and ``threads``, as `ttlg.transform` does, and returns a new array.
        """
        return None

    def workspace(self, x: Any, source: _core.TensorView, size: int) -> _core.TensorView:
        """Allocate `size` bytes on the device of `x`, for the stream that `source` is ordered on.

        The view keeps them.
        """
        raise NotImplementedError  # where view_inplace refuses

    def has_order(self, x: Any, order: str) -> bool:
        """Whether the elements of `x` lie next to one another in C or Fortran order."""
        view = self.view(x, "x")
        step = view.itemsize
        axes = zip(view.shape, view.byte_strides, strict=True)
        for extent, stride in list(axes)[:: -1 if order == "C" else 1]:
            if extent > 1 and stride != step:
                return 0 in view.shape
            step *= extent
        return True

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """View `x` in a shape that its own broadcasts to."""
        refuse_if_no_array(x, "src")
        if not hasattr(x, "__array_namespace__"):
            raise TypeError(
                f"cannot broadcast src of type {type_name(x)} of shape "
                f"{tuple(x.shape)}, which has no __array_namespace__, to shape {tuple(shape)}; "
                "pass an array of that shape"
            )
        return x.__array_namespace__().broadcast_to(x, shape)

    def stack(self, arrays: list[Any]) -> Any:
        """Copy arrays of this library one after another along a new first axis."""
        return arrays[0].__array_namespace__().stack(arrays)

    def names(self, x: Any) -> tuple[Hashable, ...]:
        """Return the names of the axes of `x`, if they have any."""
        return ()

    def flip(self, x: Any, axes: list[int]) -> Any:
        """Reverse the order along `axes`, in a view where the library has one."""
        return self._namespace(x).flip(x, axis=tuple(axes))

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        """Permute the axes, in a view where the library has one."""
        return self._namespace(x).permute_dims(x, axes)

    def _namespace(self, x: Any) -> Any:
        refuse_if_no_array(x, "x")
        if not hasattr(x, "__array_namespace__"):
            raise TypeError(
                f"x of type {type_name(x)} has no __array_namespace__, whose functions view it in "
                "another order; pass an array of NumPy, PyTorch, JAX or CuPy that shares its memory"
            )
        return x.__array_namespace__()

    def reshaped(self, x: Any, shape: tuple[int, ...], fortran: bool) -> Any:
        """View the memory of `x`, which has no gaps, in another shape, in C or Fortran order."""
        raise TypeError(
            f"x of type {type_name(x)} has no order of its axes in "
            "memory to choose; pass an array of NumPy, PyTorch or CuPy"
        )

    def viewed(self, x: Any, dtype: str) -> Any:
        """View the memory of `x`, an array that may change, as elements of another dtype."""
        raise TypeError(
            f"x of type {type_name(x)} has no view of another dtype; pass an array of NumPy or PyTorch"
        )

    def after_write(self, out: Any) -> None:
        """Learn that `out`, an array of this library, has been written to."""

    def empty(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: str | None = None
    ) -> Any:
        """Allocate memory for a result of the device and stream of `x`, seen as `source`.

        `dtype` is the name of its dtype, by default that of `x`.
        """
        if not hasattr(x, "__array_namespace__"):
            raise TypeError(
                f"cannot allocate a result for x of type {type_name(x)}, which has no "
                "__array_namespace__; pass a writable array as out="
            )
        namespace = x.__array_namespace__()
        kind = x.dtype if dtype is None else getattr(namespace, dtype)
        return namespace.empty(shape, dtype=kind, device=x.device)

    def wrap_result(self, x: Any, source: _core.TensorView, buffer: Any) -> Any:
        """Turn what `empty` allocated, now written to, into the result for the caller."""
        return buffer

    def threads_for(self, x: _core.TensorView, threads: int | None) -> int | None:
        """Return the most threads that a call on `x` may use; None where ttlg's settings decide.

        A number is refused for an array on a GPU.
        """
        if threads is not None and not x.on_host:
            refuse_on_gpu(x.device, threads=threads)
        return threads

    def move_to_new(self, x: Any, axes: Axes | None, stream: Any, threads: int | None) -> Any:
        """Transpose `x` into a new array of this library."""
        source = self.view_input(x, stream)
        most = self.threads_for(source, threads)
        return self.run_into_new(call_for(source, axes, None, most), x, source)

    def move_into(
        self,
        x: Any,
        axes: Axes | None,
        out: Any,
        out_library: "Library",
        stream: Any,
        threads: int | None,
        names: tuple[str, str] = ("x", "out"),
    ) -> None:
        """Transpose `x` into `out`, an array of `out_library`, ordered on the streams of both.

        `names` are what messages call the two.
        """
        source = self.view_input(x, stream, names[0])
        target = out_library.view_output(out, source, stream, names[1])
        most = self.threads_for(source, threads)
        out_library.run_into(call_into(source, axes, target, most), out, source, target)

    def run_into(self, plan: Any, out: Any, *views: _core.TensorView | None) -> None:
        """Carry `plan` out on the views of its arrays, which writes to `out` of this library."""
        try:
            plan.run(*views)
        except KeyboardInterrupt:  # which comes when the elements have moved
            self.after_write(out)
            raise
        self.after_write(out)

    def run_into_new(
        self,
        plan: _core.CpuPlan | _core.CpuCall | _core.CudaPlan | _core.CudaCall | _core.CpuTransform,
        x: Any,
        source: _core.TensorView,
        dtype: str | None = None,
    ) -> Any:
        """Carry `plan` out on `x`, seen as `source`, into a new array of this library.

        `dtype` is the name of its dtype, by default that of `x`.
        """
        buffer = self.empty(x, source, plan.out_shape, dtype)
        if source.on_host:
            target = _core.view(buffer, "out")
            target.prepare_new_memory()
        else:
            target = self.view(buffer, "out", source.stream)
        plan.run(source, target)
        return self.wrap_result(x, source, buffer)

    def run_inplace(
        self, plan: _core.CpuInplacePlan | _core.CudaInplacePlan, x: Any, view: _core.TensorView
    ) -> Any:
        """Carry `plan` out on `x`, an array of this library, seen as `view`."""
        refuse_shared_padding(view)
        if view.on_host:
            self.run_into(plan, x, view)
        else:
            # Taken before the first element moves. The library reuses it after what is on this
            # stream.
            bytes_needed = plan.workspace_bytes
            workspace = self.workspace(x, view, bytes_needed) if bytes_needed else None
            self.run_into(plan, x, view, workspace)
        return self.reshaped(x, plan.out_shape, plan.out_byte_strides is not None)
