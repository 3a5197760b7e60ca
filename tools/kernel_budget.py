"""Count the instructions that the kernels spend on each 128-byte line, and hold them to a record.

Compiles ``cpp/cuda/kernels/**/*.cu`` for Hopper, reads the SASS and prints for every kernel and element
width what docs/hardware.md explains. ``--check`` compares with ``cpp/cuda/kernels/budget.json``,
``--record`` rewrites it and ``cpp/plan/cuda/model/kernel_figures.hpp``, which has for the planner what it
needs of the record. Needs nvcc and nvdisasm (``pip install nvidia-cuda-nvdisasm``); where one
is missing it says so and checks nothing.

The record also says which case the figures of each kernel are of (``kernel_assumptions.py``). What
is approximate:

- A block moves one whole slice, all lanes of which are valid, and repeats none; what a further
  slice costs is shown apart.
- Loops that move data run as often as the slice asks for, or one of the passes that the threads
  make over it (``kernel_slices.cpp``). The others run as comments in the kernels' sources say
  (``budget_marks.py``).
- Where the code forks otherwise, the side on which more instructions are issued counts, except for
  what is marked as rare: the grid has all the modes that are compiled in, and the elements of lines
  leave no gaps.
- What is marked as executed by the first warp of a block is shared out among its warps.
- The Orthogonal kernels have two buffers.
- The last, incomplete pass through a loop is left out, and so is a loop that the compiler has split
  off another for what is left over, or has left over by peeling off its first pass.
"""

import argparse
import functools
import importlib.util
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import budget_marks
import kernel_assumptions
import kernel_header
from sass import Instruction, Line, Step, bytes_per_wait, heaviest_path, parse

ROOT = Path(__file__).resolve().parents[1]
BUDGET = ROOT / "cpp/cuda/kernels/budget.json"

_LINE = 128
_WARP = 32
_TOLERANCE = 0.05  # of every figure
_ACCESSES = ("LDG", "LDGSTS", "STG", "LDS", "STS", "SHFL", "BAR")
_HIGHER_IS_BETTER = {"blocks_per_sm", "bytes_in_flight_per_sm"}
_HOPPER = {"registers": 65536, "threads": 2048, "blocks": 32, "shared_bytes": 228 << 10}
_RESERVED_SHARED_BYTES = 1 << 10  # of each block, by the driver

Figures = dict[str, float]


class ThreadBlock(NamedTuple):
    """The threads of a block, the bytes of its slice, its shared memory, and passes over it."""

    threads: int
    slice_bytes: int
    shared_bytes: int
    passes: int = 1

    @property
    def warps(self) -> int:
        """Count the warps of a block."""
        return self.threads // _WARP

    @property
    def bytes_per_thread(self) -> float:
        """Share a slice among the threads."""
        return self.slice_bytes / self.threads

    @property
    def bytes_per_pass(self) -> float:
        """Share what the threads move before they start again in the same slice."""
        return self.bytes_per_thread / self.passes


def blocks_per_sm(registers: int, block: ThreadBlock) -> int:
    """Count the thread blocks that a Hopper multiprocessor holds at once."""
    # Registers are given out by 256 to warps, each of which belongs to one of four partitions.
    of_warp = math.ceil(registers * _WARP / 256) * 256
    warps = 4 * (_HOPPER["registers"] // 4 // of_warp)
    return min(
        warps * _WARP // block.threads,
        _HOPPER["threads"] // block.threads,
        _HOPPER["shared_bytes"] // (block.shared_bytes + _RESERVED_SHARED_BYTES),
        _HOPPER["blocks"],
    )


def _loaded(steps: list[Step]) -> int:
    return sum(s.times * s.instruction.bytes for s in steps if s.instruction.loads)


def _stored(steps: list[Step]) -> int:
    return sum(s.times * s.instruction.bytes for s in steps if s.instruction.name == "STG")


def _moved_both_ways(steps: list[Step]) -> int:
    return min(_loaded(steps), _stored(steps))


def _instructions_per_line(steps: list[Step], warps: int) -> float:
    issued = sum(s.times / (warps if is_of_first_warp(s.instruction) else 1) for s in steps)
    return round(issued * _LINE / _WARP / _moved_both_ways(steps), 1)


def trip_count(steps: list[Step], block: ThreadBlock) -> int:
    """Say how often a loop runs of which these steps are one pass."""
    moving = [s.instruction for s in steps if s.instruction.loads or s.instruction.name == "STG"]
    ends = {budget_marks.times_of(instruction.lines[1:]) for instruction in moving}
    if len(ends) == 1 and (times := ends.pop()) is not None:
        return times
    # Of what is loaded twice only half moves.
    moved = _moved_both_ways(steps) or max(_loaded(steps), _stored(steps))
    if moved:
        is_inner = moved < block.bytes_per_pass
        return math.ceil((block.bytes_per_pass if is_inner else block.bytes_per_thread) / moved)
    lines = {line for step in steps for line in step.instruction.lines}
    times = budget_marks.times_of(lines)
    if times is None:
        texts = sorted({line.text for line in lines})
        raise ValueError(f"none of the lines of this loop has a mark [budget: N times]: {texts}")
    return times


def is_rare(instruction: Instruction) -> bool:
    """Say whether an instruction was inlined into one of the rare calls.

    Not one at which the sides of a fork meet, whichever of them it is said to come from.
    """
    return instruction.name != "BSYNC" and budget_marks.has_call(instruction, budget_marks.RARE)


def is_of_first_warp(instruction: Instruction) -> bool:
    """Say whether an instruction was inlined into a call that one warp makes for its block."""
    return budget_marks.has_call(instruction, budget_marks.FIRST_WARP)


def slice_loop(path: list[Step], bytes_per_thread: float) -> list[Step]:
    """Find the steps of the innermost loop that moves a slice; none if no loop does."""
    found = []
    for header in {header for step in path for header in step.loops}:
        steps = [step for step in path if header in step.loops]
        if _moved_both_ways(steps) >= bytes_per_thread:
            found.append(steps)
    return min(found, key=len, default=[])


def one_slice(path: list[Step], bytes_per_thread: float) -> list[Step]:
    """Leave out the loops that move data and without which the path moves a whole slice still."""
    width = Counter[int]()  # of one pass
    for step in path:
        if step.instruction.loads or step.instruction.name == "STG":
            width.update(dict.fromkeys(step.loops, step.instruction.bytes))
    for header in sorted(width, key=lambda header: (width[header], header)):
        rest = [step for step in path if header not in step.loops]
        if _moved_both_ways(rest) >= bytes_per_thread:
            path = rest
    return path


def figures_of(path: list[Step], resources: dict[str, int], block: ThreadBlock) -> Figures:
    """Work out the figures of a kernel whose threads take this path."""
    if _moved_both_ways(path) < block.bytes_per_thread:
        raise ValueError("the path found does not move the whole slice")
    further = slice_loop(path, block.bytes_per_thread) or path
    path = one_slice(path, block.bytes_per_thread)
    blocks = blocks_per_sm(resources["registers"], block)
    # Where accesses are wider than a thread's share, some threads load nothing.
    in_flight = bytes_per_wait(path) * _moved_both_ways(path) / _loaded(path)
    return {
        **resources,
        "blocks_per_sm": blocks,
        "bytes_in_flight_per_sm": round(in_flight * block.threads * blocks),
        "instructions_per_line": _instructions_per_line(path, block.warps),
        "instructions_per_further_line": _instructions_per_line(further, block.warps),
    }


def label_of(mangled: str) -> tuple[str, int] | None:
    """Read a kernel's name and template arguments, and the modes compiled into its grid."""
    found = re.search(r"([a-z][a-z_]*)_kernelI((?:L[ib]\d+E)+)E", mangled)
    if not found:
        return None
    arguments = [int(n) for n in re.findall(r"\d+", found[2])]
    has_grid = "4GridI" in mangled
    modes = arguments.pop() if has_grid else 0
    return f"{found[1]}<{','.join(map(str, arguments))}>", modes


def _natural_order(label: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", label)]


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout + done.stderr


def thread_blocks(work: Path) -> dict[str, ThreadBlock]:
    """Ask the kernels' policies what their thread blocks move."""
    program = work / "slices"
    source = ROOT / "tools/kernel_slices.cpp"
    _run("nvcc", "-std=c++20", "-x", "c++", "-I", ROOT / "cpp", "-o", program, source)
    rows = (line.split() for line in _run(program).splitlines())
    return {label: ThreadBlock(*map(int, numbers)) for label, *numbers in rows}


def resources_of(report: str) -> dict[str, dict[str, int]]:
    """Read registers and bytes of local memory of every kernel from ptxas's report."""
    found = re.findall(
        r"Compiling entry function '(\S+)'.*?(\d+) bytes stack frame.*?Used (\d+) registers",
        report,
        re.DOTALL,
    )
    return {name: {"registers": int(r), "local_bytes": int(s)} for name, s, r in found}


def measure(
    source: Path, nvdisasm: str, blocks: dict[str, ThreadBlock], work: Path
) -> tuple[dict[str, tuple[list[Step], Figures]], set[Line]]:
    """Compile a source file and find path and figures of its kernels with the smallest grid.

    And the source lines that their instructions come from.
    """
    cubin = work / f"{source.stem}.cubin"
    report = _run(
        *("nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-I", ROOT / "cpp", "-arch=sm_90"),
        *("-lineinfo", "-Xptxas=-v", "-cubin", "-o", cubin, source),
    )
    resources = resources_of(report)
    known = {name: found for name in resources if (found := label_of(name))}
    fewest = min(modes for _, modes in known.values())
    wanted = {name: label for name, (label, modes) in known.items() if modes == fewest}
    code = parse(_run(nvdisasm, "-c", "-gi", cubin).splitlines(), wanted.__contains__)
    measured = {}
    for name, label in wanted.items():
        block = blocks[label]
        trips = functools.partial(trip_count, block=block)
        path = heaviest_path(code[name], trips, is_rare)
        measured[label] = path, figures_of(path, resources[name], block)
    listed = (block.instructions for function in code.values() for block in function)
    return measured, {line for part in listed for each in part for line in each.lines}


def nvcc_release() -> str:
    """Name the compiler, without which figures say nothing: "13.0"."""
    found = re.search(r"release ([\d.]+)", _run("nvcc", "--version"))
    return found[1] if found else "unknown"


def find_nvdisasm() -> str | None:
    """Look on the PATH and among what pip has installed."""
    if found := shutil.which("nvdisasm"):
        return found
    package = importlib.util.find_spec("nvidia")
    folders = package.submodule_search_locations if package else None
    return next((str(p) for f in folders or () for p in Path(f).glob("*/bin/nvdisasm")), None)


def differences(
    found: dict[str, Figures], recorded: dict[str, Figures]
) -> Iterator[tuple[bool, str]]:
    """Say what is worse (True) or better (False) than recorded by more than the tolerance."""
    for label in sorted(found.keys() ^ recorded.keys()):
        yield True, f"{label}: {'not recorded' if label in found else 'recorded, but not found'}"
    for label in sorted(found.keys() & recorded.keys()):
        for figure, was in recorded[label].items():
            now = found[label][figure]
            if abs(now - was) > _TOLERANCE * was:
                is_worse = (now > was) != (figure in _HIGHER_IS_BETTER)
                yield is_worse, f"{label}: {figure} recorded {was:g}, found {now:g}"


def check(found: dict[str, Figures], recorded: dict[str, Figures]) -> int:
    """Print how the figures differ from the record; 1 where one is worse."""
    status = 0
    for is_worse, text in differences(found, recorded):
        status |= is_worse
        print(text if is_worse else f"{text}: the budget could be tightened (--record)")
    print("kernels: over budget" if status else f"{len(found)} kernels: within budget")
    return status


def write_budget(compiler: str, found: dict[str, Figures]) -> None:
    """Record the figures, a kernel a line, of which case they are, and what the planner reads."""
    record = {"assumes": kernel_assumptions.of_kernels(found), "kernels": found}
    parts = [f'  "nvcc": {json.dumps(compiler)}']
    for name, entries in record.items():
        rows = ",\n".join(
            f"    {json.dumps(each)}: {json.dumps(entries[each])}" for each in entries
        )
        parts.append(f'  "{name}": {{\n{rows}\n  }}')
    BUDGET.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    kernel_header.write(found)


def check_budget(compiler: str, found: dict[str, Figures]) -> int:
    """Compare with the record, if it is of the same compiler."""
    recorded = json.loads(BUDGET.read_text())
    status = kernel_header.check(recorded["kernels"])
    status |= kernel_assumptions.check(recorded)
    if recorded["nvcc"] == compiler:
        return check(found, recorded["kernels"]) | status
    print(f"the budget was recorded with nvcc {recorded['nvcc']}, not {compiler}: not compared")
    return status


def table(found: dict[str, Figures]) -> Iterator[str]:
    """List the figures, a kernel a row."""
    names = list(next(iter(found.values())))
    yield f"{'':30}" + "  ".join(name.replace("_", " ") for name in names)
    for label, figures in found.items():
        yield f"{label:30}" + "  ".join(f"{figures[name]:{len(name)}g}" for name in names)


def loops_of(path: list[Step]) -> Iterator[str]:
    """List the loops of a path, outermost first, with what one thread issues in them."""
    nests = dict.fromkeys(step.loops for step in path)
    for nest in nests:
        steps = [step for step in path if step.loops == nest]
        count = Counter(s.instruction.name for s in steps)
        accesses = (f"{count[name]} {name}" for name in _ACCESSES if count[name])
        yield f"{'  ' * len(nest)}{len(steps)} instructions, {steps[0].times} times: " + ", ".join(
            accesses
        )


def main(arguments: list[str] | None = None) -> int:
    """Measure; then print, check or record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="exit 1 where the budget is exceeded")
    parser.add_argument("--record", action="store_true", help=f"rewrite {BUDGET.name}")
    parser.add_argument("--loops", metavar="KERNEL", help="also list the loops of one of them")
    options = parser.parse_args(arguments)
    marked = sorted((ROOT / "cpp").rglob("*.hpp"))
    if mistakes := list(budget_marks.mistakes(marked)):
        print(*mistakes, sep="\n")
        return 1
    nvdisasm = find_nvdisasm()
    if nvdisasm is None or not shutil.which("nvcc"):
        missing = "nvcc" if nvdisasm else "nvdisasm"
        print(f"{missing} was not found: the kernels' instructions were not counted")
        return 0
    # The longest first.
    sources = sorted((ROOT / "cpp/cuda/kernels").rglob("*.cu"), reverse=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        work = Path(folder)
        blocks = thread_blocks(work)
        parts = list(pool.map(lambda source: measure(source, nvdisasm, blocks, work), sources))
    if mistakes := list(budget_marks.mistakes(marked, set().union(*(part[1] for part in parts)))):
        print(*mistakes, sep="\n")
        return 1
    measured = {label: both for part, _ in parts for label, both in part.items()}
    found = {label: measured[label][1] for label in sorted(measured, key=_natural_order)}
    print(*table(found), sep="\n")
    if options.loops:
        print(*loops_of(measured[options.loops][0]), sep="\n")
    if options.record:
        write_budget(nvcc_release(), found)
    return check_budget(nvcc_release(), found) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
