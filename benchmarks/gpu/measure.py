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
from ttlg.benchmarks.gpu.contenders import (
    COPIES,
    FOREIGN,
    OURS,
    PEERS,
    Contender,
    Work,
    contender,
)
from ttlg.benchmarks.gpu.device import Buffers, Memory, calls_in_a_sample, same_bits, transposed
from ttlg.benchmarks.gpu.failures import DEVICE, DeviceLostError, is_fault, noting
from ttlg.benchmarks.gpu.suites import CALLS
from ttlg.benchmarks.measure import POISON, WrongResultError


@dataclass
class Result:
    """The median seconds of a call for each contender.

    `curve` holds, for the suite ``calls``, the seconds of so many calls together, from an idle
    device with an empty plan cache. `failures` holds the exceptions of contenders that have no
    seconds therefore, and under ``case`` one that ended the whole case.
    """

    case: Case
    schema: str = ""
    predicted: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    curve: dict[str, dict[int, float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

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
    def has_prediction(self) -> bool:
        """Whether there is a predicted time beside a measured one."""
        return bool(self.predicted) and "ttlg-plan" in self.seconds

    @property
    def prediction_error(self) -> float:
        """Of the time with the plan made before, as a part of it."""
        return abs(self.predicted / self.seconds["ttlg-plan"] - 1)

    def share(self, name: str) -> float:
        """Return the contender's speed as a part of the fastest copy's."""
        return self.ceiling / self.seconds[name]


def verify(contender: Contender, buffers: Buffers, expected: torch.Tensor) -> None:
    """Let the contender work once on a poisoned output and compare the result bit for bit.

    Raises
    ------
    WrongResultError
        The result differs from `expected`.
    """
    buffers.poison()
    # So is the memory that PyTorch will give to the next result of this size.
    torch.full_like(expected.view(torch.uint8), POISON)
    torch.cuda.synchronize()
    returned = contender.call(0)
    if contender.finish is not None:
        contender.finish(returned)
    if not contender.returns:
        result = buffers.outputs[0].view(expected.shape)
    elif isinstance(returned, torch.Tensor):
        result = returned
    else:
        result = torch.from_dlpack(returned)
    if not same_bits(result, expected):
        raise WrongResultError(f"{contender.name} gave a wrong result")


def _sample(contender: Contender, calls: int, turns: Iterator[int]) -> Work:
    """Return work that makes so many calls, on the buffers whose turn it is."""

    def work() -> None:
        result: Any = None
        for i in itertools.islice(turns, calls):
            result = contender.call(i)
        if contender.finish is not None:
            contender.finish(result)

    return work


def time_calls(
    entrants: Sequence[Contender], buffers: int, repeats: int, failures: dict[str, str]
) -> dict[str, float]:
    """Time the contenders round-robin, in a new random order in each round.

    Returns
    -------
    dict of str to float
        The median of the samples, in seconds a call, of those that did not fail.
    """
    counts = {}
    turns = itertools.cycle(range(buffers))
    for entrant in entrants:
        with noting(failures, entrant.name):
            entrant.clock(_sample(entrant, 1, turns))
            once = entrant.clock(_sample(entrant, buffers, turns)) / buffers
            counts[entrant.name] = 1 if entrant.alone else calls_in_a_sample(once, buffers)
    samples: dict[str, list[float]] = {name: [] for name in counts}
    draw = random.Random(0)
    for _ in range(repeats):
        for entrant in draw.sample(entrants, len(entrants)):
            if entrant.name in failures:
                continue
            with noting(failures, entrant.name):
                calls = counts[entrant.name]
                seconds = entrant.clock(_sample(entrant, calls, turns)) / calls
                samples[entrant.name].append(seconds)
    return {
        name: statistics.median(values) for name, values in samples.items() if name not in failures
    }


def call_curve(
    entrants: Sequence[Contender], buffers: int, failures: dict[str, str]
) -> dict[str, dict[int, float]]:
    """Time so many calls together for each of `CALLS`, planning included (TTLG, Fig. 12)."""
    found: dict[str, dict[int, float]] = {}
    for entrant in entrants:
        if entrant.name in COPIES or entrant.alone or entrant.name == "ttlg-plan":
            continue
        found[entrant.name] = {}
        turns = itertools.cycle(range(buffers))
        with noting(failures, entrant.name):
            for calls in CALLS:
                ttlg.cache_clear()
                found[entrant.name][calls] = entrant.clock(_sample(entrant, calls, turns))
    return found


def _verified(
    case: Case, buffers: Buffers, names: Sequence[str], failures: dict[str, str]
) -> list[Contender]:
    """Make the contenders of these names, as far as they are installed and do their work."""
    entrants = []
    x = buffers.inputs[0]
    expected = transposed(x, case.axes)
    for name in names:
        with noting(failures, name):
            entrant = contender(name, buffers, case.axes)
            if entrant is not None:
                verify(entrant, buffers, x.reshape(expected.shape) if name in COPIES else expected)
                entrants.append(entrant)
    return entrants


def measure(case: Case, memory: Memory, repeats: int, peers: Sequence[str] = PEERS) -> Result:
    """Verify and time all contenders of a case; what fails is noted and left out.

    Parameters
    ----------
    case : Case
        The transposition.
    memory : Memory
        Where inputs and outputs lie.
    repeats : int
        Samples of each contender, of which the median counts.
    peers : sequence of str
        The libraries that take part beside ttlg and the copies.

    Notes
    -----
    The calls of a sample take turns on buffers that together exceed the L2 cache, except of small
    tensors, which may stay in it for the copies and for all contenders alike.
    """
    result = Result(case)
    failures = result.failures
    with contextlib.suppress(DeviceLostError), noting(failures, "case"):
        buffers = memory.buffers(case)
        entrants = _verified(case, buffers, (*COPIES, *OURS, *peers), failures)
        if case.suite == "calls":
            result.curve = call_curve(entrants, len(buffers), failures)
        result.seconds = time_calls(entrants, len(buffers), repeats, failures)
        plan = ttlg.plan(case.shape, case.axes, case.dtype, device="cuda")
        result.schema, result.predicted = plan.schema, plan.predicted_time
    return result
