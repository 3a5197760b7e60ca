"""Plots of the suites that are measured on a GPU, by the papers' quantities where these have one."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu.contenders import COPIES
from ttlg.benchmarks.gpu.measure import Result
from ttlg.benchmarks.gpu.report import results_of
from ttlg.benchmarks.measure import bandwidth
from ttlg.benchmarks.plots import DRAWN, Colours, Drawing, curves, plot_cells
from ttlg.benchmarks.tables import grouped


def _over(label: str, over: Callable[[Case], float], **scale: str) -> Drawing:
    """Return what draws the median GB/s over a quantity of the cases, a panel a permutation."""

    def rates(results: Iterable[Result], name: str) -> dict[float, float]:
        measured = (each for each in results if name in each.seconds)
        return {
            x: statistics.median(bandwidth(each.case, each.seconds[name]) for each in group)
            for x, group in grouped(measured, lambda each: over(each.case)).items()
        }

    def draw(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
        groups = grouped(results, lambda each: each.case.axes)
        panels = cell.subplots(1, len(groups), squeeze=False)[0]
        for axes, (permutation, group) in zip(panels, groups.items(), strict=True):
            found = {name: rates(group, name) for name in colours}
            head = title if len(groups) == 1 else f"{title}, {permutation}"
            labels = {"title": head, "xlabel": label, "ylabel": "GB/s", "ylim": (0, None)}
            curves(axes, found, colours, **labels, **scale)

    return Drawing(draw, 12)


def _calls(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw the GB/s of as many calls as are made together, planning included (TTLG, Fig. 12)."""
    panels = cell.subplots(1, len(results), squeeze=False)[0]
    for axes, result in zip(panels, results, strict=True):
        found = {
            name: {calls: calls * bandwidth(result.case, each) for calls, each in times.items()}
            for name, times in result.curve.items()
        }
        head = f"{title}, {result.case.name}"
        curves(axes, found, colours, title=head, xlabel="calls", ylabel="GB/s", xscale="log")


def _order(case: Case) -> float:
    return max(case.shape)


_DRAWN: dict[str, Drawing] = {
    **DRAWN,
    "inplace-square": _over("order", _order),
    "inplace-bands": _over("order", _order),
    "inplace-3d": _over("order", _order),
    "inplace-baselines": DRAWN["inplace-random"],
    "oop-orders": _over("bytes", lambda case: case.bytes, xscale="log"),
    "varying": _over("bytes", lambda case: case.bytes, xscale="log"),
    "calls": Drawing(_calls, 12),
}


def _names(results: Sequence[Result]) -> list[str]:
    """Name all contenders but the copies."""
    every = dict.fromkeys(name for each in results for name in (*each.seconds, *each.curve))
    return [name for name in every if name not in COPIES]


def draw(record: Mapping[str, Any], path: Path) -> None:
    """Draw a cell for each suite, in rows, and each dtype, in columns, of a record.

    Throughput is over the order of matrices, over bytes or over the number of calls where a paper has
    it so; histograms, heat maps and shares of the copy ceiling are those of `ttlg.benchmarks.plots`.
    """
    results = [each for each in results_of(record) if each.has_ceiling]
    cells = grouped(results, lambda each: (each.case.suite, each.case.dtype))
    suites = grouped(results, lambda each: each.case.suite)
    names = {cell: _names(suites[cell[0]]) for cell in cells}
    plot_cells(cells, names, _DRAWN, path)
