"""Measurements as JSON lines: one parameter set of one problem a line."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttlg import _core
from ttlg._calibrate.problems import Problem
from ttlg._plan.json import Build, builder


@dataclass(frozen=True)
class Case:
    """A problem, the most threads to use, and whether every call allocates a new result."""

    problem: Problem
    threads: int
    fresh: bool = False


@dataclass(frozen=True)
class Row:
    """What one parameter set took, beside a copy of the same bytes in the same rounds.

    Attributes
    ----------
    case : Case
        What was done.
    kernel, parameters : str, dict
        As `Plan.kernel` and `Plan.parameters`.
    samples : tuple of float
        Seconds of a call, ascending.
    copy_seconds : float
        Of the best of several ways to copy the bytes on as many threads.
    """

    case: Case
    kernel: str
    parameters: dict[str, Any]
    samples: tuple[float, ...]
    copy_seconds: float

    @property
    def seconds(self) -> float:
        """The least: other programs can only add time."""
        return self.samples[0]

    def plan(self) -> _core.CpuPlan:
        """Build the plan; ValueError where this version has none with these parameters."""
        request = self.case.problem.request()
        build: Build[_core.CpuPlan] = builder(request, inplace=False, machine=None)
        return build(self.kernel, self.parameters)

    def to_json(self) -> str:
        """Write a line, without what is as by default."""
        problem = self.case.problem
        line: dict[str, Any] = {
            "shape": problem.shape,
            "axes": problem.axes,
            "dtype": problem.dtype,
            "threads": self.case.threads,
            "copy_s": self.copy_seconds,
            "kernel": self.kernel,
            "parameters": self.parameters,
            "seconds": self.samples,
        }
        if problem.strides is not None:
            line["strides"] = problem.strides
        if problem.out_alignment != 1:
            line["out_alignment"] = problem.out_alignment
        if self.case.fresh:
            line["fresh"] = True
        return json.dumps(line)

    @classmethod
    def from_json(cls, text: str) -> "Row":
        """Read a line; ValueError or KeyError where it is none."""
        line = json.loads(text)
        strides = line.get("strides")
        problem = Problem(
            tuple(line["shape"]),
            tuple(line["axes"]),
            line["dtype"],
            None if strides is None else tuple(strides),
            line.get("out_alignment", 1),
        )
        return cls(
            Case(problem, line["threads"], line.get("fresh", False)),
            line["kernel"],
            line["parameters"],
            tuple(sorted(line["seconds"])),
            line["copy_s"],
        )


def read(path: Path) -> Iterator[Row]:
    """Read a file of lines, which may be compressed (``.gz``)."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            yield Row.from_json(line)
