"""What `Plan.explain` says."""

from ttlg import _core


def _describe_problem(core: _core.CpuPlan | _core.CudaPlan, dtype: str, width: int) -> list[str]:
    """Say what is asked for and what fusing leaves of it; labels take `width` characters."""
    fused = " x ".join(map(str, core.extents)) or "1"
    perm = " ".join(map(str, core.perm)) or "none"
    return [
        f"transpose {dtype} {core.shape} by axes {core.axes} -> {core.out_shape}",
        f"  {'fused':{width}}extents {fused}, perm {perm} (fastest mode first)",
    ]


def _describe_work(core: _core.CpuPlan) -> str:
    """Say into which blocks the work is cut, and in which order they come."""
    if core.kernel == "reference":
        return "one element at a time"
    chosen = core.parameters
    blocks = f"{core.blocks} block{'s' if core.blocks != 1 else ''}"
    if core.kernel == "copy":
        return f"{blocks} of {chosen['block'][0]} bytes"
    extents = " x ".join(map(str, chosen["block"]))
    order = ", ".join(map(str, chosen["loop_order"]))
    return (
        f"{blocks} of {extents} elements of {core.element_bytes} bytes"
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
    steps = program["steps"]
    return [
        f"  vectors    {'; '.join(sides)}",
        f"  shuffles   {steps} step{'s' if steps != 1 else ''} between a load and its store",
    ]


def explain(core: _core.CpuPlan, dtype: str) -> str:
    """Write the table; `dtype` is the name of the elements for the reader."""
    chosen = core.parameters
    lines = [
        *_describe_problem(core, dtype, 11),
        f"  kernel     {core.kernel}: {_describe_work(core)}",
        *_describe_shuffle(core),
        (
            f"  stores     {'streaming' if chosen['streaming'] else 'ordinary'}"
            f"{', through a staging buffer' if chosen['staged'] else ''}"
        ),
        f"  prefetch   {'of the next block' if chosen['prefetch'] else 'none'}",
        f"  threads    {chosen['threads']}",
        "planner, first case that applies:",
    ]
    cascade = core.cascade()
    decided = next(row for row, (_, applies, _) in enumerate(cascade) if applies)
    is_forced = cascade[decided][0] != core.kernel
    for row, (kernel, applies, reason) in enumerate(cascade):
        mark = "->" if row == decided and not is_forced else "  "
        lines.append(f"{mark}  {'yes' if applies else 'no':3} {kernel:12} {reason}")
    if is_forced:
        lines.append(f"->  instead, forced or measured to be faster: {core.kernel}")
    return "\n".join(lines)


def _describe_slice(core: _core.CudaPlan) -> str:
    """Say in what pieces the tensor is moved, and how many of them there are."""
    if core.kernel == "copy":
        return "one run"
    # Blocks of FVI-Match-Large take as many runs as suit their length.
    unit = "run" if core.kernel == "fvi_match_large" else "thread block"
    blocks = f"{core.blocks} {unit}{'s' if core.blocks != 1 else ''}"
    extents = " x ".join(map(str, core.slice)) or "1"
    mode = core.parameters["coarsened_mode"]
    repeated = f", repeated along mode {mode} {core.coarsening} times" if mode >= 0 else ""
    return f"{blocks}, each a slice of {extents}{repeated}"


def explain_cuda(core: _core.CudaPlan, dtype: str) -> str:
    """Write the table of a plan for a CUDA device."""
    counts = core.transactions()
    moved = ", ".join(
        f"{counts[f'{side}_dram']} {verb}"
        for side, verb in (("in", "to read"), ("out", "to write"))
    )
    lines = [
        *_describe_problem(core, dtype, 14),
        f"  words         of {core.word_bytes} bytes",
        f"  kernel        {core.kernel}: {_describe_slice(core)}",
        f"  transactions  {moved}",
        f"  predicted     {core.predicted_seconds * 1e6:.1f} microseconds on {core.device}",
        "taxonomy, first case that applies (of several kernels: the least predicted time):",
    ]
    for name, is_case, schemas, requirement in core.taxonomy():
        lines.append(f"{'->' if is_case else '  '}  {name} ({' or '.join(schemas)}): {requirement}")
        if is_case and core.kernel not in schemas:
            lines.append(f"->  instead, forced or because those are slow: {core.kernel}")
    return "\n".join(lines)
