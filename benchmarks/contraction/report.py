"""Text and records of measured contractions."""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ttlg._arguments.words import count_of
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.contenders import PEERS
from ttlg.benchmarks.contraction.measure import ContractionResult
from ttlg.benchmarks.panels import Panel
from ttlg.benchmarks.tables import aligned, grouped, heading, threads_text

# A ratio below counts as slower: less is within what two runs differ by.
SLOWER = 0.95

NOTES = (
    "Medians of a run in milliseconds. ttlg: after calls that it learns from; first: a call with",
    "nothing planned; predicted: share of the measured time. Ratio: the best other by ttlg.",
    "Moves: elements have to move before one product of matrices can contract the operands.",
)


def to_entry(result: ContractionResult) -> dict[str, Any]:
    """Return what a file has of a result: times in seconds, nothing derived from them."""
    return asdict(result) | {"case": asdict(result.case) | {"moves": result.case.moves}}


def read_result(entry: dict[str, Any]) -> ContractionResult:
    """Rebuild a result from what `to_entry` has made of it."""
    case = {name: value for name, value in entry["case"].items() if name != "moves"}
    return ContractionResult(**entry | {"case": ContractionCase(**case)})


def from_json(text: str) -> list[ContractionResult]:
    """Rebuild the results of a file."""
    return [*map(read_result, json.loads(text)["results"])]


def milliseconds(seconds: float) -> str:
    """Write milliseconds with three digits, or whole ones."""
    return f"{seconds * 1e3:.3g}" if seconds < 0.9995 else f"{seconds * 1e3:.0f}"


def _others(results: Sequence[ContractionResult]) -> list[str]:
    return [name for name in PEERS if any(name in result.seconds for result in results)]


def line(result: ContractionResult) -> str:
    """Write one result in a line."""
    times = ", ".join(f"{name} {milliseconds(result.seconds[name])}" for name in _others([result]))
    return (
        f"{result.case.label}, {threads_text(result.threads)}: "
        f"ttlg {milliseconds(result.seconds['ttlg'])} ms "
        f"(first {milliseconds(result.first)}, predicted {result.prediction:.2f}), {times}; "
        f"ratio {result.ratio:.2f}"
    )


def _per_case(results: Sequence[ContractionResult]) -> Iterator[str]:
    names = _others(results)
    rows = [["", "moves", "ttlg", "first", "predicted", *names, "ratio", "best other"]]
    for result in results:
        seconds = result.seconds
        rows.append(
            [
                result.case.label,
                "yes" if result.case.moves else "",
                milliseconds(seconds["ttlg"]),
                milliseconds(result.first),
                f"{result.prediction:.2f}",
                *(milliseconds(seconds[name]) if name in seconds else "" for name in names),
                f"{result.ratio:.2f}",
                result.best_other,
            ]
        )
    yield from aligned(rows)


def _summary(name: str, results: Sequence[ContractionResult]) -> list[str]:
    moving = [result.ratio for result in results if result.case.moves]
    worst = min(results, key=lambda result: result.ratio)
    slower = sum(result.ratio < SLOWER for result in results)
    off = statistics.median(abs(result.prediction - 1) for result in results)
    return [
        name,
        f"{statistics.median(moving):.2f} of {len(moving)}" if moving else "-",
        f"{worst.ratio:.2f} at {worst.case.label}",
        f"{slower} of {len(results)}",
        f"{off:.2f}",
    ]


def table(machine: dict[str, Any], results: Sequence[ContractionResult]) -> str:
    """Write for each number of threads a row for each case, and a summary of each part."""
    lines = [
        *heading(machine),
        *NOTES,
    ]
    for threads, measured in grouped(results, lambda result: result.threads).items():
        parts = grouped(measured, lambda result: result.case.part)
        rows = [
            [
                *("", "median ratio, moves", "worst ratio", f"ratio < {SLOWER}"),
                "median |predicted - 1|",
            ],
            *(_summary(part, of_part) for part, of_part in parts.items()),
        ]
        if len(parts) > 1:
            rows.append(_summary("all", measured))
        lines += ["", f"contractions, {threads_text(threads)}, {count_of(len(measured), 'case')}"]
        lines += [*_per_case(measured), "", *aligned(rows)]
    return "\n".join(lines)


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the others' times in times of ttlg's, a panel for each part and number of threads."""
    results = [*map(read_result, record["results"])]
    parts = grouped(results, lambda each: (each.case.part, each.threads))
    return [_panel(part, threads, own) for (part, threads), own in parts.items()]


def _panel(part: str, threads: int, results: Sequence[ContractionResult]) -> Panel:
    ordered = sorted(results, key=lambda each: each.ratio)
    values = {
        name: [
            each.seconds[name] / each.seconds["ttlg"] if name in each.seconds else None
            for each in ordered
        ]
        for name in _others(ordered)
    }
    labels = [each.case.name for each in ordered]
    return Panel(
        f"{part}, {threads_text(threads)}", labels, values, "time in times of ttlg's", "log"
    )
