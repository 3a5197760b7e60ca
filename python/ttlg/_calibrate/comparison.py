"""Whether a new model does better than the one in use."""

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ttlg import _core
from ttlg._calibrate.fit import Array
from ttlg._calibrate.measure import time_plans
from ttlg._calibrate.problems import Problem, problems
from ttlg._machine import memory

_SEED = 1  # not the one of the problems that models are fitted to
_PROBLEMS = 60
_MAX_BYTES = 64 << 20
# Plans count as no slower up to here, as times of the same plan differ by about as much.
_SAME = 0.02
# However much faster the others are, no more than one problem in ten may be slower than this.
_MAX_TENTH = 1.25


@dataclass(frozen=True)
class Change:
    """The mean of what changes from problem to problem, and its standard error."""

    mean: float
    uncertainty: float

    @classmethod
    def of(cls, values: Array) -> "Change":
        """Summarize the changes of several problems."""
        return cls(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


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
        The factor by which predicted and measured seconds differ, in the geometric mean.
    error : Change
        Of the absolute logarithm of predicted by measured seconds: negative where the new model
        predicts better.
    time : Change
        Of the logarithm of the measured seconds of the plans chosen: negative where those of the
        new model are faster.
    tenth : float
        The slowest tenth of the problems take this many times as long by the new model's plans, or
        longer.
    """

    in_use: str
    problems: int
    off: float
    off_in_use: float
    error: Change
    time: Change
    tenth: float

    def objections(self) -> list[str]:
        """Say why the new model is not shown to be better; nothing where it is."""
        found = []
        if not self.error.mean + self.error.uncertainty < 0:
            found.append(f"it does not predict clearly better than {self.in_use}")
        if not self.time.mean + self.time.uncertainty < _SAME:
            found.append(f"the plans that it chooses may be slower than those of {self.in_use}")
        elif self.tenth > _MAX_TENTH:
            found.append(f"too many of its plans are slower than those of {self.in_use}")
        return found

    def __str__(self) -> str:
        """Write two sentences."""
        return (
            f"on {self.problems} other problems, predicted times are off by a factor of "
            f"{self.off:.2f}, those of {self.in_use}, the model in use, by {self.off_in_use:.2f}\n"
            f"the plans it chooses take {math.exp(self.time.mean):.3f} of the time of those that "
            f"{self.in_use} chooses,\n  give or take {self.time.uncertainty:.3f}, and "
            f"{self.tenth:.2f} of it or more in a tenth of the problems"
        )


def other_problems() -> Iterable[Problem]:
    """Draw problems to compare models by: none that a model is fitted to."""
    return itertools.islice(problems(_SEED, min(_MAX_BYTES, memory.of_machine() // 16)), _PROBLEMS)


@contextmanager
def _planning_by(model: _core.CpuTimeModel) -> Iterator[None]:
    before = _core.cpu_time_model()
    _core.set_cpu_time_model(model)
    try:
        yield
    finally:
        _core.set_cpu_time_model(before)


def compare(model: _core.CpuTimeModel, threads: Sequence[int]) -> Comparison:
    """Let a new model and the one in use choose plans for the same problems, and time these.

    The plans of a problem are timed alternately, for each number of `threads` that they may use.
    Problems weigh the same, as the cases of one are alike.
    """
    in_use = _core.cpu_time_model()
    draw = random.Random(_SEED)
    found = []
    for problem in other_problems():
        cases = []
        for most in threads:
            plans = []
            for each in (model, in_use):
                with _planning_by(each):
                    plans.append(_core.cached_cpu_plan(problem.request(), most, None))
            predicted = []
            for each in (model, in_use):
                with _planning_by(each):
                    predicted.append([_core.predict_cpu_seconds(plan, False) for plan in plans])
            seconds = time_plans(plans, draw)
            # Fitted to nothing but noise, a model may predict no time at all.
            possible = np.maximum(predicted, np.finfo(float).tiny)
            off = np.mean(np.abs(np.log(possible / seconds)), axis=1)
            cases.append([*off, np.log(seconds[0] / seconds[1])])
        found.append(np.mean(cases, axis=0))
    off_new, off_in_use, time = np.array(found).T
    return Comparison(
        in_use.name,
        len(found),
        float(np.exp(off_new.mean())),
        float(np.exp(off_in_use.mean())),
        Change.of(off_new - off_in_use),
        Change.of(time),
        float(np.exp(np.quantile(time, 0.9))),
    )
