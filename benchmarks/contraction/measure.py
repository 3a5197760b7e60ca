"""Verify and time all contenders of a contraction in one run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ttlg
from ttlg._arguments.words import count_of
from ttlg.benchmarks.contenders import Array, Contender
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.contenders import contenders, operands, threads
from ttlg.benchmarks.measure import WrongResultError, time_calls

# After so many calls ttlg has tried the ways that it compares.
LEARNING_CALLS = 16


@dataclass(frozen=True)
class ContractionResult:
    """What a case took on a number of threads, in seconds.

    Attributes
    ----------
    case, threads
        What was measured.
    seconds : dict
        The median of each contender.
    first : float
        ttlg's first call, which plans.
    predicted : float
        What ttlg predicts without arrays.
    layout : str
        What ttlg is predicted to do.
    """

    case: ContractionCase
    threads: int
    seconds: dict[str, float]
    first: float
    predicted: float
    layout: str

    @property
    def best_other(self) -> str:
        """The fastest contender besides ttlg."""
        return min((name for name in self.seconds if name != "ttlg"), key=self.seconds.__getitem__)

    @property
    def ratio(self) -> float:
        """How many times faster ttlg is than the fastest other."""
        return self.seconds[self.best_other] / self.seconds["ttlg"]

    @property
    def prediction(self) -> float:
        """The predicted time as a fraction of the measured one."""
        return self.predicted / self.seconds["ttlg"]


def check(contender: Contender, expected: Array, summed: int) -> None:
    """Let the contender work once, and compare its result with NumPy's.

    Operands are at most 1, so rounding moves a sum of `summed` products by far less than their
    number times the unit of the dtype. Raises WrongResultError.
    """
    found = np.asarray(contender.call())
    if found.shape != expected.shape or found.dtype != expected.dtype:
        raise WrongResultError(
            f"{contender.name} gave a wrong result, {found.dtype} of shape {found.shape}"
        )
    error = np.abs(found - expected).max(initial=0)
    if not error <= summed * np.finfo(expected.dtype).eps:
        raise WrongResultError(f"{contender.name} gave a wrong result, off by {error:.2g}")


def _first_call(ours: Contender) -> float:
    """Time a call of ttlg that has planned nothing yet and measured no products."""
    ttlg.cache_clear()
    start = time.perf_counter()
    ours.call()
    return time.perf_counter() - start


def _measure(
    case: ContractionCase, arrays: Sequence[Array], expected: Array, count: int, repeats: int
) -> ContractionResult:
    ttlg.cache_clear()
    estimate = ttlg.predict_contraction(case.equation, *case.shapes, dtype=case.dtype)
    entrants = list(contenders(case, arrays))
    ours = entrants[0]
    first = _first_call(ours)
    for entrant in (*[ours] * LEARNING_CALLS, *entrants[1:]):
        check(entrant, expected, case.summed)
    seconds = time_calls(entrants, repeats)
    layout = "; ".join(estimate.layouts)
    return ContractionResult(case, count, seconds, first, estimate.seconds, layout)


@ttlg.learning(True)
def measure(case: ContractionCase, counts: Sequence[int], repeats: int) -> list[ContractionResult]:
    """Verify and time all contenders of a case, for each number of threads.

    The median of `repeats` samples counts, after calls from which ttlg learns. Every call returns a
    new tensor, and frees it. Raises WrongResultError where a result, of ttlg that of any call that
    it learns from, is not NumPy's within rounding.
    """
    arrays = operands(case)
    expected: Any = None
    results = []
    for count in counts:
        with threads(count):
            if expected is None:
                expected = np.einsum(case.equation, *arrays, optimize=True)
            try:
                results.append(_measure(case, arrays, expected, count, repeats))
            except WrongResultError as error:
                raise WrongResultError(
                    f"{error}; for {case} on {count_of(count, 'thread')}"
                ) from None
    return results
