"""Plots of measurements."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttlg.benchmarks.case import scaled_rank
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.inplace import plots as inplace
from ttlg.benchmarks.measure import Result, bandwidth
from ttlg.benchmarks.panels import Panel, fill
from ttlg.benchmarks.report import Report, groups, names
from ttlg.benchmarks.tables import grouped, threads_text

Colours = Mapping[str, str]

# TTLG, section VI: with a plan from before and with one that the call makes. Each with the contenders
# that are left out; HPTT plans at every call.
_USES = {"repeated use": ("ttlg", "ttlg-cold", "hptt"), "single use": ("ttlg-plan", "ttlg")}


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
        axes.set(title=f"{own[0].case.shape[0]}^6, {use}, {title}", ylabel="GB/s", ylim=(0, None))
        axes.legend(fontsize="small", loc="upper center", ncols=5)
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
class _Drawing:
    """How a suite is drawn, and the inches of a cell."""

    draw: Callable[[Any, str, Sequence[Result], Colours], None] = _shares
    width: float = 6
    height: float = 3.5


_SIXD = _Drawing(_by_scaled_rank, 12, 10)
_SPEED_UPS = _Drawing(_case_by_case(_speed_up, "times NumPy's speed"), 8, 5)
_SPARSE = _Drawing(_case_by_case(_over_ours, "time in times of ttlg's"), 8, 5)
_CALLS = _Drawing(_case_by_case(_nanoseconds, "nanoseconds of a call"), 8, 5)
_DRAWN = {
    "sixd": _SIXD,
    "sixd-sample": _SIXD,
    "gentt": _SPEED_UPS,
    "twos": _SPEED_UPS,
    "latency": _CALLS,
    "call": _CALLS,
    "inplace-random": _Drawing(inplace.histograms, 12),
    "inplace-aos": _Drawing(inplace.histograms, 12),
    "inplace-landscape": _Drawing(inplace.landscape, 14),
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
    from matplotlib.figure import Figure

    found = groups(report.results)
    drawings = {suite: _DRAWN.get(suite, _Drawing()) for suite, _ in found}
    counts = sorted({threads for _, threads in found})
    contenders = [
        name for name in names(list(itertools.chain(*found.values()))) if name not in COPIES
    ]
    colours = {name: f"C{number}" for number, name in enumerate(contenders)}
    heights = [drawing.height for drawing in drawings.values()]
    width = max(drawing.width for drawing in drawings.values())
    figure = Figure(figsize=(width * len(counts), sum(heights)), layout="constrained")
    cells = figure.subfigures(len(drawings), len(counts), squeeze=False, height_ratios=heights)
    for (i, (suite, drawing)), (j, threads) in itertools.product(
        enumerate(drawings.items()), enumerate(counts)
    ):
        title = f"{suite}, {threads_text(threads)}"
        drawing.draw(cells[i, j], title, found[suite, threads], colours)
    figure.savefig(path)
