"""The rows of a table with one row for each sparse case."""

import statistics
from collections.abc import Iterator, Sequence

from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.sparse.measure import SparseResult
from ttlg.benchmarks.tables import aligned

NOTES = (
    "Sparse, ttlg: of SciPy's CSR, or of arrays of COO, after a call like it, whose memory it may",
    "have; ttlg-fresh: without memory of earlier calls; ttlg-torch: of PyTorch's tensors.",
    "The copy moves the bytes of indices and values; row pointers are not counted.",
    "SciPy and pydata run on one thread; PyTorch's COO has indices of 64 bits.",
)


def _names(results: Sequence[SparseResult]) -> list[str]:
    """List what else there is besides ttlg's call: other libraries, then other calls of ttlg."""
    every = dict.fromkeys(name for result in results for name in result.seconds)
    others = [name for name in every if name not in COPIES and name != "ttlg"]
    return sorted(others, key=lambda name: name.startswith("ttlg"))


def _cells(
    label: str, share: float, ratios: Sequence[float | None], extra: float | None
) -> list[str]:
    shown = ("" if ratio is None else f"{ratio:.2f}x" for ratio in ratios)
    return [label, f"{share:.1%}", *shown, "" if extra is None else f"{extra:.1f}"]


def per_case(results: Sequence[SparseResult]) -> Iterator[str]:
    """Write ttlg's share of copy, how many times faster than each other it is, and its memory.

    Medians and the worst of each column end the table; of a column without values there is none.
    """
    names = _names(results)
    rows = [["", "share of copy", *names, "extra bytes/nonzero"]]
    columns: dict[str, list[float]] = {name: [] for name in names}
    for result in results:
        ratios = [result.speed_up(name) if name in result.seconds else None for name in names]
        for name, ratio in zip(names, ratios, strict=True):
            columns[name] += [] if ratio is None else [ratio]
        rows.append(_cells(result.case.label, result.share("ttlg"), ratios, result.extra_bytes))
    shares = [result.share("ttlg") for result in results]
    extras = [result.extra_bytes for result in results if result.extra_bytes is not None]
    for label, least, most in (
        ("median", statistics.median, statistics.median),
        ("worst", min, max),
    ):
        ratios = [least(columns[name]) for name in names]
        rows.append(_cells(label, least(shares), ratios, most(extras) if extras else None))
    if not extras:
        rows = [row[:-1] for row in rows]
    yield from aligned(rows)
