"""``python -m ttlg.benchmarks.gpu.structures``: arrays of structures, accessed thread by thread.

Catanzaro et al. (PPoPP 2014), section 6.2, Figs. 8 and 9: each thread stores, copies, gathers or
scatters a structure, in the order of threads or at random.
"""

import argparse
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

import ttlg
from ttlg.benchmarks import command
from ttlg.benchmarks.gpu import session
from ttlg.benchmarks.gpu.contenders import Contender
from ttlg.benchmarks.gpu.failures import noting
from ttlg.benchmarks.gpu.measure import time_calls
from ttlg.benchmarks.gpu.report import failure_lines
from ttlg.benchmarks.measure import POISON, WrongResultError

SOURCE = Path(__file__).with_name("structures.cu")
OPERATIONS = ("store", "copy", "gather", "scatter")
# Whether by coalesced_ptr, and the alignment of the structures.
WAYS = {
    "direct": (False, 4),
    "vector": (False, 16),
    "coalesced": (True, 4),
    "coalesced-16": (True, 16),
}
CEILING = "memcpy"
WORDS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 31, 32, 36, 40, 48, 56, 63, 64)
_BYTES = 1 << 28  # of an array: several times the L2 cache
_BLOCK = 256
_REPEATS = 5


@dataclass
class Result:
    """The median seconds of each way to do an operation, and of a copy of the whole array."""

    operation: str
    words: int
    structures: int
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def bandwidth(self, name: str) -> float:
        """Return the GB/s of structures that are read and written."""
        sides = 1 if self.operation == "store" and name != CEILING else 2
        return sides * 4 * self.words * self.structures / self.seconds[name] / 1e9


def ways(words: int) -> list[str]:
    """List the ways that there are for structures of this many words."""
    return [name for name, (_, alignment) in WAYS.items() if 4 * words % alignment == 0]


def kernel(operation: str, way: str, words: int) -> str:
    """Name the kernel in `SOURCE`."""
    coalesced, alignment = WAYS[way]
    return f"{operation}<{str(coalesced).lower()}, {words}, {alignment}>"


def expected(operation: str, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """Return what an operation makes of structures in rows and a permutation of their numbers."""
    if operation == "store":
        return torch.arange(x.numel(), dtype=x.dtype, device=x.device).view(x.shape)
    if operation == "gather":
        return x[at.long()]
    return torch.empty_like(x).index_copy_(0, at.long(), x) if operation == "scatter" else x


def entrants(
    operation: str, x: torch.Tensor, y: torch.Tensor, at: torch.Tensor, failures: dict[str, str]
) -> Iterator[Contender]:
    """Compile the ways to do an operation on structures in rows, and verify each of them."""
    import cupy

    count, words = x.shape
    yield Contender(CEILING, lambda i: y.copy_(x))
    names = {way: kernel(operation, way, words) for way in ways(words)}
    options = ("-std=c++17", f"-I{ttlg.get_include()}")
    module = cupy.RawModule(
        code=SOURCE.read_text(), options=options, name_expressions=list(names.values())
    )
    arguments = (*map(cupy.from_dlpack, (x, y, at)), cupy.int32(count))
    grid, block = (-(-count // _BLOCK),), (_BLOCK,)
    result = expected(operation, x, at)
    for way, name in names.items():
        with noting(failures, way):
            function = module.get_function(name)

            def call(i: int, function: Any = function) -> None:
                function(grid, block, arguments)

            y.view(torch.uint8).fill_(POISON)
            call(0)
            if not torch.equal(y, result):
                raise WrongResultError(f"{name} gave a wrong result")
            yield Contender(way, call)


def measure(operation: str, words: int) -> Result:
    """Verify and time all ways to do an operation on structures of this many words."""
    result = Result(operation, words, _BYTES // (4 * words))
    torch.manual_seed(words)
    with noting(result.failures, "case"):
        shape = (result.structures, words)
        x = torch.randint(-(1 << 31), 1 << 31, shape, dtype=torch.int32, device="cuda")
        at = torch.randperm(result.structures, dtype=torch.int32, device="cuda")
        found = list(entrants(operation, x, torch.empty_like(x), at, result.failures))
        result.seconds = time_calls(found, 1, _REPEATS, result.failures)
    return result


def table(results: Sequence[Result]) -> list[str]:
    """Write the GB/s of each way for each operation and size."""
    lines = []
    names = (CEILING, *WAYS)
    for operation in OPERATIONS:
        measured = [each for each in results if each.operation == operation]
        if measured:
            lines.append(f"{operation}, GB/s")
            lines.append(f"{'bytes':>7}" + "".join(f"{name:>14}" for name in names))
        for each in sorted(measured, key=lambda each: each.words):
            cells = (f"{each.bandwidth(n):.0f}" if n in each.seconds else "" for n in names)
            lines.append(f"{4 * each.words:7}" + "".join(f"{cell:>14}" for cell in cells))
    return [line.rstrip() for line in lines]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu.structures",
        description="Measure how threads of a GPU load and store structures: as compiled, in "
        "native vectors, and by coalesced_ptr.",
    )
    parser.add_argument("--operation", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    parser.add_argument(
        "--words", nargs="+", type=int, choices=range(1, 65), default=list(WORDS), metavar="N",
        help="sizes of structures, in words of 4 bytes",
    )  # fmt: skip
    session.add_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark.

    Returns the exit status: 1 if anything failed, 2 without a GPU, 130 if interrupted, in which
    case the results so far are written.
    """
    args = command.parse(_parser(), argv)
    deadline = time.monotonic() + args.budget
    machine = session.described(args)
    if machine is None:
        return 2
    cases = list(itertools.product(args.operation, args.words))
    random.Random(1).shuffle(cases)  # the first ones are a sample of all
    results: list[Result] = []

    def failures() -> dict[str, str]:
        return {
            f"{each.operation} of {4 * each.words} bytes: {name}": text
            for each in results
            for name, text in each.failures.items()
        }

    def found() -> dict[str, Any]:
        lines = table(results) + failure_lines(failures())
        if len(results) < len(cases):
            lines.append(f"not measured: {len(cases) - len(results)}")
        return {"machine": machine, "table": lines, "results": [asdict(each) for each in results]}

    status = session.measure_all(
        cases,
        deadline,
        lambda each: results.append(measure(*each)),
        session.JsonFile(args.json, found),
    )
    print("\n".join(found()["table"]))
    return status or int(bool(failures()))


if __name__ == "__main__":
    session.run(main)
