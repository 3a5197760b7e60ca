"""Networks contracted along the tree of the fewest operations and that of the least predicted time.

cotengra searches for both trees, with as many trials and methods for each, and ttlg contracts along
both; the calls alternate, after calls that ttlg learns from.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import ttlg
from ttlg.benchmarks import command
from ttlg.benchmarks.contenders import Array, Contender
from ttlg.benchmarks.contraction.contenders import LIBRARIES, products, threads
from ttlg.benchmarks.contraction.measure import LEARNING_CALLS
from ttlg.benchmarks.contraction.report import milliseconds
from ttlg.benchmarks.measure import WrongResultError, time_calls
from ttlg.benchmarks.panels import Panel, draw

# Results are sums of many products of numbers about 0, so that only their size tells rounding.
_TOLERANCE = 1e-9
_SEARCH_SECONDS = 60


@dataclass(frozen=True)
class Network:
    """A random regular graph or a lattice, in whose every edge is a bond of the same extent."""

    name: str
    bond: int
    tensors: int = 0
    degree: int = 0
    lattice: tuple[int, ...] = ()
    seed: int = 0

    def build(self) -> tuple[list[list[str]], list[str], dict[str, int]]:
        """Return the labels of each tensor, those of the result, and all extents."""
        from cotengra.utils import lattice_equation, rand_equation

        bonds = {"d_min": self.bond, "d_max": self.bond}
        if self.lattice:
            inputs, output, _, sizes = lattice_equation(self.lattice, **bonds)
        else:
            inputs, output, _, sizes = rand_equation(
                self.tensors, self.degree, seed=self.seed, **bonds
            )
        return inputs, output, sizes


NETWORKS = (
    Network("3-regular, 30 tensors", 8, 30, 3, seed=2),
    Network("3-regular, 40 tensors", 6, 40, 3, seed=5),
    Network("3-regular, 60 tensors", 3, 60, 3, seed=5),
    Network("4-regular, 24 tensors", 4, 24, 4, seed=3),
    Network("lattice 6 x 6", 8, lattice=(6, 6)),
    Network("lattice 3 x 3 x 4", 3, lattice=(3, 3, 4)),
)


@dataclass(frozen=True)
class Planned:
    """A tree: its operations, its predicted and its measured seconds, and those of the search."""

    operations: float
    predicted: float
    measured: float
    searching: float


def _tree(network: Network, objective: Any, trials: int) -> tuple[Any, float]:
    from cotengra import HyperOptimizer

    search = HyperOptimizer(
        minimize=objective,
        max_repeats=trials,
        max_time=_SEARCH_SECONDS,
        methods=["greedy", "labels"],
        optlib="random",
        parallel=False,
        progbar=False,
    )
    start = time.perf_counter()
    return search.search(*network.build()), time.perf_counter() - start


def _operands(network: Network) -> tuple[str, list[Array]]:
    from opt_einsum import get_symbol

    inputs, output, sizes = network.build()
    symbols = {label: get_symbol(number) for number, label in enumerate(sizes)}
    terms = ["".join(symbols[label] for label in labels) for labels in (*inputs, output)]
    generator = np.random.default_rng(0)
    arrays = [generator.random([sizes[label] for label in labels]) - 0.5 for labels in inputs]
    return ",".join(terms[:-1]) + "->" + terms[-1], arrays


def measure(network: Network, count: int, trials: int, repeats: int) -> dict[str, Planned]:
    """Search, contract and compare. Raises WrongResultError where the two results differ."""
    from ttlg.cotengra import TimeObjective

    equation, arrays = _operands(network)
    objectives = {"operations": "flops", "time": TimeObjective(threads=count)}
    trees = {name: _tree(network, each, trials) for name, each in objectives.items()}
    shapes = [x.shape for x in arrays]
    plans = {
        name: ttlg.contraction(equation, *shapes, optimize=tree.get_path(), threads=count)
        for name, (tree, _) in trees.items()
    }
    predicted = {name: plan.estimate().seconds for name, plan in plans.items()}
    results = []
    for plan in plans.values():
        results += [plan(*arrays) for _ in range(LEARNING_CALLS)]
    largest = max(float(np.abs(result).max()) for result in results)
    if any(np.abs(result - results[0]).max() > _TOLERANCE * largest for result in results):
        raise WrongResultError(f"{network.name}: the results along the two trees differ")
    entrants = [
        Contender(name, lambda plan=plan: plan(*arrays), returns=True)  # type: ignore[misc]
        for name, plan in plans.items()
    ]
    seconds = time_calls(entrants, repeats)
    return {
        name: Planned(
            float(tree.contraction_cost()),
            predicted[name],
            seconds[name],
            searching,
        )
        for name, (tree, searching) in trees.items()
    }


def line(network: Network, measured: dict[str, Planned]) -> str:
    """Write a result in a line."""

    def text(name: str, each: Planned) -> str:
        return (
            f"by {name} {milliseconds(each.measured)} ms (predicted {each.predicted / each.measured:.2f} "
            f"of it, {each.operations:.3g} multiplications, searched {each.searching:.1f} s)"
        )

    gain = measured["operations"].measured / measured["time"].measured
    both = ", ".join(text(name, each) for name, each in measured.items())
    return f"{network.name} of bond {network.bond}: {both}; ratio {gain:.2f}"


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the times along both trees, and those that were predicted."""
    results = record["results"]
    values = {
        f"tree of the least {name}, {kind}": [each[name][kind] * 1e3 for each in results]
        for name in ("operations", "time")
        for kind in ("measured", "predicted")
    }
    labels = [f"{each['name']}, bond {each['bond']}" for each in results]
    return [Panel("networks", labels, values, "milliseconds", "log")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.contraction.networks", description=__doc__
    )
    add = parser.add_argument
    add("--threads", type=int, default=1, metavar="N", help="of all libraries, by default 1")
    add("--trials", type=int, default=64, metavar="N", help="of each search, by default 64")
    add("--repeats", type=int, default=9, metavar="N", help="calls that are timed, by default 9")
    add("--only", metavar="TEXT", default="", help="networks whose names contain this text")
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def _measured(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with threads(args.threads), ttlg.learning(True):
        for network in NETWORKS:
            if args.only in network.name:
                measured = measure(network, args.threads, args.trials, args.repeats)
                print(line(network, measured), flush=True)
                yield asdict(network) | {name: asdict(each) for name, each in measured.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the networks, print them, and write them as JSON."""
    args = command.parse(_parser(), argv)
    try:
        results = list(_measured(args))
    except WrongResultError as error:
        print(f"networks: {error}", file=sys.stderr)
        return 1
    libraries = (*LIBRARIES, "cotengra")
    record = command.write_record(
        args, libraries, products=products(), threads=args.threads, results=results
    )
    if args.plot:
        draw(panels(record), args.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
