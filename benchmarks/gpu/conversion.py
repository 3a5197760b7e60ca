"""``python -m ttlg.benchmarks.gpu.conversion``: after how many accesses converting storage pays.

Catanzaro et al. (PPoPP 2014), section 6.2.4: an array of structures can be transposed in registers
whenever it is accessed, or once in memory. Here it is converted in place to a structure of arrays,
accessed field by field, and converted back, beside accesses by coalesced_ptr and by plain pointers.
"""

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import ttlg
from ttlg.benchmarks import command, plots
from ttlg.benchmarks.gpu import session, structures
from ttlg.benchmarks.gpu.contenders import Contender
from ttlg.benchmarks.gpu.failures import noting
from ttlg.benchmarks.gpu.measure import time_calls
from ttlg.benchmarks.measure import WrongResultError
from ttlg.benchmarks.tables import aligned

# Threads change every structure in their order, or read one each at random and add its fields up.
OPERATIONS = ("update", "sum")
UNCONVERTED = ("direct", "coalesced")
CONVERTED = "fields"
# How the kernels of structures.cu name the ways.
ACCESSES = {"direct": "Direct", "coalesced": "Shuffles", CONVERTED: "Fields"}
CONVERSIONS = ("to-fields", "to-structures")
WORDS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 31)
_REPEATS = 5


@dataclass
class Result:
    """The median seconds of each conversion, and of an operation by each way: ``update-direct``."""

    words: int
    structures: int
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name the size of the structures."""
        return f"{4 * self.words} bytes"

    def accesses(self, operation: str, way: str) -> float:
        """Return after how many accesses both conversions have paid, beside a way without them.

        It is infinite where an access to the fields takes as long, and a NaN where one of these was
        not measured.
        """
        converting = sum(self.seconds.get(name, math.nan) for name in CONVERSIONS)
        with_it, without = (
            self.seconds.get(f"{operation}-{each}", math.nan) for each in (CONVERTED, way)
        )
        return math.inf if without <= with_it else converting / (without - with_it)


def kernels(words: int) -> dict[tuple[str, str], str]:
    """Name the kernel of each operation and way; structures are aligned as their size permits."""
    alignment = 16 if 4 * words % 16 == 0 else 4
    return {
        (operation, way): structures.instance(
            operation, access, 4 if way == CONVERTED else alignment, words
        )
        for operation, (way, access) in itertools.product(OPERATIONS, ACCESSES.items())
    }


def _expect(name: str, found: torch.Tensor, expected: torch.Tensor) -> None:
    if not torch.equal(found, expected):
        raise WrongResultError(f"{name} gave a wrong result")


def _accesses(x: torch.Tensor, at: torch.Tensor, failures: dict[str, str]) -> Iterator[Contender]:
    """Compile the operations on structures, which are the rows of `x`, and verify each of them."""
    names = kernels(x.shape[1])
    module = structures.compiled(names.values())
    sums = torch.empty_like(at)
    structs, fields = x.clone(), x.t().contiguous()
    for (operation, way), kernel in names.items():
        name = f"{operation}-{way}"
        with noting(failures, name):
            array = fields if way == CONVERTED else structs
            if operation == "update":
                y, expected = array, array + 1
            else:
                totals = array.sum(0 if way == CONVERTED else 1)
                y, expected = sums.zero_(), totals.to(at.dtype)[at.long()]
            call = structures.launch(module.get_function(kernel), array, y, at)
            call(0)
            _expect(name, y, expected)
            yield Contender(name, call)


def _conversions(x: torch.Tensor, failures: dict[str, str]) -> Iterator[Contender]:
    """Plan the conversions in place of an array whose rows are structures, and verify them."""
    count, words = x.shape
    array = x.clone()
    sides = ((count, words), x), ((words, count), x.t())
    for name, (shape, before) in zip(CONVERSIONS, sides, strict=True):
        with noting(failures, name):
            plan = ttlg.plan(shape, (1, 0), x.dtype, device="cuda", inplace=True)
            matrix = array.view(shape)
            matrix.copy_(before)

            def call(i: int, plan: Callable[..., Any] = plan, matrix: Any = matrix) -> None:
                plan(matrix)

            call(0)
            _expect(name, array.view(shape[::-1]), before.t())
            yield Contender(name, call)


def measure(words: int) -> Result:
    """Verify and time conversions and accesses of structures of this many words."""
    result = Result(words, structures.BYTES // (4 * words))
    torch.manual_seed(words)
    with noting(result.failures, "case"):
        shape = (result.structures, words)
        x = torch.randint(-(1 << 31), 1 << 31, shape, dtype=torch.int32, device="cuda")
        at = torch.randperm(result.structures, dtype=torch.int32, device="cuda")
        found = [*_conversions(x, result.failures), *_accesses(x, at, result.failures)]
        result.seconds = time_calls(found, 1, _REPEATS, result.failures)
    return result


def _pays(result: Result, operation: str, way: str) -> str:
    found = result.accesses(operation, way)
    return "never" if math.isinf(found) else "" if math.isnan(found) else f"{found:.3g}"


def table(results: Sequence[Result]) -> list[str]:
    """Write microseconds, and after how many accesses the conversions pay beside each way."""
    lines = []
    for operation in OPERATIONS if results else ():
        lines.append(f"{operation}: microseconds, and accesses after which converting pays")
        names = [*CONVERSIONS, *(f"{operation}-{way}" for way in ACCESSES)]
        rows = [("bytes", *names, *(f"beside {way}" for way in UNCONVERTED))]
        for each in sorted(results, key=lambda each: each.words):
            times = (f"{1e6 * each.seconds[n]:.4g}" if n in each.seconds else "" for n in names)
            pays = (_pays(each, operation, way) for way in UNCONVERTED)
            rows.append((str(4 * each.words), *times, *pays))
        lines += aligned(rows)
    return lines


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw how long an access takes by each way, and after how many the conversions pay."""
    from matplotlib.figure import Figure

    results = [Result(**each) for each in record["results"]]
    figure = Figure(figsize=(12, 8), layout="constrained")
    colours = plots.colours_of((*ACCESSES, *CONVERSIONS))
    over = {"xlabel": "bytes of a structure", "yscale": "log"}
    for (left, right), operation in zip(figure.subplots(2, 2), OPERATIONS, strict=True):
        names = {way: f"{operation}-{way}" for way in ACCESSES} | {n: n for n in CONVERSIONS}
        times = {
            shown: {4 * r.words: 1e6 * r.seconds[name] for r in results if name in r.seconds}
            for shown, name in names.items()
        }
        plots.curves(left, times, colours, title=operation, ylabel="microseconds", **over)
        pays = {way: _payoffs(results, operation, way) for way in UNCONVERTED}
        title = f"{operation}: accesses after which converting pays"
        plots.curves(right, pays, colours, title=title, ylabel="accesses", **over)
    figure.savefig(path)


def _payoffs(results: Sequence[Result], operation: str, way: str) -> dict[float, float]:
    """Return by the bytes of structures after how many accesses converting pays, where it does."""
    found = {4 * each.words: each.accesses(operation, way) for each in results}
    return {size: number for size, number in found.items() if math.isfinite(number)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu.conversion",
        description="Measure on a GPU after how many accesses it pays to convert an array of "
        "structures in place to a structure of arrays, and back.",
    )
    structures.add_words(parser, range(2, 32), WORDS)
    session.add_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark.

    Returns the exit status: 1 if anything failed, 2 without a GPU, 130 if interrupted, in which
    case the results so far are written.
    """
    args = command.parse(_parser(), argv)
    return session.run_cases(args, args.words, measure, table, draw)


if __name__ == "__main__":
    session.run(main)
