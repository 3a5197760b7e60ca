"""Whether a new model does better than the one in use."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from ttlg._calibrate.errors import regrets
from ttlg._calibrate.fit import Array, Design

# Fewer problems say little: of ten, two that happen to be disturbed decide.
_LEAST_PROBLEMS = 20
# Choices may take so much more time, as two measurements of the same differ by as much.
_SAME = 0.01


@dataclass(frozen=True)
class Change:
    """The mean of what changes from problem to problem, and its standard error."""

    mean: float
    uncertainty: float


@dataclass(frozen=True)
class Comparison:
    """A new model beside the one in use, on problems that the new one was not fitted to.

    Attributes
    ----------
    in_use : str
        The name of the model in use.
    problems : int
        How many there are.
    off, off_in_use : float
        The factor by which predicted and measured seconds differ in the geometric mean.
    error : Change
        Of the absolute logarithm of predicted by measured seconds: negative where the new model
        predicts better.
    time : Change
        Of the logarithm of the measured seconds of the plan that is predicted to be the fastest:
        negative where the new model chooses better.
    """

    in_use: str
    problems: int
    off: float
    off_in_use: float
    error: Change
    time: Change

    def objections(self) -> list[str]:
        """Say why the new model is not shown to be better; nothing where it is."""
        if self.problems < _LEAST_PROBLEMS:
            few = f"{self.problems} problems are too few to compare two models by"
            return [f"{few}, which takes {_LEAST_PROBLEMS}: measure more with a larger budget"]
        found = []
        if not self.error.mean + self.error.uncertainty < 0:
            found.append(f"it does not predict clearly better than {self.in_use}")
        if not self.time.mean + self.time.uncertainty < _SAME:
            found.append(f"the plans that it chooses may be slower than those of {self.in_use}")
        return found

    def __str__(self) -> str:
        """Write two lines."""
        return (
            f"predicted times are off by a factor of {self.off:.2f}, by {self.off_in_use:.2f} with "
            f"{self.in_use}, the model in use\n"
            f"the plans it chooses take {math.exp(self.time.mean):.3f} of the time of those that "
            f"{self.in_use} chooses,\n"
            f"  give or take {self.time.uncertainty:.3f} ({self.problems} problems)"
        )


def compare(data: Design, predicted: Array, predicted_in_use: Array, in_use: str) -> Comparison:
    """Compare models by what they predict of the same measurements.

    Problems weigh the same however many measurements there are of each, as those of one are alike.

    Parameters
    ----------
    data : Design
        The measurements.
    predicted : ndarray
        Of each, by the new model, or by what was fitted to other problems in the same way.
    predicted_in_use : ndarray
        By the model in use.
    in_use : str
        Its name.

    Returns
    -------
    Comparison
        What differs.
    """
    rows: dict[object, list[int]] = {}
    for number, row in enumerate(data.rows):
        # What is written to a new result is the same problem with another alignment.
        rows.setdefault(dataclasses.replace(row.case.problem, out_alignment=1), []).append(number)
    off = np.array([_off(data, predicted, own) for own in rows.values()])
    off_in_use = np.array([_off(data, predicted_in_use, own) for own in rows.values()])
    chosen, chosen_in_use = regrets(data, predicted), regrets(data, predicted_in_use)
    ratios: dict[object, list[float]] = {}
    for case, regret in chosen.items():
        problem = dataclasses.replace(case.problem, out_alignment=1)
        ratios.setdefault(problem, []).append(math.log((1 + regret) / (1 + chosen_in_use[case])))
    return Comparison(
        in_use,
        len(rows),
        float(np.exp(off.mean())),
        float(np.exp(off_in_use.mean())),
        _change(off - off_in_use),
        _change(np.array([np.mean(each) for each in ratios.values()])),
    )


def _off(data: Design, predicted: Array, own: list[int]) -> float:
    return float(np.mean(np.abs(np.log(predicted[own] / data.seconds[own]))))


def _change(values: Array) -> Change:
    if len(values) < 2:
        return Change(math.nan, math.nan)
    return Change(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))
