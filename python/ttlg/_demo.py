"""The main job on two real tensors: checked, timed beside NumPy and a copy, and explained."""

import json
import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ttlg._plan import Plan, plan

ROUNDS = 5


class Case(NamedTuple):
    """A tensor and what to do with it."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str


CASES = (
    Case("image batch NHWC -> NCHW", (64, 224, 224, 3), (0, 3, 1, 2), "float32"),
    # A[a,m,b,n,c,p] -> A[m,n,p,a,b,c]: with the summed modes m, n, p together and the free ones
    # together, the contraction is one matrix product.
    Case("rank-6 contraction operand", (16, 20, 12, 18, 10, 20), (1, 3, 5, 0, 2, 4), "float64"),
)


class Result(NamedTuple):
    """Median seconds of each contender, and whether ttlg's output has NumPy's bits."""

    case: Case
    plan: Plan
    seconds: dict[str, float]
    right: bool

    @property
    def bytes(self) -> int:
        """Size of the tensor, which is read once and written once."""
        return math.prod(self.case.shape) * np.dtype(self.case.dtype).itemsize

    @property
    def copy_seconds(self) -> float:
        """Time of the fastest copy: the ceiling of what a transposition can reach."""
        return min(seconds for name, seconds in self.seconds.items() if name.endswith("copy"))


def _copy_plan(elements: int, dtype: str, threads: int | None, streaming: bool) -> Plan:
    data = json.loads(plan((elements,), (0,), dtype, threads=threads).to_json())
    data["parameters"]["streaming"] = streaming
    return Plan.from_json(json.dumps(data))


def _random(case: Case) -> np.ndarray[Any, Any]:
    size = math.prod(case.shape) * np.dtype(case.dtype).itemsize
    # Bits rather than numbers: a NaN's payload and a negative zero must survive too.
    return np.frombuffer(np.random.default_rng(0).bytes(size), case.dtype).reshape(case.shape)


def run(case: Case, threads: int | None = None) -> Result:
    """Transpose the tensor of `case` with ttlg, NumPy and, for the ceiling, plain copies.

    Parameters
    ----------
    case : Case
        What to do.
    threads : int, optional
        The most threads to use; `ttlg.get_num_threads()` by default.

    Returns
    -------
    Result
        The contenders' times, measured in turns, and the comparison of the outputs.
    """
    x = _random(case)
    view = x.transpose(case.axes)
    expected, out = np.empty(view.shape, x.dtype), np.empty(view.shape, x.dtype)
    flat_x, flat_out = x.reshape(-1), out.reshape(-1)
    chosen = plan(case.shape, case.axes, case.dtype, threads=threads)
    contenders: dict[str, Callable[[], object]] = {
        "NumPy": partial(np.copyto, expected, view),
        "NumPy's copy": partial(np.copyto, flat_out, flat_x),
    }
    for streaming, name in ((False, "ttlg's copy"), (True, "ttlg's streaming copy")):
        copy = _copy_plan(x.size, case.dtype, threads, streaming)
        contenders[name] = partial(copy, flat_x, flat_out)
    # Comes last in each round, so that what is compared below is its output, written over the
    # copies' and not over an earlier right answer.
    contenders["ttlg"] = partial(chosen, x, out)
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender()
            times[name].append(time.perf_counter() - start)
    right = np.array_equal(expected.reshape(-1).view(np.uint8), flat_out.view(np.uint8))
    medians = {name: statistics.median(values) for name, values in times.items()}
    return Result(case, chosen, medians, right)


def table(results: list[Result]) -> str:
    """Lay the results out, speeds as 2 x bytes / second, and explain the plans.

    Parameters
    ----------
    results : list of Result
        What `run` returned.

    Returns
    -------
    str
        Several lines.
    """
    lines = [f"{'':28}{'size':>10}{'ttlg':>12}{'NumPy':>12}{'copy':>12}  of copy  x NumPy  bits"]
    for result in results:
        times = (result.seconds["ttlg"], result.seconds["NumPy"], result.copy_seconds)
        ttlg, numpy, copy = times
        speeds = "".join(f"{2e-9 * result.bytes / seconds:7.2f} GB/s" for seconds in times)
        lines.append(
            f"{result.case.name:28}{result.bytes / 1e6:7.1f} MB{speeds}{copy / ttlg:9.0%}"
            f"{numpy / ttlg:9.1f}  {'equal' if result.right else 'WRONG'}"
        )
    lines.append(
        f"Speed is 2 x bytes / time, median of {ROUNDS} rounds in which all take turns; copy is the "
        "fastest of NumPy's copy, ttlg's and ttlg's with streaming stores."
    )
    return "\n\n".join(["\n".join(lines), *(result.plan.explain() for result in results)])
