"""Words: those that callers write, and counts of things in messages."""

import os
from collections.abc import Iterable


def read_variable(name: str) -> str:
    """Return an environment variable without the blanks around it, "" where it is not set."""
    return os.environ.get(name, "").strip()


def count_of(number: int, noun: str) -> str:
    """Write a number of things, such as 1 byte, 2 bytes, 3 axes and 4 entries."""
    if number != 1:
        irregular = {"axis": "axes", "entry": "entries"}
        noun = irregular.get(noun, f"{noun}s")
    return f"{number} {noun}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Name those of the known words that an unknown one is a part of, or else looks like."""
    names = {each.lower(): each for each in known}
    wanted = word.strip().lower()
    close = [each for each in names if len(wanted) > 1 and wanted in each]
    if not close:
        import difflib  # takes a millisecond, and only who is wrong needs it

        close = difflib.get_close_matches(wanted, names, 1, 0.7)
    return f"; did you mean {' or '.join(repr(names[each]) for each in close)}?" if close else ""
