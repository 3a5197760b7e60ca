"""Fitting the seconds of every term of the CPU's time model to measurements."""

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._calibrate.data import Case, Row
from ttlg._calibrate.problems import FOLDS

Array = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

# How often rows are weighed again, by how far they are off, and errors, by both times.
_ITERATIONS = 6
# Errors beyond this one, relative, weigh as their size and not as its square (Huber).
_FAR_OFF = 0.15
# How many rows the model before counts as, for each term.
_PRIOR_ROWS = 0.1
_QUANTILES = (0.05, 0.95)


@dataclass(frozen=True)
class Design:
    """Rows as numbers: what their plans' times are sums of, and what they took.

    Attributes
    ----------
    rows : list of Row
        Those that this version has plans for.
    counts : ndarray
        A row for each of them, a column for each of `cpu_term_names`.
    seconds : ndarray
        Measured.
    """

    rows: list[Row]
    counts: Array
    seconds: Array

    def part(self, chosen: Mask) -> "Design":
        """Return some of the rows."""
        rows = [row for row, taken in zip(self.rows, chosen, strict=True) if taken]
        return Design(rows, self.counts[chosen], self.seconds[chosen])


def with_cached_bytes(machine: _core.CpuMachine, cached_bytes: int) -> _core.CpuMachine:
    """Return the same machine, with this many bytes of the caches for a process."""
    old = machine.model
    model = _core.CpuTimeModel(
        name=old.name,
        cached_bytes=cached_bytes,
        coefficients=old.coefficients,
        low=old.low,
        high=old.high,
    )
    return _core.CpuMachine(
        l1_cache_bytes=machine.l1_cache_bytes,
        l2_cache_bytes=machine.l2_cache_bytes,
        last_level_cache_bytes=machine.last_level_cache_bytes,
        vector_bytes=machine.vector_bytes,
        has_shuffle=machine.has_shuffle,
        model=model,
    )


def design(rows: Iterable[Row], machine: _core.CpuMachine) -> Design:
    """Count the terms of every row on a machine; leave out rows that no plan can be built from."""
    column = {name: number for number, name in enumerate(_core.cpu_term_names())}
    kept, counts = [], []
    for row in rows:
        try:
            plan = row.plan()
        except ValueError:
            continue
        line = np.zeros(len(column))
        for name, count in _core.count_cpu_terms(plan, machine, row.case.fresh).items():
            line[column[name]] = count
        kept.append(row)
        counts.append(line)
    matrix = np.array(counts).reshape(len(kept), len(column))
    return Design(kept, matrix, np.array([row.seconds for row in kept]))


def require_scipy() -> None:
    """Raise ImportError, which says what to install, where SciPy is missing."""
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("fitting a time model needs SciPy: pip install 'ttlg[calibrate]'")


def _nnls(matrix: Array, target: Array) -> Array:
    """Solve a least-squares problem with non-negative unknowns."""
    require_scipy()
    from scipy.optimize import nnls

    # The triangle of a QR decomposition has the same solutions and far fewer rows.
    triangle = np.asarray(np.linalg.qr(np.column_stack((matrix, target)), mode="r"))
    solution: Array = nnls(triangle[:, :-1], triangle[:, -1], maxiter=30 * matrix.shape[1])[0]
    return solution


def _weights(seconds: Array, predicted: Array) -> Array:
    """Weigh rows: outliers less (Huber), and twice the time the same as half of it.

    For that an error is divided by the geometric mean of both times.
    """
    away = np.abs(np.log(predicted / seconds))
    huber = np.sqrt(np.minimum(1, _FAR_OFF / np.maximum(away, 1e-9)))
    weights: Array = huber / np.sqrt(predicted / seconds)
    return weights


def solve(data: Design, prior: Array) -> Array:
    """Fit the seconds of every term to measurements; see `solve_counts`."""
    return solve_counts(data.counts, data.seconds, prior)


def solve_counts(counts: Array, seconds: Array, prior: Array, fixed: float = 0) -> Array:
    """Fit non-negative seconds of every term by least squares of the relative error.

    `counts` has a row for each measurement and a column for each term. `seconds` are those
    measured, all more than `fixed`, which is known to be in every row and in no term. `prior` are
    the seconds of the model before: their common scale is fitted; they decide about terms that no
    row has, and weigh a little elsewhere.
    """
    guess = counts @ prior
    known = (guess > 0) & (seconds > fixed)
    scale = float(np.median((seconds[known] - fixed) / guess[known])) if known.any() else 0.0
    expected = prior * scale
    seen = counts.any(axis=0)
    rows = counts[:, seen] / seconds[:, None]
    share = 1 - fixed / seconds  # of a row's time, which the terms take
    units = np.sqrt(np.mean(rows**2, axis=0))
    rows = rows / units
    ridge = np.sqrt(_PRIOR_ROWS) * np.eye(rows.shape[1])
    ridge_target = np.sqrt(_PRIOR_ROWS) * expected[seen] * units
    predicted = seconds
    solution = np.zeros(rows.shape[1])
    for _ in range(_ITERATIONS):
        weights = _weights(seconds, predicted)
        matrix = np.vstack((rows * weights[:, None], ridge))
        solution = _nnls(matrix, np.concatenate((weights * share, ridge_target)))
        predicted = np.maximum(rows @ solution + 1 - share, 1e-3) * seconds
    result = expected.copy()
    result[seen] = solution / units
    return result


def cross_validate(
    data: Design, prior: Array, solver: Callable[[Design, Array], Array] = solve
) -> Array:
    """Predict every row by a fit to the problems of the other folds."""
    folds = np.array([row.case.problem.fold for row in data.rows])
    predicted = np.zeros(len(data.rows))
    for fold in range(FOLDS):
        out = folds == fold
        if out.any() and not out.all():
            predicted[out] = data.counts[out] @ solver(data.part(~out), prior)
    return np.maximum(predicted, np.finfo(float).tiny)


def chosen(data: Design, predicted: Array) -> Mask:
    """Return which row of every case is predicted to be the fastest."""
    fastest: dict[Case, int] = {}
    for number, row in enumerate(data.rows):
        if predicted[number] < predicted[fastest.setdefault(row.case, number)]:
            fastest[row.case] = number
    choices = np.zeros(len(data.rows), bool)
    choices[[*fastest.values()]] = True
    return choices


def ratio_of_choices(data: Design, seconds: Array) -> float:
    """Return the median of measured by predicted time of the choices; 1 where none is predicted."""
    predicted = data.counts @ seconds
    choices = chosen(data, predicted) & (predicted > 0)
    if not choices.any():
        return 1.0
    return float(np.median(data.seconds[choices] / predicted[choices]))


def scale_to_choices(data: Design, seconds: Array) -> Array:
    """Scale the seconds of all terms so that those of the choices are right in the median.

    A prediction is nearly always asked for the plan that is chosen. Of many plans, all predicted
    with errors, that is mostly one of which too little is predicted. The choices stay.
    """
    return seconds * ratio_of_choices(data, seconds)


def solve_to_scale(data: Design, prior: Array) -> Array:
    """Fit the seconds of every term to measurements, those of the choices right in the median."""
    return scale_to_choices(data, solve(data, prior))


def quantiles(data: Design, predicted: Array) -> tuple[float, float]:
    """Return the 5 % and 95 % quantiles of measured by predicted time of the choices."""
    choices = chosen(data, predicted)
    low, high = np.quantile(data.seconds[choices] / predicted[choices], _QUANTILES)
    return float(low), float(high)


def values(model: _core.CpuTimeModel) -> Array:
    """Return a model's seconds of every term, in the order of `cpu_term_names`."""
    return np.array([model.coefficients.get(name, 0.0) for name in _core.cpu_term_names()])
