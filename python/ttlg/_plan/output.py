"""Where a plan writes, and which one runs for an output of other strides."""

from ttlg import _core

LINE_BYTES = 64  # of the caches

CorePlan = _core.CpuPlan | _core.CudaPlan


def out_byte_strides(core: _core.PlanBase) -> tuple[int, ...]:
    """Return the strides of the output in bytes."""
    return core.out_byte_strides or _core.contiguous_byte_strides(core.out_shape, core.itemsize)


def request_of(core: CorePlan) -> _core.Request:
    """Return what a plan was made for."""
    return _core.Request(
        core.shape,
        core.byte_strides,
        core.itemsize,
        core.axes,
        core.out_byte_strides,
        out_alignment=core.out_alignment,
    )


def plan_for_output(core: CorePlan, x: _core.TensorView, out: _core.TensorView) -> CorePlan:
    """Return the plan that moves `x` into `out`, whose strides `core` was not made for.

    It uses as many threads, and the kernel of `core` if the planner would not have taken that, so
    that it was forced or measured, and it can write to `out`.
    """
    planned = _planned_for(core, x, out, None)
    if planned.kernel == core.kernel or not _is_forced(core):
        return planned
    try:
        return _planned_for(core, x, out, core.kernel)
    except ValueError:  # this kernel cannot write there
        return planned


def _planned_for(
    core: CorePlan, x: _core.TensorView, out: _core.TensorView, kernel: str | None
) -> CorePlan:
    if isinstance(core, _core.CudaPlan):
        return _core.cuda_plan_for(x, core.axes, out, core.model, kernel)
    return _core.cpu_plan_for(x, core.axes, out, core.parameters["threads"], kernel)


def _is_forced(core: CorePlan) -> bool:
    """Whether the planner would take another kernel for the request of this plan."""
    request = request_of(core)
    free = (
        _core.cached_cuda_plan(request, core.model, None)
        if isinstance(core, _core.CudaPlan)
        else _core.cached_cpu_plan(request, core.parameters["threads"], None)
    )
    return free.kernel != core.kernel
