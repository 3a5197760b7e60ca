"""Reports of measurements on a GPU: JSON and text tables."""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu.contenders import COPIES, PEERS
from ttlg.benchmarks.gpu.measure import Result
from ttlg.benchmarks.measure import bandwidth
from ttlg.benchmarks.tables import aligned, grouped

# Of a message in a table, and of the lines for failures in it; JSON has all.
_MAX_LETTERS = 200
_MAX_FAILURES = 20


def _names(results: Sequence[Result]) -> list[str]:
    """Name all contenders but the copies, in their order."""
    every = dict.fromkeys(name for result in results for name in result.seconds)
    return [name for name in every if name not in COPIES]


def line(result: Result) -> str:
    """Write one result in a line: the ceiling, each contender's share of it, and failures."""
    head = f"{result.case.suite} {result.case.label}"
    parts = [f"{name} failed: {_short(text)}" for name, text in result.failures.items()]
    if result.has_ceiling:
        copy = f"copy {bandwidth(result.case, result.ceiling):.0f} GB/s"
        shares = ", ".join(f"{name} {result.share(name):.0%}" for name in _names([result]))
        parts = [copy, *filter(None, [shares]), *parts]
    return f"{head}, {result.schema or 'no plan'}: {'; '.join(parts)}"


def _short(failure: str) -> str:
    """Return the beginning of a message: libraries append pages of sources and hints."""
    first = failure.partition("\n")[0]
    return first if len(first) <= _MAX_LETTERS else f"{first[:_MAX_LETTERS]}..."


def failure_lines(failures: Mapping[str, str]) -> list[str]:
    """Write a line for each failure, the first ones if there are many."""
    lines = [f"failed: {name}: {_short(text)}" for name, text in failures.items()]
    more = len(lines) - _MAX_FAILURES
    return lines if more <= 0 else [*lines[:_MAX_FAILURES], f"failed: {more} more"]


def left_out_lines(results: Sequence[Result]) -> list[str]:
    """Write who takes no part, why and in how many cases, the first lines if there are many."""
    counts = Counter(each for result in results for each in result.left_out.items())
    lines = [
        f"left out: {name}, {count} of {len(results)} cases: {_short(reason)}"
        for (name, reason), count in counts.items()
    ]
    return lines[:_MAX_FAILURES]


def _rows(results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    for name in _names(results):
        measured = [result for result in results if name in result.seconds]
        shares = sorted((result.share(name), result.case.name) for result in measured)
        beside = [result for result in measured if "ttlg" in result.seconds]
        slower = sum(result.seconds["ttlg"] > result.seconds[name] for result in beside)
        yield (
            name,
            f"{statistics.median(bandwidth(each.case, each.seconds[name]) for each in measured):.0f}",
            f"{statistics.median(share for share, _ in shares):.2f}",
            f"{shares[0][0]:.2f}",
            f"{slower} of {len(beside)}" if name in PEERS else "",
            shares[0][1],
        )


def table(results: Sequence[Result]) -> list[str]:
    """Write for each suite and dtype the contenders' speed and share of the copy ceiling.

    The lines have the median GB/s, the median and the worst share; of each peer also the number of
    cases where ``ttlg.transpose`` is slower.
    """
    lines = []
    shown = [result for result in results if result.has_ceiling]
    groups = grouped(shown, lambda result: f"{result.case.suite} {result.case.dtype}")
    for label, group in groups.items():
        ceiling = statistics.median(bandwidth(result.case, result.ceiling) for result in group)
        errors = [result.prediction_error for result in group if result.has_prediction]
        off = f"{statistics.median(errors):.0%} off" if errors else "unknown"
        lines.append(
            f"{label}: {len(group)} cases; in the median, copy ceiling {ceiling:.0f} GB/s and "
            f"predicted time {off}"
        )
        rows = [("", "GB/s", "median", "worst", "ttlg slower", "worst at"), *_rows(group)]
        lines += aligned(rows)
    return lines


def record(
    machine: Mapping[str, Any], results: Sequence[Result], left_out: Mapping[str, int]
) -> dict[str, Any]:
    """Return everything as plain values for JSON: times in seconds, nothing derived from them.

    `machine` is what `ttlg.benchmarks.gpu.device.describe` says, `left_out` counts for each suite
    the cases that the run ended before.
    """
    failures = {
        f"{result.case.suite} {result.case.label}: {name}": text
        for result in results
        for name, text in result.failures.items()
    }
    lines = [*table(results), *left_out_lines(results), *failure_lines(failures)]
    lines += [f"not measured: {n} of {name}" for name, n in left_out.items()]
    return {
        "machine": dict(machine),
        "left_out": dict(left_out),
        "table": lines,
        "results": [asdict(result) for result in results],
    }


def results_of(record: Mapping[str, Any]) -> list[Result]:
    """Rebuild the results of a record that was written as JSON and read again."""
    return [_result(dict(entry)) for entry in record["results"]]


def _result(entry: dict[str, Any]) -> Result:
    case = dict(entry.pop("case"))
    for name in ("shape", "axes"):
        case[name] = tuple(case[name])
    curve = {
        name: {int(calls): seconds for calls, seconds in times.items()}
        for name, times in entry.pop("curve").items()
    }
    return Result(Case(**case), curve=curve, **entry)
