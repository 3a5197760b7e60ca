"""Measure the slices that the planner weighs on this GPU, and fit the time model to them.

``python -m ttlg.benchmarks.gpu.calibrate --outdir DIR`` writes DIR/<device>.json, which becomes the
device's model when it is put among the package's ``models``. With ``--points FILE --count 77502``,
said again until it is done, it has as many points as TTLG's regression of Orthogonal-Distinct.
"""

import argparse
import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

import ttlg
from ttlg import _core
from ttlg._calibrate.fit import require_scipy
from ttlg._calibrate.report import plot_predictions
from ttlg.benchmarks import command, plots
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import fit_costs, models, session
from ttlg.benchmarks.gpu.dataset import problems, sample
from ttlg.benchmarks.gpu.device import (
    Buffers,
    Memory,
    graph_seconds,
    same_bits,
    transposed,
)
from ttlg.benchmarks.gpu.failures import is_fault, noting
from ttlg.benchmarks.gpu.points import Point, PointFile, name_of, terms_of
from ttlg.benchmarks.gpu.report import failure_lines
from ttlg.benchmarks.measure import WrongResultError
from ttlg.benchmarks.plans import changed
from ttlg.benchmarks.tables import grouped

# Slices of a schema that are measured for each problem.
_SLICES = 5
_REPEATS = 3
_COPY_BYTES = 1 << 30


@dataclass
class Found:
    """What has been measured, and the exceptions of slices and problems that were left out."""

    points: list[Point] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)


def plan_of(plan: ttlg.Plan, candidate: Any) -> ttlg.Plan:
    """Return the plan that does what `plan` does in the way of one of its candidates."""
    return changed(plan, kernel=candidate.kernel, parameters=candidate.parameters)


def chosen(plan: ttlg.Plan, seed: int) -> list[Any]:
    """Draw some of a plan's candidates of each schema, the predicted best always."""
    schemas = grouped(plan.candidates(), lambda candidate: candidate.kernel)
    return [each for found in schemas.values() for each in sample(found, _SLICES, seed)]


def _seconds(own: ttlg.Plan, buffers: Buffers, expected: torch.Tensor) -> float:
    """Verify a plan and time it."""
    buffers.poison()
    own(buffers.inputs[0], buffers.outputs[0])
    if not same_bits(buffers.outputs[0], expected):
        raise WrongResultError("a wrong result")
    return graph_seconds(
        lambda i: own(buffers.inputs[i], buffers.outputs[i]), len(buffers), _REPEATS
    )


def measure(case: Case, memory: Memory, known: Mapping[str, Any], seed: int, found: Found) -> None:
    """Verify and time some slices of a problem; those that fail are noted and left out."""
    label = name_of(case)
    with noting(found.failures, label):
        plan = ttlg.plan(case.shape, case.axes, case.dtype, device="cuda")
        buffers = memory.buffers(case)
        expected = transposed(buffers.inputs[0], case.axes)
        for each in chosen(plan, seed):
            with noting(found.failures, f"{label} {each.kernel} {each.parameters}"):
                own = plan_of(plan, each)
                seconds = _seconds(own, buffers, expected)
                features, terms = dict(each.features), terms_of(own, known)
                found.points.append(
                    Point(each.kernel, features, seconds, label, each.parameters, terms)
                )


def left(file: PointFile | None, found: Found, count: float) -> Iterator[tuple[int, Case]]:
    """List the problems that earlier runs have not measured, with numbers, until there are enough points."""
    first = file.problems if file else 0
    for number, case in islice(enumerate(problems(models.SEED)), first, None):
        if len(found.points) >= count:
            break
        before = len(found.points)
        yield number, case
        if file:
            file.append(number, found.points[before:])


def properties() -> dict[str, Any]:
    """Return what the driver knows of the device, with a copy and a launch as measured."""
    known = dict(_core.device_model(0).to_dict())
    for fitted in ("overlap", "costs", "coefficients"):
        del known[fitted]
    big = torch.empty(_COPY_BYTES, dtype=torch.uint8, device="cuda")
    out = torch.empty_like(big)
    copy = graph_seconds(lambda _: out.copy_(big), 1, _REPEATS)
    small = torch.zeros((32, 32), device="cuda")
    plan = ttlg.plan((32, 32), device="cuda")
    small_out = torch.empty_like(small)
    launch = graph_seconds(lambda _: plan(small, small_out), 1, _REPEATS)
    return known | {
        "memory_bytes_per_second": 2 * _COPY_BYTES / copy,
        "launch_seconds": launch,
    }


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw predicted against measured seconds, and each kernel's error where nothing was fitted."""
    from matplotlib.figure import Figure

    points = [Point(**each) for each in record["points"]]
    found = record["costs"]
    values = np.array([found["costs"].get(name, 0.0) for name in fit_costs.NAMES])
    costs = fit_costs.Costs(values, found["overlap"], record["properties"]["launch_seconds"])
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    seconds = np.array([point.seconds for point in points])
    predicted = costs.predict(fit_costs.counts_of(points))
    plot_predictions([point.schema for point in points], seconds, predicted, left)
    errors = {
        "physical terms": {name: 100 * each["mean"] for name, each in found["test"].items()},
        "regressions": {name: each["test_error"] for name, each in record["regressions"].items()},
    }
    plots.bars(right, errors, ylabel="mean error in per cent", title="problems not fitted to")
    figure.savefig(path)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, fit, write the model and print the errors.

    Returns the exit status: 1 if a slice failed or there are too few points, 2 without a GPU or
    SciPy, 130 if interrupted, in which case the model is fitted to the points so far.
    """
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu.calibrate", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--outdir", type=Path, required=True, help="where the model is written")
    parser.add_argument(
        "--points",
        type=command.file,
        metavar="FILE",
        help="go on from the points in this file, if it is there, and add those of this run",
    )
    parser.add_argument(
        "--count",
        type=command.count,
        default=float("inf"),
        metavar="N",
        help="stop when there are this many points",
    )
    session.add_options(parser, budget=360)
    args = command.parse(parser, argv)
    deadline = time.monotonic() + args.budget
    machine = session.described(args, require_scipy)
    if machine is None:
        return 2
    gc.freeze()  # each capture of a graph collects garbage, among all that was imported
    known = properties()
    earlier = PointFile(args.points) if args.points else None
    found = Found(points=list(earlier.points) if earlier else [])
    fits: models.Fits | None = None

    def record() -> dict[str, Any]:
        count = f"{len(found.points)} points, {len(found.failures)} failures"
        return {
            "machine": machine,
            "properties": known,
            "costs": fits and asdict(fits.costs),
            "regressions": fits and {name: asdict(each) for name, each in fits.regressions.items()},
            "table": [count, *(fits.table() if fits else []), *failure_lines(found.failures)],
            "failures": found.failures,
            "points": [asdict(point) for point in found.points],
        }

    file = session.JsonFile(args.json, record)
    memory = Memory()
    status = session.measure_all(
        left(earlier, found, args.count),
        deadline,
        lambda each: measure(each[1], memory, known, each[0], found),
        file,
    )
    fits = models.fits_of(found.points, known["launch_seconds"])
    if fits:
        source = models.source_of(machine, len(found.points))
        session.write(args.outdir / f"{known['name']}.json", fits.model(known, source), 1)
    file.write()
    session.report(args, record(), draw if fits else None)
    failed = not fits or any(map(is_fault, found.failures.values()))
    return status or int(failed)


if __name__ == "__main__":
    session.run(main)
