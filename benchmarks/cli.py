"""``ttlg bench``: the benchmarks' command line."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ttlg._arguments.words import count_of
from ttlg.benchmarks import ablations, command, machine, plots, report
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import available_cores
from ttlg.benchmarks.contraction import run as contractions
from ttlg.benchmarks.inplace import contenders as inplace
from ttlg.benchmarks.inplace.suites import SUITES as IN_PLACE
from ttlg.benchmarks.measure import Result, WrongResultError, measure
from ttlg.benchmarks.panels import draw
from ttlg.benchmarks.record import OtherRunError, Record
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.measure import LIBRARIES as SPARSE_LIBRARIES
from ttlg.benchmarks.sparse.measure import measure as measure_sparse
from ttlg.benchmarks.sparse.suites import SUITES as SPARSE
from ttlg.benchmarks.suites import DEFAULT_SUITES, QUICK_BYTES, SUITES, cases

_REPEATS = 5
_QUICK_REPEATS = 3
_LARGEST_GIB = 2


def _summary(suite: Callable[[], Iterable[Case]]) -> str:
    return (suite.__doc__ or "").partition("\n")[0]


def _epilog() -> str:
    """Write a line for each suite in place, and for each sparse one."""

    def lines(suites: Mapping[str, Callable[[], Iterable[Case]]]) -> list[str]:
        return [f"  {name:18} {_summary(suite)}" for name, suite in suites.items()]

    return "\n".join(
        [
            "In place, one suite an experiment; figures of Catanzaro et al., PPoPP 2014:",
            *lines(IN_PLACE),
            "",
            "Of sparse tensors, drawn by the statistics of published ones:",
            *lines(SPARSE),
            "",
            f"Contractions, by --suite {contractions.SUITE}; --only nine is one of its parts:",
            *contractions.summary(),
            "",
            "On a GPU: python -m ttlg.benchmarks.gpu --help",
            "Reads and writes of Zarr arrays: python -m ttlg.benchmarks.zarr_io --help",
            "Calls while others use the cores: python -m ttlg.benchmarks.busy --help",
            "Generated C++, figures of GenTT: python -m ttlg.benchmarks.generated --help",
            "Orders of the loops, as COMET: python -m ttlg.benchmarks.loops --help",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ttlg bench",
        description="Measure ttlg, its peers and the copy ceiling in one run.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--suite",
        nargs="+",
        choices=[*SUITES, contractions.SUITE],
        metavar="NAME",
        help=f"suites to run, of {', '.join(SUITES)}; by default all but sixd, which takes hours, "
        f"those in place and the sparse ones; or {contractions.SUITE} alone",
    )
    what.add_argument(
        "--ablation",
        nargs="+",
        choices=ablations.ABLATIONS,
        metavar="NAME",
        help="vary one of the planner's choices instead, of "
        f"{', '.join(ablations.ABLATIONS)}, and compare the plans",
    )
    parser.add_argument(
        "--threads",
        nargs="+",
        type=command.count,
        metavar="N",
        default=sorted({1, available_cores()}),
        help="numbers of threads; by default one and all cores",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few cases of each suite, cut down to a fraction"
    )
    parser.add_argument(
        "--repeats",
        type=command.count,
        metavar="N",
        help=f"samples of each contender; by default {_REPEATS}, {_QUICK_REPEATS} with --quick",
    )
    _add_sizes(parser)
    parser.add_argument(
        "--json",
        type=command.file,
        metavar="FILE",
        help="write the results as JSON, case by case; an interrupted run goes on, by the same command",
    )
    parser.add_argument(
        "--csv",
        type=command.file,
        metavar="FILE",
        help="write a row for each contender of each case",
    )
    command.add_plot(parser)
    parser.add_argument(
        "--memory",
        action="store_true",
        help="measure what a sparse transposition needs besides input and result",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the suites, or the cases of --suite, and stop"
    )
    return parser


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sample",
        type=command.count,
        metavar="N",
        help="how many cases the suites in place draw, or permutations of rank 5 the sparse ones, "
        "or random contractions there are",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="let them draw as many as the paper, in its way, or all permutations; all of TCCG",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="TEXT",
        help="leave out the cases whose names contain none of these",
    )
    parser.add_argument(
        "--largest",
        type=command.count,
        default=_LARGEST_GIB,
        metavar="GIB",
        help="leave out larger arrays; by default %(default)s GiB. In place takes five times as much",
    )


def _list_suites() -> None:
    for name, suite in SUITES.items():
        print(f"{name:18} {len(list(suite())):5} cases  {_summary(suite)}")
    print("ablations")
    for name, ablation in ablations.ABLATIONS.items():
        print(f"{name:18} {len(ablation.cases):5} cases  {ablation.summary}")


def _chosen(args: argparse.Namespace) -> list[Case]:
    """List the cases that fit, and say how many do not."""
    suites = args.suite or DEFAULT_SUITES
    every = cases(suites, quick=args.quick, sample=args.sample, full=args.full)
    if args.only:
        every = [case for case in every if any(text in case.label for text in args.only)]
    fitting = [case for case in every if case.bytes <= args.largest << 30]
    if len(fitting) < len(every):
        print(f"left out: {count_of(len(every) - len(fitting), 'case')} above {args.largest} GiB")
    return fitting


def _describe(line: str, chosen: Sequence[Case]) -> dict[str, Any]:
    sparse = any(isinstance(case, SparseCase) for case in chosen)
    described = machine.describe(line, SPARSE_LIBRARIES if sparse else ())
    if any(case.inplace for case in chosen):
        described["inplace"] = inplace.describe()
    return described


def _measure(case: Case, args: argparse.Namespace, repeats: int) -> Sequence[Result]:
    if isinstance(case, SparseCase):
        return measure_sparse(case, args.threads, repeats, memory=args.memory)
    return measure(case, args.threads, repeats)


def _ablate(args: argparse.Namespace, repeats: int) -> int:
    rows = []
    limit = QUICK_BYTES if args.quick else None
    for name in args.ablation:
        for threads in args.threads:
            for row in ablations.run(name, threads, repeats, limit=limit):
                rows.append(asdict(row))
                print(ablations.table(row), flush=True)
    record = command.write_record(args, ablations=rows)
    if args.plot:
        draw(ablations.panels(record), args.plot)
    return 0


def _run_suites(parser: argparse.ArgumentParser, args: argparse.Namespace, repeats: int) -> int:
    chosen = _chosen(args)
    if args.only and not chosen:
        parser.error(f"no case's name contains {' or '.join(args.only)}")
    if args.list:
        print(*(case.described for case in chosen), sep="\n")
        return 0
    described = _describe(args.line, chosen)
    record = Record(args.json, {"machine": described}, asdict, report.read_result)
    results = command.measure_all(
        chosen, lambda case: _measure(case, args, repeats), report.line, record
    )
    if not results:
        return 1
    measured = report.Report(described, tuple(results))
    print("\n" + report.table(measured))
    if args.csv:
        args.csv.write_text(measured.to_csv())
    if args.plot:
        plots.plot(measured, args.plot)
    return 0 if len(results) == len(chosen) * len(args.threads) else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks, with the process's options by default.

    Returns the exit status: 1 if a contender gave a wrong result or the user interrupted.
    """
    parser = _parser()
    args = command.parse(parser, argv)
    if args.ablation and args.csv:
        parser.error("--csv is for suites, not for ablations")
    if args.list and args.suite is None:
        _list_suites()
        return 0
    repeats = args.repeats or (_QUICK_REPEATS if args.quick else _REPEATS)
    try:
        if args.ablation:
            return _ablate(args, repeats)
        if args.suite and contractions.SUITE in args.suite:
            return contractions.run(parser, args, repeats)
        return _run_suites(parser, args, repeats)
    except OtherRunError as error:
        parser.error(str(error))
    except WrongResultError as error:
        print(f"ttlg bench: {error}", file=sys.stderr)
        return 1
