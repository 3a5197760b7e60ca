"""``python -m ttlg.benchmarks.generated``: functions that `ttlg.generate` writes, measured.

Figures 5 to 9 of Chen et al., GenTT. The functions are compiled with -O2 and take part beside a plan
of ttlg into ``out=``, NumPy's ``copyto``, PyTorch's ``copy_``, HPTT where its Python module finds a
build, and plain loops with constant extents that gcc vectorises (-O3 -march=native). All run on one
thread, on arrays that begin with a cache line, the output right behind the input, and take turns;
every output is compared bit for bit first.

Compiled functions are repeated in C++, so that they pay for no call from Python, while plans, NumPy
and PyTorch do, about 0.3 to 2 microseconds each, and HPTT, which plans at every call as well. For
arrays below 8 KB there is a second row, for 64 KB of them in one call, where this weighs little.

The paper's maps, but for that of Fig. 7, are not in its text; those here are dispersed, reversed and
random. For Fig. 8 the number of steps is that of the generated program; records of the ablation
``shuffle`` are of other kernels, those of the library, which interpret programs. For Fig. 9 the sets
that this machine runs are timed. For all, NEON and SVE2 among them, the instructions of a pass are
counted in the program and, where there is a compiler for them, in the compiled loop.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ttlg.benchmarks import command
from ttlg.benchmarks.generated import compiled, ends, report
from ttlg.benchmarks.generated.figures import FIGURES
from ttlg.benchmarks.generated.measure import count, measure
from ttlg.benchmarks.measure import WrongResultError
from ttlg.benchmarks.panels import draw

_REPEATS = 15


def _parser() -> argparse.ArgumentParser:
    summaries = {name: figure.summary for name, figure in FIGURES.items()} | {
        ends.NAME: ends.SUMMARY
    }
    figures = "\n".join(f"  {name:10} {summary}" for name, summary in summaries.items())
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.generated",
        description=(__doc__ or "").partition("\n\n")[2],
        epilog=f"figures:\n{figures}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("figure", choices=summaries, metavar="FIGURE", help="one of those below")
    parser.add_argument(
        "--repeats",
        type=command.count,
        default=_REPEATS,
        metavar="N",
        help="samples of each contender, by default %(default)s",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="measure the paper's sizes: cubes of 512, 1024 and 2048 too, the last in 128 GiB of memory",
    )
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def _measure_figure(args: argparse.Namespace, compiler: str) -> dict[str, Any]:
    figure = FIGURES[args.figure]
    if args.full:
        figure = replace(figure, cases=figure.full or figure.cases)
    rows = measure(figure, args.repeats)
    counts = list(count(figure.cases())) if figure.counted else []
    print("\n".join(report.table(figure, rows, counts)))
    return command.write_record(
        args,
        compiler=compiler,
        rows=[asdict(row) for row in rows],
        counts=[asdict(each) for each in counts],
    )


def _measure_ends(args: argparse.Namespace, compiler: str) -> dict[str, Any]:
    rows = [asdict(row) for row in ends.measure(args.repeats)]
    record = command.write_record(args, compiler=compiler, ends=rows)
    print("\n".join(ends.table(record)))
    return record


def main(argv: Sequence[str] | None = None) -> int:
    """Measure a figure; 1 is a wrong result, 2 a missing compiler."""
    parser = _parser()
    args = command.parse(parser, argv)
    path = compiled.compiler()
    if path is None:
        parser.error("generated functions have to be compiled, and there is no g++ or c++ here")
    measured = _measure_ends if args.figure == ends.NAME else _measure_figure
    try:
        record = measured(args, compiled.version(path))
    except WrongResultError as error:
        print(f"{args.program}: {error}", file=sys.stderr)
        return 1
    if args.plot:
        draw(report.panels(record), args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
