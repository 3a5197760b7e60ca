"""The data set of the CPU's time model, and how well the model does on it.

``python -m ttlg.benchmarks.cpu_model measure FILE`` adds measurements of this machine to a file of
JSON lines, and goes on where the last call stopped. ``... evaluate FILE`` fits the model to four
fifths of a file's problems and tests it on the others, five times; with ``--model`` it also writes
the model that is fitted to all of them, as those of `ttlg/models` are.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from ttlg import _core
from ttlg._calibrate import data, fit
from ttlg._calibrate.choices import solve_choices
from ttlg._calibrate.errors import by_group, errors, regrets, summarize
from ttlg._calibrate.measure import measure
from ttlg._calibrate.problems import problems
from ttlg._calibrate.report import plot_predictions
from ttlg.benchmarks import command
from ttlg.benchmarks.contenders import available_cores, optional

# From this many bytes up a problem counts as large; large ones are held to a narrower error.
_LARGE_BYTES = 1 << 20
# A term is written if it makes up this share of the time of one in twenty plans that have it.
_LEAST_SHARE = 0.02
# What a process may get of the caches, in all models.
_CACHED_BYTES = 24 << 20


def collect(
    path: Path, *, seconds: float, seed: int, max_bytes: int, sets: int, threads: Sequence[int]
) -> int:
    """Measure problems that a file lacks until the time is up; return how many rows it adds."""
    deadline = time.monotonic() + seconds
    known = {row.case.problem for row in data.read(path)} if path.exists() else set()
    added = 0
    with path.open("a") as lines, tqdm(unit="row", disable=None) as bar:
        for number, problem in enumerate(problems(seed, max_bytes)):
            if time.monotonic() >= deadline:
                break
            if problem in known:
                continue
            known.add(problem)
            rows = measure(problem, threads, sets, random.Random(number))
            lines.write("".join(f"{row.to_json()}\n" for row in rows))
            lines.flush()
            added += len(rows)
            bar.update(len(rows))
    return added


def ordered(points: fit.Design, predicted: fit.Array, apart: float = 0.1) -> tuple[int, float]:
    """Compare the best times of permutations of one tensor, pair by pair.

    Returns how many pairs differ by more than `apart`, and the share of those that the model puts
    in the right order; NaN without any.
    """
    best: dict[Any, dict[Any, tuple[float, float]]] = {}
    for row, seconds in zip(points.rows, predicted, strict=True):
        problem, case = row.case.problem, row.case
        tensor = (problem.shape, problem.dtype, problem.strides, case.threads, case.fresh)
        own = best.setdefault(tensor, {})
        own[problem.axes] = min(own.get(problem.axes, (np.inf, 0.0)), (row.seconds, seconds))
    pairs = [
        (a, b)
        for of_tensor in best.values()
        for a in of_tensor.values()
        for b in of_tensor.values()
        if b[0] > (1 + apart) * a[0]
    ]
    return len(pairs), float(np.mean([a[1] < b[1] for a, b in pairs])) if pairs else float("nan")


def _group(row: data.Row) -> str:
    size = "large" if row.case.problem.bytes >= _LARGE_BYTES else "small"
    return f"{size} {row.case.threads}T {'fresh' if row.case.fresh else 'warm'}"


def _first_rows(points: fit.Design) -> fit.Array:
    """Return numbers by which the first row of every case is the choice."""
    seen: set[data.Case] = set()
    order = np.ones(len(points.rows))
    for number, row in enumerate(points.rows):
        order[number] = row.case in seen
        seen.add(row.case)
    return order


def fit_choices(points: fit.Design, prior: fit.Array) -> fit.Array:
    """Fit a model to times, then to what the plans that it prefers lose, then to their times."""
    seconds = solve_choices([points], fit.solve(points, prior))
    return fit.scale_to_choices(points, seconds)


def model_of(
    points: fit.Design, prior: fit.Array, predicted: fit.Array, machine: _core.CpuMachine
) -> dict[str, Any]:
    """Fit a model to all rows; its quantiles are those of predictions that left rows out."""
    seconds = fit_choices(points, prior)
    shares = points.counts * seconds / (points.counts @ seconds)[:, None]
    for term, share in enumerate(shares.T):
        if share.any() and np.quantile(share[share > 0], 0.95) < _LEAST_SHARE:
            seconds[term] = 0
    seconds = fit.scale_to_choices(points, seconds)
    low, high = fit.quantiles(points, predicted)
    return {
        "cached_bytes": machine.model.cached_bytes,
        "low": round(low, 3),
        "high": round(high, 3),
        "coefficients": {
            name: float(f"{value:.3g}")
            for name, value in zip(_core.cpu_term_names(), seconds, strict=True)
            if value
        },
    }


def evaluate(
    points: fit.Design, prior: fit.Array
) -> tuple[dict[str, Any], fit.Array, dict[data.Case, float]]:
    """Leave problems out, and tell how far choices' times are off and what choices cost."""
    predicted = fit.cross_validate(points, prior, fit_choices)
    found = regrets(points, predicted)
    pairs, share = ordered(points, predicted)
    chosen = fit.chosen(points, predicted)
    choices, of_choices = points.part(chosen), predicted[chosen]
    kernels = by_group(choices, of_choices, lambda row: row.kernel)
    groups = by_group(choices, of_choices, _group)
    record = {
        "rows": len(points.rows),
        "problems": len({row.case.problem for row in points.rows}),
        "errors": asdict(errors(choices.seconds, of_choices)),
        "errors_by_kernel": {name: asdict(each) for name, each in sorted(kernels.items())},
        "errors_by_group": {name: asdict(each) for name, each in sorted(groups.items())},
        "regret": asdict(summarize(found)),
        "regret_of_first_row": asdict(summarize(regrets(points, _first_rows(points)))),
        "pairs": pairs,
        "pairs_ordered": share,
    }
    return record, predicted, found


def table(record: dict[str, Any]) -> str:
    """Write an evaluation as text."""
    lines = [f"{'relative error':20}{'rows':>7}{'mean':>9}{'median':>9}{'signed':>9}"]
    groups = {**record["errors_by_kernel"], **record["errors_by_group"], "all": record["errors"]}
    for name, each in groups.items():
        lines.append(
            f"{name:20}{each['rows']:7}{each['mean']:9.1%}{each['median']:9.1%}"
            f"{each['signed']:+9.1%}"
        )
    lines.append(f"{'regret':20}{'cases':>7}{'mean':>9}{'median':>9}{'90 %':>9}{'95 %':>9}")
    for name in ("regret", "regret_of_first_row"):
        each = record[name]
        lines.append(
            f"{name.replace('_', ' '):20}{each['cases']:7}{each['mean']:9.1%}"
            f"{each['median']:9.1%}{each['p90']:9.1%}{each['p95']:9.1%}"
        )
    lines.append(f"of {record['pairs']} pairs {record['pairs_ordered']:.1%} are ordered rightly")
    return "\n".join(lines)


def plot(
    points: fit.Design, predicted: fit.Array, found: dict[data.Case, float], path: Path
) -> None:
    """Draw predicted against measured seconds, and a histogram of regret."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_predictions([row.kernel for row in points.rows], points.seconds, predicted, left)
    percent = 100 * np.minimum([*found.values()], 1)
    right.hist(percent, bins=np.arange(0, 102, 2).tolist())
    right.set(xlabel="regret of the first choice in per cent (at most 100)", ylabel="cases")
    figure.savefig(path, dpi=120)


def machine_of(caches: Sequence[int] | None) -> _core.CpuMachine:
    """Return this machine, or one with caches of these sizes and vectors as here."""
    here = _core.this_cpu_machine()
    sizes = caches or (here.l1_cache_bytes, here.l2_cache_bytes, here.last_level_cache_bytes)
    given = _core.CpuMachine(
        l1_cache_bytes=sizes[0],
        l2_cache_bytes=sizes[1],
        last_level_cache_bytes=sizes[2],
        vector_bytes=here.vector_bytes,
        has_shuffle=True,
        model=here.model,
    )
    return fit.with_cached_bytes(given, _CACHED_BYTES)


def _prior(args: argparse.Namespace) -> fit.Array:
    """Return the seconds of terms that are taken for those that no row has."""
    known = json.loads(args.prior.read_text())["coefficients"] if args.prior else {}
    return np.array([known.get(name, 0.0) for name in _core.cpu_term_names()])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.cpu_model", description=(__doc__ or "").split("\n")[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="add measurements of this machine to a file")
    measuring.add_argument("file", type=Path)
    measuring.add_argument("--seconds", type=float, default=80, help="default 80")
    measuring.add_argument("--seed", type=int, default=0, help="draws the problems; default 0")
    measuring.add_argument("--most-bytes", type=int, default=256 << 20, help="default 256 MiB")
    measuring.add_argument(
        "--sets", type=int, default=48, help="parameter sets to draw for each problem; default 48"
    )
    evaluating = commands.add_parser(
        "evaluate", help="fit and test the model, leaving problems out"
    )
    evaluating.add_argument("files", type=Path, nargs="+")
    evaluating.add_argument(
        "--caches",
        type=int,
        nargs=3,
        metavar=("L1", "L2", "LAST"),
        help="bytes, where another machine was measured",
    )
    evaluating.add_argument(
        "--prior",
        type=Path,
        metavar="FILE",
        help="a model whose times, scaled, are taken for terms that the files have no rows of",
    )
    evaluating.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="TERM",
        choices=_core.cpu_term_names(),
        help="terms that take the prior's times in any case, as those that only small problems tell",
    )
    evaluating.add_argument("--model", type=Path, metavar="FILE", help="write the model there")
    command.add_json(evaluating)
    evaluating.add_argument("--plot", type=Path, metavar="FILE", help="draw predictions and regret")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 is done."""
    parser = _parser()
    args = command.parse(parser, argv)
    if args.command == "measure":
        added = collect(
            args.file,
            seconds=args.seconds,
            seed=args.seed,
            max_bytes=args.most_bytes,
            sets=args.sets,
            threads=sorted({1, available_cores()}),
        )
        print(f"{added} rows added to {args.file}")
        return 0
    if args.plot and optional("matplotlib.figure") is None:
        parser.error("--plot needs matplotlib: pip install 'ttlg[plot]'")
    if args.keep and not args.prior:
        parser.error("--keep needs --prior: the model whose times are kept")
    rows = [row for file in args.files for row in data.read(file)]
    machine = machine_of(args.caches)
    points = fit.design(rows, machine)
    prior = _prior(args)
    points.counts[:, [_core.cpu_term_names().index(name) for name in args.keep]] = 0
    record, predicted, found = evaluate(points, prior)
    record["rows_without_a_plan"] = len(rows) - len(points.rows)
    print(table(record))
    command.write_record(args, **record)
    if args.model:
        model = {"name": args.model.stem, **model_of(points, prior, predicted, machine)}
        args.model.write_text(json.dumps(model, indent=2) + "\n")
    if args.plot:
        plot(points, predicted, found, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
