"""What calls gain and cost while the planner learns from them, begun with several time models.

Each model serves calls of drawn problems into the same output. For the plan that it had after some
of these calls ``regret`` is what this takes longer than the fastest of all that were timed
afterwards, in turns: the first 24 candidates of every model, 24 ways drawn at random, and what was
in use. ``cost`` is the time of the first 20 calls by that of 20 calls of the model's choice, the
mean of those before and after. ``worse`` counts the problems whose last plan is more than 3 % slower
than the first one. ``--busy N`` keeps N cores busy with other processes while calls learn.
``--unseen N`` lets each model learn from N problems first, and gives its regret, and the error of
what it predicts, for the others' first calls before and after.
"""

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import ttlg
from ttlg import _core, _models
from ttlg._calibrate.problems import Problem, problems
from ttlg._tune import arrays_for
from ttlg.benchmarks import command
from ttlg.benchmarks.busy import others
from ttlg.benchmarks.measure import Array
from ttlg.benchmarks.panels import Panel, draw
from ttlg.benchmarks.tables import grouped, threads_text

CHECKPOINTS = (1, 10, 20, 50, 200)
COST_CALLS = 20
CANDIDATES = 24
_FIRST_ROUNDS = 3
_FASTEST = 8
_ROUNDS = 11
# Calls that learn, and that a hundred plans can be timed beside.
_SECONDS = (2e-4, 1.5e-2)
_MAX_BYTES = 64 << 20
_WORSE = 1.03

Way = tuple[str, str]  # a kernel and its parameters, as text
Models = dict[str, _core.CpuTimeModel]


@dataclass(frozen=True)
class Result:
    """What one model's calls of one problem did.

    `regrets` are by `CHECKPOINTS`; `predicted` and `measured` are seconds of the model's choice.
    `cost` is None where no calls were made.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str
    threads: int
    model: str
    regrets: tuple[float, ...]
    cost: float | None
    predicted: float
    measured: float


def read_models(names: Sequence[str]) -> Models:
    """Read shipped models of CPUs; ``generic`` is the one for every CPU, compiled in."""
    folder = Path(_models.__file__).parent / "models"
    generic = _models._generic()
    return {
        name: generic
        if name == "generic"
        else _models.cpu_model(json.loads((folder / f"cpu-{name}.json").read_text()))
        for name in names
    }


@contextmanager
def planning_by(model: _core.CpuTimeModel) -> Iterator[None]:
    """Plan by a model, with nothing learned, and then by the one before."""
    before = _core.cpu_time_model()
    _core.set_cpu_time_model(model)
    ttlg.cache_clear()
    try:
        yield
    finally:
        _core.set_cpu_time_model(before)


def draw_problems(seed: int, count: int) -> list[Problem]:
    """Draw problems whose calls learn."""
    low, high = _SECONDS
    drawn = (each for each in problems(seed, _MAX_BYTES) if each.strides is None)
    fit = (
        each
        for each in drawn
        if low < ttlg.predict_time(each.shape, each.axes, each.dtype, threads=1) < high
        and ttlg.plan(each.shape, each.axes, each.dtype, threads=1).kernel != "copy"
    )
    return list(itertools.islice(fit, count))


class _Ways:
    """Ways to carry one problem out, on arrays of it."""

    def __init__(self, x: Array, out: Array, axes: tuple[int, ...], threads: int) -> None:
        self.x, self.out, self.axes, self.threads = x, out, axes, threads
        self.plans: dict[Way, Any] = {}
        with ttlg.learning(False):
            self._request = self._planned().request
        self._views = _core.view(x, "x"), _core.view(out, "out")

    def _planned(self) -> Any:
        return ttlg.plan_for(self.x, self.axes, out=self.out, threads=self.threads)._compiled

    def add(self, kernel: str, parameters: dict[str, Any]) -> Way:
        """Add a way, to be timed later."""
        way = kernel, json.dumps(parameters, sort_keys=True)
        if way not in self.plans:
            self.plans[way] = _core.build_cpu_plan(self._request, kernel=kernel, **parameters)
        return way

    def in_use(self) -> Way:
        """Add what a call would use if the planner tried no others from now on."""
        plan = self._planned()
        best = plan.trials[0][:2] if plan.trials else (plan.kernel, plan.parameters)
        return self.add(*best)

    def add_candidates(self, draw: random.Random, at_random: int) -> None:
        """Add the first candidates of the model in use, and some of all."""
        plan = self._planned()
        for kernel, parameters, _ in plan.candidates(self.threads)[:CANDIDATES]:
            self.add(kernel, parameters)
        every = plan.candidates(self.threads, all=True)
        for kernel, parameters, _ in draw.sample(every, min(at_random, len(every))):
            self.add(kernel, parameters)

    def call(self) -> float:
        """Let the planner serve a call; return its seconds."""
        start = time.perf_counter()
        ttlg.transpose(self.x, self.axes, out=self.out, threads=self.threads)
        return time.perf_counter() - start

    def calls_by_choice(self) -> float:
        """Make as many calls as the cost is of by the model's choice; return their seconds."""
        with ttlg.learning(False):
            self.call()
            return sum(self.call() for _ in range(COST_CALLS))

    def seconds(self, used: Iterable[Way]) -> dict[Way, float]:
        """Time ways: all of them shortly, then those that were used and the fastest again.

        The least of many short times is one that was lucky, so only the later times count.
        """
        first = self._time([*self.plans], _FIRST_ROUNDS)
        fastest = sorted(first, key=first.__getitem__)[:_FASTEST]
        return self._time([*dict.fromkeys([*used, *fastest])], _ROUNDS)

    def _time(self, ways: list[Way], rounds: int) -> dict[Way, float]:
        """Time ways in turns: medians of calls that follow one by the same plan."""
        samples: dict[Way, list[float]] = {way: [] for way in ways}
        draw = random.Random(0)
        for _ in range(rounds):
            for way in draw.sample(ways, len(ways)):
                self.plans[way].run(*self._views)
                start = time.perf_counter()
                self.plans[way].run(*self._views)
                samples[way].append(time.perf_counter() - start)
        return {way: float(np.median(each)) for way, each in samples.items()}


def arrays_of(problem: Problem) -> tuple[Array, Array]:
    """Allocate an input of random bytes and an output."""
    plan = ttlg.plan(problem.shape, problem.axes, problem.dtype, threads=1)
    x, out = arrays_for(plan._compiled)
    return x.view(problem.dtype), out.view(problem.dtype)


def measure(
    problem: Problem, threads: int, models: Models, calls: int, busy: int = 0
) -> list[Result]:
    """Let calls of a problem learn by each model, then time the plans that they used."""
    x, out = arrays_of(problem)
    ways = _Ways(x, out, problem.axes, threads)
    checkpoints = [each for each in CHECKPOINTS if each <= calls]
    draw = random.Random(0)
    used: dict[str, list[Way]] = {}
    costs: dict[str, float] = {}
    predicted: dict[str, float] = {}
    for name, model in models.items():
        with others(busy, 0), planning_by(model), ttlg.learning(True):
            ways.add_candidates(draw, CANDIDATES)
            taken: list[float] = []
            used[name] = []
            without = ways.calls_by_choice()
            for number in range(1, calls + 1):
                taken.append(ways.call())
                if number in checkpoints:
                    used[name].append(ways.in_use())
            without += ways.calls_by_choice()
            costs[name] = 2 * sum(taken[:COST_CALLS]) / without
            predicted[name] = ways._planned().predicted_seconds
    expected = np.ascontiguousarray(x.transpose(problem.axes))
    if expected.tobytes() != out.tobytes():
        raise AssertionError(f"wrong result for {problem}")
    seconds = ways.seconds(way for own in used.values() for way in own)
    least = min(seconds.values())
    results = []
    for name in models:
        regrets = tuple(seconds[way] / least - 1 for way in used[name])
        results.append(
            Result(
                problem.shape,
                problem.axes,
                problem.dtype,
                threads,
                name,
                regrets,
                costs[name],
                predicted[name],
                seconds[used[name][0]],
            )
        )
    return results


def measure_unseen(
    learned: Sequence[Problem], unseen: Sequence[Problem], threads: int, models: Models, calls: int
) -> list[Result]:
    """Let each model learn from some problems; then time its choices for others, old and new."""
    factors = {}
    for name, model in models.items():
        with planning_by(model), ttlg.learning(True):
            for problem in tqdm(learned, desc=f"{name}, {threads}T", disable=None):
                x, out = arrays_of(problem)
                for _ in range(calls):
                    ttlg.transpose(x, problem.axes, out=out, threads=threads)
            factors[name] = _core.cpu_time_factors()[0]
    results = []
    for problem in tqdm(unseen, desc=f"unseen, {threads}T", disable=None):
        x, out = arrays_of(problem)
        ways = _Ways(x, out, problem.axes, threads)
        draw = random.Random(0)
        chosen: dict[str, tuple[Way, float]] = {}
        for name, model in models.items():
            for label, known in ((name, {}), (f"{name}, learned", factors[name])):
                with planning_by(model), ttlg.learning(True):
                    _core.set_cpu_time_factors(known)
                    ways.add_candidates(draw, CANDIDATES if not known else 0)
                    chosen[label] = ways.in_use(), ways._planned().predicted_seconds
        seconds = ways.seconds(way for way, _ in chosen.values())
        least = min(seconds.values())
        results += [
            Result(
                problem.shape,
                problem.axes,
                problem.dtype,
                threads,
                label,
                (seconds[way] / least - 1,),
                None,
                predicted,
                seconds[way],
            )
            for label, (way, predicted) in chosen.items()
        ]
    return results


def table(results: Sequence[Result]) -> Iterator[str]:
    """Write a line for each model and number of threads."""
    yield (
        f"{'model':26}{'threads':>8}{'problems':>9}  regret mean (95 %) after 1, 10, 20, ... calls"
        f"{'':8}cost mean (95 %)  worse  predicted off"
    )
    groups = dict.fromkeys((each.model, each.threads) for each in results)
    for model, threads in sorted(groups, key=lambda group: group[1]):
        own = [each for each in results if (each.model, each.threads) == (model, threads)]
        regrets = np.array([each.regrets for each in own])
        parts = "  ".join(
            f"{column.mean():6.1%} ({np.quantile(column, 0.95):4.0%})" for column in regrets.T
        )
        costs = [each.cost for each in own if each.cost is not None]
        cost = f"{np.mean(costs):.3f} ({np.quantile(costs, 0.95):.2f})" if costs else ""
        worse = np.sum(1 + regrets[:, -1] > _WORSE * (1 + regrets[:, 0]))
        off = np.median([abs(each.predicted / each.measured - 1) for each in own])
        yield (f"{model:26}{threads:8}{len(own):9}  {parts}   {cost:13}  {worse:5}  {off:.0%}")


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the mean regret of each model after some of its calls, a panel a number of threads."""
    drawn = []
    for threads, own in grouped(record["results"], lambda each: each["threads"]).items():
        values = {
            model: [100 * float(mean) for mean in np.mean([each["regrets"] for each in of], axis=0)]
            for model, of in grouped(own, lambda each: each["model"]).items()
        }
        labels = [f"after {calls} calls" for calls in CHECKPOINTS[: len(own[0]["regrets"])]]
        drawn.append(Panel(threads_text(threads), labels, values, "mean regret, per cent"))
    return drawn


def _rounded(entry: dict[str, Any]) -> dict[str, Any]:
    """Round what was measured, for a file."""
    digits = {
        name: float(f"{value:.4g}") for name, value in entry.items() if isinstance(value, float)
    }
    return entry | digits | {"regrets": [round(each, 4) for each in entry["regrets"]]}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.learning", description=(__doc__ or "").split("\n")[0]
    )
    shipped = [each.stem.removeprefix("cpu-") for each in _model_files()]
    names = ["generic", *shipped]
    parser.add_argument("--models", nargs="+", choices=names, default=names, help="default all")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="default 1 2")
    parser.add_argument("--problems", type=int, default=60, help="to draw; default 60")
    parser.add_argument("--calls", type=int, default=50, help="of each problem; default 50")
    parser.add_argument("--unseen", type=int, metavar="N", help="learn from N problems first")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="other processes")
    parser.add_argument("--seed", type=int, default=1, help="draws the problems; default 1")
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def _model_files() -> list[Path]:
    return sorted((Path(_models.__file__).parent / "models").glob("cpu-*.json"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 is done."""
    args = command.parse(_parser(), argv)
    models = read_models(args.models)
    drawn = draw_problems(args.seed, args.problems + (args.unseen or 0))
    results: list[Result] = []
    if args.unseen:
        learned, unseen = drawn[: args.unseen], drawn[args.unseen :]
        for threads in args.threads:
            results += measure_unseen(learned, unseen, threads, models, args.calls)
    else:
        todo = [(problem, threads) for threads in args.threads for problem in drawn]
        for problem, threads in tqdm(todo, unit="problem", disable=None):
            results += measure(problem, threads, models, args.calls, args.busy)
    print("\n".join(table(results)))
    record = command.write_record(args, results=[_rounded(asdict(each)) for each in results])
    if args.plot:
        draw(panels(record), args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
