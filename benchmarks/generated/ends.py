"""What unaligned rows, blocks that overlap and padding cost, each alone (GenTT, Fig. 5 (c)).

The generated functions of all cases take turns on one thread. Both sides of a case begin with a line
of the cache, or 4 bytes behind, where every whole vector lies in two lines. All fit in L1.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttlg.benchmarks.case import Case, shape_text
from ttlg.benchmarks.contenders import Contender
from ttlg.benchmarks.generated import compiled
from ttlg.benchmarks.generated.figures import OPTIMIZED, Variant
from ttlg.benchmarks.generated.measure import CALL_BYTES, COUNTED, place
from ttlg.benchmarks.measure import random_array, time_calls, verify
from ttlg.benchmarks.panels import Panel
from ttlg.benchmarks.tables import aligned

NAME = "ends"
SUMMARY = "Fig. 5 (c): unaligned rows, blocks that overlap and padding, each alone"

_STARTS = {"at a line": 0, "4 bytes behind": 4}
_SIDE = 48  # a multiple of all vectors' elements
# Other processes seldom interrupt samples as short as this, so the median is that of quiet ones.
_SAMPLE_SECONDS = 2e-4


@dataclass(frozen=True)
class Row:
    """Median seconds of a case by where both sides begin, and the counts of its program."""

    case: Case
    counts: dict[str, int]
    seconds: dict[str, float]


def cases() -> list[Case]:
    """List matrices whose blocks fit, whose last blocks overlap, and that are padded.

    Where they are padded, three quarters of the vectors that are loaded, or stored, are in use.
    """
    square = Variant("").generate(_case("", (1, _SIDE, _SIDE)), "permute")
    narrow = 3 * square["lanes"] // 4
    batch = _SIDE // narrow
    return [
        _case("blocks fit", (1, _SIDE, _SIDE)),
        _case("last blocks overlap", (1, _SIDE - 1, _SIDE - 1)),
        _case("loads padded", (batch, _SIDE, narrow)),
        _case("stores padded", (batch, narrow, _SIDE)),
    ]


def _case(name: str, shape: tuple[int, ...]) -> Case:
    return Case(NAME, name, shape, (0, 2, 1), "float32")


def measure(repeats: int) -> list[Row]:
    """Compile, verify and time the functions of all cases in one run.

    The median of `repeats` samples counts. Raises WrongResultError where one moved an element wrongly.
    """
    chosen = cases()
    made = [Variant("").generate(case, f"permute_{at}") for at, case in enumerate(chosen)]
    sources = {f"permute_{at}": each["code"] for at, each in enumerate(made)}
    functions = [*compiled.load(sources, OPTIMIZED).values()]
    entrants, calls = [], {}
    for (case, function), (start, offset) in itertools.product(
        zip(chosen, functions, strict=True), _STARTS.items()
    ):
        name = f"{case.name}, {start}"
        calls[name] = CALL_BYTES // case.bytes
        entrants.append(_entrant(name, case, function, offset, calls[name]))
    seconds = {
        name: value / calls[name]
        for name, value in time_calls(entrants, repeats, _SAMPLE_SECONDS).items()
    }
    return [
        Row(
            case,
            {name: each[name] for name in COUNTED},
            {start: seconds[f"{case.name}, {start}"] for start in _STARTS},
        )
        for case, each in zip(chosen, made, strict=True)
    ]


def _entrant(
    name: str, case: Case, function: compiled.Repeated, offset: int, calls: int
) -> Contender:
    drawn = random_array(case.shape, case.dtype)
    expected = np.ascontiguousarray(drawn.transpose(case.axes))
    x, out = place(drawn, expected, offset)

    def call() -> None:
        function(x.ctypes.data, out.ctypes.data, 1, x.size, calls)

    entrant = Contender(name, call)
    verify(entrant, out, expected)
    return entrant


def _byte(row: Mapping[str, Any], start: str) -> float:
    """Return the seconds of a byte."""
    case = Case(**row["case"])
    return float(row["seconds"][start]) / case.bytes


def table(record: Mapping[str, Any]) -> Iterator[str]:
    """Write GB/s, and what a byte takes by what it does where blocks fit and begin at a line."""
    rows = record["ends"]
    yield SUMMARY
    yield "GB/s read and written (time of a byte, in times of the first)"
    cells = [["", "shape", "loads in use", "stores in use", "instructions for 16", *_STARTS]]
    for row in rows:
        counts, case = row["counts"], Case(**row["case"])
        used = (counts["elements"] / counts["lanes"] / counts[name] for name in ("loads", "stores"))
        cells.append(
            [
                case.name,
                shape_text(case.shape),
                *(f"{each:.0%}" for each in used),
                f"{16 * counts['instructions'] / counts['elements']:.1f}",
                *(_cell(rows, row, start) for start in _STARTS),
            ]
        )
    yield from aligned(cells)


def _cell(rows: Sequence[Mapping[str, Any]], row: Mapping[str, Any], start: str) -> str:
    byte = _byte(row, start)
    return f"{2 / byte / 1e9:.0f} ({byte / _byte(rows[0], next(iter(_STARTS))):.2f})"


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the GB/s of each case by where it begins."""
    rows = record["ends"]
    values = {start: [2 / _byte(row, start) / 1e9 for row in rows] for start in _STARTS}
    return [Panel(SUMMARY, [row["case"]["name"] for row in rows], values, "GB/s")]
