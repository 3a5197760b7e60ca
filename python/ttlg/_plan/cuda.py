"""Plans for GPUs."""

from typing import TYPE_CHECKING, Any

from ttlg import _core
from ttlg._core import CudaInplacePlan, TensorView
from ttlg._core import CudaPlan as CorePlan
from ttlg._plan.candidates import CudaCandidate, gain, list_cuda_candidates, own_first
from ttlg._plan.output import request_of
from ttlg._plan.plan import Plan
from ttlg._typing import CudaKernel

if TYPE_CHECKING:
    from ttlg._plan.text import Explanation


class OnGpu:
    """What plans for GPUs say of their device."""

    __slots__ = ()

    _compiled: CorePlan | CudaInplacePlan

    @property
    def device(self) -> str:
        return self._compiled.model.name

    @property
    def threads(self) -> None:
        return None

    def _device_record(self) -> dict[str, Any]:
        return self._compiled.model.to_dict()


class CudaPlan(OnGpu, Plan[CudaCandidate], core=CorePlan):
    """How one transposition is carried out on a GPU."""

    __slots__ = ()

    _compiled: CorePlan

    def _plan_core(self, x: TensorView, out: TensorView, kernel: str | None) -> CorePlan:
        return _core.cuda_plan_for(x, self.axes, out, self._compiled.model, kernel)

    def _planned_kernel(self) -> str:
        return _core.cached_cuda_plan(request_of(self._compiled), self._compiled.model, None).kernel

    @property
    def schema(self) -> CudaKernel:
        return self._compiled.kernel

    def candidates(self) -> list[CudaCandidate]:
        listed = list_cuda_candidates(self._compiled)
        own = CudaCandidate(
            self.schema, self.parameters, self._compiled.features, self.predicted_time
        )
        return own_first(listed, own) if self._given else listed

    @property
    def gain(self) -> float | None:
        return gain(self._compiled)

    def transactions(self) -> dict[str, int]:
        return self._compiled.transactions()

    def explain(self) -> "Explanation":
        from ttlg._plan.explain_cuda import explain  # what only people read
        from ttlg._plan.text import with_given

        return with_given(explain(self._compiled, self._dtype, self.candidates()), self._given)

    def _own_record(self) -> dict[str, Any]:
        measured = {"measured": self._compiled.measured} if self._compiled.measured else {}
        return {"alignment": self._compiled.pointer_alignment, **measured}

    def _device_mark(self) -> str:
        mark = "(uncalibrated) " if self._compiled.time_source.endswith("uncalibrated") else ""
        return f"device={self.device!r} {mark}"
