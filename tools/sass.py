"""Read the disassembly of a kernel and find the path that its threads take through it.

``parse`` reads what ``nvdisasm -c -gi`` prints of a cubin that was compiled with ``-lineinfo``.
``heaviest_path`` walks the control flow: each loop as often as the caller says, and wherever the
code forks, the side on which more instructions are issued.
"""

import linecache
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import NamedTuple

_FUNCTION = re.compile(r"\.text\.(\S+):")
_LABEL = re.compile(r"(\.L\w+):")
_FRAME = re.compile(r'\s*//## File "(.+?)", line (\d+)')
_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(?:@(!?U?P\w) +)?([A-Z]\S*)\s*(.*?)\s*;")
_TARGET = re.compile(r"`\((\.L\w+)\)")
_REGISTER = re.compile(r"\bR\d+\b")
_EXIT = -1  # where a path ends, in place of a block's number
_MUCH = 0.2  # of a loop's instructions
_UNWANTED = 1_000_000  # instructions; more than any path has


class Line(NamedTuple):
    """A line of a source file."""

    file: str
    number: int

    @property
    def text(self) -> str:
        """Read the line."""
        return linecache.getline(self.file, self.number).strip()

    @property
    def above(self) -> str:
        """Read the line before it, which may be a comment on it."""
        return linecache.getline(self.file, self.number - 1).strip()


@dataclass(frozen=True)
class Instruction:
    """One line of SASS, and the source lines it stems from, the innermost of the inlined first."""

    guard: str
    opcode: str
    operands: str
    lines: tuple[Line, ...] = ()

    @property
    def name(self) -> str:
        """Say what it does, without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def bytes(self) -> int:
        """Count the bytes that a thread moves with it, if it accesses memory."""
        found = re.search(r"\.(?:[US](8|16)|(64|128))(?:\.|$)", self.opcode)
        return int(found[1] or found[2]) // 8 if found else 4

    @property
    def registers(self) -> set[str]:
        """Name the registers it mentions; of a pair or quadruple, the first."""
        return set(_REGISTER.findall(self.operands))

    @property
    def loads(self) -> bool:
        """Say whether it reads global memory, into registers or asynchronously into shared memory."""
        return self.name in ("LDG", "LDGSTS")

    @property
    def loaded(self) -> set[str]:
        """Name all registers that a load fills."""
        if self.name == "LDGSTS":
            return set()
        first = int(self.operands.partition(",")[0][1:])
        return {f"R{first + i}" for i in range(max(self.bytes // 4, 1))}

    @property
    def target(self) -> str | None:
        """Name the label that a branch goes to; warps that diverge there are left out."""
        found = _TARGET.search(self.operands)
        return found[1] if found and self.name == "BRA" and ".DIV" not in self.opcode else None

    @property
    def falls_through(self) -> bool:
        """Say whether the next instruction may follow."""
        if self.name == "EXIT" or self.target:
            return bool(self.guard) or "P" in self.operands.partition("`")[0]
        return True


@dataclass
class Block:
    """Instructions without a branch between them, and the blocks that may follow."""

    instructions: list[Instruction] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    """An instruction on a path, how often it runs, and the loops around it, the outermost first."""

    instruction: Instruction
    times: int
    loops: tuple[int, ...] = ()


def parse(lines: Iterable[str], wanted: Callable[[str], bool]) -> dict[str, list[Block]]:
    """Read the functions whose mangled names are wanted, as blocks; the first is the entry."""
    functions: dict[str, list[str | Instruction]] = {}
    code: list[str | Instruction] | None = None
    frames: list[Line] = []
    is_new = True  # whether the next frame begins another instruction's
    for line in lines:
        if found := _FUNCTION.match(line):
            code = functions.setdefault(found[1], []) if wanted(found[1]) else None
        elif code is None:
            continue
        elif found := _FRAME.match(line):
            frames = [] if is_new else frames
            frames.append(Line(found[1], int(found[2])))
            is_new = False
        elif found := _LABEL.match(line):
            code.append(found[1])
        elif found := _INSTRUCTION.match(line):
            code.append(Instruction(found[1] or "", found[2], found[3], tuple(frames)))
            is_new = True
    return {name: _blocks(code) for name, code in functions.items()}


def _blocks(code: list[str | Instruction]) -> list[Block]:
    blocks = [Block()]
    labels = {}
    for item in code:
        last = blocks[-1].instructions
        if last and (isinstance(item, str) or last[-1].target or last[-1].name == "EXIT"):
            blocks.append(Block())
        if isinstance(item, str):
            labels[item] = len(blocks) - 1
        elif item.name in ("BRX", "CALL", "JMP", "RET"):
            raise ValueError(f"{item.opcode}: only branches and exits are followed")
        else:
            blocks[-1].instructions.append(item)
    for number, block in enumerate(blocks):
        last = block.instructions[-1:]
        if last and last[0].target:
            block.successors.append(labels[last[0].target])
        if last and last[0].name == "EXIT":
            block.successors.append(_EXIT)
        if number + 1 < len(blocks) and (not last or last[0].falls_through):
            block.successors.append(number + 1)
    return blocks


def _reachable(blocks: list[Block]) -> list[int]:
    order = [0]
    for number in order:
        order += [s for s in blocks[number].successors if s not in (*order, _EXIT)]
    return order


def _dominators(blocks: list[Block]) -> dict[int, set[int]]:
    """Find for every block that can be reached those through which all paths to it go."""
    order = _reachable(blocks)
    before = {n: [p for p in order if n in blocks[p].successors] for n in order}
    dominators = {n: set(order) for n in order} | {0: {0}}
    changed = True
    while changed:
        changed = False
        for n in order[1:]:
            found = {n} | set.intersection(*(dominators[p] for p in before[n]))
            changed |= found != dominators[n]
            dominators[n] = found
    return dominators


def find_loops(blocks: list[Block]) -> dict[int, set[int]]:
    """Find the blocks of every loop by its first block, the innermost loops first."""
    dominators = _dominators(blocks)
    loops: dict[int, set[int]] = {}
    for latch, above in dominators.items():
        for header in set(blocks[latch].successors) & above:
            body = loops.setdefault(header, {header})
            left = [latch]
            while left:
                number = left.pop()
                if number not in body:
                    body.add(number)
                    left += [p for p in dominators if number in blocks[p].successors]
    return dict(sorted(loops.items(), key=lambda loop: len(loop[1])))


def heaviest_path(
    blocks: list[Block],
    trips: Callable[[list[Step]], int],
    is_avoided: Callable[[Instruction], bool],
) -> list[Step]:
    """Follow the path from entry to exit on which most instructions are issued.

    ``trips`` says of a loop, given one pass through it, how often it runs. Blocks most
    of whose instructions are to be avoided, and loops which must pass through one and have many of
    them, are taken only where there is no other path: the compiler moves or shares single
    instructions.
    """
    reachable = _reachable(blocks)
    steps = {n: [Step(i, 1) for i in blocks[n].instructions] for n in reachable}
    members = {n: {n} for n in reachable}  # the blocks of a loop by its first, once it is counted
    avoided = {
        n for n in reachable if 2 * sum(map(is_avoided, blocks[n].instructions)) > len(steps[n])
    }

    def follow(region: set[int], entry: int, end: int) -> tuple[int, list[Step]]:
        owner = {b: n for n, body in members.items() if body <= region for b in body}
        after: dict[int, set[int]] = {n: set() for n in owner.values()}
        for b, n in owner.items():
            ways_on = {_EXIT if s == end else owner.get(s, n) for s in blocks[b].successors}
            after[n] |= ways_on - {n}  # not back into a loop that is counted, nor out of the region
        best: dict[int, tuple[int, list[Step]]] = {_EXIT: (0, [])}  # what follows, to the end
        for n in TopologicalSorter(after).static_order():
            paths = [best[s] for s in after.get(n, ()) if s in best]
            if paths:
                weight, rest = max(paths, key=lambda path: path[0])
                weight += sum(step.times for step in steps[n]) - _UNWANTED * (n in avoided)
                best[n] = weight, steps[n] + rest
        return best[entry]

    for header, body in find_loops(blocks).items():
        weight, once = follow(body, header, header)
        unwanted = sum(step.times for step in once if is_avoided(step.instruction))
        if weight < 0 and unwanted > _MUCH * sum(step.times for step in once):
            avoided.add(header)
        times = trips(once)
        members = {n: inside for n, inside in members.items() if n not in body} | {header: body}
        steps[header] = [Step(s.instruction, s.times * times, (header, *s.loops)) for s in once]
    return follow(set(reachable), 0, _EXIT)[1]


def bytes_per_wait(path: list[Step]) -> float:
    """Average the bytes that a thread loads before an instruction needs one of its loads.

    What is copied to shared memory asynchronously is needed where the thread waits for it.
    """
    total = waits = 0
    pending: set[str] = set()
    times = 0  # how often the loads that are pending are issued, of those of a loop and others most
    copies = 0  # bytes on their way to shared memory
    for step in path:
        instruction = step.instruction
        if pending & instruction.registers:
            waits += times
            pending = set()
            times = 0
        if instruction.name == "DEPBAR" and copies:
            waits += step.times
            copies = 0
        if instruction.loads:
            total += step.times * instruction.bytes
        if instruction.name == "LDGSTS":
            copies += instruction.bytes
        elif instruction.name == "LDG":
            times = max(times, step.times)
            pending |= instruction.loaded
    waits += times
    waits += bool(copies)  # of the next pass
    return total / waits if waits else 0.0
