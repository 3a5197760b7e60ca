"""A JSON file that is kept up to date while a program runs that may be killed."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SECONDS = 5  # between two writes


def write(path: Path, contents: Any, indent: int | None = None) -> None:
    """Replace a file in one step: whoever reads it finds the old contents or the new."""
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
