"""Draw the figure of a record: ``python -m ttlg.benchmarks.redraw RECORD.json FIGURE.png``.

The figure is the one that ``--plot`` draws where the record is measured.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ttlg.benchmarks import ablations, command, plots
from ttlg.benchmarks.contraction import report as contractions
from ttlg.benchmarks.loops import report as loops
from ttlg.benchmarks.panels import draw
from ttlg.benchmarks.report import Report

# Where the panels of a program are that is a module of its own, as what some import is optional.
_MODULES = {
    "busy": "busy",
    "contraction.networks": "contraction.networks",
    "dask_store": "dask_store",
    "generated": "generated.report",
    "learning": "learning",
    "zarr_io": "zarr_io",
}


def redraw(text: str, image: Path) -> None:
    """Draw a record, as JSON has it; ValueError if nothing draws its kind."""
    record = json.loads(text)
    line = record["machine"]["command"]
    program = line.removeprefix("python -m ttlg.benchmarks.").split()[0]
    if program in _MODULES:
        module = importlib.import_module(f"ttlg.benchmarks.{_MODULES[program]}")
        draw(module.panels(record), image)
    elif program == "loops":
        loops.plot([*map(loops.read_row, record["results"])], image)
    elif not line.startswith("ttlg bench "):
        raise ValueError(f"there is no figure of what this has measured: {line}")
    elif "ablations" in record:
        draw(ablations.panels(record), image)
    elif "products" in record:
        draw(contractions.panels(record), image)
    else:
        plots.plot(Report.from_json(text), image)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.redraw", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("record", type=Path, metavar="RECORD", help="what --json has written")
    parser.add_argument("image", type=command.image, metavar="FIGURE", help="the image to write")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Draw a record; 0 is done."""
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        redraw(args.record.read_text(), args.image)
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{args.record} cannot be drawn: {error!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
