"""Verify and time all contenders of a case on a GPU in one run."""

import contextlib
import itertools
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

import ttlg
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu.baselines import OUT_OF_PLACE
from ttlg.benchmarks.gpu.contenders import (
    COPIES,
    FOREIGN,
    OURS,
    PEERS,
    Contender,
    Work,
    contender,
)
from ttlg.benchmarks.gpu.device import (
    Buffers,
    Memory,
    calls_in_a_sample,
    make_normal,
    same_bits,
)
from ttlg.benchmarks.gpu.failures import DEVICE, DeviceLostError, is_fault, noting
from ttlg.benchmarks.gpu.inplace import CONTENDERS
from ttlg.benchmarks.gpu.suites import CALLS
from ttlg.benchmarks.inplace.libraries import LeftOutError
from ttlg.benchmarks.measure import POISON, WrongResultError


@dataclass
class Result:
    """The median seconds of a call for each contender.

    `curve` holds, for the suite ``calls``, the seconds that each number of calls takes together, from
    an idle device with an empty plan cache. `failures` holds the exceptions of contenders that
    therefore have no seconds, and under ``case`` one that ended the whole case. `left_out` says why
    others take no part.
    """

    case: Case
    schema: str = ""
    predicted: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    curve: dict[str, dict[int, float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def has_ceiling(self) -> bool:
        """Whether any copy was measured, without which there are no shares."""
        return not self.seconds.keys().isdisjoint(COPIES)

    @property
    def faulty(self) -> bool:
        """Whether ttlg did something wrong, or the device was lost, and not only a peer failed."""
        return any(name not in FOREIGN and is_fault(text) for name, text in self.failures.items())

    @property
    def lost_device(self) -> bool:
        """Whether nothing else can be measured."""
        return DEVICE in self.failures

    @property
    def ceiling(self) -> float:
        """Seconds of the fastest copy of the same bytes."""
        return min(self.seconds[name] for name in COPIES if name in self.seconds)

    @property
    def planned(self) -> str:
        """The contender that carries out the planner's choice."""
        return "ttlg-inplace" if self.case.inplace else "ttlg-plan"

    @property
    def has_prediction(self) -> bool:
        """Whether there is a predicted time beside a measured one."""
        return bool(self.predicted) and self.planned in self.seconds

    @property
    def prediction_error(self) -> float:
        """Of the time with the plan made before, as a part of it."""
        return abs(self.predicted / self.seconds[self.planned] - 1)

    def share(self, name: str) -> float:
        """Return the contender's speed as a part of the fastest copy's."""
        return self.ceiling / self.seconds[name]


def _sum_of_bytes(x: torch.Tensor) -> int:
    return int(x.view(-1).view(torch.uint8).sum(dtype=torch.int64))


def verify(contender: Contender, buffers: Buffers, axes: Sequence[int] | None) -> None:
    """Let the contender work once on a poisoned output and compare the result bit for bit.

    It permutes by `axes`, or copies where they are None. The input is compared with where it lies,
    so that an array may take half of the device's memory; that it has not changed is told by the sum
    of its bytes. If the contender multiplies, the input becomes one without NaNs first. Raises
    WrongResultError.
    """
    x, y = buffers.inputs[0], buffers.outputs[0]
    if contender.multiplies:
        make_normal(x)
    buffers.poison()
    if contender.inplace:
        x = y.view(x.shape).copy_(x)
    elif contender.returns:
        # So is the memory that PyTorch will give to the next result of this size.
        torch.full_like(y.view(torch.uint8), POISON)
    total = _sum_of_bytes(x)
    torch.cuda.synchronize()
    returned = contender.call(0)
    if contender.finish is not None:
        contender.finish(returned)
    if _sum_of_bytes(x) != total:
        raise WrongResultError(f"{contender.name} changed its input")
    if contender.inplace:
        result = buffers.inputs[0].view(y.shape)
    elif not contender.returns:
        result = y
    else:
        result = returned if isinstance(returned, torch.Tensor) else torch.from_dlpack(returned)
    expected = x.view(y.shape) if axes is None else x.permute(*axes)
    if not same_bits(result, expected):
        raise WrongResultError(f"{contender.name} gave a wrong result")


def _sample(contender: Contender, calls: int, indices: Iterator[int]) -> Work:
    """Return work that makes this many calls, on the buffers whose turn it is."""

    def work() -> None:
        result: Any = None
        for i in itertools.islice(indices, calls):
            result = contender.call(i)
        if contender.finish is not None:
            contender.finish(result)

    return work


def time_calls(
    entrants: Sequence[Contender], buffers: int, repeats: int, failures: dict[str, str]
) -> dict[str, float]:
    """Time the contenders round-robin, in a new random order in each round.

    Returns the median of the samples, in seconds a call, of those that did not fail.
    """
    counts = {}
    indices = itertools.cycle(range(buffers))
    for entrant in entrants:
        with noting(failures, entrant.name):
            entrant.clock(_sample(entrant, 1, indices))
            once = entrant.clock(_sample(entrant, buffers, indices)) / buffers
            counts[entrant.name] = 1 if entrant.alone else calls_in_a_sample(once, buffers)
    samples: dict[str, list[float]] = {name: [] for name in counts}
    draw = random.Random(0)
    for _ in range(repeats):
        for entrant in draw.sample(entrants, len(entrants)):
            if entrant.name in failures:
                continue
            with noting(failures, entrant.name):
                calls = counts[entrant.name]
                seconds = entrant.clock(_sample(entrant, calls, indices)) / calls
                samples[entrant.name].append(seconds)
    return {
        name: statistics.median(values) for name, values in samples.items() if name not in failures
    }


def call_curve(
    entrants: Sequence[Contender], buffers: int, failures: dict[str, str]
) -> dict[str, dict[int, float]]:
    """Time each number of calls in `CALLS` together, planning included (TTLG, Fig. 12)."""
    found: dict[str, dict[int, float]] = {}
    for entrant in entrants:
        if entrant.name in COPIES or entrant.alone or entrant.name == "ttlg-plan":
            continue
        found[entrant.name] = {}
        indices = itertools.cycle(range(buffers))
        with noting(failures, entrant.name):
            for calls in CALLS:
                ttlg.cache_clear()
                found[entrant.name][calls] = entrant.clock(_sample(entrant, calls, indices))
    return found


def _verified(result: Result, buffers: Buffers, names: Sequence[str]) -> list[Contender]:
    """Make the contenders of these names, as far as they take part and do their work."""
    entrants = []
    axes = result.case.axes
    for name in names:
        with noting(result.failures, name):
            try:
                entrant = contender(name, buffers, axes)
            except LeftOutError as error:
                result.left_out[name] = str(error)
                continue
            verify(entrant, buffers, None if name in COPIES else axes)
            entrants.append(entrant)
    return entrants


@ttlg.learning(False)
def measure(case: Case, memory: Memory, repeats: int, peers: Sequence[str] = PEERS) -> Result:
    """Verify and time all contenders of a case; what fails is noted and left out.

    Inputs and outputs lie in `memory`. The median of `repeats` samples counts. `peers` and the naive
    kernel take part beside ttlg and the copies in suites without contenders of their own.

    The calls of a sample take turns on buffers that together exceed the L2 cache, except of small
    tensors, which may stay in it for the copies and for all contenders alike.
    """
    result = Result(case)
    failures = result.failures
    with contextlib.suppress(DeviceLostError), noting(failures, "case"):
        buffers = memory.buffers(case)
        names = CONTENDERS.get(case.suite, (*OURS, *peers, *OUT_OF_PLACE))
        entrants = _verified(result, buffers, (*COPIES, *names))
        if case.suite == "calls":
            result.curve = call_curve(entrants, len(buffers), failures)
        result.seconds = time_calls(entrants, len(buffers), repeats, failures)
        if result.planned not in failures:
            plan = ttlg.plan(case.shape, case.axes, case.dtype, device="cuda", inplace=case.inplace)
            result.schema, result.predicted = plan.kernel, plan.predicted_time
    return result
