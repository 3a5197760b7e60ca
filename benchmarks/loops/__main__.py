"""``python -m ttlg.benchmarks.loops``: the order of the loops (COMET, transpose page), measured.

All permutations of rank 3 to 5 in which no two axes stay neighbours, of float32 arrays of 40 MB, on
one thread. For each of them these take turns: the planner's plan, its blocks in every other order of
the loops over them, and nests without blocks, in which the innermost loop copies a row. Of ranks 3
and 4 all nests take part that COMET compares, those whose innermost loop has stride 1 in the input or
in the output; of rank 5 the cheapest one. Every result is compared bit for bit first. Orders list
axes of the input, the outermost loop first.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from ttlg.benchmarks import command, machine
from ttlg.benchmarks.loops import report
from ttlg.benchmarks.loops.measure import cases, measure
from ttlg.benchmarks.measure import WrongResultError
from ttlg.benchmarks.record import OtherRunError, Record

_REPEATS = 9


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.loops",
        description=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--repeats",
        type=command.count,
        default=_REPEATS,
        metavar="N",
        help="samples of each order, by default %(default)s",
    )
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all cases; 1 is a wrong result, or nothing measured."""
    args = command.parse(_parser(), argv)
    head = {"machine": machine.describe(args.line, ())}
    try:
        record = Record(args.json, head, asdict, report.read_row)
        rows = command.measure_all(
            list(cases()), lambda case: [measure(case, args.repeats)], report.line, record
        )
    except (OtherRunError, WrongResultError) as error:
        print(f"{args.program}: {error}", file=sys.stderr)
        return 1
    if not rows:
        return 1
    print("\n".join(report.table(rows)))
    if args.plot:
        report.plot(rows, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
