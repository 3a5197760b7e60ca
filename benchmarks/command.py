"""What the command lines of the benchmarks share: options, the whole line, and records as JSON."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from ttlg.benchmarks import machine
from ttlg.benchmarks.contenders import optional
from ttlg.benchmarks.record import Record

Case = TypeVar("Case")
Result = TypeVar("Result")


def file(text: str) -> Path:
    """Read an option that names a file to write."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path.parent} is not a directory")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a directory")
    return path


def count(text: str) -> int:
    """Read an option that says how many of something there are."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def image(text: str) -> Path:
    """Read an option that names a plot to draw, in a format that its suffix tells."""
    path = file(text)
    matplotlib = optional("matplotlib.figure")
    if matplotlib is None:
        raise argparse.ArgumentTypeError("plots need matplotlib: pip install 'ttlg[plot]'")
    formats = matplotlib.Figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise argparse.ArgumentTypeError(f"{path} must end in one of .{', .'.join(formats)}")
    return path


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks for a record."""
    parser.add_argument("--json", type=file, metavar="FILE", help="write the results as JSON")


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks for a figure."""
    parser.add_argument("--plot", type=image, metavar="FILE", help="draw the results")


def parse(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse options, by default the process's; add the program's name and the whole command."""
    options = sys.argv[1:] if argv is None else list(argv)
    args = parser.parse_args(options)
    args.program = parser.prog.removeprefix("python -m ")
    args.line = shlex.join([*parser.prog.split(), *options])
    return args


def write_record(
    args: argparse.Namespace, libraries: Sequence[str] = (), **measured: Any
) -> dict[str, Any]:
    """Return what was measured, with the machine and the command; write it where `--json` says."""
    record = {"machine": machine.describe(args.line, libraries), **measured}
    if args.json:
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    return record


def measure_all(
    chosen: Sequence[Case],
    measure: Callable[[Case], Sequence[Result]],
    line: Callable[[Result], str],
    record: Record[Result],
) -> list[Result]:
    """Measure the cases that a record lacks, printing each result, and add them to it.

    On Ctrl-C stop, and return what there is. Raises OtherRunError where the record has other cases.
    """
    left = record.left(chosen)
    if len(left) < len(chosen):
        print(f"{len(chosen) - len(left)} of {len(chosen)} cases have been measured before")
    bar = tqdm(left, unit="case", disable=None, initial=len(chosen) - len(left), total=len(chosen))
    try:
        for case in bar:
            results = measure(case)
            record.add(results)
            for result in results:
                tqdm.write(line(result))
    except KeyboardInterrupt:
        print(f"interrupted after {len(record.results)} results", file=sys.stderr)
    finally:
        bar.close()
    return record.results
