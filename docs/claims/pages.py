"""The table of each page on a paper."""

from pathlib import Path

import measured

from . import catanzaro, gentt, gorawski_lorek, ttlg

PAPERS = Path(__file__).parents[1] / "papers"
PAGES = {
    "ttlg": ttlg.claims,
    "catanzaro": catanzaro.claims,
    "gorawski-lorek": gorawski_lorek.claims,
    "gentt": gentt.claims,
}
_HEADER = ("the paper", "where", "ours", "machine", "command")


def table(page: str) -> str:
    """Write the table of a page."""
    return measured.markdown(_HEADER, [claim.cells for claim in PAGES[page]()])


def write(page: str) -> None:
    """Put the table of a page at its end."""
    path = PAPERS / f"{page}.md"
    before = path.read_text().partition(f"\n| {' | '.join(_HEADER)} |")[0]
    path.write_text(f"{before.rstrip()}\n\n{table(page)}\n")
