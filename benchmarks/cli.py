"""``ttlg bench``: the benchmarks' command line."""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from ttlg.benchmarks import ablations, machine, report
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import available_cores, optional
from ttlg.benchmarks.measure import Result, WrongResultError, measure
from ttlg.benchmarks.suites import DEFAULT_SUITES, QUICK_BYTES, SUITES, cases

_REPEATS = 5
_QUICK_REPEATS = 3


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def _file(text: str) -> Path:
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path.parent} is not a directory")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a directory")
    return path


def _image(text: str) -> Path:
    path = _file(text)
    matplotlib = optional("matplotlib.figure")
    if matplotlib is None:
        raise argparse.ArgumentTypeError("plots need matplotlib: pip install 'ttlg[plot]'")
    formats = matplotlib.Figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise argparse.ArgumentTypeError(f"{path} must end in one of .{', .'.join(formats)}")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ttlg bench",
        description="Measure ttlg, its peers and the copy ceiling in one run.",
        epilog="On a GPU: python -m ttlg.benchmarks.gpu --help",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--suite",
        nargs="+",
        choices=SUITES,
        metavar="NAME",
        help=f"suites to run, of {', '.join(SUITES)}; by default all but sixd, which takes hours",
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
        type=_count,
        metavar="N",
        default=sorted({1, available_cores()}),
        help="numbers of threads; by default one and all cores",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few cases of each suite, cut down to a fraction"
    )
    parser.add_argument(
        "--repeats",
        type=_count,
        metavar="N",
        help=f"samples of each contender; by default {_REPEATS}, {_QUICK_REPEATS} with --quick",
    )
    parser.add_argument("--json", type=_file, metavar="FILE", help="write the results as JSON")
    parser.add_argument(
        "--plot", type=_image, metavar="FILE", help="draw the shares of the ceiling"
    )
    parser.add_argument(
        "--list", action="store_true", help="list the suites, or the cases of --suite, and stop"
    )
    return parser


def _list(suites: Sequence[str] | None, quick: bool) -> None:
    if suites is None:
        for name, suite in SUITES.items():
            summary = (suite.__doc__ or "").partition("\n")[0]
            print(f"{name:12} {len(list(suite())):5} cases  {summary}")
        print("ablations")
        for name, ablation in ablations.ABLATIONS.items():
            print(f"{name:12} {len(ablation.cases):5} cases  {ablation.summary}")
        return
    for case in cases(suites, quick=quick):
        print(f"{case.suite} {case.label}: {case.shape} by {case.axes}, {case.bytes / 1e6:.4g} MB")


def _measure_all(chosen: Sequence[Case], threads: Sequence[int], repeats: int) -> list[Result]:
    """Measure the cases, printing each result; on Ctrl-C stop, and keep what there is."""
    results: list[Result] = []
    bar = tqdm(chosen, unit="case", disable=None)
    try:
        for case in bar:
            for result in measure(case, threads, repeats):
                results.append(result)
                tqdm.write(report.line(result))
    except KeyboardInterrupt:
        print(f"interrupted after {len(results)} results", file=sys.stderr)
    finally:
        bar.close()
    return results


def _ablate(args: argparse.Namespace, repeats: int, command: str) -> int:
    rows = []
    limit = QUICK_BYTES if args.quick else None
    for name in args.ablation:
        for threads in args.threads:
            for row in ablations.run(name, threads, repeats, limit=limit):
                rows.append(asdict(row))
                print(ablations.table(row), flush=True)
    if args.json:
        record = {"machine": machine.describe(command), "ablations": rows}
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks.

    Parameters
    ----------
    argv : sequence of str, optional
        The options; by default the process's.

    Returns
    -------
    int
        The exit status: 1 if a contender gave a wrong result or the user interrupted.
    """
    options = sys.argv[1:] if argv is None else list(argv)
    parser = _parser()
    args = parser.parse_args(options)
    if args.ablation and args.plot:
        parser.error("--plot draws suites, not ablations")
    if args.list:
        _list(args.suite, args.quick)
        return 0
    chosen = cases(args.suite or DEFAULT_SUITES, quick=args.quick)
    repeats = args.repeats or (_QUICK_REPEATS if args.quick else _REPEATS)
    command = shlex.join(["ttlg", "bench", *options])
    try:
        if args.ablation:
            return _ablate(args, repeats, command)
        results = _measure_all(chosen, args.threads, repeats)
    except WrongResultError as error:
        print(f"ttlg bench: {error}", file=sys.stderr)
        return 1
    if not results:
        return 1
    measured = report.Report(machine.describe(command), tuple(results))
    print("\n" + report.table(measured))
    if args.json:
        args.json.write_text(measured.to_json() + "\n")
    if args.plot:
        report.plot(measured, args.plot)
    return 0 if len(results) == len(chosen) * len(args.threads) else 1
