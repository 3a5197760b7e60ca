"""What planning for a layout, planning for an array and predicting share."""

from typing import Any

from ttlg import _core, _models
from ttlg._arguments.devices import refuse_on_gpu
from ttlg._arguments.layouts import read_byte_strides, read_extents
from ttlg._plan.cpu import LearningPlan
from ttlg._plan.json import AnyPlan
from ttlg._plan.plan import Plan
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
        refuse_on_gpu(device, threads=threads, tune=None if tune == "model" else tune)
    try:
        byte_strides = read_byte_strides(extents, itemsize, strides, element_strides)
        if inplace and model is not None:
            return _core.cached_cuda_inplace_plan(
                extents, byte_strides, itemsize, order, workspace, model, kernel
            )
        if inplace:
            return _core.cached_cpu_inplace_plan(
                extents, byte_strides, itemsize, order, threads, workspace, kernel
            )
        if model is not None:
            request = _core.Request(extents, byte_strides, itemsize, order)
            return _core.cached_cuda_plan(request, model, kernel)
        request = _core.request_into_new_ndarray(extents, byte_strides, itemsize, order)
        core = _core.cached_cpu_plan(request, threads, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {extents} by axes {order}: {error}") from None
    return measured(core, threads, kernel) if tune == "measure" else core


def measured(core: _core.CpuPlan, threads: int | None, kernel: str | None) -> _core.CpuPlan:
    from ttlg._tune import tune  # takes a millisecond to import, and only who measures needs it

    return tune(core, _core.resolve_threads(threads), kernel)


def make_plan(core: AnyPlan, dtype: str, tune: str) -> Plan:
    """Wrap a plan of the core."""
    if tune == "learn" and isinstance(core, _core.CpuPlan):
        return LearningPlan.of(core, dtype)
    return Plan(core, dtype)


def check_choices(kernel: str | None, tune: str, inplace: bool, workspace: Any) -> None:
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name, not {kernel!r}")
    if tune not in ("model", "learn", "measure"):
        raise ValueError(f"unknown tune {tune!r}; choose one of 'model', 'learn', 'measure'")
    if inplace and tune != "model":
        raise ValueError("plans in place are not measured: leave tune= or inplace= out")
    if kernel is not None and tune == "learn":
        raise ValueError("calls that learn try all kernels: leave tune= or kernel= out")
    if workspace is not None and not inplace:
        raise ValueError("workspace= is for plans in place: pass inplace=True, or leave it out")
