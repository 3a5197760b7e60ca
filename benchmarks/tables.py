"""Groups of results, and rows of text in columns."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ttlg._arguments.words import count_of

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def grouped(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Sort items into groups, both in the order of the items."""
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write rows in columns, indented."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(padded)).rstrip()


def heading(machine: dict[str, Any]) -> list[str]:
    """Name the machine, the versions and the command of a run."""
    caches = ", ".join(f"{name} {size}" for name, size in machine["caches"].items())
    versions = ", ".join(f"{name} {text or '-'}" for name, text in machine["versions"].items())
    return [
        f"{machine['cpu']}, {count_of(machine['cores'], 'core')}, {caches}",
        f"{versions}; commit {machine['commit'] or '-'}",
        f"$ {machine['command']}",
    ]


def threads_text(count: int) -> str:
    """Write a number of threads."""
    return count_of(count, "thread")
