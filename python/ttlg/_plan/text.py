"""What the texts about plans share."""

from ttlg import _core
from ttlg._plan.json import AnyPlan
from ttlg._plan.output import out_byte_strides


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


def with_given(text: Explanation, given: tuple[str, ...]) -> Explanation:
    """Add which parameters a caller gave."""
    if not given:
        return text
    return Explanation(f"{text}\nparameters that were given: {', '.join(given)}")


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} microseconds"


def name_model(core: _core.CudaPlan | _core.CudaInplacePlan) -> str:
    """Name a GPU, and say what its predicted times follow from and whether hardware has fitted that."""
    doubt = ": no hardware has fitted them" if core.time_source.endswith("uncalibrated") else ""
    return f"{core.model.name} by {core.time_source}{doubt}"


def name_plan(core: AnyPlan, dtype: str, device: str) -> str:
    """Say in a line what a plan is for and what was chosen; strides where they are not C's."""
    chosen = ", ".join(f"{name}={value}" for name, value in core.parameters.items())
    layout = ""
    if core.byte_strides != _core.contiguous_byte_strides(core.shape, core.itemsize):
        layout += f"strides={core.byte_strides} "
    out_strides = out_byte_strides(core)
    if out_strides != _core.contiguous_byte_strides(core.out_shape, core.itemsize):
        layout += f"out_strides={out_strides} "
    return f"{dtype} {core.shape} axes={core.axes} {layout}{device}kernel={core.kernel!r} {chosen}"
