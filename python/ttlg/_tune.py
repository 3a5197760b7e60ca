"""Choosing a plan by measurement: `ttlg.plan` with ``tune="measure"``."""

import contextlib
import functools
import math
import random
import timeit
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ttlg import _core
from ttlg._arguments.sizes import LINE_BYTES
from ttlg._machine.cache_file import Entry, TuneFile
from ttlg._machine.processor import machine_key
from ttlg._plan.json import Build, build_with_measured, builder, builder_of, request_record

# A sample repeats calls until it lasts this long, so that the clock weighs little.
_SAMPLE_SECONDS = 0.002
# Rounds of few candidates take at least this many samples.
_ROUND_SAMPLES = 12
# A candidate this many times slower than the best will not catch up.
_HOPELESS = 1.25
_PAGE_BYTES = 4096
_PIECE_BYTES = 1 << 20
_NUMPY_ALIGNMENT = 16

Array = np.ndarray[Any, Any]
# Returns the seconds of a number of calls, by a clock (`timeit.Timer.timeit`) or a device's events.
Timer = Callable[[int], float]
TunedT = TypeVar("TunedT", _core.CpuPlan, _core.CudaPlan, _core.CudaInplacePlan)


def tune(model: _core.CpuPlan, threads: int, kernel: str | None) -> _core.CpuPlan:
    """Find the fastest plan for a request, on disk or by measurement, and keep it in the cache.

    `model` is a plan of the request, which is measured only if the planner lists no other; `kernel`
    is the one that was asked for. The planner cache returns the result from now on for this
    request, `threads` and `kernel`.
    """
    if math.prod(model.shape) * model.itemsize == 0:
        return model
    best = find_or_measure(
        _key(model, threads, kernel),
        functools.partial(build_with_measured, builder_of(model)),
        lambda: _measure(model, threads, kernel),
    )
    _core.cache_put(best, threads, kernel)
    # Calls with a contiguous out=, and with one that begins elsewhere in a line, have other keys.
    contiguous = _core.contiguous_byte_strides(model.out_shape, model.itemsize)
    others: list[tuple[Sequence[int] | None, int]]
    others = [(model.out_strides, alignment) for alignment in (1, LINE_BYTES)]
    if model.out_byte_strides in (None, contiguous):
        others.append((None, _core.new_ndarray_alignment(model.out_shape, model.itemsize)))
    for other in others:
        if other != (model.out_byte_strides, model.out_alignment):
            _core.cache_put(_with_out(best, *other), threads, kernel)
    return best


def find_or_measure(
    key: Entry, rebuild: Callable[..., TunedT], measure: Callable[[], TunedT]
) -> TunedT:
    """Rebuild the plan of a key from the file of measured plans, or measure and keep it there."""
    file = TuneFile.from_environment()
    if file is not None:
        entry = file.load(key)
        # One that this version cannot carry out is measured again.
        with contextlib.suppress(KeyError, TypeError, ValueError):
            if entry is not None:
                return rebuild(entry["kernel"], entry["parameters"], entry["measured"])
        file.check_writable()
    best = measure()
    if file is not None:
        entry = {"kernel": best.kernel, "parameters": best.parameters, "measured": best.measured}
        file.save(key, entry)
    return best


def _key(model: _core.CpuPlan, threads: int, kernel: str | None) -> Entry:
    """Everything that decides which plan is the fastest, as JSON gives it back."""
    return {
        **machine_key(),
        **request_record(model),
        "out_byte_strides": list(model.out_strides),
        "threads": threads,
        "kernel": kernel,
    }


def _with_out(
    plan: _core.CpuPlan, byte_strides: Sequence[int] | None, alignment: int
) -> _core.CpuPlan:
    """Return the same plan, and what was measured, for another output."""
    request = _core.Request(
        plan.shape,
        plan.byte_strides,
        plan.itemsize,
        plan.axes,
        byte_strides,
        out_alignment=alignment,
    )
    build: Build[_core.CpuPlan] = builder(request, inplace=False, machine=plan.machine)
    return build_with_measured(build, plan.kernel, plan.parameters, plan.measured)


def _candidates(model: _core.CpuPlan, threads: int, kernel: str | None) -> list[_core.CpuPlan]:
    """List the planner's candidates, those that differ in their threads alone once."""
    build, plans = builder_of(model), dict[str, _core.CpuPlan]()
    for name, parameters, _ in model.candidates(threads):
        if kernel in (None, name):
            blocks = repr((name, parameters | {"threads": 0}))
            plans.setdefault(blocks, build(name, parameters))
    return [*plans.values()]


def _measure(model: _core.CpuPlan, threads: int, kernel: str | None) -> _core.CpuPlan:
    arrays = arrays_for(model)
    x, out = _core.view(arrays[0], "x"), _core.view(arrays[1], "out")
    build = builder_of(model)

    def with_other_threads(best: _core.CpuPlan) -> list[_core.CpuPlan]:
        # More of them need not win: they share the memory's bandwidth, and waking them takes time.
        halved = {threads >> shift for shift in range(threads.bit_length())}
        counts = sorted(halved - {best.parameters["threads"]})
        blocks = best.describe()["blocks"]
        return [build(best.kernel, best.parameters | {"threads": n}) for n in counts if n <= blocks]

    plans = _candidates(model, threads, kernel) or [model]
    return choose(plans, [with_other_threads], lambda plans: _sample(plans, x, out))


def choose(
    plans: list[TunedT],
    variations: Sequence[Callable[[TunedT], list[TunedT]]],
    sample: Callable[[list[TunedT]], list[float]],
) -> TunedT:
    """Return the fastest plan, with the times of all, by the least seconds of calls from `sample`.

    Each of the `variations` lists plans that differ from one in a parameter alone, such as the
    threads. Which other parameters are the best hardly depends on that, so that only the fastest
    plan so far is varied, and not each of them.
    """
    seconds = sample(plans)
    best = seconds.index(min(seconds))
    for vary in variations:
        varied = vary(plans[best])
        if not varied:
            continue
        again = sample(plans[best : best + 1] + varied)
        seconds[best] = again[0]  # taken beside those that it is compared with last
        fastest = again.index(min(again))
        if fastest > 0:
            best = len(plans) + fastest - 1
        plans, seconds = plans + varied, seconds + again[1:]
    measured = list(zip(plans, seconds, strict=True)) if len(plans) > 1 else []
    return plans[best].with_measured(measured)


def arrays_for(model: _core.CpuPlan) -> tuple[Array, Array]:
    """Allocate an input of bytes drawn at random, and an output, of the planned layout.

    Processors were seen to move zeros up to a fifth faster than other contents.

    Element (0, ..., 0) of the output begins at a cache line if the plan is for such outputs, and
    else as many bytes into one as NumPy's own arrays. The base of each is a buffer of bytes.
    """
    layouts = (model.shape, model.byte_strides), (model.out_shape, model.out_strides)
    spans = [_span(*layout) for layout in layouts]
    in_bytes, out_bytes = (high - low + model.itemsize for low, high in spans)
    begin = 0 if model.out_alignment >= LINE_BYTES else _NUMPY_ALIGNMENT
    try:
        buffers = np.empty(in_bytes, np.uint8), _bytes_in_lines(out_bytes, begin + spans[1][0])
    except MemoryError:
        raise MemoryError(
            f"measuring shape {model.shape} takes {in_bytes} bytes for an input and {out_bytes} "
            "for an output, which this machine does not give; tune='model' takes none"
        ) from None
    _fill(buffers[0])
    buffers[1][::_PAGE_BYTES] = 0  # the system gives memory when it is first written to
    dtype = np.dtype((np.void, model.itemsize))
    x, out = (
        np.ndarray(shape, dtype, buffer, -low, byte_strides)
        for (shape, byte_strides), buffer, (low, _) in zip(layouts, buffers, spans, strict=True)
    )
    return x, out


def _fill(buffer: Array) -> None:
    """Repeat a piece of random bytes."""
    piece = np.random.default_rng(0).integers(256, size=min(_PIECE_BYTES, len(buffer)), dtype="u1")
    for start in range(0, len(buffer), _PIECE_BYTES):
        part = buffer[start : start + _PIECE_BYTES]
        part[:] = piece[: len(part)]


def _bytes_in_lines(count: int, begin: int) -> Array:
    """Allocate bytes, the first of which is number `begin` of a cache line, modulo its length."""
    buffer = np.empty(count + LINE_BYTES, np.uint8)
    first = (begin - buffer.ctypes.data) % LINE_BYTES
    return buffer[first : first + count]


def _span(shape: Sequence[int], byte_strides: Sequence[int]) -> tuple[int, int]:
    """Return the least and the greatest offset of an element from the first, in bytes."""
    ends = [(extent - 1) * step for extent, step in zip(shape, byte_strides, strict=True)]
    return sum(end for end in ends if end < 0), sum(end for end in ends if end > 0)


def calls_in_a_sample(timer: Timer, seconds: float) -> int:
    """Count the calls, by doubling, that last at least `seconds`."""
    calls = 1
    while timer(calls) < seconds:
        calls *= 2
    return calls


def steady_seconds(timer: Timer, calls: int) -> float:
    """Time a call, the mean of so many, after one that is not timed.

    That one finds in the caches what others have left there, as no later call does.
    """
    timer(1)
    return timer(calls) / calls


def _sample(
    plans: Sequence[_core.CpuPlan], x: _core.TensorView, out: _core.TensorView
) -> list[float]:
    """Time plans on the CPU, as `least_seconds` does."""
    calls = (functools.partial(plan.run, x, out) for plan in plans)
    return least_seconds([timeit.Timer(call).timeit for call in calls])


def least_seconds(timers: Sequence[Timer]) -> list[float]:
    """Time plans by successive halving: the least seconds of a call of each.

    Each round samples the plans that are left, in a new random order each time, and keeps the
    better half of them, those far behind left out. Rounds of fewer plans take more samples of each.

    The minimum of a plan's samples counts: other programs can only add time, plans
    that meet have been sampled equally often, and the first rounds have too few samples for a
    median to shake off a disturbance.
    """
    if len(timers) == 1:
        return [math.inf]  # nothing to compare it with
    from tqdm import tqdm

    calls = [calls_in_a_sample(timer, _SAMPLE_SECONDS) for timer in timers]
    samples = max(len(timers), _ROUND_SAMPLES)
    least = [math.inf] * len(timers)
    left = list(range(len(timers)))
    draw = random.Random(0)
    most = samples * math.ceil(math.log2(len(timers)))
    with tqdm(
        total=most, desc="ttlg tune", unit="sample", delay=1, leave=False, disable=None
    ) as bar:
        while len(left) > 1:
            for _ in range(samples // len(left)):
                for number in draw.sample(left, len(left)):
                    seconds = steady_seconds(timers[number], calls[number])
                    least[number] = min(least[number], seconds)
                    bar.update()
            left.sort(key=least.__getitem__)
            limit = _HOPELESS * least[left[0]]
            half = left[: math.ceil(len(left) / 2)]
            left = [number for number in half if least[number] <= limit]
    return least
