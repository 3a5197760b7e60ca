"""Plots of measurements."""

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.inplace.contenders import FORCED
from ttlg.benchmarks.inplace.suites import LANDSCAPE_EXTENTS, LANDSCAPE_SIDE
from ttlg.benchmarks.measure import Result, bandwidth
from ttlg.benchmarks.report import Report, groups, names, threads_text

Colours = Mapping[str, str]

_HISTOGRAM_BINS = 30
# A landscape of thousands of matrices is drawn in finer cells.
_FINE_RESULTS = 1000
_FINE_SIDE = 50
_CLAMPED_PERCENTILE = 99


def _shares(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw each contender's share of the copy ceiling over the cases."""
    axes = cell.subplots()
    ordered = sorted(results, key=lambda result: result.share("ttlg"))
    for name, colour in colours.items():
        # A peer that does not take a case's dtype leaves a gap in its line.
        shares = [result.share(name) if name in result.seconds else None for result in ordered]
        if any(shares):
            axes.plot(range(len(ordered)), shares, f"{colour}.-", label=name)
    axes.set(title=title, xlabel="cases by ttlg's share")
    axes.set(ylabel="share of the copy ceiling", ylim=(0, None))
    axes.legend(fontsize="small")


def _histogram(axes: Any, values: Mapping[str, Sequence[float]], colours: Colours) -> None:
    """Draw a histogram of each contender's values, with a dashed line at the median."""
    edges = np.linspace(0, max(map(max, values.values())), _HISTOGRAM_BINS + 1)
    for name, listed in values.items():
        axes.hist(listed, edges, histtype="step", color=colours[name], label=name)
        axes.axvline(float(np.median(listed)), color=colours[name], linestyle="--")
    axes.set(ylabel="cases")
    axes.legend(fontsize="small")


def _histograms(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw throughputs (Catanzaro et al., Figs. 3 and 7) and shares of the copy ceiling."""
    throughputs, shares = {}, {}
    for name in colours:
        measured = [result for result in results if name in result.seconds]
        if measured:
            throughputs[name] = [bandwidth(each.case, each.seconds[name]) for each in measured]
            shares[name] = [each.share(name) for each in measured]
    left, right = cell.subplots(1, 2)
    _histogram(left, throughputs, colours)
    _histogram(right, shares, colours)
    left.set(title=title, xlabel="GB/s, median dashed")
    right.set(title=title, xlabel="share of the copy ceiling, median dashed")


def _heat_map(axes: Any, name: str, results: Sequence[Result]) -> Any:
    """Draw the mean throughput in the cells of a grid of rows and columns."""
    side = _FINE_SIDE if len(results) >= _FINE_RESULTS else LANDSCAPE_SIDE
    edges = np.linspace(*LANDSCAPE_EXTENTS, side + 1)
    rows, columns = np.array([result.case.shape for result in results]).T
    rates = np.array([bandwidth(result.case, result.seconds[name]) for result in results])
    clamped = np.minimum(rates, np.percentile(rates, _CLAMPED_PERCENTILE))
    sums, _, _ = np.histogram2d(rows, columns, (edges, edges), weights=clamped)
    counts, _, _ = np.histogram2d(rows, columns, (edges, edges))
    means = np.divide(sums, counts, out=np.full_like(sums, math.nan), where=counts > 0)
    axes.set(title=f"{name}, GB/s", xlabel="columns", ylabel="rows")
    return axes.pcolormesh(edges, edges, means)


def _landscape(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw a heat map for each forced kernel and the planner's choice (Figs. 4 and 5)."""
    measured = {
        name: [result for result in results if name in result.seconds] for name in (*FORCED, "ttlg")
    }
    drawn = {name: listed for name, listed in measured.items() if listed}
    cell.suptitle(title)
    panels = cell.subplots(1, len(drawn), squeeze=False)[0]
    for axes, (name, listed) in zip(panels, drawn.items(), strict=True):
        cell.colorbar(_heat_map(axes, name, listed), ax=axes)


_DRAWN = {
    "inplace-random": _histograms,
    "inplace-aos": _histograms,
    "inplace-landscape": _landscape,
}


def plot(report: Report, path: Path) -> None:
    """Draw a cell for each suite and number of threads, in the image format that the suffix names.

    For most suites it has each contender's share of the copy ceiling over the cases, for
    ``inplace-random`` and ``inplace-aos`` histograms, for ``inplace-landscape`` heat maps.
    """
    from matplotlib.figure import Figure

    found = groups(report.results)
    suites = list(dict.fromkeys(suite for suite, _ in found))
    counts = sorted({threads for _, threads in found})
    contenders = [name for name in names(report.results) if name not in COPIES]
    colours = {name: f"C{number}" for number, name in enumerate(contenders)}
    width = 12 if any(suite in _DRAWN for suite in suites) else 6
    figure = Figure(figsize=(width * len(counts), 3.5 * len(suites)), layout="constrained")
    cells = figure.subfigures(len(suites), len(counts), squeeze=False)
    for (i, suite), (j, threads) in itertools.product(enumerate(suites), enumerate(counts)):
        draw = _DRAWN.get(suite, _shares)
        draw(cells[i, j], f"{suite}, {threads_text(threads)}", found[suite, threads], colours)
    figure.savefig(path)
