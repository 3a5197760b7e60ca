"""The pictures of the documentation, drawn when it is built."""

import itertools
import math
import statistics
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import measured
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

import ttlg

COLOURS = {"ttlg": "C0", "numpy": "C1", "openblas": "C2", "fftw-measure": "C3", "fastremap": "C4"}
LABELS = {
    "numpy": "NumPy",
    "openblas": "OpenBLAS",
    "fftw-measure": "FFTW",
}
SUITES = {
    "zen5-ttc57": "TTC-57",
    "zen5-sixd-sample": "6-D",
    "zen5-matrices": "matrices",
    "zen5-layouts": "NHWC, NCHW",
    "zen5-skinny": "10^7 x n",
    "granite-rapids-inplace-square": "square\nmatrices",
    "granite-rapids-inplace-random": "random\nmatrices",
    "granite-rapids-inplace-aos": "arrays of\nstructures",
    "granite-rapids-inplace-tensors": "tensors",
}


def strips(axes: Axes, rows: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Draw a row for each suite: a dot for each case, a bar at the median of a contender."""
    contenders = list(dict.fromkeys(name for values in rows.values() for name in values))
    height = 0.8 / len(contenders)
    for (row, values), (number, name) in itertools.product(
        enumerate(rows.values()), enumerate(contenders)
    ):
        if not values.get(name):
            continue
        at = row - 0.4 + (number + 0.5) * height
        jitter = np.random.default_rng(0).uniform(-height / 4, height / 4, len(values[name]))
        axes.plot(values[name], at + jitter, ".", color=COLOURS[name], ms=3, alpha=0.5)
        median = statistics.median(values[name])
        axes.plot([median] * 2, [at - height / 2, at + height / 2], color=COLOURS[name], lw=2.5)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    for name in contenders:
        axes.plot([], [], ".-", color=COLOURS[name], label=LABELS.get(name, name))


def first_page() -> None:
    """Draw the speed over NumPy's by kind of array: the median and the range on two machines."""
    kinds = measured.first_cases()
    series = {("zen5", 1): "C0", ("zen5", 2): "C0", ("zen3", 1): "C1", ("zen3", 2): "C1"}
    names = {"zen5": "Zen 5", "zen3": "Zen 3"}
    _, axes = pyplot.subplots(figsize=(5.5, 4.8), layout="constrained")
    for number, ((machine, threads), colour) in enumerate(series.items()):
        for row, columns in enumerate(kinds.values()):
            if (machine, threads) not in columns:
                continue
            ratios, at = columns[machine, threads], row + 0.18 * number - 0.27
            axes.plot([min(ratios), max(ratios)], [at, at], color=colour, lw=1, alpha=0.6)
            label = f"{names[machine]}, {threads} thread{'s' * (threads > 1)}" if not row else None
            axes.plot(
                statistics.median(ratios),
                at,
                "o",
                color=colour,
                mfc=colour if threads > 1 else "none",
                label=label,
            )
    axes.axvline(1, color="0.5", lw=1)
    axes.set(xscale="log", xlabel="times NumPy's speed")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20, 50], ["0.5", "1", "2", "5", "10", "20", "50"])
    axes.set_yticks(range(len(kinds)), [textwrap.fill(title, 18) for title in kinds])
    axes.invert_yaxis()
    axes.figure.legend(fontsize="small", loc="outside upper center", ncols=2)


def zen5_shares() -> None:
    """Draw shares of the copy ceiling, out of place, large arrays."""
    reports = measured.of_one_machine(measured.ZEN5)
    figure, panels = pyplot.subplots(2, figsize=(5.5, 6), sharex=True, layout="constrained")
    for threads, axes in zip((1, 2), panels, strict=True):
        rows = {}
        for stem, report in reports.items():
            results = measured.on_threads(report, threads)
            rows[SUITES[stem]] = {
                name: [100 * each.share(name) for each in results] for name in ("ttlg", "numpy")
            }
        strips(axes, rows)
        axes.set(title=f"{threads} thread{'s' * (threads > 1)}", xlim=(0, None))
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        fontsize="small",
        loc="outside upper center",
        ncols=2,
    )
    panels[1].set_xlabel("per cent of the copy ceiling")


def zen5_small() -> None:
    """Draw the speed over NumPy's by size, in the caches, on one thread."""
    reports = measured.of_one_machine(measured.ZEN5_SMALL)
    _, axes = pyplot.subplots(figsize=(5.5, 3), layout="constrained")
    for number, (stem, report) in enumerate(reports.items()):
        results = measured.on_threads(report, 1)
        sizes = [each.case.bytes for each in results]
        speed_ups = [each.speed_up("numpy") for each in results]
        axes.loglog(sizes, speed_ups, ".", color=f"C{number}", label=measured.ZEN5_SMALL[stem])
    axes.axhline(1, color="0.5", lw=1)
    axes.set(xlabel="bytes of the array", ylabel="times NumPy's speed")
    axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.legend(fontsize="small")


def zen5_call() -> None:
    """Draw the time of a whole call that returns a new NumPy array of a few elements."""
    measurements = measured.on_threads(measured.load("zen5-call"), 1)
    results = [each for each in measurements if each.case.bytes < 10_000]
    _, axes = pyplot.subplots(figsize=(5.5, 2.2), layout="constrained")
    for number, name in enumerate(("ttlg", "numpy")):
        places = np.arange(len(results)) + 0.4 * number - 0.2
        nanoseconds = [each.seconds[name] * 1e9 for each in results]
        axes.barh(places, nanoseconds, 0.4, color=COLOURS[name], label=LABELS.get(name, name))
    axes.set_yticks(range(len(results)), [each.case.name.partition(" ")[0] for each in results])
    axes.invert_yaxis()
    axes.set(xlabel="nanoseconds, less is better")
    axes.legend(fontsize="small")


def inplace_times() -> None:
    """Draw times in place, in copies of the same bytes to another array, on one thread."""
    reports = measured.of_one_machine(measured.INPLACE)
    _, axes = pyplot.subplots(figsize=(5.5, 4.5), layout="constrained")
    rows = {}
    for stem, report in reports.items():
        results = measured.on_threads(report, 1)
        contenders = ("ttlg", "openblas", "fftw-measure", "fastremap")
        rows[SUITES[stem]] = {name: measured.copies(results, name) for name in contenders}
    strips(axes, rows)
    axes.set(xscale="log", xlabel="times as long as a copy to another array")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=4)


def schemes() -> None:
    """Draw orders in which the tiles of a matrix are visited."""
    _, panels = pyplot.subplots(2, 2, figsize=(5.5, 5.7), layout="constrained")
    shown: list[tuple[str, dict[str, Any]]] = [
        ("V1", {}),
        ("V1R", {}),
        ("V2", {}),
        ("V1B", {"w": 3}),
    ]
    for axes, (name, options) in zip(panels.flat, shown, strict=True):
        ttlg.schemes.plot(name, 8, ax=axes, **options)


def c2r_passes() -> None:
    """Draw C2R's three passes on a matrix of 4 rows and 6 columns."""
    rows, columns = 4, 6
    common = math.gcd(rows, columns)
    i, j = np.indices((rows, columns))
    start = i * columns + j
    rotated = start[(i + j // (columns // common)) % rows, j]
    targets = ((i + j // (columns // common)) % rows + j * rows) % columns
    shuffled = np.empty_like(start)
    np.put_along_axis(shuffled, targets, rotated, axis=1)
    moved = shuffled[(j + i * columns - i // (rows // common)) % rows, j]
    assert np.array_equal(moved.reshape(columns, rows), start.T)
    _, panels = pyplot.subplots(2, 2, figsize=(5.5, 4.2), layout="constrained")
    titles = ["start", "1. rotate columns", "2. shuffle rows", "3. shuffle columns"]
    for axes, title, matrix in zip(
        panels.flat, titles, [start, rotated, shuffled, moved], strict=True
    ):
        axes.imshow(matrix // columns, cmap="Pastel1", vmin=0, vmax=8)
        for row, column in np.ndindex(rows, columns):
            axes.text(column, row, str(matrix[row, column]), ha="center", va="center")
        axes.set(title=title, xticks=[], yticks=[])
