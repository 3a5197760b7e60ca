"""Tables and plots of what generated functions take."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ttlg.benchmarks.generated import ends
from ttlg.benchmarks.generated.figures import FIGURES, Figure
from ttlg.benchmarks.generated.measure import Count, Row
from ttlg.benchmarks.measure import bandwidth
from ttlg.benchmarks.panels import Panel
from ttlg.benchmarks.tables import aligned, grouped


def names(rows: Sequence[Row]) -> list[str]:
    """List the contenders that appear in some rows."""
    return list(dict.fromkeys(name for row in rows for name in row.seconds))


def _ratio(row: Row, name: str, peer: str) -> float:
    return row.seconds[peer] / row.seconds[name]


def _cell(row: Row, name: str, peer: str) -> str:
    if name not in row.seconds:
        return ""
    return f"{bandwidth(row.case, row.seconds[name]):.1f} ({_ratio(row, name, peer):.2f})"


def _cases(rows: Sequence[Row], peer: str) -> Iterator[str]:
    yield f"GB/s read and written (times the speed of {peer})"
    listed = names(rows)
    cells = [["case", "registers", "steps", *listed]]
    for row in rows:
        rates = (_cell(row, name, peer) for name in listed)
        cells.append([row.case.name, str(row.registers), f"{row.steps:.2g}", *rates])
    yield from aligned(cells)


def _group(row: Row) -> str:
    return f"{row.case.suite}, a call each" if row.calls_weigh else row.case.suite


def _summary(rows: Sequence[Row], peer: str) -> Iterator[str]:
    """Write the median, the least and the most of each contender in each group of cases."""
    cells = [["times the speed of " + peer, "", "median", "least", "most", "least at"]]
    for group, own in grouped(rows, _group).items():
        for name in names(own):
            if name == peer:
                continue
            ratios = {row.case.name: _ratio(row, name, peer) for row in own if name in row.seconds}
            least = min(ratios, key=lambda case: ratios[case])
            figures = statistics.median(ratios.values()), ratios[least], max(ratios.values())
            cells.append([group, name, *(f"{each:.2f}" for each in figures), least])
    return aligned(cells)


def _counts(counts: Sequence[Count]) -> Iterator[str]:
    """Write the instructions that each instruction set takes for an element, in the median."""
    cells = [["instructions for 16 elements", "", "program", "compiled loop"]]
    for (group, isa), own in grouped(counts, lambda each: (each.case.suite, each.isa)).items():
        program = statistics.median(16 * each.program / each.elements for each in own)
        loops = [16 * each.compiled / each.elements for each in own if each.compiled is not None]
        loop = f"{statistics.median(loops):.1f}" if loops else "-"
        cells.append([group, isa, f"{program:.1f}", loop])
    return aligned(cells)


def table(figure: Figure, rows: Sequence[Row], counts: Sequence[Count]) -> Iterator[str]:
    """Write all cases, what they come to, and last the median and the least speed-up in a line."""
    yield figure.summary
    yield from _cases(rows, figure.peer)
    yield ""
    yield from _summary(rows, figure.peer)
    if counts:
        yield ""
        yield from _counts(counts)
    name = [*rows[0].counts][-1]
    ratios = [_ratio(row, name, figure.peer) for row in rows if not row.calls_weigh]
    yield ""
    yield (
        f"{name} is {statistics.median(ratios):.2f} times as fast as {figure.peer} in the median, "
        f"{min(ratios):.2f} at least, where calls do not weigh"
    )


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw how many times as fast as the peer each contender is, case by case; of `ends` GB/s."""
    if ends.NAME in record:
        return ends.panels(record)
    figure = FIGURES[record["machine"]["command"].split()[3]]
    rows = record["rows"]
    listed = dict.fromkeys(name for row in rows for name in row["seconds"])
    values = {
        name: [
            row["seconds"][figure.peer] / row["seconds"][name] if name in row["seconds"] else None
            for row in rows
        ]
        for name in listed
    }
    labels = [row["case"]["name"] for row in rows]
    return [Panel(figure.summary, labels, values, f"times as fast as {figure.peer}", "log")]
