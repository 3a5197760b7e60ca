"""``ttlg bench --suite contractions``."""

import argparse
import sys

from ttlg._arguments.words import count_of
from ttlg.benchmarks import command, machine
from ttlg.benchmarks.contenders import optional
from ttlg.benchmarks.contraction import report
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.contenders import LIBRARIES, products
from ttlg.benchmarks.contraction.measure import measure
from ttlg.benchmarks.contraction.suites import PARTS, cases
from ttlg.benchmarks.panels import draw
from ttlg.benchmarks.record import Record

SUITE = "contractions"


def summary() -> list[str]:
    """Say in a line each what the parts of the suite are."""
    return [f"  {name:18} {(part.__doc__ or '').splitlines()[0]}" for name, part in PARTS.items()]


def _chosen(parser: argparse.ArgumentParser, args: argparse.Namespace) -> list[ContractionCase]:
    every = cases(quick=args.quick, sample=args.sample, full=args.full)
    if args.only:
        every = [case for case in every if any(text in case.label for text in args.only)]
        if not every:
            parser.error(f"no case's name contains {' or '.join(args.only)}")
    fitting = [case for case in every if max(case.sizes) <= args.largest << 30]
    if len(fitting) < len(every):
        print(f"left out: {count_of(len(every) - len(fitting), 'case')} above {args.largest} GiB")
    return fitting


def run(parser: argparse.ArgumentParser, args: argparse.Namespace, repeats: int) -> int:
    """Run the suite by the options of ``ttlg bench``, and return the exit status."""
    if len(args.suite) > 1 or args.csv or args.memory:
        parser.error(f"{SUITE} are measured alone, without other suites, --csv, --memory")
    chosen = _chosen(parser, args)
    if args.list:
        print(*(case.described for case in chosen), sep="\n")
        return 0
    if optional("threadpoolctl") is None:
        print(
            "ttlg bench: without threadpoolctl, products use as many threads as OPENBLAS_NUM_THREADS"
            " and the like say",
            file=sys.stderr,
        )
    head = {"machine": machine.describe(args.line, LIBRARIES), "products": products()}
    record = Record(args.json, head, report.to_entry, report.read_result)
    results = command.measure_all(
        chosen, lambda case: measure(case, args.threads, repeats), report.line, record
    )
    if not results:
        return 1
    print("\n" + report.table(head["machine"], results))
    if args.plot:
        draw(report.panels({"results": [*map(report.to_entry, results)]}), args.plot)
    return 0 if len(results) == len(chosen) * len(args.threads) else 1
