"""What planning for a layout, planning for an array and predicting share."""

from typing import Any

from ttlg import _core, _models
from ttlg._arguments.layouts import read_byte_strides, read_extents
from ttlg._plan.json import AnyPlan
from ttlg._typing import Axes, Integers


def core_plan(
    shape: Integers,
    axes: Axes | None,
    itemsize: int,
    *,
    strides: Integers | None,
    element_strides: Integers | None,
    device: str,
    inplace: bool,
    threads: int | None,
    kernel: str | None = None,
    tune: str = "model",
    workspace: int | None = None,
) -> AnyPlan:
    """Make what `plan` wraps, from the same arguments, or find it in the planner cache."""
    model = _models.model_for(device)
    extents = read_extents(shape)
    order = _core.normalize_axes(axes, extents)
    if model is not None:
        refuse_on_gpu(device, threads, tune)
    count = _core.resolve_threads(threads)
    try:
        byte_strides = read_byte_strides(extents, itemsize, strides, element_strides)
        if inplace and model is not None:
            return _core.cached_cuda_inplace_plan(
                extents, byte_strides, itemsize, order, workspace, model, kernel
            )
        if inplace:
            return _core.cached_cpu_inplace_plan(
                extents, byte_strides, itemsize, order, count, workspace, kernel
            )
        alignment = 1 if model is not None else _core.new_ndarray_alignment(extents, itemsize)
        request = _core.Request(extents, byte_strides, itemsize, order, None, False, alignment)
        if model is not None:
            return _core.cached_cuda_plan(request, model, kernel)
        core = _core.cached_cpu_plan(request, count, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {extents} by axes {order}: {error}") from None
    return core if tune == "model" else measured(core, count, kernel)


def measured(core: _core.CpuPlan, threads: int, kernel: str | None) -> _core.CpuPlan:
    from ttlg._tune import tune  # takes a millisecond to import, and only who measures needs it

    return tune(core, threads, kernel)


def check_choices(kernel: str | None, tune: str, inplace: bool, workspace: Any) -> None:
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name, not {kernel!r}")
    if tune not in ("model", "measure"):
        raise ValueError(f"unknown tune {tune!r}; choose one of 'model', 'measure'")
    if inplace and tune == "measure":
        raise ValueError("plans in place are not measured: leave tune= or inplace= out")
    if workspace is not None and not inplace:
        raise ValueError("workspace= is for plans in place: pass inplace=True, or leave it out")


def refuse_on_gpu(device: str, threads: int | None, tune: str) -> None:
    if threads is not None or tune != "model":
        raise ValueError(f"threads= and tune= are for device 'cpu', not {device!r}: leave them out")
