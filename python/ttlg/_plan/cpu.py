"""Plans for the CPU."""

from typing import Any

from ttlg import _core
from ttlg._core import CpuPlan as CorePlan
from ttlg._core import TensorView
from ttlg._plan.candidates import Candidate
from ttlg._plan.plan import Plan


class CpuPlan(Plan[Candidate], core=CorePlan):
    """How one transposition is carried out on the CPU."""

    __slots__ = ()

    _compiled: CorePlan

    def _plan_core(self, x: TensorView, out: TensorView, kernel: str | None) -> CorePlan:
        return _core.cpu_plan_for(x, self.axes, out, self.threads, kernel)

    def _planned_kernel(self) -> str:
        return _core.cached_cpu_plan(self._compiled.request, self.threads, None).kernel

    def shuffle_program(self) -> dict[str, Any]:
        program = self._compiled.shuffle_program()
        return super().shuffle_program() if program is None else program

    def _explain(self) -> list[str]:
        from ttlg._plan.explain_cpu import explain  # what only people read

        return explain(self._compiled, self._dtype, self.candidates())

    def _predict(self, fresh: bool) -> tuple[float, float, float]:
        seconds = _core.planned_cpu_seconds(self._compiled, fresh)
        machine = self._compiled.machine
        model = _core.cpu_time_model() if machine is None else machine.model
        return seconds, seconds * model.low, seconds * model.high


class LearningPlan(CpuPlan):
    """A plan whose calls the planner learns from, as it does from those of `transpose`.

    What it tells of itself is true of its last call. It equals itself alone, and becomes a fixed
    plan in JSON and by pickling.
    """

    __slots__ = ()

    @classmethod
    def of(cls, core: CorePlan, dtype: str) -> "LearningPlan":
        """Make one that begins with a plan of the planner cache."""
        plan: LearningPlan = object.__new__(cls)
        plan._compiled, plan._dtype, plan._given = core, dtype, ()
        return plan

    def __call__(self, x: Any, out: Any = None, stream: Any = None) -> Any:
        core = self._compiled
        self._compiled = _core.cached_cpu_plan(core.request, core.thread_limit, None)
        return super().__call__(x, out, stream)

    def _call(self, core: CorePlan) -> _core.CpuCall:
        return _core.CpuCall(core)

    def _core_for(self, x: TensorView, out: TensorView) -> CorePlan:
        return _core.cpu_plan_for(x, self.axes, out, self._compiled.thread_limit)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)
