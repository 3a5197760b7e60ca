"""Read the comments in the kernels' sources that say how their budget counts the line that follows.

``// [budget: 2 times]`` or ``[budget: once]``: a loop that moves nothing, or no more than the ends
of lines, runs so often. It is the loop that begins in the line, or any in the function called there.

``// [budget: rare]``: a whole slice of the usual kind does without what the function called does.

``// [budget: first warp]``: the first warp of a block makes the call for all of them.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sass import Instruction, Line

RARE = "rare"
FIRST_WARP = "first warp"
_MARK = re.compile(r"//.*\[budget: *(.*?)\]")
_TIMES = re.compile(r"once|(\d+) times")


@functools.cache
def mark_of(line: Line) -> str:
    """Read the mark on a source line; empty if it has none."""
    found = _MARK.search(line.above)
    return found[1] if found else ""


def has_call(instruction: Instruction, mark: str) -> bool:
    """Say whether an instruction was inlined into a call that is marked so."""
    return any(mark_of(line) == mark for line in instruction.lines[1:])


def times_of(lines: Iterable[Line]) -> int | None:
    """Say how often a loop of these lines runs; None if none of them is marked."""
    found = (_TIMES.fullmatch(mark_of(line)) for line in lines)
    counts = {int(times[1] or 1) for times in found if times}
    if len(counts) > 1:
        raise ValueError(f"a loop is marked with different counts, {sorted(counts)}")
    return counts.pop() if counts else None


def mistakes(sources: Iterable[Path], compiled: set[Line] | None = None) -> Iterator[str]:
    """Name the marks that mean nothing and, given the lines of all instructions, those without any.

    A mark that precedes another line than it was written for would change a figure silently.
    """
    for source in sources:
        for number, text in enumerate(source.read_text().splitlines(), 1):
            if not (found := _MARK.search(text)):
                continue
            where = f"{source}:{number}: [budget: {found[1]}]"
            if found[1] not in (RARE, FIRST_WARP) and not _TIMES.fullmatch(found[1]):
                yield f"{where} is unknown: once, N times, {RARE} and {FIRST_WARP} are known"
            elif compiled is not None and Line(str(source), number + 1) not in compiled:
                yield f"{where} is missed: no instruction comes from the line that follows"
