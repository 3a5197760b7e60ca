"""``python -m ttlg.benchmarks.gpu.structures``: arrays of structures, accessed thread by thread.

Catanzaro et al. (PPoPP 2014), section 6.2, Figs. 8 and 9: each thread stores, copies, gathers or
scatters a structure, in the order of threads or at random.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import ttlg
from ttlg.benchmarks import command, plots
from ttlg.benchmarks.gpu import session
from ttlg.benchmarks.gpu.contenders import Contender
from ttlg.benchmarks.gpu.failures import noting
from ttlg.benchmarks.gpu.measure import time_calls
from ttlg.benchmarks.measure import POISON, WrongResultError
from ttlg.benchmarks.tables import grouped

SOURCE = Path(__file__).with_name("structures.cu")
OPERATIONS = ("store", "copy", "gather", "scatter")
# How the kernels access structures, and the alignment of these.
WAYS = {
    "direct": ("Direct", 4),
    "vector": ("Direct", 16),
    "coalesced": ("Shuffles", 4),
    "coalesced-16": ("Shuffles", 16),
    "shared": ("SharedMemory", 4),
    "shared-16": ("SharedMemory", 16),
}
CEILING = "memcpy"
WORDS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 31, 32, 36, 40, 48, 56, 63, 64)
BYTES = 1 << 28  # of an array: several times the L2 cache
THREADS = 256
_REPEATS = 5
# For the compiler, which also has to find ttlg's header.
OPTIONS = ("-std=c++17", f"-DTHREADS={THREADS}")


@dataclass
class Result:
    """The median seconds of each way to do an operation, and of a copy of the whole array."""

    operation: str
    words: int
    structures: int
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name what was done to structures of how many bytes."""
        return f"{self.operation} of {4 * self.words} bytes"

    def bandwidth(self, name: str) -> float:
        """Return the GB/s of structures that are read and written."""
        sides = 1 if self.operation == "store" and name != CEILING else 2
        return sides * 4 * self.words * self.structures / self.seconds[name] / 1e9


def ways(words: int) -> list[str]:
    """List the ways that there are for structures of this many words."""
    return [name for name, (_, alignment) in WAYS.items() if 4 * words % alignment == 0]


def kernel(operation: str, way: str, words: int) -> str:
    """Name the kernel in `SOURCE`."""
    return instance(operation, *WAYS[way], words)


def instance(operation: str, access: str, alignment: int, words: int) -> str:
    """Name the kernel for one of the accesses of `SOURCE` and structures aligned like this."""
    return f"{operation}<{access}, {words}, {alignment}>"


def compiled(names: Iterable[str]) -> Any:
    """Compile instances of the kernels; CuPy does so when the first of them is asked for."""
    import cupy

    options = (*OPTIONS, f"-I{ttlg.get_include()}")
    return cupy.RawModule(code=SOURCE.read_text(), options=options, name_expressions=list(names))


def launch(
    function: Any, x: torch.Tensor, y: torch.Tensor, at: torch.Tensor
) -> Callable[[int], None]:
    """Return a call of a kernel with a thread for each of the numbers in `at`."""
    import cupy

    count = len(at)
    arguments = (*map(cupy.from_dlpack, (x, y, at)), cupy.int32(count))
    grid, block = (-(-count // THREADS),), (THREADS,)
    return lambda i: function(grid, block, arguments)


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
    yield Contender(CEILING, lambda i: y.copy_(x))
    names = {way: kernel(operation, way, x.shape[1]) for way in ways(x.shape[1])}
    module = compiled(names.values())
    result = expected(operation, x, at)
    for way, name in names.items():
        with noting(failures, way):
            call = launch(module.get_function(name), x, y, at)
            y.view(torch.uint8).fill_(POISON)
            call(0)
            if not torch.equal(y, result):
                raise WrongResultError(f"{name} gave a wrong result")
            yield Contender(way, call)


def measure(operation: str, words: int) -> Result:
    """Verify and time all ways to do an operation on structures of this many words."""
    result = Result(operation, words, BYTES // (4 * words))
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


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw the GB/s of each way over the bytes of a structure (Figs. 8 and 9)."""
    from matplotlib.figure import Figure

    operations = grouped((Result(**each) for each in record["results"]), lambda r: r.operation)
    figure = Figure(figsize=(12, 8), layout="constrained")
    colours = plots.colours_of((CEILING, *WAYS))
    labels = {"xlabel": "bytes of a structure", "ylabel": "GB/s", "ylim": (0, None)}
    for axes, operation in zip(figure.subplots(2, 2).flat, OPERATIONS, strict=True):
        results = operations.get(operation, [])
        found = {
            name: {4 * each.words: each.bandwidth(name) for each in results if name in each.seconds}
            for name in colours
        }
        plots.curves(axes, found, colours, title=operation, **labels)
    figure.savefig(path)


def add_words(parser: argparse.ArgumentParser, choices: range, default: Sequence[int]) -> None:
    """Add the option that names sizes of structures."""
    parser.add_argument(
        "--words", nargs="+", type=int, choices=choices, default=list(default), metavar="N",
        help="sizes of structures, in words of 4 bytes",
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu.structures",
        description="Measure how threads of a GPU load and store structures: as compiled, in "
        "native vectors, by coalesced_ptr, and by the same through shared memory.",
    )
    parser.add_argument("--operation", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    add_words(parser, range(1, 65), WORDS)
    session.add_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark.

    Returns the exit status: 1 if anything failed, 2 without a GPU, 130 if interrupted, in which
    case the results so far are written.
    """
    args = command.parse(_parser(), argv)
    cases = list(itertools.product(args.operation, args.words))
    return session.run_cases(args, cases, lambda case: measure(*case), table, draw)


if __name__ == "__main__":
    session.run(main)
