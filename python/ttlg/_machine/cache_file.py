"""The files that keep measured plans and fitted models from one process to the next."""

import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

Entry = dict[str, Any]


class TuneFile:
    """Entries by key, one a line, in a JSON file of a cache directory; by default measured plans.

    Keys are dictionaries that survive JSON. A file that is missing, corrupt or not of ttlg
    holds no entries, and is replaced at the next `save`.
    """

    def __init__(self, directory: str, name: str = "ttlg-tuned.json") -> None:
        self._directory = directory
        self.path = os.path.join(directory, name)

    @classmethod
    def from_environment(cls, name: str = "ttlg-tuned.json") -> "TuneFile | None":
        """Return the file that ``TTLG_CACHE_DIR`` asks for, or None where it is not set."""
        directory = os.environ.get("TTLG_CACHE_DIR")
        return cls(directory, name) if directory else None

    def load(self, key: Entry) -> Entry | None:
        """Return the entry of a key, or None."""
        return next((entry for entry in self._read() if entry["key"] == key), None)

    def check_writable(self) -> None:
        """Make the directory if it is missing; ValueError where it cannot be written to."""
        import tempfile  # takes milliseconds, and only who saves needs it

        with self._refusing():
            os.makedirs(self._directory, exist_ok=True)
            tempfile.TemporaryFile(dir=self._directory).close()

    def save(self, key: Entry, values: Entry) -> None:
        """Keep `values` as the entry of `key`: readers see the file before or after, whole."""
        self.update([{"key": key, **values}])

    def update(self, entries: list[Entry], at_most: int = sys.maxsize) -> None:
        """Keep entries in place of those of the same keys, and of all the last `at_most`."""
        with self._refusing():
            os.makedirs(self._directory, exist_ok=True)
        with self._refusing(), self._lock():
            before = self._read()
            entries = json.loads(json.dumps(entries))  # as they will be read
            keys = [entry["key"] for entry in entries]
            others = [entry for entry in before if entry["key"] not in keys]
            after = [*others, *entries][-at_most:]
            if after != before:
                self._write(after)

    def remove(self, key: Entry) -> bool:
        """Remove the entry of `key`, and say whether there was one, or a file that holds none."""
        if not os.path.exists(self.path):
            return False
        with self._refusing(), self._lock():
            try:
                entries = self.entries()
            except ValueError:
                self._write([])
                return True
            others = [entry for entry in entries if entry["key"] != key]
            if len(others) < len(entries):
                self._write(others)
        return len(others) < len(entries)

    def _write(self, entries: list[Entry]) -> None:
        lines = ",\n".join(json.dumps(entry) for entry in entries)
        fresh = f"{self.path}.{os.getpid()}"
        try:
            with open(fresh, "w", encoding="utf-8") as file:
                file.write(f"[\n{lines}\n]\n")
            os.replace(fresh, self.path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(fresh)

    def entries(self) -> list[Entry]:
        """Read all entries; none where there is no file, ValueError where it is none of these."""
        try:
            with open(self.path, encoding="utf-8") as file:
                entries = json.load(file)
        except OSError:
            return []
        except RecursionError as error:
            raise ValueError(str(error)) from error
        if isinstance(entries, list):
            return [entry for entry in entries if isinstance(entry, dict) and "key" in entry]
        raise ValueError("it holds no list of entries")

    def _read(self) -> list[Entry]:
        try:
            return self.entries()
        except ValueError:
            return []

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Let one process at a time read, modify and replace the file."""
        handle = os.open(self._directory, os.O_RDONLY)
        try:
            # Where the file system has no locks, an entry of another process may get lost.
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ValueError(
                f"the cache directory {self._directory!r} cannot be used: {error.strerror}; "
                "set TTLG_CACHE_DIR to a directory that can be written to"
            ) from error
