"""What planning for a layout, planning for an array and predicting share."""

from collections.abc import Mapping
from typing import Any

from ttlg import _core, _models
from ttlg._arguments.devices import refuse_on_gpu
from ttlg._arguments.layouts import read_byte_strides, read_extents
from ttlg._libraries.dlpack import inplace_plan_for
from ttlg._plan.cpu import LearningPlan
from ttlg._plan.given import check_given, choices_before, with_parameters
from ttlg._plan.json import AnyPlan
from ttlg._plan.plan import Plan
from ttlg._typing import Axes, Device, Integers


def core_plan(
    shape: Integers,
    axes: Axes | None,
    itemsize: int,
    *,
    strides: Integers | None,
    element_strides: Integers | None,
    device: Device,
    inplace: bool,
    threads: int | None,
    kernel: str | None = None,
    tune: str = "model",
    workspace: int | None = None,
    element_map: _core.ElementMap | None = None,
) -> AnyPlan:
    """Make what `plan` wraps, from the same arguments, or find it in the planner cache.

    Calls on the CPU that convert elements have an `element_map`.
    """
    model = _models.model_for(device)
    machine = model if isinstance(model, _core.CpuMachine) else None
    model = model if isinstance(model, _core.DeviceModel) else None
    extents = read_extents(shape)
    order = _core.normalize_axes(axes, extents)
    measures = tune == "measure"
    if model is not None:
        refuse_on_gpu(device, threads=threads)
    check_tune(tune, inplace, None if model is None else device)
    if machine is not None and tune != "model":
        raise ValueError(f"tune={tune!r} is for the time model in use: leave tune= or device= out")
    number = _models.device_number(device, "tune='measure'") if model and measures else 0
    core: AnyPlan
    try:
        byte_strides = read_byte_strides(extents, itemsize, strides, element_strides)
        if model is None and not inplace:
            request = _core.request_into_new_ndarray(
                extents, byte_strides, itemsize, order, element_map
            )
        else:
            request = _core.Request(extents, byte_strides, itemsize, order, inplace=inplace)
        if inplace and model is not None:
            core = _core.cached_cuda_inplace_plan(request, workspace, model, kernel)
        elif inplace:
            core = _core.cached_cpu_inplace_plan(request, threads, workspace, kernel, machine)
        elif model is not None:
            core = _core.cached_cuda_plan(request, model, kernel)
        else:
            core = _core.cached_cpu_plan(request, threads, kernel, machine)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {extents} by axes {order}: {error}") from None
    if not measures:
        return core
    if isinstance(core, _core.CudaPlan):
        return measure_on_gpu(core, number, kernel)
    if isinstance(core, _core.CudaInplacePlan):
        return measure_inplace(core, number, workspace, kernel)
    return measure_on_cpu(core, threads, kernel) if isinstance(core, _core.CpuPlan) else core


def measure_on_cpu(core: _core.CpuPlan, threads: int | None, kernel: str | None) -> _core.CpuPlan:
    from ttlg._tune import tune  # takes a millisecond to import, and only who measures needs it

    return tune(core, _core.resolve_threads(threads), kernel)


def measure_on_gpu(core: _core.CudaPlan, device: int, kernel: str | None) -> _core.CudaPlan:
    from ttlg._tune_cuda import tune_cuda

    return tune_cuda(core, device, kernel)


def measure_inplace(
    core: _core.CudaInplacePlan, device: int, workspace: int | None, kernel: str | None
) -> _core.CudaInplacePlan:
    from ttlg._tune_cuda import tune_cuda_inplace

    return tune_cuda_inplace(core, device, workspace, kernel)


def check_tune(tune: str, inplace: bool, gpu: Device | None) -> None:
    """Refuse what no device has; `gpu` is None for the CPU."""
    if gpu is not None and tune == "learn":
        raise ValueError(
            f"tune='learn' is for device 'cpu', not {gpu!r}: calls of ttlg.transpose learn there"
        )
    if gpu is None and inplace and tune == "measure":
        raise ValueError("plans in place are measured on GPUs alone: leave tune= or inplace= out")


def planned_inplace(
    view: _core.TensorView,
    axes: Axes | None,
    threads: int | None,
    workspace: int | None,
    kernel: str | None,
    parameters: Mapping[str, Any] | None,
) -> _core.CpuInplacePlan | _core.CudaInplacePlan:
    """Plan for an array where it lies, with parameters that a caller gives."""
    if not parameters:
        return inplace_plan_for(view, axes, threads, workspace, kernel)
    choices = choices_before(
        parameters,
        on_host=view.on_host,
        inplace=True,
        kernel=kernel,
        threads=threads,
        workspace=workspace,
    )
    return with_parameters(inplace_plan_for(view, axes, **choices), kernel, parameters)


def make_plan(core: AnyPlan, dtype: str, tune: str, parameters: Mapping[str, Any] | None) -> Plan:
    """Wrap a plan of the core."""
    if tune == "learn" and isinstance(core, _core.CpuPlan):
        return LearningPlan.of(core, dtype)
    return Plan(core, dtype, tuple(parameters or ()))


def check_choices(
    kernel: str | None, tune: str, inplace: bool, workspace: Any, parameters: Any
) -> None:
    if parameters is not None:
        check_given(parameters)
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name, not {kernel!r}")
    if tune not in ("model", "learn", "measure"):
        raise ValueError(f"unknown tune {tune!r}; choose one of 'model', 'learn', 'measure'")
    if inplace and tune == "learn":
        raise ValueError("calls in place do not learn: leave tune= or inplace= out")
    if kernel is not None and tune == "learn":
        raise ValueError("calls that learn try all kernels: leave tune= or kernel= out")
    if parameters and tune != "model":
        raise ValueError(
            f"tune={tune!r} chooses the parameters, which are given: leave tune= or parameters= out"
        )
    if workspace is not None and not inplace:
        raise ValueError("workspace= is for plans in place: pass inplace=True, or leave it out")
