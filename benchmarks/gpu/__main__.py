"""``python -m ttlg.benchmarks.gpu``: measure ttlg on this GPU beside its peers."""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import report
from ttlg.benchmarks.gpu.device import Memory, NoGpuError, describe, require
from ttlg.benchmarks.gpu.measure import Result, measure
from ttlg.benchmarks.gpu.suites import SUITES, cases
from ttlg.benchmarks.measure import WrongResultError

_REPEATS = 5


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu",
        description="Measure ttlg, its peers and the copy ceiling on a GPU in one run.",
    )
    parser.add_argument(
        "--suite",
        nargs="+",
        choices=SUITES,
        default=list(SUITES),
        metavar="NAME",
        help=f"suites to run, by default all: {', '.join(SUITES)}",
    )
    parser.add_argument(
        "--sample", type=int, metavar="N", help="permutations of each sixd suite, of its 720"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=float("inf"),
        metavar="SECONDS",
        help="start no case after so long, and say what was left out",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--list", action="store_true", help="list the cases, and stop")
    return parser


def _run(chosen: Sequence[Case], deadline: float) -> tuple[list[Result], dict[str, int]]:
    """Measure until the time is up; count by suite what is left out."""
    memory = Memory()
    results: list[Result] = []
    left_out: dict[str, int] = {}
    for case in chosen:
        if time.monotonic() >= deadline:
            left_out[case.suite] = left_out.get(case.suite, 0) + 1
            continue
        results.append(measure(case, memory, _REPEATS))
        print(report.line(results[-1]), flush=True)
    return results, left_out


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks.

    Returns
    -------
    int
        The exit status: 1 if a contender gave a wrong result, 2 without a GPU.
    """
    options = sys.argv[1:] if argv is None else list(argv)
    args = _parser().parse_args(options)
    chosen = [case for name in args.suite for case in cases(name, args.sample)]
    if args.list:
        for case in chosen:
            print(
                f"{case.suite} {case.label}: {case.shape} by {case.axes}, {case.bytes / 1e6:.4g} MB"
            )
        return 0
    try:
        require()
        results, left_out = _run(chosen, time.monotonic() + args.budget)
    except (NoGpuError, WrongResultError) as error:
        print(f"ttlg.benchmarks.gpu: {error}", file=sys.stderr)
        return 2 if isinstance(error, NoGpuError) else 1
    machine = describe(shlex.join(["python", "-m", "ttlg.benchmarks.gpu", *options]))
    found = report.record(machine, results, left_out)
    print("\n" + "\n".join(found["table"]))
    if args.json:
        args.json.write_text(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
