"""``python -m ttlg.benchmarks.gpu``: measure ttlg on this GPU beside its peers."""

import argparse
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import inplace, report
from ttlg.benchmarks.gpu.contenders import PEERS
from ttlg.benchmarks.gpu.device import Memory, NoGpuError, describe, require
from ttlg.benchmarks.gpu.json_file import JsonFile
from ttlg.benchmarks.gpu.measure import Result, measure
from ttlg.benchmarks.gpu.suites import SUITES, cases, interleaved

_REPEATS = 5


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu",
        description="Measure ttlg, its peers and the copy ceiling on a GPU in one run.",
    )
    parser.add_argument(
        "--suite",
        nargs="+",
        choices=[*SUITES, *inplace.SUITES],
        default=list(SUITES),
        metavar="NAME",
        help=f"suites to run, by default {', '.join(SUITES)}; others: {', '.join(inplace.SUITES)}",
    )
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="permutations of each sixd suite, of its 720, and cases of each suite that draws them",
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


def _run(
    chosen: Sequence[tuple[Case, bool]],
    deadline: float,
    results: list[Result],
    measured: Callable[[], None],
) -> None:
    """Measure until the time is up or the device lost, and say so after each case."""
    memory = Memory()
    for case, with_jax in chosen:
        if time.monotonic() >= deadline:
            return
        peers = [name for name in PEERS if with_jax or name != "jax"]
        results.append(measure(case, memory, _REPEATS, peers))
        print(report.line(results[-1]), flush=True)
        measured()
        if results[-1].lost_device:
            return


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks.

    Returns
    -------
    int
        The exit status: 1 if ttlg failed in a case, 2 without a GPU, 130 if interrupted, in which
        case the results so far are written.
    """
    options = sys.argv[1:] if argv is None else list(argv)
    args = _parser().parse_args(options)
    chosen = interleaved([case for name in args.suite for case in cases(name, args.sample)])
    if args.list:
        for case, _ in chosen:
            print(
                f"{case.suite} {case.label}: {case.shape} by {case.axes}, {case.bytes / 1e6:.4g} MB"
            )
        return 0
    start = time.monotonic()
    try:
        require()
    except NoGpuError as error:
        print(f"ttlg.benchmarks.gpu: {error}", file=sys.stderr)
        return 2
    machine = describe(shlex.join(["python", "-m", "ttlg.benchmarks.gpu", *options]))
    results: list[Result] = []

    def found() -> dict[str, Any]:
        left_out = Counter(case.suite for case, _ in chosen[len(results) :])
        return report.record(machine, results, left_out)

    file = JsonFile(args.json, found)
    interrupted = False
    try:
        _run(chosen, start + args.budget, results, file.update)
    except KeyboardInterrupt:
        interrupted = True
    file.write()
    print("\n" + "\n".join(found()["table"]))
    return 130 if interrupted else int(any(result.faulty for result in results))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
