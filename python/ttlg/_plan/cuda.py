"""Plans for GPUs."""

from ttlg import _core
from ttlg._core import CudaPlan as CorePlan
from ttlg._core import TensorView
from ttlg._plan.candidates import CudaCandidate
from ttlg._plan.plan import Plan
from ttlg._typing import CudaKernel


class CudaPlan(Plan[CudaCandidate], core=CorePlan):
    """How one transposition is carried out on a GPU."""

    __slots__ = ()

    _compiled: CorePlan

    def _plan_core(self, x: TensorView, out: TensorView, kernel: str | None) -> CorePlan:
        return _core.cuda_plan_for(x, self.axes, out, self._compiled.model, kernel)

    def _planned_kernel(self) -> str:
        return _core.cached_cuda_plan(self._compiled.request, self._compiled.model, None).kernel

    @property
    def schema(self) -> CudaKernel:
        return self._compiled.kernel

    def transactions(self) -> dict[str, int]:
        return self._compiled.transactions()

    def _explain(self) -> list[str]:
        from ttlg._plan.explain_cuda import explain  # what only people read

        return explain(self._compiled, self._dtype, self.candidates())
