"""Plots of measurements."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttlg.benchmarks.case import scaled_rank
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.inplace import plots as inplace
from ttlg.benchmarks.measure import Result, bandwidth
from ttlg.benchmarks.panels import Panel, fill, legend_beside
from ttlg.benchmarks.report import Report, groups, names
from ttlg.benchmarks.tables import grouped, threads_text

Colours = Mapping[str, str]

# TTLG, section VI: with a plan from before and with one that the call makes. Each with the contenders
# that are left out; HPTT plans at every call.
_USES = {"repeated use": ("ttlg", "ttlg-cold", "hptt"), "single use": ("ttlg-plan", "ttlg")}


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Give each name a colour."""
    return {name: f"C{number}" for number, name in enumerate(names)}


def curves(
    axes: Any, found: Mapping[str, Mapping[float, float]], colours: Colours, **labels: Any
) -> None:
    """Draw a curve for each name that has values, over their keys; label the axes."""
    for name, points in found.items():
        if points:
            axes.plot(*zip(*sorted(points.items()), strict=True), f"{colours[name]}.-", label=name)
    axes.set(**labels)
    if any(found.values()):
        legend_beside(axes)


def bars(axes: Any, found: Mapping[str, Mapping[str, float]], **labels: Any) -> None:
    """Draw a group of bars for each key of the values, a bar of it for each name."""
    keys = list(dict.fromkeys(key for values in found.values() for key in values))
    width = 0.8 / len(found)
    for number, (name, values) in enumerate(found.items()):
        at = [keys.index(key) + number * width for key in values]
        axes.bar(at, list(values.values()), width, align="edge", label=name)
    axes.set_xticks([number + 0.4 for number in range(len(keys))], keys, rotation=20)
    axes.set(**labels)
    legend_beside(axes)


def _shares(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw each contender's share of the copy ceiling over the cases."""
    axes = cell.subplots()
    first = "ttlg" if "ttlg" in colours else next(iter(colours))
    ordered = sorted(results, key=lambda each: each.share(first) if first in each.seconds else 0.0)
    for name, colour in colours.items():
        # A peer that does not take a case's dtype leaves a gap in its line.
        shares = [result.share(name) if name in result.seconds else None for result in ordered]
        if any(shares):
            axes.plot(range(len(ordered)), shares, f"{colour}.-", label=name)
    axes.set(title=title, xlabel=f"cases by {first}'s share")
    axes.set(ylabel="share of the copy ceiling", ylim=(0, None))
    legend_beside(axes)


def _by_scaled_rank(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
    """Draw bandwidths of repeated and of single use by scaled rank (TTLG, Figs. 6 to 11)."""
    ordered = sorted(results, key=lambda each: (scaled_rank(each.case.axes), each.case.axes))
    shapes = grouped(ordered, lambda each: each.case.shape)
    panels = cell.subplots(len(shapes), len(_USES), squeeze=False, sharey=True)
    for (row, own), (column, (use, left_out)) in itertools.product(
        enumerate(shapes.values()), enumerate(_USES.items())
    ):
        axes = panels[row, column]
        for name in colours:
            if name in own[0].seconds and name not in left_out:
                rates = [bandwidth(each.case, each.seconds[name]) for each in own]
                axes.plot(rates, f"{colours[name]}.", markersize=4, label=name)
        axes.set(
            title=f"{own[0].case.shape[0]}^6, {use}, {title}", xlabel="permutations by scaled rank"
        )
        axes.set(ylabel="GB/s", ylim=(0, None))
        # Below, as the axis of the ranks is on the right.
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=5)
        ranks = axes.twinx()
        steps = [scaled_rank(each.case.axes) for each in own]
        ranks.step(range(len(own)), steps, color="0.5", linewidth=1, where="mid")
        ranks.set(ylabel="scaled rank", ylim=(0, 7))


def _case_by_case(
    value: Callable[[Result, str], float], ylabel: str
) -> Callable[[Any, str, Sequence[Result], Colours], None]:
    """Draw a value of each contender on a logarithmic scale, case by case."""

    def draw(cell: Any, title: str, results: Sequence[Result], colours: Colours) -> None:
        values = {
            name: [value(each, name) if name in each.seconds else None for each in results]
            for name in colours
        }
        labels = [each.case.label for each in results]
        fill(cell.subplots(), Panel(title, labels, values, ylabel, "log"))

    return draw


def _speed_up(result: Result, name: str) -> float:
    return result.seconds["numpy"] / result.seconds[name]


def _over_ours(result: Result, name: str) -> float:
    return result.seconds[name] / result.seconds["ttlg"]


def _nanoseconds(result: Result, name: str) -> float:
    return result.seconds[name] * 1e9


@dataclass(frozen=True)
class Drawing:
    """How a suite is drawn, and the inches of a cell."""

    draw: Callable[[Any, str, Sequence[Result], Colours], None] = _shares
    width: float = 6
    height: float = 3.5


_SIXD = Drawing(_by_scaled_rank, 12, 10)
_SPEED_UPS = Drawing(_case_by_case(_speed_up, "times NumPy's speed"), 8, 5)
_SPARSE = Drawing(_case_by_case(_over_ours, "time in times of ttlg's"), 8, 5)
_CALLS = Drawing(_case_by_case(_nanoseconds, "nanoseconds of a call"), 8, 5)
DRAWN = {
    "sixd": _SIXD,
    "sixd-sample": _SIXD,
    "gentt": _SPEED_UPS,
    "twos": _SPEED_UPS,
    "latency": _CALLS,
    "call": _CALLS,
    "inplace-random": Drawing(inplace.histograms, 12),
    "inplace-aos": Drawing(inplace.histograms, 12),
    "inplace-landscape": Drawing(inplace.landscape, 14),
    "sparse-matrices": _SPARSE,
    "sparse-tensors": _SPARSE,
    "sparse-options": _SPARSE,
}


def plot(report: Report, path: Path) -> None:
    """Draw a cell for each suite and number of threads, in the image format that the suffix names.

    Most suites show each contender's share of the copy ceiling over the cases. ``sixd`` shows
    bandwidths by scaled rank, ``gentt`` and ``twos`` the speed by NumPy's, ``latency`` and ``call``
    nanoseconds, sparse suites times by ttlg's, ``inplace-random`` and ``inplace-aos`` histograms,
    and ``inplace-landscape`` heat maps.
    """
    found = groups(report.results)
    cells = {
        (suite, threads_text(threads)): found[suite, threads]
        for suite, threads in sorted(found, key=lambda each: each[1])
    }
    listed = list(itertools.chain(*found.values()))
    contenders = [name for name in names(listed) if name not in COPIES]
    plot_cells(cells, dict.fromkeys(cells, contenders), DRAWN, path)


def plot_cells(
    cells: Mapping[tuple[str, str], Sequence[Any]],
    contenders: Mapping[tuple[str, str], Sequence[str]],
    drawn: Mapping[str, Drawing],
    path: Path,
) -> None:
    """Draw a cell for the results of each suite, in rows, and each label, in columns.

    `contenders` names those that are drawn in each. `drawn` says how for some suites; the others'
    cells have the shares of the copy ceiling.
    """
    from matplotlib.figure import Figure

    suites, labels = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    drawings = [drawn.get(suite, Drawing()) for suite in suites]
    heights = [drawing.height for drawing in drawings]
    width = max(drawing.width for drawing in drawings)
    figure = Figure(figsize=(width * len(labels), sum(heights)), layout="constrained")
    parts = figure.subfigures(len(suites), len(labels), squeeze=False, height_ratios=heights)
    for (suite, label), results in cells.items():
        row = suites.index(suite)
        cell = parts[row, labels.index(label)]
        colours = colours_of(contenders[suite, label])
        drawings[row].draw(cell, f"{suite}, {label}", results, colours)
    figure.savefig(path)
