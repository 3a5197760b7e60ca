"""What the command lines of the benchmarks share: options, the whole line, and records as JSON."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from ttlg.benchmarks import machine
from ttlg.benchmarks.contenders import optional

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


def parse(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse options, by default the process's; add the program's name and the whole command."""
    options = sys.argv[1:] if argv is None else list(argv)
    args = parser.parse_args(options)
    args.program = parser.prog.removeprefix("python -m ")
    args.line = shlex.join([*parser.prog.split(), *options])
    return args


def write_record(args: argparse.Namespace, libraries: Sequence[str] = (), **measured: Any) -> None:
    """Write what was measured, with the machine and the command, where `--json` asks for it."""
    if args.json:
        record = {"machine": machine.describe(args.line, libraries), **measured}
        args.json.write_text(json.dumps(record, indent=1) + "\n")


def measure_all(
    chosen: Sequence[Case],
    measure: Callable[[Case], Iterable[Result]],
    line: Callable[[Result], str],
) -> list[Result]:
    """Measure the cases, printing each result; on Ctrl-C stop, and keep what there is."""
    results: list[Result] = []
    bar = tqdm(chosen, unit="case", disable=None)
    try:
        for case in bar:
            for result in measure(case):
                results.append(result)
                tqdm.write(line(result))
    except KeyboardInterrupt:
        print(f"interrupted after {len(results)} results", file=sys.stderr)
    finally:
        bar.close()
    return results
