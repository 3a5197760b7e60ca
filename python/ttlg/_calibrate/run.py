"""A calibration from the first measurement to the model that is kept."""

import datetime
import random
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ttlg import _core, _models
from ttlg._arguments.words import count_of
from ttlg._calibrate import fit
from ttlg._calibrate.comparison import compare
from ttlg._calibrate.data import Row
from ttlg._calibrate.errors import by_group, errors, regrets, summarize
from ttlg._calibrate.measure import measure
from ttlg._calibrate.noise import Noise, OtherPrograms, measure_noise
from ttlg._calibrate.problems import problems
from ttlg._calibrate.report import Report
from ttlg._machine import memory

_SETS = 24
_MIN_PROBLEMS = 10
_MIN_BYTES, _MAX_BYTES = 1 << 20, 256 << 20
_BYTES_PER_SECOND = 2 << 20
# What a process may get of the last-level cache: parts of what there is, and absolute sizes.
_CACHE_PARTS = (1 / 8, 1 / 4, 3 / 8, 1 / 2, 1)
_CACHE_BYTES = (16 << 20, 32 << 20, 64 << 20)


def _max_bytes(budget: float) -> int:
    asked = round(budget * _BYTES_PER_SECOND)
    return min(max(asked, _MIN_BYTES), _MAX_BYTES, memory.of_machine() // 16)


def _threads() -> list[int]:
    most = _core.resolve_threads(None)
    return sorted({1, max(most // 2, 1), most})


def collect(budget: float, progress: bool) -> list[Row]:
    """Measure problems for `budget` seconds."""
    from tqdm import tqdm

    threads = _threads()
    start = time.monotonic()
    rows: list[Row] = []
    layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
    with tqdm(
        total=budget,
        desc="ttlg calibrate",
        bar_format=layout,
        leave=False,
        disable=None if progress else True,
    ) as bar:
        for number, problem in enumerate(problems(0, _max_bytes(budget))):
            spent = time.monotonic() - start
            bar.set_postfix_str(
                f"{count_of(number, 'problem')}, {count_of(len(rows), 'measurement')}",
                refresh=False,
            )
            bar.update(min(spent, budget) - bar.n)
            folds = {row.case.problem.fold for row in rows}
            if spent >= budget and number >= _MIN_PROBLEMS and len(folds) > 1:
                break
            rows += measure(problem, threads, _SETS, random.Random(number))
    return rows


def _cached_bytes(machine: _core.CpuMachine) -> list[int]:
    """List how much of the caches a process may get, the answer of the model in use first."""
    last = machine.last_level_cache_bytes
    choices = [*(round(part * last) for part in _CACHE_PARTS), *_CACHE_BYTES]
    return [machine.model.cached_bytes, *sorted({size for size in choices if 0 < size <= last})]


def _source(rows: list[Row]) -> str:
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    cases = len({row.case.problem for row in rows})
    return (
        f"ttlg.calibrate of ttlg {_core.__version__} on {day}: "
        f"{count_of(len(rows), 'measurement')} of {count_of(cases, 'problem')}"
    )


def fit_rows(
    rows: list[Row], machine: _core.CpuMachine, noise: Noise
) -> tuple[Report, dict[str, Any]]:
    """Fit a model to rows of problems of two folds or more, and test it.

    The fit starts at the model of `machine`, which they were measured on. Return how well the new
    model does, and what its file holds.
    """
    prior = fit.values(machine.model)
    trials = []
    for cached_bytes in _cached_bytes(machine):
        data = fit.design(rows, fit.with_cached_bytes(machine, cached_bytes))
        seconds = fit.solve(data, prior)
        # Noise may leave a row without a time.
        predicted = np.maximum(data.counts @ seconds, 1e-3 * data.seconds)
        off = float(np.mean(np.abs(np.log(predicted / data.seconds))))
        trials.append((off, cached_bytes, data, seconds))
    _, cached_bytes, data, seconds = min(trials, key=lambda trial: trial[0])
    seconds = fit.scale_to_choices(data, seconds)
    predicted = fit.cross_validate(data, prior, fit.solve_to_scale)
    low, high = fit.quantiles(data, predicted)
    fitted = data.counts @ seconds
    train, held_out = fit.chosen(data, fitted), fit.chosen(data, predicted)
    names = _core.cpu_term_names()
    fields = {
        "name": "cpu-calibrated",
        "cached_bytes": cached_bytes,
        "coefficients": {
            name: float(each) for name, each in zip(names, seconds, strict=True) if each
        },
        "low": low,
        "high": high,
    }
    report = Report(
        noise=noise,
        train=by_group(data.part(train), fitted[train], lambda row: row.kernel),
        held_out=by_group(data.part(held_out), predicted[held_out], lambda row: row.kernel),
        all_held_out=errors(data.seconds[held_out], predicted[held_out]),
        regret=summarize(regrets(data, predicted)),
        cached_bytes=cached_bytes,
        low=low,
        high=high,
        measured_seconds=data.seconds,
        predicted_seconds=predicted,
        kernels=[row.kernel for row in data.rows],
    )
    return report, {**fields, "errors": report.to_dict(), "source": _source(rows)}


def run(budget: float, progress: bool, force: bool) -> Report:
    """Measure, fit, and where the model is better, or `force` asks for it, keep it and plan by it."""
    fit.require_scipy()
    _models.saved_models().check_writable()
    noise = measure_noise()
    if busy := noise.objections():
        report = Report(noise, busy)
        warnings.warn(busy[0] if force else repr(report), RuntimeWarning, stacklevel=3)
        if not force:
            return report
    others = OtherPrograms()
    rows = collect(budget, progress)
    report, fields = fit_rows(rows, _core.this_cpu_machine(), noise)
    report.comparison = compare(_models.cpu_model(fields), _threads())
    report.noise = replace(noise, busy_cores=max(noise.busy_cores, others.busy_cores()))
    usable = _models.is_narrow(report.low, report.high)
    report.objections = [
        *report.noise.objections(),
        *report.comparison.objections(),
        *([] if usable else [_models.too_wide(report.low, report.high)]),
    ]
    if usable and (force or not report.objections):
        report.path = _models.save_cpu_model(fields)
        _models.install_cpu_model(fields)
    return report
