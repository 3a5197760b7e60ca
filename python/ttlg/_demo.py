"""The main job on two real tensors: checked, timed beside NumPy and a copy, and explained."""

import math
import random
import statistics
import timeit
from typing import NamedTuple

import numpy as np

from ttlg import _core
from ttlg._plan import Plan
from ttlg._planning import plan

ROUNDS = 5


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
    Case("image batch NHWC -> NCHW", (64, 224, 224, 3), (0, 3, 1, 2), "float32"),
    # A[a,m,b,n,c,p] -> A[m,n,p,a,b,c]: with the summed modes m, n, p together and the free ones
    # together, the contraction is one matrix product.
    Case("rank-6 contraction operand", (16, 20, 12, 18, 10, 20), (1, 3, 5, 0, 2, 4), "float64"),
)


class Result(NamedTuple):
    """Median seconds of a call: ttlg's, NumPy's and the fastest copy's; and how ttlg does it."""

    case: Case
    ttlg: float
    numpy: float
    copy: float
    explanation: str


class WrongResultError(Exception):
    """ttlg's result differs from NumPy's in a bit."""


def _measure(case: Case, threads: int) -> Result:
    x = np.random.default_rng(0).random(case.shape).astype(case.dtype)
    expected = np.ascontiguousarray(x.transpose(case.axes))
    out = np.full_like(expected, np.nan)
    planned = plan(case.shape, case.axes, case.dtype, threads=threads)
    planned(x, out)
    if not np.array_equal(out.reshape(-1).view(np.uint8), expected.reshape(-1).view(np.uint8)):
        raise WrongResultError(f"wrong result for {case.name}: it differs from NumPy's in a bit")

    source, target = x.reshape(-1).view(np.uint8), out.reshape(-1).view(np.uint8)
    request = _core.Request(source.shape, source.strides, source.itemsize, (0,))
    chosen = plan(source.shape, (0,), "uint8", threads=threads).parameters | {"threads": threads}
    plain, streaming = (
        Plan(
            _core.build_cpu_plan(request, kernel="copy", **chosen | {"streaming": stores}), "uint8"
        )
        for stores in (False, True)
    )
    calls = [
        lambda: planned(x, out),
        lambda: np.copyto(out, x.transpose(case.axes)),
        lambda: np.copyto(target, source),
        lambda: plain(source, target),
        lambda: streaming(source, target),
    ]
    samples = [[timeit.timeit(call, number=1)] for call in calls]  # a warm-up
    order = random.Random(0)
    for _ in range(ROUNDS):
        for number in order.sample(range(len(calls)), len(calls)):
            samples[number].append(timeit.timeit(calls[number], number=1))
    ttlg, numpy, *copies = (statistics.median(times[1:]) for times in samples)
    return Result(case, ttlg, numpy, min(copies), planned.explain())


def run(threads: int) -> list[Result]:
    """Transpose the tensors with ttlg, NumPy and, for the ceiling, plain copies.

    Parameters
    ----------
    threads : int
        The most threads to use.

    Returns
    -------
    list of Result
        One for each tensor.

    Raises
    ------
    WrongResultError
        A result differs from NumPy's in a bit.
    """
    return [_measure(case, threads) for case in CASES]


def table(results: list[Result]) -> str:
    """Lay the results out, speeds as 2 x bytes / second, and explain the plans.

    Parameters
    ----------
    results : list of Result
        What `run` returned: all of them right to the bit.

    Returns
    -------
    str
        Several lines.
    """
    lines = [f"{'':28}{'size':>10}{'ttlg':>12}{'NumPy':>12}{'copy':>12}  of copy  x NumPy  bits"]
    for case, ttlg, numpy, copy, _ in results:
        speeds = "".join(
            f"{2 * case.bytes / seconds / 1e9:7.2f} GB/s" for seconds in (ttlg, numpy, copy)
        )
        lines.append(
            f"{case.name:28}{case.bytes / 1e6:7.1f} MB{speeds}{copy / ttlg:9.0%}"
            f"{numpy / ttlg:9.1f}  equal"
        )
    lines.append(
        f"Speed is 2 x bytes / time, median of {ROUNDS} rounds in which all take turns; copy is "
        "the fastest of NumPy's copy, ttlg's and ttlg's with streaming stores."
    )
    return "\n\n".join(["\n".join(lines), *(result.explanation for result in results)])
