"""Lines, tables and plots of what orders of loops take."""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.loops.measure import Row, text
from ttlg.benchmarks.tables import aligned

# COMET's source weighs a position in the output 1.01 times one in the input.
_BIASES = (0.6, 0.99, 1.01, 1.5, 1.95, 3.0)


def read_row(entry: dict[str, Any]) -> Row:
    """Rebuild a row from what `dataclasses.asdict` has made of it."""
    return Row(**entry | {"case": Case.from_entry(entry["case"])})


def line(row: Row) -> str:
    """Write a case in a line: how far its orders are behind the fastest one."""
    best = min(row.blocks, key=lambda order: row.blocks[order])
    return (
        f"{row.case.label}, {row.kernel}: planned {row.planned} +{row.behind(row.planned):.1%}, "
        f"COMET's {row.cheapest} +{row.behind(row.cheapest):.1%}, best {best} of "
        f"{len(row.blocks)}, {row.copy / row.blocks[best]:.0%} of the copy; without blocks "
        f"{row.comet} +{row.nest_behind:.1%} of {len(row.nests)}, {row.untiled:.1f} times the plan"
    )


def _spread(shares: Sequence[float]) -> str:
    return f"{statistics.mean(shares):.1%} ({max(shares):.0%})" if shares else "-"


def _summary(name: str, rows: Sequence[Row]) -> list[str]:
    several = [row for row in rows if len(row.blocks) > 1]
    compared = [row for row in rows if len(row.nests) > 1]
    untiled = [row.untiled for row in rows]
    return [
        name,
        str(len(rows)),
        str(sum(row.planned == row.cheapest for row in rows)),
        _spread([row.behind(row.planned) for row in several]),
        _spread([row.behind(row.cheapest) for row in several]),
        _spread([row.nest_behind for row in compared]),
        f"{statistics.median(untiled):.1f} ({min(untiled):.1f} to {max(untiled):.1f})",
    ]


def weighed(row: Row, loops: str, bias: float) -> str:
    """Order loops as COMET does, with another weight of positions in the output."""
    axes = row.case.axes
    return text(
        sorted(map(int, loops.split()), key=lambda axis: 2.0**axis + bias * 2.0 ** axes.index(axis))
    )


def _biases(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Write how far behind the orders are that other weights give."""
    yield ["the output's weight", "over blocks", "without blocks"]
    for bias in _BIASES:
        blocks, nests = [], []
        for row in rows:
            if len(row.blocks) > 1:
                blocks.append(row.behind(weighed(row, row.planned, bias)))
            if len(row.nests) > 1:
                fastest = min(row.nests.values())
                nests.append(row.nests[weighed(row, row.comet, bias)] / fastest - 1)
        yield [str(bias), _spread(blocks), _spread(nests)]


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Write a row for each rank and one for all, and what other weights would do."""
    yield "Behind the fastest order: mean (most). COMET's nest in times of the plan: median (range)."
    ranks = sorted({len(row.case.shape) for row in rows})
    own = {rank: [row for row in rows if len(row.case.shape) == rank] for rank in ranks}
    heads = ["rank", "cases", "COMET's order taken", "planned", "COMET's", "COMET's nest"]
    yield from aligned(
        [
            [*heads, "in times of the plan"],
            *(_summary(str(rank), listed) for rank, listed in own.items()),
            _summary("all", rows),
        ]
    )
    yield ""
    yield from aligned([*_biases(rows)])


def _draw(axes: Any, rows: Sequence[Row], orders: str, marked: dict[str, str]) -> None:
    """Draw the times of all orders as dots, some of them marked, in times of the plan's."""

    def ratio(row: Row, order: str) -> float:
        seconds: float = getattr(row, orders)[order]
        return seconds / row.blocks[row.planned]

    dots = [(at, ratio(row, each)) for at, row in enumerate(rows) for each in getattr(row, orders)]
    axes.plot(*zip(*dots, strict=True), ".", color="0.6", label="every order")
    for (label, name), marker in zip(marked.items(), ("C0x", "C1o"), strict=False):
        values = [ratio(row, getattr(row, name)) for row in rows]
        axes.plot(range(len(rows)), values, marker, fillstyle="none", label=label)
    axes.set_xticks(range(len(rows)), [text(row.case.axes) for row in rows], rotation=90)
    axes.set(ylabel="time in times of the plan's")
    axes.legend(fontsize="small")


def plot(rows: Sequence[Row], path: Path) -> None:
    """Draw the orders of the loops over blocks, and those of nests without blocks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3 + 0.18 * len(rows), 8), layout="constrained")
    blocks, nests = figure.subplots(2, 1)
    _draw(blocks, rows, "blocks", {"COMET's order": "cheapest", "the plan's order": "planned"})
    _draw(nests, rows, "nests", {"COMET's order": "comet"})
    blocks.set(title="loops over the plan's blocks")
    nests.set(title="loops without blocks", xlabel="axes", yscale="log")
    figure.savefig(path)
