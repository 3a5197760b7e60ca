"""Where a plan writes, and what it was made for."""

from ttlg import _core

LINE_BYTES = 64  # of the caches


def out_byte_strides(core: _core.PlanBase) -> tuple[int, ...]:
    """Return the strides of the output in bytes."""
    return core.out_byte_strides or _core.contiguous_byte_strides(core.out_shape, core.itemsize)


def request_of(core: _core.PlanBase) -> _core.Request:
    """Return what a plan was made for."""
    return _core.Request(
        core.shape,
        core.byte_strides,
        core.itemsize,
        core.axes,
        core.out_byte_strides,
        core.inplace,
        out_alignment=core.out_alignment,
    )
