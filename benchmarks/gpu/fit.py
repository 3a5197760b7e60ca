"""Linear regressions as TTLG's, section V, one for each schema."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttlg.benchmarks.gpu.dataset import held_out
from ttlg.benchmarks.gpu.points import Point
from ttlg.benchmarks.tables import grouped

SIGNIFICANCE = 0.05  # the paper's cut
# Of each schema: fewer points say nothing of a handful of coefficients.
MIN_POINTS = 40

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Coefficient:
    """An estimate of the regression, with what Table II says of each."""

    estimate: float
    standard_error: float
    t: float
    p: float


@dataclass(frozen=True)
class Regression:
    """A schema's regression; errors are in per cent, as TTLG, section V, defines them."""

    coefficients: dict[str, Coefficient]
    dropped: list[str]  # not significant, or constant beside the others
    train_points: int
    test_points: int
    train_error: float
    test_error: float


def error_percent(actual: Array, predicted: Array) -> float:
    """Return 100 * mean(|actual - predicted| / actual), the metric of TTLG, section V; NaN of none."""
    if len(actual) == 0:
        return math.nan
    return float(100 * np.mean(np.abs(actual - predicted) / actual))


def _solve(matrix: Array, seconds: Array) -> list[Coefficient]:
    """Fit by least squares of the relative error: every row is divided by its time."""
    rows = matrix / seconds[:, None]
    # Features differ by ten orders of magnitude.
    scale = np.linalg.norm(rows, axis=0)
    scaled = rows / scale
    estimate, *_ = np.linalg.lstsq(scaled, np.ones(len(rows)))
    freedom = max(1, len(rows) - len(scale))
    variance = np.sum((scaled @ estimate - 1) ** 2) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.pinv(scaled.T @ scaled)))
    return [
        Coefficient(float(value / unit), float(error / unit), float(t), _p_value(float(t)))
        for value, error, unit, t in zip(
            estimate, errors, scale, estimate / np.maximum(errors, 1e-300), strict=True
        )
    ]


def _p_value(t: float) -> float:
    """Two-sided; with this many points Student's distribution is the normal one."""
    return math.erfc(abs(t) / math.sqrt(2))


def _independent(matrix: Array) -> list[int]:
    """Choose the columns that are not zero and no combination of those before them."""
    chosen: list[int] = []
    unit = matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    for column in range(matrix.shape[1]):
        tried = [*chosen, column]
        if np.linalg.matrix_rank(unit[:, tried], tol=1e-9) == len(tried):
            chosen.append(column)
    return chosen


def _eliminate(matrix: Array, seconds: Array) -> dict[int, Coefficient]:
    """Fit, and leave out the least significant feature until all that are left are significant."""
    left = _independent(matrix / seconds[:, None])
    while True:
        found = dict(zip(left, _solve(matrix[:, left], seconds), strict=True))
        worst = max(left, key=lambda column: found[column].p)
        if found[worst].p <= SIGNIFICANCE or len(left) == 1:
            return found
        left.remove(worst)


def regress(points: Sequence[Point], floor: float, tested: Collection[str]) -> Regression:
    """Fit the points of one schema, all with the same features, and test on the `tested` problems.

    No prediction is below `floor`, the seconds of a launch.
    """
    names = list(points[0].features)
    matrix = np.array([[point.features[name] for name in names] for point in points], float)
    seconds = np.array([point.seconds for point in points])
    is_test = np.array([point.case in tested for point in points])
    found = _eliminate(matrix[~is_test], seconds[~is_test])
    weights = np.array([found[i].estimate if i in found else 0.0 for i in range(len(names))])
    predicted = np.maximum(matrix @ weights, floor)
    return Regression(
        coefficients={names[column]: coefficient for column, coefficient in found.items()},
        dropped=[name for column, name in enumerate(names) if column not in found],
        train_points=int(np.sum(~is_test)),
        test_points=int(np.sum(is_test)),
        train_error=error_percent(seconds[~is_test], predicted[~is_test]),
        test_error=error_percent(seconds[is_test], predicted[is_test]),
    )


def fit(points: Sequence[Point], floor: float, seed: int) -> dict[str, Regression]:
    """Fit every schema that has enough points, on the same problems as the costs of the terms."""
    tested = held_out([point.case for point in points], seed)
    return {
        schema: regress(of_schema, floor, tested)
        for schema, of_schema in grouped(points, lambda point: point.schema).items()
        if len(of_schema) >= MIN_POINTS
    }


def table(regressions: Mapping[str, Regression]) -> list[str]:
    """Write each schema's points, errors and features in a line."""
    lines = [f"{'schema':20} {'points':>7} {'train':>7} {'test':>7}  features"]
    for schema, found in regressions.items():
        points = found.train_points + found.test_points
        errors = f"{found.train_error:6.2f}% {found.test_error:6.2f}%"
        lines.append(f"{schema:20} {points:7} {errors}  {', '.join(found.coefficients)}")
    return lines
