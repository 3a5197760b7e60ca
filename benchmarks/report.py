"""Reports of measurements: JSON, CSV and text tables."""

import csv
import io
import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ttlg._arguments.words import count_of
from ttlg.benchmarks import views
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import COPIES, ELSEWHERE, OURS, PEERS, RESULTS
from ttlg.benchmarks.inplace import contenders as inplace
from ttlg.benchmarks.inplace.rule import RULE, with_rule
from ttlg.benchmarks.measure import Result, bandwidth
from ttlg.benchmarks.sparse import contenders as sparse
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.measure import SparseResult
from ttlg.benchmarks.sparse.report import NOTES, per_case
from ttlg.benchmarks.tables import aligned, grouped, heading, threads_text
from ttlg.benchmarks.views import View

# What ttlg's call is compared with.
_COMPARED = (
    *inplace.FORCED,
    RULE,
    *sparse.OPTIONS,
    *PEERS,
    views.OPENCV,
    *inplace.PEERS,
    *sparse.PEERS,
)
CONTENDERS = (*OURS, views.STRAIGHT, *RESULTS, *ELSEWHERE, sparse.FRESH, *_COMPARED, *COPIES)

_COLUMNS = (
    *("suite", "shape", "axes", "dtype", "threads", "kernel"),
    *("contender", "seconds", "GB/s", "share of copy"),
)
# Here the time of a call counts and not its bandwidth.
_IN_NANOSECONDS = ("latency", "call")


@dataclass(frozen=True)
class Report:
    """Results, and what `ttlg.benchmarks.machine.describe` says of the machine."""

    machine: dict[str, Any]
    results: tuple[Result, ...]

    def to_csv(self) -> str:
        """Write a row for each contender of each result: its time, throughput and share."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for result in self.results:
            case = result.case
            extents, axes = (" ".join(map(str, each)) for each in (case.shape, case.axes))
            described = case.suite, extents, axes, case.dtype, result.threads, result.kernel
            for name in names([result]):
                seconds = result.seconds[name]
                rates = f"{bandwidth(case, seconds):.4g}", f"{result.share(name):.4g}"
                writer.writerow([*described, name, f"{seconds:.6g}", *rates])
        return text.getvalue()

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Rebuild a report from its record: times in seconds, nothing derived from them."""
        data = json.loads(text)
        return cls(data["machine"], tuple(map(read_result, data["results"])))


def read_result(entry: dict[str, Any]) -> Result:
    """Rebuild a result from what `dataclasses.asdict` has made of it."""
    case = entry["case"]
    if "nnz" in case:
        return SparseResult(**entry | {"case": SparseCase.from_entry(case)})
    of_case = View if "slices" in case else Case
    return Result(**entry | {"case": of_case.from_entry(case)})


def names(results: Sequence[Result]) -> list[str]:
    """List the contenders that appear in some results: ttlg first, the copies last."""
    return [name for name in CONTENDERS if any(name in result.seconds for result in results)]


def groups(results: Sequence[Result]) -> dict[tuple[str, int], list[Result]]:
    """Sort results by suite and number of threads; add what the rule would take in place."""
    return grouped(map(with_rule, results), lambda result: (result.case.suite, result.threads))


def _percent(result: Result, share: float) -> str:
    """Write a share of the ceiling, of which a sparse result has a small one."""
    return f"{share:.1%}" if isinstance(result, SparseResult) else f"{share:.0%}"


def line(result: Result) -> str:
    """Write one result in a line: GB/s of the ceiling, and each contender's share of it."""
    head = (
        f"{result.case.suite} {result.case.label}, {threads_text(result.threads)}, {result.kernel}:"
    )
    shown = [name for name in names([result]) if name not in COPIES]
    if result.case.suite in _IN_NANOSECONDS:
        return f"{head} copy {result.ceiling * 1e9:.0f} ns; " + ", ".join(
            f"{name} {result.seconds[name] * 1e9:.0f}" for name in shown
        )
    return f"{head} copy {bandwidth(result.case, result.ceiling):.1f} GB/s; " + ", ".join(
        f"{name} {_percent(result, result.share(name))}" for name in shown
    )


def _summary(name: str, results: Sequence[Result]) -> tuple[str, str, str]:
    """Write a contender's median, its worst, and the case where it is worst."""
    if results[0].case.suite in _IN_NANOSECONDS:
        times = [(result.seconds[name] * 1e9, result.case.label) for result in results]
        longest, where = max(times)
        return f"{statistics.median(time for time, _ in times):.0f} ns", f"{longest:.0f} ns", where
    shares = [(result.share(name), result.case.label) for result in results]
    least, where = min(shares)
    median = statistics.median(share for share, _ in shares)
    return _percent(results[0], median), _percent(results[0], least), where


def _throughput(name: str, results: Sequence[Result]) -> str:
    if results[0].case.suite in _IN_NANOSECONDS:
        return ""
    rates = (bandwidth(result.case, result.seconds[name]) for result in results)
    return f"{statistics.median(rates):.1f}"


def _comparison(name: str, results: Sequence[Result]) -> tuple[str, str]:
    """Write in how many cases ttlg is slower than a peer, and where it fares worst."""
    if name not in _COMPARED:
        return "", ""
    least, where = min((result.speed_up(name), result.case.label) for result in results)
    slower = sum(result.speed_up(name) < 1 for result in results)
    return f"{slower} of {len(results)}", f"{least:.2f}x at {where}"


def _suite_table(suite: str, threads: int, results: Sequence[Result]) -> Iterator[str]:
    yield f"{suite}, {threads_text(threads)}, {count_of(len(results), 'case')}"
    if suite not in _IN_NANOSECONDS:
        ceiling = statistics.median(bandwidth(result.case, result.ceiling) for result in results)
        yield f"  copy ceiling {ceiling:.1f} GB/s in the median"
    rows = [("", "GB/s", "median", "worst", "at", "ttlg slower", "least speed-up of ttlg")]
    for name in names(results):
        measured = [result for result in results if name in result.seconds]
        rates = _throughput(name, measured), *_summary(name, measured)
        rows.append((name, *rates, *_comparison(name, measured)))
    yield from aligned(rows)
    sparse_results = [result for result in results if isinstance(result, SparseResult)]
    if sparse_results:
        yield from per_case(sparse_results)


def table(report: Report) -> str:
    """Write one table for each suite and number of threads.

    It has for each contender the median of the throughput, the median and the worst share of the
    copy ceiling (of the suites ``latency`` and ``call``: time), and for each peer the number of
    cases where ttlg is slower. Of sparse suites there is a row for each case as well.
    """
    machine = report.machine
    lines = [
        *heading(machine),
        "Shares of the copy ceiling, the fastest copy of the same bytes; medians of a run.",
        "ttlg: one call, plan cached; ttlg-plan: plan made before; ttlg-cold: planned again.",
        "Of new results, ttlg-kept: while the one before lives; ttlg-out: none, into out=;",
        "ttlg-torch: of PyTorch tensors; ttlg-jit: in a function that JAX compiled.",
    ]
    if "inplace" in machine:
        lines.append("In place, ttlg: transpose_inplace; -back: into a second array and back;")
        lines.append(f"c2r, r2c: each alone; {RULE}: C2R where it holds, else R2C.")
        lines += [f"{name}: {text}" for name, text in machine["inplace"].items()]
    if any(isinstance(result, SparseResult) for result in report.results):
        lines += NOTES
    for (suite, threads), results in groups(report.results).items():
        lines += ["", *_suite_table(suite, threads, results)]
    return "\n".join(lines)
