"""Launches that were measured, and the files that hold them."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import ttlg
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.plans import changed


@dataclass(frozen=True)
class Point:
    """A launch's features and terms, and the seconds that it took."""

    schema: str
    features: dict[str, float]
    seconds: float
    case: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, float] = field(default_factory=dict)  # of the physical model


def name_of(case: Case) -> str:
    """Name a problem so that `problem_of` finds it again."""
    return f"{case.label} {case.shape} {case.axes}"


def problem_of(name: str) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    """Read shape, axes and dtype from a problem's name."""
    found = re.fullmatch(r"(?:.* )?(\S+) (\(.*?\)) (\(.*?\))", name)
    if found is None:
        raise ValueError(f"{name!r} does not end in a dtype, a shape and axes")
    dtype, shape, axes = found.groups()
    return ast.literal_eval(shape), ast.literal_eval(axes), dtype


def terms_of(plan: ttlg.Plan, properties: Mapping[str, Any]) -> dict[str, float]:
    """Count the terms of the physical time model for a plan, on a device of these properties."""
    terms: dict[str, float] = changed(plan, device=dict(properties))._compiled.terms()
    return terms


def recounted(points: Sequence[Point], properties: Mapping[str, Any]) -> Iterator[Point]:
    """Count features and terms again, as this version does, and leave out what it cannot plan."""
    for point in points:
        shape, axes, dtype = problem_of(point.case)
        record = {"kernel": point.schema, "parameters": point.parameters}
        try:
            own = ttlg.plan(shape, axes, dtype, device="nvidia-h200")
            plan = changed(own, **record, device=dict(properties))
        except (KeyError, TypeError, ValueError):
            continue
        features, terms = plan._compiled.features, plan._compiled.terms()
        yield Point(point.schema, features, point.seconds, point.case, point.parameters, terms)


class PointFile:
    """A file of lines to which runs append the points that they measure, so that one goes on later.

    A run that is killed while it appends leaves a part of a line, which the next one removes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.points: list[Point] = []
        self.problems = 0  # of the data set, how many have been measured
        text = path.read_text() if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole)
        for line in whole.splitlines():
            record = json.loads(line)
            self.problems = record.pop("problem") + 1
            self.points.append(Point(**record))

    def append(self, problem: int, points: Sequence[Point]) -> None:
        """Add the points of the problem of this number."""
        with self._path.open("a") as lines:
            lines.writelines(
                json.dumps({"problem": problem, **asdict(each)}) + "\n" for each in points
            )
        self.points += points
        self.problems = problem + 1
