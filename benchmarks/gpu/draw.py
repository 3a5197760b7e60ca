"""``python -m ttlg.benchmarks.gpu.draw RECORD FIGURE``: draw what a program has measured on a GPU.

A record is the JSON that the program's option ``--json`` asks for, or what a stage of
``tools/gpu_verify.sh`` leaves; its option ``--plot`` draws the same. No GPU is needed.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ttlg.benchmarks import command
from ttlg.benchmarks.gpu import calibrate, conversion, plots, structures

_DRAWN = {
    "ttlg.benchmarks.gpu": plots.draw,
    "ttlg.benchmarks.gpu.structures": structures.draw,
    "ttlg.benchmarks.gpu.conversion": conversion.draw,
    "ttlg.benchmarks.gpu.calibrate": calibrate.draw,
}


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the program that has written a record, and the record.

    Raises ValueError if the file holds none that can be drawn.
    """
    found = json.loads(path.read_text())
    record = found["results"] if "stage" in found else found
    program = re.search(r"-m (\S+)", record.get("machine", {}).get("command", ""))
    if program is None or program[1] not in _DRAWN:
        raise ValueError(f"{path} is no record of {', '.join(_DRAWN)}")
    if not record.get("results") and not record.get("costs"):
        raise ValueError(f"{path} has no results to draw")
    return program[1], record


def main(argv: Sequence[str] | None = None) -> int:
    """Draw a record; 2 if that is not possible."""
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.gpu.draw", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("record", type=Path, metavar="RECORD", help="JSON")
    parser.add_argument("figure", type=command.image, metavar="FIGURE", help="image to write")
    args = parser.parse_args(argv)
    try:
        program, record = read(args.record)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    _DRAWN[program](record, args.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
