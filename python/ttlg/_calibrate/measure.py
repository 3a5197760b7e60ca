"""Timing many parameter sets of a problem beside each other and beside a copy."""

import dataclasses
import functools
import math
import random
import timeit
from collections.abc import Sequence

import numpy as np

from ttlg import _core
from ttlg._calibrate.data import Case, Row
from ttlg._calibrate.problems import Problem
from ttlg._calibrate.sample import sample
from ttlg._tune import Array, Timer, arrays_for, calls_in_a_sample, steady_seconds

# A sample repeats calls until it lasts this long, so that the clock weighs little.
_SAMPLE_SECONDS = 0.0002
# Samples of each plan: more where they are short and disturbances weigh more.
_ROUNDS, _LARGE_ROUNDS = 9, 3
_LARGE_BYTES = 20 << 20
# A plan this many times slower than the best gets no further samples once it has two: other
# programs may have delayed one.
_HOPELESS = 2.0
# Of the plans whose time into a warm output is known: a new one adds page faults to any.
_FRESH_PLANS = 6


def _timer(plan: _core.CpuPlan, x: Array, out: Array | None) -> Timer:
    """Time a whole call, which writes to `out` or returns a new array."""
    return timeit.Timer(functools.partial(_core.run_ndarray, plan, x, out)).timeit


def _copies(x: Array, out: Array, threads: int) -> list[Timer]:
    """Copy as many bytes as `out` has, plainly and past the caches."""
    buffers = np.asarray(x.base), np.asarray(out.base)
    source, target = (buffer[: out.nbytes] for buffer in buffers)
    request = _core.Request(target.shape, (1,), 1, (0,))
    plan = _core.cached_cpu_plan(request, threads, "copy")
    timers: list[Timer] = [timeit.Timer(functools.partial(np.copyto, target, source)).timeit]
    for streaming in (False, True):
        parameters = plan.parameters | {"streaming": streaming, "threads": threads}
        built = _core.build_cpu_plan(request, kernel="copy", **parameters)
        timers.append(_timer(built, source, target))
    return timers


def _alternate(
    plans: Sequence[Timer], copies: Sequence[Timer], rounds: int, draw: random.Random
) -> tuple[list[list[float]], float]:
    """Sample all in a new random order each round.

    Return the seconds of a call of each plan, ascending, and those of the fastest copy.
    """
    timers = [*copies, *plans]
    calls = [calls_in_a_sample(timer, _SAMPLE_SECONDS) for timer in timers]
    samples: list[list[float]] = [[] for _ in timers]
    left = list(range(len(timers)))
    for _ in range(rounds):
        for number in draw.sample(left, len(left)):
            samples[number].append(steady_seconds(timers[number], calls[number]))
        limit = _HOPELESS * min(samples[number][-1] for number in left[len(copies) :])
        # The copies and the planner's choice stay.
        left = [
            n for n in left if n <= len(copies) or len(samples[n]) < 2 or min(samples[n]) <= limit
        ]
    copied = min((min(each) for each in samples[: len(copies)]), default=math.nan)
    return [sorted(each) for each in samples[len(copies) :]], copied


def time_plans(plans: Sequence[_core.CpuPlan], draw: random.Random) -> list[float]:
    """Return the seconds of plans for one problem, timed alternately; equal ones are timed once."""
    x, out = arrays_for(plans[0])
    distinct = [plan for number, plan in enumerate(plans) if plan not in plans[:number]]
    for plan in distinct:
        if _core.run_ndarray(plan, x, out) is None:
            raise AssertionError(f"{plan} has not run")
    large = out.nbytes >= _LARGE_BYTES
    timers = [_timer(plan, x, out) for plan in distinct]
    samples, _ = _alternate(timers, [], _LARGE_ROUNDS if large else _ROUNDS, draw)
    return [samples[distinct.index(plan)][0] for plan in plans]


def measure(problem: Problem, threads: Sequence[int], count: int, draw: random.Random) -> list[Row]:
    """Time the planner's candidates for a problem, and `count` others that are drawn at random.

    The pages of the arrays have been touched, and they stay in the caches where these hold them.
    For each number of `threads` that the plans and the copies may use, the planner's choice comes
    first; then some of the same plans, called for a new result each time. A problem of 20 MiB or
    more gets half as many plans.
    """
    rounds = _ROUNDS
    if problem.bytes >= _LARGE_BYTES:
        rounds, count = _LARGE_ROUNDS, count // 2
    rows: list[Row] = []
    x = out = None
    alignment = _core.new_ndarray_alignment(problem.shape, problem.itemsize)
    into_new = dataclasses.replace(problem, out_alignment=alignment)
    for most in threads:
        plans = sample(problem, most, count, draw)
        if x is None or out is None:
            x, out = arrays_for(plans[0])
            if _core.run_ndarray(plans[0], x, out) is None:
                raise AssertionError(f"{problem} has not run")
        for fresh in (False, True):
            if fresh:
                plans = plans[:1] + draw.sample(plans[1:], min(_FRESH_PLANS, len(plans)) - 1)
            target, done = (None, into_new) if fresh else (out, problem)
            timers = [_timer(plan, x, target) for plan in plans]
            samples, copied = _alternate(timers, _copies(x, out, most), rounds, draw)
            rows += [
                Row(Case(done, most, fresh), plan.kernel, plan.parameters, tuple(each), copied)
                for plan, each in zip(plans, samples, strict=True)
            ]
    return rows
