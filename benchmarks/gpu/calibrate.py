"""Measure the slices that the planner weighs on this GPU, and fit the time model to them.

``python -m ttlg.benchmarks.gpu.calibrate --outdir DIR`` writes DIR/<device>.json, which becomes the
device's model when it is put among the package's ``models``.
"""

import argparse
import gc
import json
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

import ttlg
from ttlg import _core
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import fit
from ttlg.benchmarks.gpu.dataset import problems, sample
from ttlg.benchmarks.gpu.device import (
    Memory,
    NoGpuError,
    describe,
    graph_seconds,
    require,
    same_bits,
    transposed,
)
from ttlg.benchmarks.measure import WrongResultError

_SEED = 0
# Slices of a schema that are measured for each problem.
_SLICES = 5
_REPEATS = 3
_COPY_BYTES = 1 << 30


def plan_of(plan: ttlg.Plan, candidate: Any) -> ttlg.Plan:
    """Return the plan that does what `plan` does in the way of one of its candidates."""
    record = json.loads(plan.to_json())
    record |= {"kernel": candidate.kernel, "parameters": candidate.parameters}
    return ttlg.Plan.from_json(json.dumps(record))


def chosen(plan: ttlg.Plan, seed: int) -> list[Any]:
    """Draw some of a plan's candidates of each schema, the predicted best always."""
    schemas: dict[str, list[Any]] = {}
    for each in plan.candidates():
        schemas.setdefault(each.kernel, []).append(each)
    return [each for found in schemas.values() for each in sample(found, _SLICES, seed)]


def measure(case: Case, memory: Memory, seed: int) -> Iterator[fit.Point]:
    """Verify and time some slices of a problem."""
    plan = ttlg.plan(case.shape, case.axes, case.dtype, device="cuda")
    buffers = memory.buffers(case)
    expected = transposed(buffers.inputs[0], case.axes)
    for each in chosen(plan, seed):
        own = plan_of(plan, each)
        buffers.poison()
        own(buffers.inputs[0], buffers.outputs[0])
        if not same_bits(buffers.outputs[0], expected):
            raise WrongResultError(f"{each.kernel} {each.parameters} gave a wrong result of {case}")

        def call(i: int, own: ttlg.Plan = own) -> None:
            own(buffers.inputs[i], buffers.outputs[i])

        seconds = graph_seconds(call, len(buffers), _REPEATS)
        label = f"{case.label} {case.shape} {case.axes}"
        yield fit.Point(each.kernel, dict(each.features), seconds, label, each.parameters)


def measure_until(deadline: float, memory: Memory) -> Iterator[fit.Point]:
    """Measure problems of the data set until the time is up."""
    for number, case in enumerate(problems(_SEED)):
        if time.monotonic() >= deadline:
            return
        yield from measure(case, memory, number)


def properties() -> dict[str, Any]:
    """Return what the driver knows of the device, with a copy and a launch as measured."""
    known = dict(_core.device_model(0).to_dict())
    known.pop("coefficients")
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


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, fit, write the model and print the errors.

    Returns
    -------
    int
        The exit status: 1 if a kernel gave a wrong result, 2 without a GPU.
    """
    options = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(prog="calibrate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--outdir", type=Path, required=True, help="where the model is written")
    parser.add_argument("--json", type=Path, help="write points and regressions as JSON")
    parser.add_argument("--budget", type=float, default=360, help="seconds; default 360")
    args = parser.parse_args(options)
    try:
        require()
        gc.freeze()  # each capture of a graph collects garbage, among all that was imported
        deadline = time.monotonic() + args.budget
        known = properties()
        points = list(measure_until(deadline, Memory()))
    except (NoGpuError, WrongResultError) as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 2 if isinstance(error, NoGpuError) else 1
    machine = describe(shlex.join(["python -m ttlg.benchmarks.gpu.calibrate", *options]))
    regressions = fit.fit(points, known["launch_seconds"], _SEED)
    source = f"fitted to {len(points)} launches on {machine['device']}, commit {machine['commit']}"
    path = args.outdir / f"{known['name']}.json"
    path.write_text(json.dumps(fit.model(known, regressions, source), indent=1) + "\n")
    lines = fit.table(regressions)
    print("\n".join(lines))
    if args.json:
        record = {
            "machine": machine,
            "regressions": {name: each.to_dict() for name, each in regressions.items()},
            "table": lines,
            "points": [asdict(point) for point in points],
        }
        args.json.write_text(json.dumps(record) + "\n")
    return 0 if regressions else 1


if __name__ == "__main__":
    sys.exit(main())
