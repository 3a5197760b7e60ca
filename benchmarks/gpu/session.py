"""What the programs for a GPU share: they end in time and keep their results if killed."""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from ttlg.benchmarks import command
from ttlg.benchmarks.gpu.device import NoGpuError, describe, require
from ttlg.benchmarks.gpu.failures import DeviceLostError

T = TypeVar("T")

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


def described(args: argparse.Namespace, *requirements: Callable[[], None]) -> dict[str, Any] | None:
    """Describe the device and the command; say what is missing, and return None, if anything is."""
    try:
        for each in (require, *requirements):
            each()
    except (NoGpuError, ImportError) as error:
        print(f"{args.program}: {error}", file=sys.stderr)
        return None
    return describe(args.line)


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
