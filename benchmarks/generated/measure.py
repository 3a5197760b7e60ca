"""Verify and time generated functions beside the other ways to permute the same arrays."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tqdm import tqdm

import ttlg
from ttlg import _core
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import Array, Contender, hptt, numpy, torch
from ttlg.benchmarks.generated import compiled
from ttlg.benchmarks.generated.compiled import Repeated
from ttlg.benchmarks.generated.figures import LOOPS, Figure, Variant
from ttlg.benchmarks.measure import random_array, time_calls, verify
from ttlg.benchmarks.tables import grouped

_PAGE = 4096
# Smaller arrays are permuted one at a time, and then as a batch of 64 KB.
_SMALL_BYTES = 1 << 13
_BATCH_BYTES = 1 << 16
# Bytes that a call from Python permutes in all, which takes 0.1 ms or more.
CALL_BYTES = 1 << 22
COUNTED = ("loads", "stores", "shuffles", "self_shuffles", "elements", "tiles",
            "live_registers", "tables", "instructions", "vector_bytes", "lanes")  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Median seconds to permute `batch` arrays, the case's first axis where there are several.

    `counts` are those of the program of each generated function, for one array.
    """

    case: Case
    batch: int
    counts: dict[str, dict[str, int]]
    seconds: dict[str, float]

    @property
    def calls_weigh(self) -> bool:
        """Whether a call from Python takes a good part of the time of those who are called so."""
        return self.case.bytes < _SMALL_BYTES

    @property
    def steps(self) -> float:
        """Return how many shuffles a vector goes through, by the last of the programs."""
        last = [*self.counts.values()][-1]
        return (last["shuffles"] + last["self_shuffles"]) / last["loads"]

    @property
    def registers(self) -> int:
        """Return how many registers hold data at a time, the fewest of all as wide as the last."""
        width = [*self.counts.values()][-1]["vector_bytes"]
        wide = [each for each in self.counts.values() if each["vector_bytes"] == width]
        return min(each["live_registers"] for each in wide)


@dataclass(frozen=True)
class Count:
    """Instructions of a pass: of the program, and of the compiled loop where there is a compiler."""

    isa: str
    case: Case
    elements: int
    program: int
    compiled: int | None


@dataclass(frozen=True)
class _Source:
    """A contender's C++ function, and the counts of its program if it is generated."""

    contender: str
    function: str
    code: str
    flags: tuple[str, ...]
    counts: dict[str, int] | None


@dataclass(frozen=True)
class _Built:
    """A case's functions by the names of the contenders, and the counts of the generated ones."""

    case: Case
    functions: dict[str, Repeated]
    counts: dict[str, dict[str, int]]


def _sources(case: Case, figure: Figure, name: str) -> Iterator[_Source]:
    for number, variant in enumerate(figure.variants(case)):
        function = f"{name}_{number}"
        made = variant.generate(case, function)
        counts = {each: made[each] for each in COUNTED}
        yield _Source(variant.name, function, made["code"], variant.flags, counts)
    function = f"{name}_loops"
    yield _Source(LOOPS, function, compiled.loops(case, function), ("-O3", "-march=native"), None)


def _build(figure: Figure) -> Iterator[_Built]:
    """Compile what belongs to all cases, once with each set of flags."""
    cases = figure.cases()
    sources = [
        list(_sources(case, figure, f"permute_{number}")) for number, case in enumerate(cases)
    ]
    functions: dict[str, Repeated] = {}
    every = itertools.chain.from_iterable(sources)
    for flags, group in grouped(every, lambda source: source.flags).items():
        functions |= compiled.load({source.function: source.code for source in group}, flags)
    for case, own in zip(cases, sources, strict=True):
        yield _Built(
            case,
            {source.contender: functions[source.function] for source in own},
            {source.contender: source.counts for source in own if source.counts},
        )


def place(x: Array, out: Array, offset: int = 0) -> tuple[Array, Array]:
    """Copy both arrays to one piece of memory, from the start of a page and from the middle of one.

    Both begin `offset` bytes behind these.

    In memory of their own they may have lines that the first-level cache cannot hold at the same
    time, by chance, and then all contenders take up to twice as long.
    """
    size = -(-x.nbytes // _PAGE) * _PAGE
    memory = np.empty(2 * size + 2 * _PAGE, np.uint8)
    first = -memory.ctypes.data % _PAGE
    placed = []
    for array, start in ((x, first), (out, first + size + _PAGE // 2)):
        begin = start + offset
        copy = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
        copy[...] = array
        placed.append(copy)
    return placed[0], placed[1]


def _several(case: Case, batch: int) -> Case:
    """Add a first axis of `batch` arrays, which stays where it is."""
    if batch == 1:
        return case
    axes = (0, *(axis + 1 for axis in case.axes))
    return replace(case, name=f"{batch} of {case.name}", shape=(batch, *case.shape), axes=axes)


@ttlg.learning(False)
def _measure(built: _Built, batch: int, repeats: int) -> Row:
    case = _several(built.case, batch)
    drawn = random_array(case.shape, case.dtype)
    expected = np.ascontiguousarray(drawn.transpose(case.axes))
    x, out = place(drawn, expected)
    calls = max(1, CALL_BYTES // case.bytes)
    arguments = (x.ctypes.data, out.ctypes.data, batch, x.size // batch, calls)
    plan = ttlg.plan(case.shape, case.axes, case.dtype, threads=1)
    peers = (make(x, out, case.axes, 1) for make in (numpy, torch, hptt))
    entrants = [
        *(
            Contender(name, functools.partial(function, *arguments))
            for name, function in built.functions.items()
        ),
        Contender("ttlg-plan", functools.partial(plan, x, out)),
        *(peer for peer in peers if peer is not None),
    ]
    for entrant in entrants:
        verify(entrant, out, expected)
    seconds = time_calls(entrants, repeats)
    each = {
        name: value / calls if name in built.functions else value for name, value in seconds.items()
    }
    return Row(case, batch, built.counts, each)


def measure(figure: Figure, repeats: int) -> list[Row]:
    """Compile, verify and time all contenders of a figure, on one thread.

    The median of `repeats` samples counts. Raises WrongResultError where a contender moved an element
    wrongly.
    """
    rows = []
    for built in tqdm(list(_build(figure)), unit="case", disable=None):
        rows.append(_measure(built, 1, repeats))
        if rows[-1].calls_weigh:
            rows.append(_measure(built, _BATCH_BYTES // built.case.bytes, repeats))
    return rows


def count(cases: Sequence[Case]) -> Iterator[Count]:
    """Count the instructions of functions for every instruction set, also of other machines."""
    for isa in _core.isas():
        found = [
            Variant(isa, isa).generate(case, f"permute_{number}")
            for number, case in enumerate(cases)
        ]
        path, flags = _compiler_for(isa)
        sources = [made["code"] for made in found]
        loops = compiled.loop_instructions(path, sources, flags) if path else {}
        for number, (case, made) in enumerate(zip(cases, found, strict=True)):
            instructions = loops.get(f"permute_{number}")
            yield Count(isa, case, made["elements"], made["instructions"], instructions)


def _compiler_for(isa: str) -> tuple[str | None, tuple[str, ...]]:
    arm = isa == "neon" or isa.startswith("sve2")
    here = (_core.isa_in_use() == "neon") == arm
    path = compiled.compiler() if here else compiled.arm_compiler() if arm else None
    return path, ("-O2", *(_core.isa_flags(isa).split() if arm else ()))
