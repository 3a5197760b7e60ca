"""What `Plan.explain` says of a plan for the CPU."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ttlg import _core, _models
from ttlg._arguments.sizes import LINE_BYTES
from ttlg._arguments.words import count_of
from ttlg._plan.candidates import Candidate
from ttlg._plan.text import describe_measured, describe_problem, microseconds

# Kinds of operations of a shuffle program that are listed.
_MAX_KINDS = 12


def _describe_work(core: _core.CpuPlan) -> str:
    """Say into which blocks the work is cut, and in which order they come."""
    if core.kernel == "reference":
        return "one element at a time"
    chosen, found = core.parameters, core.describe()
    blocks = count_of(found["blocks"], "block")
    if core.kernel == "copy":
        return f"{blocks} of {count_of(chosen['block'][0], 'byte')}"
    extents = " x ".join(map(str, chosen["block"]))
    order = ", ".join(map(str, chosen["loop_order"]))
    return (
        f"{blocks} of {extents} elements of {count_of(found['element_bytes'], 'byte')}"
        f"{f', cut along modes {order} (outermost first)' if order else ''}"
    )


def _describe_shuffle(core: _core.CpuPlan) -> list[str]:
    """Count the vectors of a shuffle program and the bytes of them that hold elements."""
    program = core.shuffle_program()
    if program is None:
        return []
    found = core.describe()
    tile = math.prod(program["tile"]) * found["element_bytes"]
    vector = len(program["first"])
    sides = (
        f"{count} {verb}, {tile} of {count * vector} bytes in use"
        for verb, count in (("loaded", len(program["loads"])), ("stored", len(program["stores"])))
    )
    rounds = len(program["rounds"]) + (program["first"] != (*range(vector),))
    steps = count_of(1 if program["sums"] else rounds, "step")
    return [
        f"  vectors    {'; '.join(sides)}",
        f"  shuffles   {steps} between a load and its store",
        *_describe_program(program["program"]),
        *_describe_code(found),
    ]


def _describe_code(found: dict[str, Any]) -> list[str]:
    """Say that a block is moved by other code than the program."""
    if found["window_bytes"]:
        taken = count_of(found["window_bytes"], "byte")
        return [f"  code       windows: one vector is read, shuffled and written for every {taken}"]
    if found["channels"]:
        kind = f"structures of {found['channels']}, in vectors"
    elif found["tile_vectors"]:
        kind = f"tiles of {count_of(found['tile_vectors'], 'vector')}"
    else:
        return []
    return [f"  code       generated for {kind} of {found['level_bytes']} bytes"]


def _describe_program(program: str) -> list[str]:
    """List the operations of a shuffle program, those that differ in registers alone as one."""
    kinds: Counter[str] = Counter()
    for line in program.splitlines():
        kinds[re.sub(r"\b(r\d+(\[\d+:\d+\])?|(in|out)\+-?\d+) ?|= ?", "", line).strip()] += 1
    texts = [f"{count} x {kind}" for kind, count in kinds.items()]
    if len(texts) > _MAX_KINDS:
        texts[_MAX_KINDS - 1 :] = [f"and {len(texts) - _MAX_KINDS + 1} other shuffles and stores"]
    return [f"  {'' if i else 'program':10} {text}" for i, text in enumerate(texts)]


def _describe_threads(count: int) -> str:
    """Say how soon the other threads of a call begin."""
    start, wakeup = _core.thread_delays() if count > 1 else (0, 0)
    if not start:
        return str(count)
    return (
        f"{count}: others begin after {microseconds(start)}, or {microseconds(wakeup)} where they "
        "sleep"
    )


def _describe_kernels(core: _core.CpuPlan) -> list[str]:
    """List the kernels: what each would take at best, or why it does not apply here."""
    rows = core.kernel_reports()
    able = [row for row in rows if row[1] is None]
    # Of equals the plan's own.
    fastest = min(able, key=lambda row: (row[2], row[0] != core.kernel), default=rows[0])[0]
    is_overruled = fastest != core.kernel
    lines = ["planner, the least predicted time of each kernel:"]
    for kernel, obstacle, seconds in rows:
        mark = "no" if obstacle else "" if kernel != fastest else "yes" if is_overruled else "->"
        lines.append(f"{mark:4}{kernel:12} {obstacle or microseconds(seconds)}")
    if is_overruled:
        why = "measured to be faster" if core.measured else "forced"
        lines.append(f"->  {core.kernel:12} instead: {why}")
    return lines


def _describe_choice(kernel: str, parameters: dict[str, Any]) -> str:
    """Name a way to carry a request out in a line."""
    block = " x ".join(map(str, parameters["block"]))
    order = " ".join(map(str, parameters["loop_order"]))
    options = [name for name in ("staged", "streaming") if parameters[name]]
    if parameters["prefetch"]:
        options.append(f"prefetch {parameters['prefetch']}")
    parts = (
        f"{kernel} {block}".rstrip(),
        *([f"loops {order}"] if order else []),
        *options,
        count_of(parameters["threads"], "thread"),
    )
    return ", ".join(parts)


def _describe_prefetch(distance: int) -> str:
    if distance < 2:
        return "of the next block" if distance else "none"
    return f"{distance} blocks ahead"


def _describe_time(core: _core.CpuPlan) -> str:
    """Say what a call into memory that has been in use takes, and one that returns a new array."""
    warm, fresh = (microseconds(_core.predict_cpu_seconds(core, each)) for each in (False, True))
    source = _models.cpu_source(core.machine)
    by = f", by {source}" if source != _core.cpu_time_model().name else ""
    return f"  predicted  {warm} into out=, {fresh} into a new array{by}"


def explain(core: _core.CpuPlan, dtype: str, candidates: Sequence[Candidate]) -> list[str]:
    """Write the text; `dtype` is the name of the elements for the reader."""
    chosen = core.parameters
    return [
        *describe_problem(core, dtype, 11),
        f"  kernel     {core.kernel}: {_describe_work(core)}",
        *_describe_shuffle(core),
        (
            f"  stores     {'streaming' if chosen['streaming'] else 'ordinary'}"
            f"{', through a staging buffer' if chosen['staged'] else ''}"
            f"{', to an output that begins at a cache line' if core.out_alignment >= LINE_BYTES else ''}"
        ),
        f"  prefetch   {_describe_prefetch(chosen['prefetch'])}",
        f"  threads    {_describe_threads(chosen['threads'])}",
        _describe_time(core),
        *_describe_kernels(core),
        *describe_measured(core, candidates, _describe_choice),
    ]
