"""Fitting what the terms of the physical time model cost on a GPU.

Docs/hardware.md, "The time model", has the model: three groups of terms, each a sum, of which
launches take a norm. For every launch the norm is the sum of its groups, each times a share that
follows from how long the groups are, so fitting alternates: with the shares of the costs so far, the
costs are the solution of a linear least-squares problem with non-negative unknowns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._calibrate.errors import Errors, Regret, errors, regrets_of, summarize
from ttlg._calibrate.fit import Array, solve_counts
from ttlg.benchmarks.gpu.dataset import held_out
from ttlg.benchmarks.gpu.fit import MIN_POINTS
from ttlg.benchmarks.gpu.points import Point

NAMES = _core.cuda_cost_names()
OVERLAPS = (1, 2, 4, 8, 16)
# Costs change by no more than this factor at once: a group that others hide says little of its own.
_STEP = 2.0
_ITERATIONS = 30
_SETTLED = 1e-4  # relative change of every predicted time, from which on no more is tried
_DIGITS = 6

_PREFIXES = [name.partition(".")[0] for name in NAMES]
_GROUPS = np.array([list(dict.fromkeys(_PREFIXES)).index(prefix) for prefix in _PREFIXES])


@dataclass(frozen=True)
class Costs:
    """A fitted model: `values` in the order of `NAMES`, with what is the same for all launches."""

    values: Array
    overlap: int
    launch_seconds: float

    def groups(self, counts: Array) -> Array:
        """Return each group's seconds for every row of counts."""
        parts = counts * self.values
        columns = [parts[:, group == _GROUPS].sum(axis=1) for group in range(_GROUPS.max() + 1)]
        return np.column_stack(columns)

    def predict(self, counts: Array) -> Array:
        """Return the predicted seconds of every row, as the planner does."""
        return self.launch_seconds + _norm(self.groups(counts), self.overlap)

    def named(self) -> dict[str, float]:
        """Return the costs as a model's file has them."""
        values = zip(NAMES, self.values, strict=True)
        return {name: float(f"{value:.{_DIGITS}g}") for name, value in values}


@dataclass(frozen=True)
class CostFit:
    """A fit and how far it is off, on what it was fitted to and on problems that it has not seen."""

    costs: dict[str, float]  # of every term
    overlap: int  # the degree of the norm
    train: dict[str, Errors]  # relative, of each schema, and of all launches under "all"
    test: dict[str, Errors]
    train_regret: (
        Regret  # from taking the slice that is predicted to be the fastest of those measured
    )
    test_regret: Regret


def _norm(groups: Array, degree: int) -> Array:
    longest = groups.max(axis=1)
    scaled = groups / np.maximum(longest, 1e-300)[:, None]
    result: Array = longest * (scaled**degree).sum(axis=1) ** (1 / degree)
    return result


def counts_of(points: Sequence[Point]) -> Array:
    """Return the terms of launches, a row for each, a column for each of `NAMES`."""
    column = {name: number for number, name in enumerate(NAMES)}
    counts = np.zeros((len(points), len(NAMES)))
    for row, point in zip(counts, points, strict=True):
        for name, seconds in point.terms.items():
            row[column[name]] = seconds
    return counts


def solve(counts: Array, seconds: Array, start: Costs) -> Costs:
    """Fit costs from those of a start, whose overlap stays."""
    costs = start
    prior = start.values
    for _ in range(_ITERATIONS):
        groups = costs.groups(counts)
        norm = np.maximum(_norm(groups, costs.overlap), 1e-300)
        shares = (groups / norm[:, None]) ** (costs.overlap - 1)
        found = solve_counts(counts * shares[:, _GROUPS], seconds, prior, costs.launch_seconds)
        values = np.clip(found, costs.values / _STEP, costs.values * _STEP)
        # Halfway, on a scale of ratios: shares and costs would swing about the solution.
        before = costs.predict(counts)
        costs = replace(costs, values=np.sqrt(values * costs.values))
        if np.allclose(costs.predict(counts), before, rtol=_SETTLED, atol=0):
            break
    return costs


def solve_with_overlap(counts: Array, seconds: Array, launch_seconds: float) -> Costs:
    """Fit costs from the defaults, and the overlap that makes the least error with them."""
    defaults = np.array(_core.default_cuda_costs())
    fits = [
        solve(counts, seconds, Costs(defaults, overlap, launch_seconds)) for overlap in OVERLAPS
    ]
    return min(fits, key=lambda each: errors(seconds, each.predict(counts)).mean)


def _by_schema(points: Sequence[Point], seconds: Array, predicted: Array) -> dict[str, Errors]:
    schemas = np.array([point.schema for point in points])
    names = ["all", *dict.fromkeys(schemas.tolist())]
    rows = {name: np.flatnonzero((schemas == name) | (name == "all")) for name in names}
    return {name: errors(seconds[own], predicted[own]) for name, own in rows.items() if len(own)}


def fit_costs(points: Sequence[Point], launch_seconds: float, seed: int) -> CostFit | None:
    """Fit all schemas together, and test the fit on problems that it has not seen.

    `points` has several slices of each problem, `launch_seconds` is what a launch takes that moves
    next to nothing, and `seed` draws the fifth of the problems that is tested on. Returns None
    where there are too few points.
    """
    if len(points) < MIN_POINTS:
        return None
    counts, seconds = counts_of(points), np.array([point.seconds for point in points])
    cases = [point.case for point in points]
    tested = held_out(cases, seed)
    is_test = np.array([case in tested for case in cases])
    costs = solve_with_overlap(counts[~is_test], seconds[~is_test], launch_seconds)
    predicted = costs.predict(counts)

    def part(chosen: Any) -> tuple[dict[str, Errors], Regret]:
        own = np.flatnonzero(chosen)
        own_points = [points[number] for number in own]
        found = _by_schema(own_points, seconds[own], predicted[own])
        own_cases = [cases[number] for number in own]
        return found, summarize(regrets_of(own_cases, seconds[own], predicted[own]))

    (train, train_regret), (test, test_regret) = part(~is_test), part(is_test)
    return CostFit(costs.named(), costs.overlap, train, test, train_regret, test_regret)


def table(found: CostFit) -> list[str]:
    """Write each schema's errors in a line, and what choosing by the model loses."""
    lines = [f"costs, overlap {found.overlap}: mean error of the launches fitted to, and of others"]
    for name, train in found.train.items():
        test = found.test.get(name)
        seen = f"{train.mean:7.2%} of {train.rows}"
        lines.append(
            f"{name:20} {seen:>18}" + (f" {test.mean:7.2%} of {test.rows}" if test else "")
        )
    regret = found.test_regret
    lines.append(f"regret: {regret.mean:.2%} in the mean of {regret.cases} problems not fitted to")
    return lines
