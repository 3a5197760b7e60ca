"""Plans for transposition in place."""

from typing import TYPE_CHECKING, Any

from ttlg._arguments.words import count_of
from ttlg._core import CpuInplacePlan as CpuCore
from ttlg._core import CudaInplacePlan as CudaCore
from ttlg._libraries import library_of
from ttlg._plan.candidates import Candidate, gain, list_inplace_candidates, own_first
from ttlg._plan.cuda import OnGpu
from ttlg._plan.json import model_record
from ttlg._plan.plan import Plan

if TYPE_CHECKING:
    from ttlg._plan.text import Explanation


class InplacePlan(Plan[Candidate]):
    """How one transposition is carried out in the memory of its input."""

    __slots__ = ()

    _compiled: CpuCore | CudaCore

    def __call__(self, x: Any, out: Any = None, stream: Any = None) -> Any:
        """Transpose `x`, a writable array of the planned shape and layout, in its own memory.

        `x` and `stream` are as for `transpose_inplace`, and so are what is returned and raised, but
        for a ValueError if `x` is not of the planned layout. There is nothing but `x` to write to,
        so `out` must be None.
        """
        if out is not None:
            raise ValueError(
                "this plan works in the memory of x: leave out= out, or make another with "
                "inplace=False"
            )
        library = library_of(x)
        view = library.view_inplace(x, stream)
        self._check_device(view)
        return library.run_inplace(self._compiled, x, view)

    @property
    def workspace_bytes(self) -> int:
        """The bytes that a call takes for itself besides the array."""
        return self._compiled.workspace_bytes

    def candidates(self) -> list[Candidate]:
        """List other ways for this transposition, threads and workspace, the fastest first.

        Every first step by every kernel that can carry it out, with the fastest steps that follow.
        Where the plan was measured, its own way comes first, and then all that took part; and its
        own way comes first where parameters were given.
        """
        listed = list_inplace_candidates(self._compiled)
        own: Any = (self.kernel, self.parameters, self.predicted_time)
        return own_first(listed, Candidate(*own)) if self._given else listed

    def explain(self) -> "Explanation":
        """Say in which steps the array is transposed and why; as `Plan.explain`."""
        from ttlg._plan.explain_inplace import explain  # what only people read
        from ttlg._plan.text import with_given

        return with_given(explain(self._compiled, self._dtype, self._machine()), self._given)

    def _machine(self) -> dict[str, object]:
        """Name what carries the plan out."""
        return {"threads": self.threads}

    def __repr__(self) -> str:
        where = f"threads={self.threads}" if self.threads else f"device={self.device!r}"
        return (
            f"<ttlg.Plan {self.dtype} {self.shape} axes={self.axes} strides={self.strides} "
            f"inplace kernel={self.kernel!r} {where} workspace_bytes={self.workspace_bytes}>"
        )

    def _facts(self) -> dict[str, object]:
        from ttlg._plan.explain_inplace import steps_of

        shared = super()._facts()
        return {
            "transpose": shared["transpose"],
            "strides": f"{shared['strides']}, in place",
            "fused": shared["fused"],
            **self._machine(),
            "workspace": count_of(self.workspace_bytes, "byte"),
            **{f"step {number}": step for number, step in enumerate(steps_of(self._compiled), 1)},
        }

    def _rows(self) -> list[Candidate]:
        from ttlg._plan.explain_inplace import describe_steps

        return [
            each._replace(parameters={"steps": describe_steps(each.parameters)})
            for each in self.candidates()
        ]


class CpuInplacePlan(InplacePlan, core=CpuCore):
    """A plan in place on the CPU."""

    __slots__ = ()

    _compiled: CpuCore

    def _own_record(self) -> dict[str, Any]:
        return model_record(self._compiled)


class CudaInplacePlan(OnGpu, InplacePlan, core=CudaCore):
    """A plan in place on a GPU."""

    __slots__ = ()

    _compiled: CudaCore

    @property
    def gain(self) -> float | None:
        return gain(self._compiled)

    def _own_record(self) -> dict[str, Any]:
        return {"measured": self._compiled.measured} if self._compiled.measured else {}

    def _machine(self) -> dict[str, object]:
        from ttlg._plan.text import name_model

        return {"device": name_model(self._compiled)}
