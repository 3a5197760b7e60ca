"""What `Plan.explain` says of a plan in place."""

from collections.abc import Iterator, Sequence
from typing import Any

from ttlg import _core
from ttlg._arguments.words import count_of
from ttlg._plan.candidates import Candidate
from ttlg._plan.text import describe_measured, describe_problem, machine_of, microseconds

# Candidates that a reader gets to see.
_ROWS = 5
# What the width of a step is, by its kernel.
_WIDTHS = {
    "square": "tiles of order",
    "c2r": "bands of columns",
    "r2c": "bands of columns",
    "pieces": "elements of a piece",
    "square_v1b": "tiles of a band",
    "square_sg": "tiles of a region's side",
    "cells": "saved one of",
    "skinny": "pieces of",
}


def explain(
    core: _core.CpuInplacePlan | _core.CudaInplacePlan, dtype: str, candidates: Sequence[Candidate]
) -> list[str]:
    """Write the text."""
    limit = core.parameters["workspace_limit"]
    passes = sum(each for each, _ in core.costs)
    lines = [
        *describe_problem(core, dtype, 11),
        f"  kernel     {core.kernel}, in place: {_passes(passes)} over memory",
        f"  workspace  {count_of(core.workspace_bytes, 'byte')} of at most {limit}",
        *(f"  {name:11}{value}" for name, value in machine_of(core).items()),
        f"  predicted  {microseconds(core.predicted_seconds)}",
        *(["steps, each of which transposes matrices where they lie:"] if passes else []),
        *(f"{number:2}  {step}" for number, step in enumerate(steps_of(core), 1)),
        "planner, the least predicted times of all ways:",
    ]
    planned = core.candidates()[:_ROWS]
    chosen = (core.kernel, core.parameters)
    if all(each[:2] != chosen for each in planned):  # forced
        planned.append((*chosen, core.predicted_seconds, core.workspace_bytes))
    for kernel, parameters, seconds, workspace in planned:
        mark = "->" if (kernel, parameters) == chosen else ""
        listed = describe_steps(parameters) or "nothing to move"
        lines.append(
            f"{mark:4}{microseconds(seconds):>21}  {listed}, {count_of(workspace, 'byte')}"
        )
    return lines + describe_measured(
        core, candidates, lambda _, parameters: describe_steps(parameters)
    )


def steps_of(core: _core.CpuInplacePlan | _core.CudaInplacePlan) -> Iterator[str]:
    """Describe each step of a plan and what it costs, in a line."""
    for step, (passes, seconds) in zip(core.parameters["steps"], core.costs, strict=True):
        yield f"{_describe_step(step)}: {_passes(passes)}, {microseconds(seconds)}"


def describe_steps(parameters: dict[str, Any]) -> str:
    """Describe the steps of a way to transpose in place, in a line."""
    return "; ".join(map(_describe_step, parameters["steps"]))


def _passes(number: int) -> str:
    return f"{number} pass{'es' if number != 1 else ''}"


def _describe_step(step: dict[str, Any]) -> str:
    """Name the matrices of a step and what it does with them, in a line."""
    batch = f"{step['batch']} x " if step["batch"] > 1 else ""
    width = f", {_WIDTHS[step['kernel']]} {step['width']}" if step["width"] else ""
    threads = f", blocks of {step['threads']} threads" if step.get("threads") else ""
    between = f"{step['between']} x " if step.get("between", 1) > 1 else ""
    size = count_of(step["element_bytes"], "byte")
    return f"{step['kernel']} {batch}({step['rows']} x {between}{step['columns']}) of {size}{width}{threads}"
