"""Reports of measurements on a GPU: JSON and text tables."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ttlg.benchmarks.gpu.contenders import OURS, PEERS
from ttlg.benchmarks.gpu.measure import Result
from ttlg.benchmarks.measure import bandwidth


def line(result: Result) -> str:
    """Write one result in a line: the ceiling, and each contender's share of it."""
    head = f"{result.case.suite} {result.case.label}, {result.schema}:"
    shares = ", ".join(
        f"{name} {result.share(name):.0%}" for name in (*OURS, *PEERS) if name in result.seconds
    )
    return f"{head} copy {bandwidth(result.case, result.ceiling):.0f} GB/s; {shares}"


def _groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(f"{result.case.suite} {result.case.dtype}", []).append(result)
    return found


def _rows(results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    for name in (*OURS, *PEERS):
        measured = [result for result in results if name in result.seconds]
        if not measured:
            continue
        shares = sorted((result.share(name), result.case.name) for result in measured)
        slower = sum(result.seconds["ttlg"] > result.seconds[name] for result in measured)
        yield (
            name,
            f"{statistics.median(share for share, _ in shares):.2f}",
            f"{shares[0][0]:.2f}",
            f"{slower} of {len(measured)}" if name in PEERS else "",
            shares[0][1],
        )


def table(results: Sequence[Result]) -> list[str]:
    """Write for each suite and dtype the contenders' median and worst share of the copy ceiling.

    Returns
    -------
    list of str
        Lines; of each peer also the number of cases where ``ttlg.transpose`` is slower.
    """
    lines = []
    for label, group in _groups(results).items():
        ceiling = statistics.median(bandwidth(result.case, result.ceiling) for result in group)
        error = statistics.median(result.prediction_error for result in group)
        lines.append(
            f"{label}: {len(group)} cases; in the median, copy ceiling {ceiling:.0f} GB/s and "
            f"predicted time {error:.0%} off"
        )
        rows = [("", "median", "worst", "ttlg slower", "worst at"), *_rows(group)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append(("  " + "  ".join(padded)).rstrip())
    return lines


def record(
    machine: Mapping[str, Any], results: Sequence[Result], left_out: Mapping[str, int]
) -> dict[str, Any]:
    """Return everything as plain values for JSON: times in seconds, nothing derived from them.

    Parameters
    ----------
    machine : mapping
        What `ttlg.benchmarks.gpu.device.describe` says.
    results : sequence of Result
        What was measured.
    left_out : mapping of str to int
        For each suite the cases that the time did not suffice for.
    """
    lines = table(results)
    lines += [f"left out for want of time: {n} of {name}" for name, n in left_out.items()]
    return {
        "machine": dict(machine),
        "left_out": dict(left_out),
        "table": lines,
        "results": [asdict(result) for result in results],
    }
