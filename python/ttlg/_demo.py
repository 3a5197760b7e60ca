"""The first minute: two transpositions that people wait for, checked and timed beside NumPy."""

import math
import os
import random
import statistics
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ttlg._arguments.words import count_of
from ttlg._functions.transpose import transpose
from ttlg._machine.processor import cpu_model
from ttlg._settings.config import show_config

ROUNDS = 5

_NOTES = f"""\

Medians of {ROUNDS} rounds that alternate all calls; every bit of ttlg's results equals NumPy's.
            a new array                               into out=
  NumPy     np.ascontiguousarray(x.transpose(axes))   np.copyto(out, x.transpose(axes))
  ttlg      ttlg.transpose(x, axes)                   ttlg.transpose(x, axes, out=out)
  a copy    x.copy()                                  np.copyto(copy, x), nothing permuted

ttlg does not help where a view will do (x.transpose(axes) moves no data), where the next step takes
strides anyway, as BLAS takes a matrix or its transpose, or for a few elements of PyTorch or JAX,
where the call itself takes longest.

How the first is done:
  python -m ttlg explain --shape 256,224,224,3 --axes 0,3,1,2 --dtype uint8
Beside PyTorch, JAX and HPTT, as far as they are installed:
  python -m ttlg bench --quick"""


class Case(NamedTuple):
    """One transposition of a C-contiguous array."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes of the input, and of the output."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


CASES = (
    Case("batch of uint8 images, NHWC to NCHW", (256, 224, 224, 3), (0, 3, 1, 2), "uint8"),
    # A[a,m,b,n,c,p] -> A[m,n,p,a,b,c]: with the summed modes m, n, p together and the free ones
    # together, the contraction is one matrix product.
    Case(
        "rank-6 operand of a contraction, float64",
        (16, 20, 12, 18, 10, 20),
        (1, 3, 5, 0, 2, 4),
        "float64",
    ),
)


class Times(NamedTuple):
    """Median seconds of a call."""

    numpy: float
    ttlg: float
    copy: float


class Result(NamedTuple):
    """The times of calls that return a new array, and of calls that write to one."""

    case: Case
    new: Times
    out: Times


class WrongResultError(Exception):
    """ttlg's result differs from NumPy's in a bit."""


def _check(case: Case, result: Any, expected: Any) -> None:
    if not np.array_equal(result.reshape(-1).view(np.uint8), expected.reshape(-1).view(np.uint8)):
        raise WrongResultError(f"wrong result for {case.name}: it differs from NumPy's in a bit")


def _medians(calls: list[Callable[[], Any]]) -> list[float]:
    """Time the calls round-robin, in a new random order in each round, after a warm-up."""
    samples: list[list[float]] = [[] for _ in calls]
    order = random.Random(0)
    for call in calls:
        call()
    for _ in range(ROUNDS):
        for number in order.sample(range(len(calls)), len(calls)):
            samples[number].append(timeit.timeit(calls[number], number=1))
    return [statistics.median(times) for times in samples]


def _measure(case: Case, threads: int) -> Result:
    source = np.random.default_rng(0).integers(0, 256, case.bytes, np.uint8)
    x, axes = source.view(case.dtype).reshape(case.shape), case.axes
    expected = np.ascontiguousarray(x.transpose(axes))
    _check(case, transpose(x, axes, threads=threads), expected)
    out = np.invert(expected.view(np.uint8)).view(case.dtype)  # no byte is right yet
    _check(case, transpose(x, axes, out=out, threads=threads), expected)
    copy = np.empty_like(x)
    seconds = _medians(
        [
            lambda: np.ascontiguousarray(x.transpose(axes)),
            lambda: transpose(x, axes, threads=threads),
            lambda: x.copy(),
            lambda: np.copyto(out, x.transpose(axes)),
            lambda: transpose(x, axes, out=out, threads=threads),
            lambda: np.copyto(copy, x),
        ]
    )
    return Result(case, Times(*seconds[:3]), Times(*seconds[3:]))


def machine(threads: int) -> str:
    """Describe what the times are taken on, in a line."""
    cores = len(os.sched_getaffinity(0))
    return (
        f"{cpu_model()}, {count_of(cores, 'core')}, load average "
        f"{os.getloadavg()[0]:.1f} in the last minute; ttlg on "
        f"{count_of(threads, 'thread')} ({show_config()['cpu']['simd_used']}), NumPy on 1"
    )


def run(threads: int) -> list[Result]:
    """Transpose the tensors with ttlg and NumPy, and copy them.

    WrongResultError where a result of ttlg differs from NumPy's in a bit.
    """
    return [_measure(case, threads) for case in CASES]


def table(results: list[Result]) -> str:
    """Lay the results of `run` out, times in milliseconds, and say what they mean."""
    lines = [f"{'milliseconds':28}{'NumPy':>10}{'ttlg':>10}{'a copy':>10}{'x NumPy':>10}"]
    for case, *kinds in results:
        lines.append(f"{case.name}, {case.bytes / 1e6:.1f} MB")
        for label, times in zip(("a new array", "into out="), kinds, strict=True):
            columns = "".join(f"{seconds * 1e3:10.1f}" for seconds in times)
            lines.append(f"  {label:26}{columns}{times.numpy / times.ttlg:10.1f}")
    return "\n".join([*lines, _NOTES])
