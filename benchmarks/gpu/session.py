"""What the programs for a GPU share: they end in time and keep their results if killed."""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from ttlg.benchmarks import command
from ttlg.benchmarks.gpu.device import NoGpuError, describe, require
from ttlg.benchmarks.gpu.failures import DeviceLostError
from ttlg.benchmarks.gpu.report import failure_lines

T = TypeVar("T")
# Draws a record to a file.
Draw = Callable[[dict[str, Any], Path], None]

_SECONDS = 5  # between two writes


def write(path: Path, contents: Any, indent: int | None = None) -> None:
    """Replace a file in one step: a reader finds the old contents or the new."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(contents, indent=indent) + "\n")
    os.replace(part, path)


class JsonFile:
    """Writes what `contents` returns, where there is a path to write it to."""

    def __init__(self, path: Path | None, contents: Callable[[], Any]) -> None:
        self._path, self._contents = path, contents
        self._written = time.monotonic()

    def update(self) -> None:
        """Write if the last time was some seconds ago."""
        if time.monotonic() - self._written >= _SECONDS:
            self.write()

    def write(self) -> None:
        """Write."""
        if self._path is not None:
            write(self._path, self._contents())
        self._written = time.monotonic()


def add_options(parser: argparse.ArgumentParser, budget: float = float("inf")) -> None:
    """Add the options that say when to stop and where the results go."""
    parser.add_argument(
        "--budget",
        type=float,
        default=budget,
        metavar="SECONDS",
        help="start no case after this time",
    )
    command.add_json(parser)
    parser.add_argument(
        "--plot", type=command.image, metavar="FILE", help="draw the results as an image"
    )


def described(args: argparse.Namespace, *requirements: Callable[[], None]) -> dict[str, Any] | None:
    """Describe the device and the command; say what is missing, and return None, if anything is."""
    try:
        for each in (require, *requirements):
            each()
    except (NoGpuError, ImportError) as error:
        print(f"{args.program}: {error}", file=sys.stderr)
        return None
    return describe(args.line)


def report(args: argparse.Namespace, record: dict[str, Any], draw: Draw | None) -> None:
    """Print a record's table and, where `--plot` asks for it, draw the record, if that is possible."""
    print("\n" + "\n".join(record["table"]))
    if args.plot and draw:
        draw(record, args.plot)


def run(main: Callable[[], int]) -> NoReturn:
    """Run a program, which SIGTERM interrupts as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())


def measure_all(
    items: Iterable[T], deadline: float, measure: Callable[[T], None], file: JsonFile
) -> int:
    """Measure one item after the other, and write after each, until the time is up.

    Returns the exit status: 1 if the device was lost, 130 if the user interrupted.
    """
    try:
        for item in items:
            if time.monotonic() >= deadline:
                break
            measure(item)
            file.update()
    except DeviceLostError:
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        file.write()
    return 0


def run_cases(
    args: argparse.Namespace,
    cases: Sequence[T],
    measure: Callable[[T], Any],
    table: Callable[[Sequence[Any]], list[str]],
    draw: Draw,
) -> int:
    """Measure cases in a random order, so that the first ones are a sample of all, and report.

    `measure` returns a dataclass that names its case as `label` and has `failures`; `table` writes
    lines of them, and `draw` draws the record. Returns the exit status: 1 if anything failed, 2 without a GPU, 130 if interrupted,
    in which case the results so far are written.
    """
    deadline = time.monotonic() + args.budget
    machine = described(args)
    if machine is None:
        return 2
    results: list[Any] = []

    def failures() -> dict[str, str]:
        return {
            f"{each.label}: {name}": text
            for each in results
            for name, text in each.failures.items()
        }

    def found() -> dict[str, Any]:
        lines = table(results) + failure_lines(failures())
        if len(results) < len(cases):
            lines.append(f"not measured: {len(cases) - len(results)}")
        return {"machine": machine, "table": lines, "results": [asdict(each) for each in results]}

    status = measure_all(
        random.Random(1).sample(cases, len(cases)),
        deadline,
        lambda case: results.append(measure(case)),
        JsonFile(args.json, found),
    )
    report(args, found(), draw if results else None)
    return status or int(bool(failures()))
