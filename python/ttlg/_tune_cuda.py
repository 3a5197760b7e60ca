"""Choosing a plan for a GPU by measurement: slices, bands, regions and thread blocks."""

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ttlg import _core
from ttlg._arguments.words import count_of
from ttlg._machine.cache_file import Entry
from ttlg._plan.json import Build, build_with_measured, builder_of, request_record
from ttlg._tune import choose, find_or_measure, least_seconds

# In slices, or in tiles in place; 0 is for no bands, which in place are other kernels.
_BANDS = (0, 1, 2, 4, 8, 16, 32, 64)
_WIDTHS = {"square_v1b": _BANDS[1:], "square_sg": (8, 16, 32, 64, 128, 256)}
_BLOCK_THREADS = (64, 128, 256, 512, 1024)

CudaT = TypeVar("CudaT", _core.CudaPlan, _core.CudaInplacePlan)


def tune_cuda(model: _core.CudaPlan, device: int, kernel: str | None) -> _core.CudaPlan:
    """Find the fastest plan for a request and keep it, as `ttlg._tune.tune` does on the CPU.

    The times are those of the device with this number.
    """
    if math.prod(model.shape) * model.itemsize == 0:
        return model
    build = builder_of(model)
    best = find_or_measure(
        _key(model, kernel, alignment=model.pointer_alignment),
        functools.partial(build_with_measured, build),
        lambda: _measure(model, build, device, kernel),
    )
    _core.cuda_cache_put(best, kernel)
    return best


def tune_cuda_inplace(
    model: _core.CudaInplacePlan, device: int, workspace: int | None, kernel: str | None
) -> _core.CudaInplacePlan:
    """Do the same for a plan in place, with at most `workspace` bytes besides the array."""
    if math.prod(model.shape) * model.itemsize == 0:
        return model
    build = builder_of(model)
    best = find_or_measure(
        _key(model, kernel, inplace=True, workspace=workspace),
        functools.partial(build_with_measured, build),
        lambda: _measure_inplace(model, build, device, kernel),
    )
    _core.cuda_inplace_cache_put(best, workspace, kernel)
    return best


def _key(
    model: _core.CudaPlan | _core.CudaInplacePlan, kernel: str | None, **more: object
) -> Entry:
    """Everything that decides which plan is the fastest, as JSON gives it back."""
    return {
        "ttlg": _core.__version__,
        "device": model.model.to_dict(),
        **request_record(model),
        "kernel": kernel,
        **more,
    }


def _measure(
    model: _core.CudaPlan, build: Build[_core.CudaPlan], device: int, kernel: str | None
) -> _core.CudaPlan:
    """Time the planner's candidates, and then bands of other widths for the fastest."""

    def in_other_bands(best: _core.CudaPlan) -> list[_core.CudaPlan]:
        if best.kernel != "orthogonal_distinct":
            return []
        own = best.parameters["band_width"]
        others = ({**best.parameters, "band_width": n} for n in _BANDS if n != own)
        return [build(best.kernel, parameters) for parameters in others]

    listed = []
    for name, parameters, *_ in model.candidates():
        if kernel in (None, name):
            with contextlib.suppress(ValueError):  # its grid would take too many launches
                listed.append(build(name, parameters))
    with _saying_what_it_takes(model, device):
        measurement = _core.CudaMeasurement(model, device)
    return choose(listed, [in_other_bands], lambda plans: _sample(measurement.seconds, plans))


def _measure_inplace(
    model: _core.CudaInplacePlan,
    build: Build[_core.CudaInplacePlan],
    device: int,
    kernel: str | None,
) -> _core.CudaInplacePlan:
    """Time the planner's candidates in bands and regions of all widths, and then thread blocks."""

    def with_other_threads(best: _core.CudaInplacePlan) -> list[_core.CudaInplacePlan]:
        return _changed(
            build, best, "threads", lambda step: _BLOCK_THREADS if step["threads"] else ()
        )

    def in_other_widths(plan: _core.CudaInplacePlan) -> list[_core.CudaInplacePlan]:
        return _changed(build, plan, "width", lambda step: _WIDTHS.get(step["kernel"], ()))

    # A forced kernel is that of every step.
    rows = [
        row for row in model.candidates() if kernel is None or {*row[0].split(" + ")} == {kernel}
    ]
    listed = [build(name, parameters) for name, parameters, *_ in rows] or [model]
    plans = [each for plan in listed for each in (plan, *in_other_widths(plan))]
    with _saying_what_it_takes(model, device):
        workspace = max(plan.workspace_bytes for plan in plans)
        measurement = _core.CudaMeasurement(model, workspace, device)
    return choose(
        plans, [with_other_threads], lambda plans: _sample(measurement.inplace_seconds, plans)
    )


def _changed(
    build: Build[_core.CudaInplacePlan],
    plan: _core.CudaInplacePlan,
    name: str,
    values_for: Callable[[dict[str, Any]], Iterable[int]],
) -> list[_core.CudaInplacePlan]:
    """List plans with other values of a parameter of one step, those that suit its matrices."""
    found = []
    steps = plan.parameters["steps"]
    for number, step in enumerate(steps):
        for value in values_for(step):
            if value == step[name]:
                continue
            other = (*steps[:number], {**step, name: value}, *steps[number + 1 :])
            with contextlib.suppress(ValueError):
                found.append(build(plan.kernel, {**plan.parameters, "steps": other}))
    return found


def _sample(seconds: Callable[[CudaT, int], float], plans: Sequence[CudaT]) -> list[float]:
    return least_seconds([functools.partial(seconds, plan) for plan in plans])


@contextlib.contextmanager
def _saying_what_it_takes(model: CudaT, device: int) -> Any:
    try:
        yield
    except MemoryError:
        arrays = "an array" if model.inplace else "an input and an output"
        raise MemoryError(
            f"measuring shape {model.shape} takes {arrays} of elements of {count_of(model.itemsize, 'byte')} "
            f"on cuda:{device}, which has no room for them; tune='model' takes none"
        ) from None
