"""Reports of measurements: JSON, text tables and a plot."""

import itertools
import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import COPIES, OURS, PEERS, RESULTS
from ttlg.benchmarks.measure import Result, bandwidth

# Here the time of a call counts and not its bandwidth.
_IN_NANOSECONDS = ("latency", "call")


@dataclass(frozen=True)
class Report:
    """Results, and what `ttlg.benchmarks.machine.describe` says of the machine."""

    machine: dict[str, Any]
    results: tuple[Result, ...]

    def to_json(self) -> str:
        """Write the report as JSON: times in seconds, nothing derived from them."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Rebuild a report from `to_json`."""
        data = json.loads(text)
        return cls(data["machine"], tuple(_result(entry) for entry in data["results"]))


def _result(entry: dict[str, Any]) -> Result:
    case = dict(entry["case"])
    for name in ("shape", "axes"):
        case[name] = tuple(case[name])
    return Result(**entry | {"case": Case(**case)})


def names(results: Sequence[Result]) -> list[str]:
    """List the contenders that appear in some results: ttlg first, the copies last."""
    every = (*OURS, *RESULTS, *PEERS, *COPIES)
    return [name for name in every if any(name in result.seconds for result in results)]


def groups(results: Sequence[Result]) -> dict[tuple[str, int], list[Result]]:
    """Sort results by suite and number of threads."""
    found: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        found.setdefault((result.case.suite, result.threads), []).append(result)
    return found


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"


def line(result: Result) -> str:
    """Write one result in a line: GB/s of the ceiling, and each contender's share of it."""
    head = f"{result.case.suite} {result.case.label}, {_threads(result.threads)}, {result.kernel}:"
    shown = [name for name in names([result]) if name not in COPIES]
    if result.case.suite in _IN_NANOSECONDS:
        return f"{head} copy {result.ceiling * 1e9:.0f} ns; " + ", ".join(
            f"{name} {result.seconds[name] * 1e9:.0f}" for name in shown
        )
    return f"{head} copy {bandwidth(result.case, result.ceiling):.1f} GB/s; " + ", ".join(
        f"{name} {result.share(name):.0%}" for name in shown
    )


def _summary(name: str, results: Sequence[Result]) -> tuple[str, str, str]:
    """Write a contender's median, its worst, and the case where it is worst."""
    if results[0].case.suite in _IN_NANOSECONDS:
        times = [(result.seconds[name] * 1e9, result.case.label) for result in results]
        longest, where = max(times)
        return f"{statistics.median(time for time, _ in times):.0f} ns", f"{longest:.0f} ns", where
    shares = [(result.share(name), result.case.label) for result in results]
    least, where = min(shares)
    return f"{statistics.median(share for share, _ in shares):.0%}", f"{least:.0%}", where


def _comparison(name: str, results: Sequence[Result]) -> tuple[str, str]:
    """Write in how many cases ttlg is slower than a peer, and where it fares worst."""
    if name not in PEERS:
        return "", ""
    least, where = min((result.speed_up(name), result.case.label) for result in results)
    slower = sum(result.speed_up(name) < 1 for result in results)
    return f"{slower} of {len(results)}", f"{least:.2f}x at {where}"


def _suite_table(suite: str, threads: int, results: Sequence[Result]) -> Iterator[str]:
    yield f"{suite}, {_threads(threads)}, {len(results)} cases"
    if suite not in _IN_NANOSECONDS:
        ceiling = statistics.median(bandwidth(result.case, result.ceiling) for result in results)
        yield f"  copy ceiling {ceiling:.1f} GB/s in the median"
    rows = [("", "median", "worst", "at", "ttlg slower", "least speed-up of ttlg")]
    for name in names(results):
        measured = [result for result in results if name in result.seconds]
        rows.append((name, *_summary(name, measured), *_comparison(name, measured)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(padded)).rstrip()


def table(report: Report) -> str:
    """Write one table for each suite and number of threads.

    Returns
    -------
    str
        For each contender the median and the worst share of the copy ceiling (of the suites
        ``latency`` and ``call``: time), and for each peer the number of cases where
        ``ttlg.transpose`` is slower.
    """
    machine = report.machine
    caches = ", ".join(f"{name} {size}" for name, size in machine["caches"].items())
    versions = ", ".join(f"{name} {text or '-'}" for name, text in machine["versions"].items())
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {caches}",
        f"{versions}; commit {machine['commit'] or '-'}",
        f"$ {machine['command']}",
        "Shares of the copy ceiling, the fastest copy of the same bytes; medians of a run.",
        "ttlg: one call, plan cached; ttlg-plan: plan made before; ttlg-cold: planned again.",
        "Of fresh results, ttlg-kept: while the one before lives; ttlg-out: none, into out=.",
    ]
    for (suite, threads), results in groups(report.results).items():
        lines += ["", *_suite_table(suite, threads, results)]
    return "\n".join(lines)


def plot(report: Report, path: Path) -> None:
    """Draw each contender's share of the copy ceiling over the cases of each suite.

    Parameters
    ----------
    report : Report
        What to draw.
    path : Path
        Image to write; the suffix decides the format, as in `matplotlib.figure.Figure.savefig`.
    """
    from matplotlib.figure import Figure

    found = groups(report.results)
    suites = list(dict.fromkeys(suite for suite, _ in found))
    counts = sorted({threads for _, threads in found})
    figure = Figure(figsize=(6 * len(counts), 3 * len(suites)), layout="constrained")
    grid = figure.subplots(len(suites), len(counts), squeeze=False)
    for (i, suite), (j, threads) in itertools.product(enumerate(suites), enumerate(counts)):
        axes = grid[i, j]
        results = sorted(found[suite, threads], key=lambda result: result.share("ttlg"))
        for number, name in enumerate((*OURS, *RESULTS, *PEERS)):
            # A peer that does not take a case's dtype leaves a gap in its line.
            shares = [result.share(name) if name in result.seconds else None for result in results]
            if any(shares):
                axes.plot(range(len(results)), shares, f"C{number}.-", label=name)
        axes.set(title=f"{suite}, {_threads(threads)}", xlabel="cases by ttlg's share")
        axes.set(ylabel="share of the copy ceiling", ylim=(0, None))
        axes.legend(fontsize="small")
    figure.savefig(path)
