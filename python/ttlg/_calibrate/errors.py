"""How far predictions are off, and what their choices cost."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from ttlg._calibrate.data import Case, Row
from ttlg._calibrate.fit import Array, Design

T = TypeVar("T", bound=Hashable)

# Cases with fewer plans show nothing of a choice.
_MIN_PLANS = 5


@dataclass(frozen=True)
class Errors:
    """Of predicted seconds, relative to those measured.

    Attributes
    ----------
    rows : int
        Measurements.
    mean : float
        Mean of the absolute errors (TTLG, section V).
    median : float
        Their median.
    signed : float
        Median of the errors, positive where too much is predicted.
    """

    rows: int
    mean: float
    median: float
    signed: float


def errors(seconds: Array, predicted: Array) -> Errors:
    """Compare predictions with measurements."""
    relative = predicted / seconds - 1
    return Errors(
        len(seconds),
        float(np.mean(np.abs(relative))),
        float(np.median(np.abs(relative))),
        float(np.median(relative)),
    )


def by_group(data: Design, predicted: Array, group: Callable[[Row], Hashable]) -> dict[Any, Errors]:
    """Compare predictions with measurements in each group of rows."""
    groups: dict[Any, list[int]] = {}
    for number, row in enumerate(data.rows):
        groups.setdefault(group(row), []).append(number)
    return {name: errors(data.seconds[own], predicted[own]) for name, own in groups.items()}


@dataclass(frozen=True)
class Regret:
    """What is lost by taking the plan that is predicted to be the fastest, not the fastest.

    All but `cases` are fractions of the best time: 0.05 is 5 % more.
    """

    cases: int
    median: float
    mean: float
    p90: float
    p95: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def regrets(data: Design, predicted: Array) -> dict[Case, float]:
    """Return what the choice costs in every case that was measured in several ways."""
    return regrets_of([row.case for row in data.rows], data.seconds, predicted)


def regrets_of(cases: Sequence[T], seconds: Array, predicted: Array) -> dict[T, float]:
    """Return the same where `cases` says which case each measurement is of."""
    rows: dict[T, list[int]] = {}
    for number, case in enumerate(cases):
        rows.setdefault(case, []).append(number)
    return {
        case: float(seconds[own][np.argmin(predicted[own])] / seconds[own].min() - 1)
        for case, own in rows.items()
        if len(own) >= _MIN_PLANS
    }


def summarize(found: Mapping[Any, float]) -> Regret:
    """Summarize the regret of several cases; NaN where there are none."""
    values = np.array([*found.values()])
    if not len(values):
        return Regret(0, *[float("nan")] * 4)
    p50, p90, p95 = (float(each) for each in np.quantile(values, (0.5, 0.9, 0.95)))
    return Regret(len(values), p50, float(values.mean()), p90, p95)
