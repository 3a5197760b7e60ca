"""Verify and time all contenders of a case in one run."""

import random
import statistics
import timeit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import ttlg
from ttlg._arguments.words import count_of
from ttlg._tune import calls_in_a_sample, steady_seconds
from ttlg.benchmarks import views
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import (
    COPIES,
    PEERS,
    Array,
    Contender,
    calls_for_result,
    contenders,
    copies,
    fortran_orders,
    whole_calls,
)
from ttlg.benchmarks.inplace import contenders as inplace
from ttlg.benchmarks.views import View

POISON = 0xA5
# Calls on small arrays are repeated within a sample so that it lasts this long: what the contender
# before left in the caches, and where the system put its threads, then weighs little.
MIN_SAMPLE_SECONDS = 0.005


class WrongResultError(Exception):
    """A contender's output differs from NumPy's."""


def ceiling(seconds: Mapping[str, float]) -> float:
    """Return the seconds of the fastest copy among those of all contenders."""
    return min(seconds[name] for name in COPIES)


@dataclass(frozen=True)
class Result:
    """The median time of a call for each contender, in seconds."""

    case: Case
    threads: int
    kernel: str
    seconds: dict[str, float]

    @property
    def ceiling(self) -> float:
        """Seconds of the fastest copy of the same bytes."""
        return ceiling(self.seconds)

    def share(self, name: str) -> float:
        """Return the contender's speed as a fraction of the fastest copy's."""
        return self.ceiling / self.seconds[name]

    def speed_up(self, name: str) -> float:
        """Return how many times faster than this contender `ttlg.transpose` is."""
        return self.seconds[name] / self.seconds["ttlg"]


def bandwidth(case: Case, seconds: float) -> float:
    """Return GB/s, counting every byte as read once and written once."""
    return 2 * case.bytes / seconds / 1e9


def random_array(shape: tuple[int, ...], dtype: str) -> Array:
    """Fill an array with numbers that are no NaN, as HPTT computes with them."""
    generator = np.random.default_rng(0)
    if np.issubdtype(dtype, np.floating):
        return generator.random(shape, dtype)  # type: ignore[call-overload, no-any-return]
    return generator.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def _bits(array: Array) -> Array:
    return array.reshape(-1).view(f"u{array.dtype.itemsize}")


def verify(contender: Contender, out: Array, expected: Array, before: Array | None = None) -> None:
    """Let the contender work once and compare the result bit for bit with `expected`.

    It writes to `out`, which holds `before` until then, by default bytes that no result has, or
    returns its result. All arrays are C-contiguous. Raises WrongResultError.
    """
    if before is None:
        out.reshape(-1).view(np.uint8).fill(POISON)
    else:
        np.copyto(out.reshape(-1), before.reshape(-1))
    returned = contender.call()
    result = np.asarray(returned) if contender.returns else out
    if not np.array_equal(_bits(result), _bits(expected)):
        raise WrongResultError(f"{contender.name} gave a wrong result")


def time_calls(
    entrants: Sequence[Contender], repeats: int, sample_seconds: float = MIN_SAMPLE_SECONDS
) -> dict[str, float]:
    """Time the contenders round-robin, in a new random order in each round.

    Each is warmed up and then sampled `repeats` times, for `sample_seconds` or longer, each time after
    a call that is not timed. Returns the medians, in seconds a call.
    """
    timers = {
        entrant.name: timeit.Timer(entrant.call, entrant.prepare or "pass").timeit
        for entrant in entrants
    }
    calls = {name: calls_in_a_sample(timer, sample_seconds) for name, timer in timers.items()}
    samples: dict[str, list[float]] = {name: [] for name in timers}
    generator = random.Random(0)
    for _ in range(repeats):
        for name in generator.sample(list(timers), len(timers)):
            samples[name].append(steady_seconds(timers[name], calls[name]))
    return {name: statistics.median(values) for name, values in samples.items()}


def _entrants(
    case: Case, x: Array, out: Array, threads: int, peers: Sequence[str]
) -> list[Contender]:
    if case.inplace:
        return [*copies(x, out, threads), *inplace.contenders(case, out, threads)]
    if case.suite == "orders":
        return [*copies(x, out, threads), *fortran_orders(x, threads, peers)]
    if case.suite not in ("call", "fresh"):
        more = views.others(case, x, out, threads) if isinstance(case, View) else ()
        return [*contenders(x, out, case.axes, threads, peers), *more]
    entrants = [*copies(x, out, threads), *whole_calls(x, case.axes, threads, peers)]
    if case.suite == "fresh":
        entrants += calls_for_result(x, out, case.axes, threads)
    return entrants


@ttlg.learning(False)
def measure(
    case: Case, threads: Sequence[int], repeats: int, *, peers: Sequence[str] = PEERS
) -> list[Result]:
    """Verify and time all contenders of a case, for each number of threads.

    The median of `repeats` samples counts. Of the libraries only `peers` take part, where they are
    installed; in place all do. Raises WrongResultError where a contender moved an element wrongly.

    The output is allocated, as users do, by `numpy.empty`, and has been written to before anything
    is timed. An input that exceeds the last-level cache is cold at every call; a smaller one is
    called in a loop and may stay in the caches, for the copies and for all contenders alike. In the
    suites ``call``, ``fresh`` and ``orders`` every call allocates a new result; the copies do not.
    In place a call permutes what the one before has left. All calls are by the plan that the model
    prefers: ttlg does not learn meanwhile.
    """
    is_view = isinstance(case, View)
    x = (
        case.of(random_array(case.base, case.dtype))
        if is_view
        else random_array(case.shape, case.dtype)
    )
    expected = np.ascontiguousarray(x.transpose(case.axes))
    out = np.empty_like(expected)

    def on(count: int) -> Result:
        entrants = _entrants(case, x, out, count, peers)
        for entrant in entrants:
            is_copy = entrant.name in COPIES
            before = x if case.inplace and not is_copy else None
            try:
                verify(entrant, out, x if is_copy else expected, before)
            except WrongResultError as error:
                raise WrongResultError(
                    f"{error} for {case} on {count_of(count, 'thread')}"
                ) from None
        strides = x.strides if is_view else None
        plan = ttlg.plan(
            case.shape, case.axes, case.dtype, strides=strides, inplace=case.inplace, threads=count
        )
        return Result(case, count, plan.kernel, time_calls(entrants, repeats))

    return [on(count) for count in threads]
