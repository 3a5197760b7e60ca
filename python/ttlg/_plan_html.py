"""The table that a notebook shows of a plan."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

from ttlg._candidates import Candidate, CudaCandidate

# Candidates that a reader gets to see.
_ROWS = 5


def _row(cells: Iterable[object], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(each))}</{tag}>" for each in cells) + "</tr>"


def _time_of(candidate: Candidate | CudaCandidate) -> str:
    """Say what a candidate takes, measured or expected."""
    if isinstance(candidate, CudaCandidate):
        return f"{1e6 * candidate.seconds:.4g} microseconds, predicted"
    if candidate.measured_seconds is not None:
        return f"{1e6 * candidate.measured_seconds:.4g} microseconds, measured"
    return f"{candidate.cost:.3g} times a copy"


def show_html(
    facts: dict[str, object], candidates: Sequence[Candidate] | Sequence[CudaCandidate]
) -> str:
    """Lay facts about a plan and its first candidates out as two tables of HTML."""
    ways = [
        _row((each.kernel, _listed(each.parameters), _time_of(each))) for each in candidates[:_ROWS]
    ]
    rest = len(candidates) - len(ways)
    more = f"<p>{rest} more in <code>candidates()</code></p>" if rest else ""
    return (
        f"<table>{''.join(map(_row, facts.items()))}</table>"
        f"<table>{_row(('candidate', 'parameters', 'time'), 'th')}{''.join(ways)}</table>"
        f"{more}"
    )


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
