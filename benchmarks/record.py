"""Records that are written while cases are measured, so that an interrupted run can go on."""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

Case = TypeVar("Case")
Result = TypeVar("Result")

_END = "\n]\n}\n"


class OtherRunError(Exception):
    """A file holds what another run has measured."""


class Record(Generic[Result]):
    """The results of a run, in a file if there is to be one.

    After every case the file is valid JSON: what `head` says of the run and, under ``results``, a
    line for each result.
    """

    def __init__(
        self,
        path: Path | None,
        head: dict[str, Any],
        write: Callable[[Result], dict[str, Any]],
        read: Callable[[dict[str, Any]], Result],
    ) -> None:
        """Take over the results of a file that is there.

        Parameters
        ----------
        path : Path or None
            The file; None keeps the results in memory alone.
        head : dict
            What the file says besides the results.
        write, read : callable
            Turn a result into what JSON has of it, and back.

        Raises
        ------
        OtherRunError
            The file is of another run: not the same command, versions, commit and machine.
        """
        self._path, self._head, self._write = path, head, write
        self.results: list[Result] = []
        if path is not None and path.exists():
            self.results += map(read, _entries(path, head))

    def left(self, cases: Sequence[Case]) -> Sequence[Case]:
        """Return the cases that there are no results of; the first ones are those that there are."""
        known = [case for case, _ in itertools.groupby(self.results, lambda each: each.case)]  # type: ignore[attr-defined]
        if known != list(cases[: len(known)]):
            raise OtherRunError(f"{self._path} has results of other cases: {_ADVICE}")
        return cases[len(known) :]

    def add(self, results: Sequence[Result]) -> None:
        """Add all results of a case."""
        lines = ",\n".join(json.dumps(self._write(result)) for result in results)
        if self._path is not None:
            if self.results:
                _append(self._path, f",\n{lines}{_END}")
            else:
                head = json.dumps(self._head, indent=1).removesuffix("\n}")
                self._path.write_text(f'{head},\n "results": [\n{lines}{_END}')
        self.results += results


_ADVICE = "remove it to measure again, or name another file"


def _entries(path: Path, head: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the results of a file that has this head."""
    text = path.read_text()
    try:
        found = json.loads(text)
        results: list[dict[str, Any]] = found.pop("results")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise OtherRunError(f"{path} is no record of measurements: {_ADVICE}") from None
    if found != json.loads(json.dumps(head)) or not text.endswith(_END):
        raise OtherRunError(f"{path} is of another run{_differences(found, head)}: {_ADVICE}")
    return results


def _differences(found: dict[str, Any], head: dict[str, Any]) -> str:
    """Name what differs of two machines."""
    there, here = (each.get("machine") or {} for each in (found, head))
    names = [name for name in here if there.get(name) != here[name]]
    return f", by its {' and '.join(names)}" if names else ""


def _append(path: Path, text: str) -> None:
    """Write over the end of a file; one write, so that no interrupt leaves it without an end."""
    with path.open("r+b", buffering=0) as file:
        file.seek(-len(_END), 2)
        file.write(text.encode())
