"""Structured arrays whose elements have bytes between their fields that may belong to others."""

from ttlg import _core
from ttlg._typing import Axes


class FieldsCall:
    """A call that writes the fields of `out` and leaves the bytes between them as they are.

    Each run of bytes that the fields of an element cover is transposed by a plan of its own.
    """

    def __init__(
        self,
        x: _core.TensorView,
        axes: Axes | None,
        out: _core.TensorView,
        runs: list[tuple[int, int]],
        threads: int | None,
    ) -> None:
        order = _core.normalize_axes(axes, x.shape)
        _core.check_out(x, order, out)
        parts = [(_core.view_run(x, *run), _core.view_run(out, *run)) for run in runs]
        self._calls = [
            (_core.cpu_call_for(source, order, target, threads), source, target)
            for source, target in parts
        ]

    def run(self, x: _core.TensorView, out: _core.TensorView) -> None:
        """Move the elements; `x` and `out` are the views that the call was made for."""
        _core.run_cpu_calls(self._calls)


def refuse_shared_padding(x: _core.TensorView) -> None:
    """Refuse an array in place whose elements would take bytes along that may not be theirs."""
    if _core.fields_to_write(x) is not None:
        raise ValueError(
            f"x of shape {x.shape} and dtype {x.dtype} has bytes between its fields that may belong "
            "to other arrays, and elements would take them along; pass the array with all of its "
            f"fields, pass x.view('V{x.itemsize}') to move those bytes as well, or call "
            "ttlg.transpose(x, axes), which returns a new array"
        )
