"""The CPU's time model for machines without measurements, fitted to those of several machines.

``python -m ttlg.benchmarks.generic_model --machine FILE L1 L2 LAST [--machine ...]`` fits it to files
that `ttlg.benchmarks.cpu_model` has written, each with the bytes of its machine's caches, and prints
the lines of `cpp/plan/cpu/model/generic_model.cpp`. ``--without N`` leaves the N-th machine out, and
so tells what the model loses on machines that it was not fitted to.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ttlg import _core
from ttlg._calibrate import data, fit
from ttlg._calibrate.choices import solve_choices
from ttlg._calibrate.errors import regrets, summarize
from ttlg.benchmarks import command
from ttlg.benchmarks.cpu_model import machine_of


def draw_cases(points: fit.Design, count: int) -> fit.Design:
    """Draw this many cases, or take all if there are fewer, and return their rows."""
    cases = sorted({row.case for row in points.rows}, key=repr)
    drawn = set(random.Random(0).sample(cases, min(count, len(cases))))
    return points.part(np.array([row.case in drawn for row in points.rows]))


def fit_generic(machines: Sequence[fit.Design], cases: int) -> fit.Array:
    """Fit a model to machines; the ratios of its choices' times have the geometric mean 1."""
    drawn = [draw_cases(points, cases) for points in machines]
    start = fit.solve(drawn[0], np.zeros(drawn[0].counts.shape[1]))
    seconds = solve_choices(drawn, start)
    scale = np.exp(np.mean([np.log(fit.ratio_of_choices(points, seconds)) for points in machines]))
    return seconds * scale


def lines_of(seconds: fit.Array) -> str:
    """Write the terms that take time as the model's source has them."""
    named = zip(_core.cpu_term_names(), seconds, strict=True)
    return "\n".join(f'    {{"{name}", {each:.3g}}},' for name, each in named if each > 1e-13)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.generic_model",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument(
        "--machine",
        dest="machines",
        nargs=4,
        action="append",
        required=True,
        metavar=("FILE", "L1", "L2", "LAST"),
        help="measurements, and the bytes of the caches; once for each machine",
    )
    parser.add_argument("--cases", type=int, default=4000, help="of each machine; default 4000")
    parser.add_argument("--without", type=int, metavar="N", help="leave the N-th machine out")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, and print the model and what it loses; 0 is done."""
    args = command.parse(_parser(), argv)
    designs = []
    for file, *caches in args.machines:
        machine = machine_of([int(size) for size in caches])
        designs.append((Path(file).name, fit.design(data.read(Path(file)), machine)))
    fitted = [each for number, (_, each) in enumerate(designs, 1) if number != args.without]
    seconds = fit_generic(fitted, args.cases)
    print(lines_of(seconds))
    for name, points in designs:
        lost = summarize(regrets(points, points.counts @ seconds))
        ratio = fit.ratio_of_choices(points, seconds)
        print(f"{name}: loses {lost.mean:.1%} in the mean; measured by predicted {ratio:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
