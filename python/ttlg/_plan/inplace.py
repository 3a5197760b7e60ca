"""Plans for transposition in place."""

from typing import Any

from ttlg._arguments.words import count_of
from ttlg._core import CpuInplacePlan as CpuCore
from ttlg._core import CudaInplacePlan as CudaCore
from ttlg._libraries import library_of
from ttlg._plan.candidates import Candidate
from ttlg._plan.plan import Plan


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

    def _explain(self) -> list[str]:
        from ttlg._plan.explain_inplace import explain  # what only people read

        return explain(self._compiled, self._dtype, self.candidates())

    def __repr__(self) -> str:
        where = f"threads={self.threads}" if self.threads else f"device={self.device!r}"
        return (
            f"<ttlg.Plan {self.dtype} {self.shape} axes={self.axes} strides={self.strides} "
            f"inplace kernel={self.kernel!r} {where} workspace_bytes={self.workspace_bytes}>"
        )

    def _facts(self) -> dict[str, object]:
        from ttlg._plan.explain_inplace import steps_of
        from ttlg._plan.text import machine_of

        shared = super()._facts()
        return {
            "transpose": shared["transpose"],
            "strides": f"{shared['strides']}, in place",
            "fused": shared["fused"],
            **machine_of(self._compiled),
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


class CudaInplacePlan(InplacePlan, core=CudaCore):
    """A plan in place on a GPU."""

    __slots__ = ()
