"""What the texts about plans share."""

from collections.abc import Callable, Sequence
from typing import Any

from ttlg import _core
from ttlg._plan.candidates import Candidate, CudaCandidate, gain
from ttlg._plan.json import AnyPlan

# Measured times that a reader gets to see.
_TIMES = 5


class Explanation(str):
    """Text that shows itself, in lines, where Python echoes a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def describe_problem(core: _core.PlanBase, dtype: str, width: int) -> list[str]:
    """Say what is asked for and what fusing leaves of it; labels take `width` characters."""
    fused = " x ".join(map(str, core.extents)) or "1"
    perm = " ".join(map(str, core.perm)) or "none"
    for verb, modes in (("read", core.read_backwards), ("written", core.written_backwards)):
        if modes:
            perm += f", {' '.join(map(str, modes))} {verb} backwards"
    return [
        f"transpose {dtype} {core.shape} by axes {core.axes} -> {core.out_shape}",
        f"  {'strides':{width}}{core.byte_strides} -> {core.out_strides} bytes",
        f"  {'fused':{width}}extents {fused}, perm {perm} (fastest mode first)",
    ]


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} microseconds"


def name_model(core: _core.CudaPlan | _core.CudaInplacePlan) -> str:
    """Name a GPU, and say what its predicted times follow from and whether hardware has fitted that."""
    doubt = ": no hardware has fitted them" if core.time_source.endswith("uncalibrated") else ""
    return f"{core.model.name} by {core.time_source}{doubt}"


def machine_of(core: AnyPlan) -> dict[str, object]:
    """Name what carries a plan in place out."""
    if isinstance(core, _core.CudaInplacePlan):
        return {"device": name_model(core)}
    return {"threads": core.parameters["threads"]}


def name_plan(core: AnyPlan, dtype: str) -> str:
    """Say in a line what a plan is for and what was chosen; strides where they are not C's."""
    chosen = ", ".join(f"{name}={value}" for name, value in core.parameters.items())
    more = ""
    if core.byte_strides != _core.contiguous_byte_strides(core.shape, core.itemsize):
        more += f"strides={core.byte_strides} "
    if core.out_strides != _core.contiguous_byte_strides(core.out_shape, core.itemsize):
        more += f"out_strides={core.out_strides} "
    if isinstance(core, _core.CudaPlan):
        mark = "(uncalibrated) " if core.time_source.endswith("uncalibrated") else ""
        more += f"device={core.model.name!r} {mark}"
    return f"{dtype} {core.shape} axes={core.axes} {more}kernel={core.kernel!r} {chosen}"


def describe_measured(
    core: AnyPlan,
    candidates: Sequence[Candidate | CudaCandidate],
    describe_choice: Callable[[str, dict[str, Any]], str],
) -> list[str]:
    """List the least times that were measured, the plan's first, and the gain.

    `describe_choice` names a kernel with its parameters.
    """
    trials = core.trials
    if not core.measured and not trials:
        return []
    own = core.kernel, core.parameters
    planned = core.measured[0][:2] if core.measured else own
    timed = [each for each in candidates if each.measured_seconds is not None]
    shown = timed[:_TIMES] + [each for each in timed[_TIMES:] if each[:2] == planned]
    so_far = " by calls so far" if trials else ""
    lines = [f"measured{so_far}, the fastest of {len(timed)}:"]
    for row, each in enumerate(shown):
        note = " (the planner's choice)" if each[:2] == planned else ""
        time = microseconds(each.measured_seconds or 0)
        way = describe_choice(each.kernel, each.parameters)
        lines.append(f"{'' if row else '->':4}{time:>21}  {way}{note}")
    if planned != own:
        lines.append(f"gain over the planner's choice: {gain(core):.2f} times the speed")
    return lines
