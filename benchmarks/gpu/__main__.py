"""``python -m ttlg.benchmarks.gpu``: measure ttlg on this GPU beside its peers."""

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ttlg.benchmarks import command
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import inplace, plots, report, session
from ttlg.benchmarks.gpu.contenders import PEERS
from ttlg.benchmarks.gpu.device import Memory
from ttlg.benchmarks.gpu.failures import DeviceLostError
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
    session.add_options(parser)
    parser.add_argument("--list", action="store_true", help="list the cases, and stop")
    return parser


def _run(
    chosen: Sequence[tuple[Case, bool]],
    deadline: float,
    results: list[Result],
    file: session.JsonFile,
) -> int:
    """Measure until the time is up or the device lost, and print each result."""
    memory = Memory()

    def one(entry: tuple[Case, bool]) -> None:
        case, with_jax = entry
        peers = [name for name in PEERS if with_jax or name != "jax"]
        results.append(measure(case, memory, _REPEATS, peers))
        print(report.line(results[-1]), flush=True)
        if results[-1].lost_device:
            raise DeviceLostError

    return session.measure_all(chosen, deadline, one, file)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks.

    Returns the exit status: 1 if ttlg failed in a case, 2 without a GPU, 130 if interrupted, in
    which case the results so far are written.
    """
    args = command.parse(_parser(), argv)
    chosen = interleaved([case for name in args.suite for case in cases(name, args.sample)])
    if args.list:
        print(*(case.described for case, _ in chosen), sep="\n")
        return 0
    deadline = time.monotonic() + args.budget
    machine = session.described(args)
    if machine is None:
        return 2
    results: list[Result] = []

    def found() -> dict[str, Any]:
        left_out = Counter(case.suite for case, _ in chosen[len(results) :])
        return report.record(machine, results, left_out)

    status = _run(chosen, deadline, results, session.JsonFile(args.json, found))
    drawn = plots.draw if any(each.has_ceiling for each in results) else None
    session.report(args, found(), drawn)
    return status or int(any(result.faulty for result in results))


if __name__ == "__main__":
    session.run(main)
