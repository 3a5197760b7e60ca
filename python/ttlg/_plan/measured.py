"""What `Plan.explain` says of measured times."""

from collections.abc import Callable, Sequence
from typing import Any

from ttlg import _core
from ttlg._plan.candidates import Candidate, CudaCandidate, gain
from ttlg._plan.text import microseconds

# Measured times that a reader gets to see.
_TIMES = 5


def describe_measured(
    core: _core.CpuPlan | _core.CudaPlan | _core.CudaInplacePlan,
    candidates: Sequence[Candidate | CudaCandidate],
    describe_choice: Callable[[str, dict[str, Any]], str],
) -> list[str]:
    """List the least times that were measured, the plan's first, and the gain.

    `describe_choice` names a kernel with its parameters.
    """
    trials = [] if isinstance(core, _core.CudaInplacePlan) else core.trials
    if not core.measured and not trials:
        return []
    planned = core.measured[0][:2] if core.measured else (core.kernel, core.parameters)
    timed = [each for each in candidates if each.measured_seconds is not None]
    shown = timed[:_TIMES] + [each for each in timed[_TIMES:] if each[:2] == planned]
    so_far = " by calls so far" if trials else ""
    lines = [f"measured{so_far}, the fastest of {len(timed)}:"]
    for row, each in enumerate(shown):
        note = " (the planner's choice)" if each[:2] == planned else ""
        time = microseconds(each.measured_seconds or 0)
        way = describe_choice(each.kernel, each.parameters)
        lines.append(f"{'' if row else '->':4}{time:>21}  {way}{note}")
    if planned != (core.kernel, core.parameters):
        lines.append(f"gain over the planner's choice: {gain(core):.2f} times the speed")
    return lines
