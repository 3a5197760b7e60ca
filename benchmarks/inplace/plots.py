"""Figures of transposition in place, as Catanzaro et al. draw them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ttlg.benchmarks.inplace.contenders import FORCED
from ttlg.benchmarks.inplace.rule import RULE
from ttlg.benchmarks.inplace.suites import LANDSCAPE_EXTENTS, LANDSCAPE_SIDE
from ttlg.benchmarks.measure import Result, bandwidth
from ttlg.benchmarks.panels import legend_beside

Colours = Mapping[str, str]

_HISTOGRAM_BINS = 30
# A landscape of thousands of matrices is drawn in finer cells.
_FINE_RESULTS = 1000
_FINE_SIDE = 50
_CLAMPED_PERCENTILE = 99


def _histogram(axes: Any, values: Mapping[str, Sequence[float]], colours: Colours) -> None:
    """Draw a histogram of each contender's values, with a dashed line at the median."""
    edges = np.linspace(0, max(map(max, values.values())), _HISTOGRAM_BINS + 1)
    for name, listed in values.items():
        axes.hist(listed, edges, histtype="step", color=colours[name], label=name)
        axes.axvline(float(np.median(listed)), color=colours[name], linestyle="--")
    axes.set(ylabel="cases")
    legend_beside(axes)


def histograms(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
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


def landscape(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw a heat map for each forced kernel (Figs. 4 and 5), the rule and the planner's choice."""
    measured = {
        name: [result for result in results if name in result.seconds]
        for name in (*FORCED, RULE, "ttlg", "ttlg-inplace")
    }
    drawn = {name: listed for name, listed in measured.items() if listed}
    cell.suptitle(title)
    panels = cell.subplots(1, len(drawn), squeeze=False)[0]
    for axes, (name, listed) in zip(panels, drawn.items(), strict=True):
        cell.colorbar(_heat_map(axes, name, listed), ax=axes)
