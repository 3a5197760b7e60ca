"""Figures of curves over cases, which most benchmarks draw."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# More names below an axis could not be read.
_MOST_LABELS = 70
_MOST_LETTERS = 28
_INCHES = 4  # height of a panel, without its labels


@dataclass(frozen=True)
class Panel:
    """A curve for each contender over the same cases.

    Attributes
    ----------
    title, ylabel : str
        Of the axes.
    labels : sequence of str
        The cases' names.
    values : mapping
        A value for each case, by the contenders; None where one takes no part.
    yscale : str
        As Matplotlib has it.
    """

    title: str
    labels: Sequence[str]
    values: Mapping[str, Sequence[float | None]]
    ylabel: str
    yscale: str = "linear"


def fill(axes: Any, panel: Panel) -> None:
    """Draw a panel."""
    for number, (name, values) in enumerate(panel.values.items()):
        places = [at for at, value in enumerate(values) if value is not None]
        style = f"C{number % 10}.{'-' if number < 10 else ':'}"
        axes.plot(places, [values[at] for at in places], style, label=name)
    if len(panel.labels) <= _MOST_LABELS:
        axes.set_xticks(
            range(len(panel.labels)), [*map(_short, panel.labels)], rotation=90, fontsize="small"
        )
    axes.set(title=panel.title, ylabel=panel.ylabel, yscale=panel.yscale)
    legend_beside(axes)


def legend_beside(axes: Any) -> None:
    """Draw the legend on the right of the axes, where it hides no data."""
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0)


def _short(label: str) -> str:
    return label if len(label) <= _MOST_LETTERS else f"{label[: _MOST_LETTERS - 3]}..."


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw panels, up to four side by side, in the image format that the suffix names."""
    from matplotlib.figure import Figure

    columns = math.ceil(len(panels) / math.ceil(len(panels) / 4))
    rows = math.ceil(len(panels) / columns)
    most = max(min(len(panel.labels), _MOST_LABELS) for panel in panels)
    figure = Figure(figsize=(columns * (4 + 0.15 * most), _INCHES * rows), layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False).flat
    for axes, panel in zip(cells, panels, strict=False):
        fill(axes, panel)
    for unused in cells[len(panels) :]:
        unused.set_axis_off()
    figure.savefig(path)
