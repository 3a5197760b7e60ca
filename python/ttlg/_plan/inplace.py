"""Plans for transposition in place, and what they say about themselves."""

from collections.abc import Iterator
from typing import Any

from ttlg._core import CudaInplacePlan as CudaCorePlan
from ttlg._core import InplacePlan as CorePlan
from ttlg._libraries import library_of
from ttlg._plan.candidates import Candidate
from ttlg._plan.explain import Explanation, count_of, describe_problem, microseconds, name_device
from ttlg._plan.html import show_html
from ttlg._plan.plan import Plan

# Candidates that a reader gets to see.
_ROWS = 5


class InplacePlan(Plan[Candidate]):
    """How one transposition is carried out in the memory of its input."""

    __slots__ = ()

    _core: CorePlan | CudaCorePlan  # type: ignore[assignment]

    def __init__(self, core: CorePlan | CudaCorePlan, dtype: str) -> None:
        self._core = core
        self._dtype = dtype

    def __call__(self, x: Any, out: Any = None, stream: Any = None) -> Any:
        """Transpose `x`, a writable array of the planned shape and layout, in its own memory.

        Parameters
        ----------
        x : array
            As for `transpose_inplace`.
        out : None
            There is nothing but `x` to write to.
        stream : optional
            As for `transpose_inplace`.

        Returns
        -------
        array
            As `transpose_inplace`: a view of the memory of `x`.

        Raises
        ------
        TypeError, ValueError, BufferError, MemoryError
            As for `transpose_inplace`, and ValueError if `x` is not of the planned layout.
        """
        if out is not None:
            raise ValueError(
                "this plan works in the memory of x: leave out= out, or make another with "
                "inplace=False"
            )
        library = library_of(x)
        view = library.view_inplace(x, stream)
        self._check_device(view)
        return library.run_inplace(self._core, x, view)

    @property
    def workspace_bytes(self) -> int:
        """The bytes that a call takes for itself besides the array."""
        return self._core.workspace_bytes

    @property
    def predicted_time(self) -> float:
        """Seconds that a call is expected to take."""
        return self._core.predicted_seconds

    @property
    def gain(self) -> None:
        """None: plans in place are not measured."""
        return

    def candidates(self) -> list[Candidate]:
        """List other ways for this transposition, threads and workspace, the fastest first.

        Every first step by every kernel that can carry it out, with the fastest steps that follow.
        """
        return [Candidate(name, parameters, time) for name, parameters, _, time in self._ways()]

    def _ways(self) -> list[tuple[Any, dict[str, Any], int, float]]:
        return self._core.candidates()

    def _steps(self) -> Iterator[str]:
        costs = self._core.costs
        for step, (passes, seconds) in zip(self.parameters["steps"], costs, strict=True):
            yield f"{_describe(step)}: {_passes(passes)}, {microseconds(seconds)}"

    def explain(self) -> Explanation:
        """Say in which steps the array is transposed and why; as `Plan.explain`."""
        limit = self.parameters["workspace_limit"]
        passes = sum(each for each, _ in self._core.costs)
        lines = [
            *describe_problem(self._core, self.dtype, 11),
            f"  kernel     {self.kernel}, in place: {_passes(passes)} over memory",
            f"  workspace  {count_of(self.workspace_bytes, 'byte')} of at most {limit}",
            *self._machine_lines(),
            f"  predicted  {microseconds(self.predicted_time)}",
            *(["steps, each of which transposes matrices where they lie:"] if passes else []),
            *(f"{number:2}  {step}" for number, step in enumerate(self._steps(), 1)),
            "planner, the least predicted times of all ways:",
        ]
        ways = self._ways()[:_ROWS]
        chosen = (self.kernel, self.parameters)
        if all(way[:2] != chosen for way in ways):  # forced
            ways.append((*chosen, self.workspace_bytes, self.predicted_time))
        for kernel, parameters, workspace, seconds in ways:
            mark = "->" if (kernel, parameters) == chosen else ""
            listed = "; ".join(map(_describe, parameters["steps"])) or "nothing to move"
            lines.append(
                f"{mark:4}{microseconds(seconds):>21}  {listed}, {count_of(workspace, 'byte')}"
            )
        return Explanation("\n".join(lines))

    def _machine(self) -> dict[str, object]:
        """Name what carries the plan out."""
        if isinstance(self._core, CudaCorePlan):
            return {"device": name_device(self._core.model)}
        return {"threads": self.threads}

    def _machine_lines(self) -> list[str]:
        return [f"  {name:11}{value}" for name, value in self._machine().items()]

    def __repr__(self) -> str:
        where = f"threads={self.threads}" if self.threads else f"device={self.device!r}"
        return (
            f"<ttlg.Plan {self.dtype} {self.shape} axes={self.axes} strides={self.strides} "
            f"inplace kernel={self.kernel!r} {where} workspace_bytes={self.workspace_bytes}>"
        )

    def _repr_html_(self) -> str:
        facts: dict[str, object] = {
            "transpose": f"{self.dtype} {self.shape} by axes {self.axes} -> {self.out_shape}",
            "strides": f"{self.strides} -> {self.out_strides} bytes, in place",
            "fused": f"extents {self.extents}, perm {self.perm} (fastest mode first)",
            **self._machine(),
            "workspace": count_of(self.workspace_bytes, "byte"),
        }
        facts |= {f"step {number}": step for number, step in enumerate(self._steps(), 1)}
        ways = [
            each._replace(parameters={"steps": "; ".join(map(_describe, each.parameters["steps"]))})
            for each in self.candidates()
        ]
        return show_html(facts, ways)


def _passes(number: int) -> str:
    return f"{number} pass{'es' if number != 1 else ''}"


def _describe(step: dict[str, Any]) -> str:
    """Name the matrices of a step and what it does with them, in a line."""
    batch = f"{step['batch']} x " if step["batch"] > 1 else ""
    width = f", {_WIDTHS[step['kernel']]} {step['width']}" if step["width"] else ""
    between = f"{step['between']} x " if step.get("between", 1) > 1 else ""
    size = count_of(step["element_bytes"], "byte")
    return f"{step['kernel']} {batch}({step['rows']} x {between}{step['columns']}) of {size}{width}"


_WIDTHS = {
    "square": "tiles of order",
    "c2r": "bands of columns",
    "r2c": "bands of columns",
    "pieces": "elements of a piece",
    "square_v1b": "tiles of a band",
    "square_sg": "tiles of a region's side",
    "cells": "saved one of",
}
