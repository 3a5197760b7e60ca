"""What `Plan.explain` says of a plan for a GPU."""

from collections.abc import Sequence
from typing import Any

from ttlg import _core
from ttlg._arguments.words import count_of
from ttlg._plan.candidates import CudaCandidate
from ttlg._plan.text import describe_measured, describe_problem, microseconds, name_model


def _describe_slice(core: _core.CudaPlan, found: dict[str, Any]) -> str:
    """Say in what pieces the tensor is moved, and how many of them there are."""
    if core.kernel == "copy":
        return "one run"
    # Blocks of FVI-Match-Large take as many runs as suit their length.
    blocks = count_of(
        found["blocks"], "run" if core.kernel == "fvi_match_large" else "thread block"
    )
    extents = " x ".join(map(str, found["slice"])) or "1"
    mode = core.parameters["coarsened_mode"]
    repeated = (
        f", repeated along mode {mode} {count_of(found['coarsening'], 'time')}" if mode >= 0 else ""
    )
    stages = core.parameters["stages"]
    ahead = f", {stages - 1} requested ahead" if stages > 1 else ""
    bands = ""
    if core.kernel == "orthogonal_distinct":
        bands = f", taken {_describe_bands(core.parameters['band_width'])}"
    return f"{blocks}, each a slice of {extents}{repeated}{ahead}{bands}"


def _describe_bands(width: int) -> str:
    """Say in which order thread blocks take slices."""
    return f"in bands of {count_of(width, 'slice')}" if width else "row by row"


def _describe_choice(kernel: str, parameters: dict[str, Any]) -> str:
    """Name a way to carry a request out in a line."""
    if kernel == "copy":
        return kernel
    modes = " and ".join(count_of(parameters[name], "mode") for name in ("in_modes", "out_modes"))
    blocks = f"{parameters['in_block']} and {parameters['out_block']}"
    mode, stages = parameters["coarsened_mode"], parameters["stages"]
    parts = (
        f"{kernel} of {modes} in blocks of {blocks}",
        *([f"repeated along mode {mode}"] if mode >= 0 else []),
        *([f"{stages} stages"] if stages > 1 else []),
        *([_describe_bands(parameters["band_width"])] if kernel == "orthogonal_distinct" else []),
    )
    return ", ".join(parts)


def explain(core: _core.CudaPlan, dtype: str, candidates: Sequence[CudaCandidate]) -> list[str]:
    """Write the text of a plan for a CUDA device."""
    counts, found = core.transactions(), core.describe()
    moved = ", ".join(
        f"{counts[f'{side}_dram']} {verb}"
        for side, verb in (("in", "to read"), ("out", "to write"))
    )
    lines = [
        *describe_problem(core, dtype, 14),
        f"  words         of {count_of(found['word_bytes'], 'byte')}",
        f"  kernel        {core.kernel}: {_describe_slice(core, found)}",
        f"  transactions  {moved}",
        f"  predicted     {microseconds(core.predicted_seconds)} on {name_model(core)}",
        "taxonomy, first case that applies (of several kernels: the least predicted time):",
    ]
    rows = found["taxonomy"]
    decided = next(row for row, (*_, obstacle) in enumerate(rows) if obstacle is None)
    for row, (name, schemas, requirement, obstacle) in enumerate(rows):
        mark = "" if row > decided else "no" if row < decided else "->"
        lines.append(f"{mark:4}{name} ({' or '.join(schemas)}): {obstacle or requirement}")
        if row == decided and core.kernel not in schemas:
            why = "measured to be faster" if core.measured else "forced or because those are slow"
            lines.append(f"->  instead, {why}: {core.kernel}")
    return lines + describe_measured(core, candidates, _describe_choice)
