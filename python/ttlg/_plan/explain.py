"""What `Plan.explain` says."""

from collections.abc import Sequence
from typing import Any

from ttlg import _core
from ttlg._plan.candidates import Candidate, gain
from ttlg._plan.output import LINE_BYTES, out_byte_strides

# Measured times that a reader gets to see.
_TIMES = 5


class Explanation(str):
    """Text that shows itself, in lines, where Python echoes a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def describe_problem(core: _core.PlanBase, dtype: str, width: int) -> list[str]:
    """Say what is asked for and what fusing leaves of it; labels take `width` characters."""
    fused = " x ".join(map(str, core.extents)) or "1"
    perm = " ".join(map(str, core.perm)) or "none"
    return [
        f"transpose {dtype} {core.shape} by axes {core.axes} -> {core.out_shape}",
        f"  {'strides':{width}}{core.byte_strides} -> {out_byte_strides(core)} bytes",
        f"  {'fused':{width}}extents {fused}, perm {perm} (fastest mode first)",
    ]


def count_of(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _describe_work(core: _core.CpuPlan) -> str:
    """Say into which blocks the work is cut, and in which order they come."""
    if core.kernel == "reference":
        return "one element at a time"
    chosen = core.parameters
    blocks = count_of(core.blocks, "block")
    if core.kernel == "copy":
        return f"{blocks} of {count_of(chosen['block'][0], 'byte')}"
    extents = " x ".join(map(str, chosen["block"]))
    order = ", ".join(map(str, chosen["loop_order"]))
    return (
        f"{blocks} of {extents} elements of {count_of(core.element_bytes, 'byte')}"
        f"{f', cut along modes {order} (outermost first)' if order else ''}"
    )


def _describe_shuffle(core: _core.CpuPlan) -> list[str]:
    """Count the vectors of a shuffle program and the bytes of them that hold elements."""
    program = core.shuffle
    if program is None:
        return []
    tile, vector = program["tile_bytes"], program["vector_bytes"]
    sides = (
        f"{count} {verb}, {tile} of {count * vector} bytes in use"
        for verb, count in (("loaded", program["loads"]), ("stored", program["stores"]))
    )
    return [
        f"  vectors    {'; '.join(sides)}",
        f"  shuffles   {count_of(program['steps'], 'step')} between a load and its store",
    ]


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
    rows = core.verdicts()
    able = [row for row in rows if row[2] is None]
    # Of equals the plan's own.
    fastest = min(able, key=lambda row: (row[3], row[0] != core.kernel), default=rows[0])[0]
    is_overruled = fastest != core.kernel
    lines = ["planner, the least predicted time of each kernel:"]
    for kernel, _, obstacle, seconds in rows:
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


def _describe_measured(core: _core.CpuPlan, candidates: Sequence[Candidate]) -> list[str]:
    """List the least times that were measured, the plan's first, and the gain."""
    if not core.measured:
        return []
    planned = core.measured[0][:2]
    timed = [each for each in candidates if each.measured_seconds is not None]
    shown = timed[:_TIMES] + [each for each in timed[_TIMES:] if each[:2] == planned]
    lines = [f"measured, the fastest of {len(timed)}:"]
    for row, each in enumerate(shown):
        note = " (the planner's choice)" if each[:2] == planned else ""
        time = microseconds(each.measured_seconds or 0)
        way = _describe_choice(each.kernel, each.parameters)
        lines.append(f"{'' if row else '->':4}{time:>21}  {way}{note}")
    if planned != (core.kernel, core.parameters):
        lines.append(f"gain over the planner's choice: {gain(core):.2f} times the speed")
    return lines


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} microseconds"


def _describe_time(core: _core.CpuPlan) -> str:
    """Say what a call into memory that has been in use takes, and one that returns a new array."""
    warm, fresh = (microseconds(_core.predict_cpu_seconds(core, each)) for each in (False, True))
    return f"  predicted  {warm} into out=, {fresh} into a new array"


def explain(core: _core.CpuPlan, dtype: str, candidates: Sequence[Candidate]) -> Explanation:
    """Write the text; `dtype` is the name of the elements for the reader."""
    chosen = core.parameters
    lines = [
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
        *_describe_measured(core, candidates),
    ]
    return Explanation("\n".join(lines))


def _describe_slice(core: _core.CudaPlan) -> str:
    """Say in what pieces the tensor is moved, and how many of them there are."""
    if core.kernel == "copy":
        return "one run"
    # Blocks of FVI-Match-Large take as many runs as suit their length.
    blocks = count_of(core.blocks, "run" if core.kernel == "fvi_match_large" else "thread block")
    extents = " x ".join(map(str, core.slice)) or "1"
    mode = core.parameters["coarsened_mode"]
    repeated = f", repeated along mode {mode} {core.coarsening} times" if mode >= 0 else ""
    stages = core.parameters["stages"]
    ahead = f", {stages - 1} requested ahead" if stages > 1 else ""
    return f"{blocks}, each a slice of {extents}{repeated}{ahead}"


def name_device(model: _core.DeviceModel) -> str:
    """Name a GPU, and say whether its model's times are those of hardware."""
    doubt = "" if model.calibrated else ", uncalibrated: no hardware has fitted this model"
    return model.name + doubt


def explain_cuda(core: _core.CudaPlan, dtype: str) -> Explanation:
    """Write the text of a plan for a CUDA device."""
    counts = core.transactions()
    moved = ", ".join(
        f"{counts[f'{side}_dram']} {verb}"
        for side, verb in (("in", "to read"), ("out", "to write"))
    )
    lines = [
        *describe_problem(core, dtype, 14),
        f"  words         of {count_of(core.word_bytes, 'byte')}",
        f"  kernel        {core.kernel}: {_describe_slice(core)}",
        f"  transactions  {moved}",
        f"  predicted     {microseconds(core.predicted_seconds)} on {name_device(core.model)}",
        "taxonomy, first case that applies (of several kernels: the least predicted time):",
    ]
    rows = core.taxonomy()
    decided = next(row for row, (*_, obstacle) in enumerate(rows) if obstacle is None)
    for row, (name, schemas, requirement, obstacle) in enumerate(rows):
        mark = "" if row > decided else "no" if row < decided else "->"
        lines.append(f"{mark:4}{name} ({' or '.join(schemas)}): {obstacle or requirement}")
        if row == decided and core.kernel not in schemas:
            lines.append(f"->  instead, forced or because those are slow: {core.kernel}")
    return Explanation("\n".join(lines))


def name_plan(core: _core.CpuPlan | _core.CudaPlan, dtype: str) -> str:
    """Say in a line what a plan is for and what was chosen; strides where they are not C's."""
    chosen = ", ".join(f"{name}={value}" for name, value in core.parameters.items())
    layout = ""
    if core.byte_strides != _core.contiguous_byte_strides(core.shape, core.itemsize):
        layout += f"strides={core.byte_strides} "
    out_strides = out_byte_strides(core)
    if out_strides != _core.contiguous_byte_strides(core.out_shape, core.itemsize):
        layout += f"out_strides={out_strides} "
    device = ""
    if isinstance(core, _core.CudaPlan):
        mark = "" if core.model.calibrated else "(uncalibrated) "
        device = f"device={core.model.name!r} {mark}"
    return f"{dtype} {core.shape} axes={core.axes} {layout}{device}kernel={core.kernel!r} {chosen}"
