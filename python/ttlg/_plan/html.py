"""The table that a notebook shows of a plan."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

from ttlg._plan.candidates import Candidate, CudaCandidate

# Candidates that a reader gets to see.
_ROWS = 5


def show_html(facts: dict[str, object], candidates: Sequence[Candidate | CudaCandidate]) -> str:
    """Lay facts about a plan and its first candidates out as two tables."""
    rows = [_row([_cell("th", name), _cell("td", value)]) for name, value in facts.items()]
    head = _row(_cell("th", name) for name in ("candidate", "parameters", "time"))
    shown = [
        _row(_cell("td", text) for text in (each.kernel, _listed(each.parameters), _time_of(each)))
        for each in candidates[:_ROWS]
    ]
    rest = len(candidates) - len(shown)
    more = f"<p>{rest} more in <code>candidates()</code></p>" if rest else ""
    return f"<table>{''.join(rows)}</table><table>{head}{''.join(shown)}</table>{more}"


def _cell(tag: str, value: object) -> str:
    return f"<{tag}>{html.escape(str(value))}</{tag}>"


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _time_of(candidate: Candidate | CudaCandidate) -> str:
    """Say what a candidate takes, measured or predicted."""
    if candidate.measured_seconds is not None:
        return f"{1e6 * candidate.measured_seconds:.1f} microseconds, measured"
    return f"{1e6 * candidate.seconds:.1f} microseconds, predicted"
