"""Choosing a plan by measurement: `ttlg.plan` with ``tune="measure"``."""

import functools
import math
import random
import timeit
from collections.abc import Sequence
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._config import cpu_model
from ttlg._tune_file import Entry, TuneFile

# A sample repeats calls until it lasts this long, so that the clock and what the candidate before
# left in the caches weigh little.
_SAMPLE_SECONDS = 0.002
# Rounds of few candidates take at least this many samples.
_ROUND_SAMPLES = 12
# A candidate this many times slower than the best will not catch up.
_HOPELESS = 1.25
_PAGE_BYTES = 4096


def tune(model: _core.CpuPlan, threads: int, kernel: str | None) -> _core.CpuPlan:
    """Find the fastest plan for a request, on disk or by measurement, and keep it in the cache.

    Parameters
    ----------
    model : _core.CpuPlan
        The planner's choice, which takes part.
    threads : int
        The most threads to use.
    kernel : str or None
        The kernel that was asked for.

    Returns
    -------
    _core.CpuPlan
        What the planner cache gives from now on for this request, threads and kernel.
    """
    if math.prod(model.shape) * model.itemsize == 0:
        return model
    file = TuneFile.from_environment()
    key = _key(model, threads, kernel)
    best = None if file is None else _rebuilt(model, file.load(key))
    if best is None:
        if file is not None:
            file.check_writable()
        best = _measure(model, threads, kernel)
        if file is not None:
            file.save(key, {"kernel": best.kernel, "parameters": best.parameters})
    # Calls with a contiguous out= have a key of their own.
    for out_byte_strides in (
        None,
        _core.contiguous_byte_strides(model.out_shape, model.itemsize),
    ):
        plan = _with(model, best.kernel, best.parameters, out_byte_strides)
        _core.cache_put(plan, threads, kernel)
    return best


def _key(model: _core.CpuPlan, threads: int, kernel: str | None) -> Entry:
    """Everything that decides which plan is the fastest, as JSON gives it back."""
    build = _core.build_config()
    machine = ("simd_used", "l1_cache_bytes", "l2_cache_bytes", "last_level_cache_bytes")
    return {
        "ttlg": _core.__version__,
        "cpu": cpu_model(),
        **{name: build[name] for name in machine},
        "shape": list(model.shape),
        "byte_strides": list(model.byte_strides),
        "axes": list(model.axes),
        "itemsize": model.itemsize,
        "threads": threads,
        "kernel": kernel,
    }


def _with(
    model: _core.CpuPlan,
    kernel: str,
    parameters: dict[str, Any],
    out_byte_strides: Sequence[int] | None = None,
) -> _core.CpuPlan:
    """Return another plan for the same input and axes."""
    request = _core.Request(
        model.shape, model.byte_strides, model.itemsize, model.axes, out_byte_strides
    )
    return _core.build_cpu_plan(request, kernel=kernel, **parameters)


def _rebuilt(model: _core.CpuPlan, entry: Entry | None) -> _core.CpuPlan | None:
    """Rebuild a plan from disk; None if there is none, or none that this version can carry out."""
    if entry is None:
        return None
    try:
        return _with(model, entry["kernel"], entry["parameters"])
    except (KeyError, TypeError, ValueError):
        return None


def _measure(model: _core.CpuPlan, threads: int, kernel: str | None) -> _core.CpuPlan:
    x, out = _arrays_for(model)
    others = (
        _with(model, name, parameters)
        for name, parameters, _ in model.candidates(threads)
        if kernel in (None, name)
    )
    best = _fastest([model, *(plan for plan in others if plan != model)], x, out)
    # Which blocks are the best hardly depends on the threads, so these are not multiplied out.
    # More of them need not win: they share the memory's bandwidth, and waking them takes time.
    halved = {threads >> shift for shift in range(threads.bit_length())}
    counts = sorted(
        count for count in halved - {best.parameters["threads"]} if count <= best.blocks
    )
    others = (_with(model, best.kernel, best.parameters | {"threads": count}) for count in counts)
    return _fastest([best, *others], x, out)


def _arrays_for(model: _core.CpuPlan) -> tuple[_core.TensorView, _core.TensorView]:
    """Allocate an input and an output of the planned layout, whatever they hold."""
    ends = [
        (extent - 1) * step for extent, step in zip(model.shape, model.byte_strides, strict=True)
    ]
    start = -sum(end for end in ends if end < 0)
    in_bytes = sum(map(abs, ends)) + model.itemsize
    out_bytes = math.prod(model.shape) * model.itemsize
    try:
        buffers = np.empty(in_bytes, np.uint8), np.empty(out_bytes, np.uint8)
    except MemoryError:
        raise MemoryError(
            f"measuring shape {model.shape} takes {in_bytes} bytes for an input and {out_bytes} "
            "for an output, which this machine does not give; tune='model' takes none"
        ) from None
    for buffer in buffers:
        buffer[::_PAGE_BYTES] = 0  # the system gives memory when it is first written to
    element = f"V{model.itemsize}"
    x = np.ndarray(model.shape, element, buffers[0], start, model.byte_strides)
    out = np.ndarray(model.out_shape, element, buffers[1])
    return _core.view(x, "x"), _core.view(out, "out")


def calls_in_a_sample(timer: timeit.Timer, seconds: float) -> int:
    """Count the calls, by doubling, that last at least so long."""
    calls = 1
    while timer.timeit(calls) < seconds:
        calls *= 2
    return calls


def _fastest(
    plans: Sequence[_core.CpuPlan], x: _core.TensorView, out: _core.TensorView
) -> _core.CpuPlan:
    """Find the fastest plan by successive halving.

    Each round samples the plans that are left, in a new random order each time, and keeps the
    better half of them, those far behind left out. Rounds of fewer plans take more samples of each.

    The minimum of a plan's samples counts: what else the machine does only ever adds time, plans
    that meet have been sampled equally often, and the first rounds have too few samples for a
    median to shake off a disturbance.
    """
    if len(plans) == 1:
        return plans[0]
    from tqdm import tqdm

    timers = [timeit.Timer(functools.partial(plan.run, x, out)) for plan in plans]
    calls = [calls_in_a_sample(timer, _SAMPLE_SECONDS) for timer in timers]
    samples = max(len(plans), _ROUND_SAMPLES)
    least = [math.inf] * len(plans)
    left = list(range(len(plans)))
    draw = random.Random(0)
    most = samples * math.ceil(math.log2(len(plans)))
    with tqdm(
        total=most, desc="ttlg tune", unit="sample", delay=1, leave=False, disable=None
    ) as bar:
        while len(left) > 1:
            for _ in range(samples // len(left)):
                for number in draw.sample(left, len(left)):
                    seconds = timers[number].timeit(calls[number]) / calls[number]
                    least[number] = min(least[number], seconds)
                    bar.update()
            left.sort(key=least.__getitem__)
            limit = _HOPELESS * least[left[0]]
            half = left[: math.ceil(len(left) / 2)]
            left = [number for number in half if least[number] <= limit]
    return plans[left[0]]
