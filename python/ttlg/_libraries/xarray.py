"""xarray: arrays of any library whose axes have names, and which carry coordinates."""

import sys
from collections.abc import Callable, Hashable
from typing import Any

from ttlg import _core
from ttlg._arguments.axes import expand_names
from ttlg._libraries.advice import type_name
from ttlg._libraries.dlpack import Library
from ttlg._typing import Axes


class Xarray(Library):
    """xarray's DataArrays and Variables, whose data belong to another library.

    `move` transposes an array of any other library: it takes the array, the axes, the stream and
    the threads.
    """

    array_class = ("xarray", "DataArray")

    def __init__(self, move: Callable[..., Any]) -> None:
        self._move = move

    def owns(self, x: Any) -> bool:
        """Whether `x` is a DataArray or a Variable."""
        return super().owns(x) or isinstance(x, getattr(sys.modules.get("xarray"), "Variable", ()))

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Refuse: what a name belongs to would not be known any more."""
        raise TypeError(
            f"{name} is a {type_name(x)}, whose names and coordinates "
            f"only a new result of ttlg.transpose keeps; pass {name}.data"
        )

    def view_inplace(self, x: Any, stream: Any = None) -> _core.TensorView:
        """Refuse, as `view` does."""
        return self.view(x, "x", stream)

    def move_to_new(self, x: Any, axes: Axes | None, stream: Any, threads: int | None) -> Any:
        """Transpose the data, and give them the names and coordinates that belong to them then."""
        order = _core.normalize_axes(expand_names(axes, x.dims), x.shape)
        moved = self._transpose_data(x.data, order, stream, threads)
        return self.permute(x, order).copy(deep=False, data=moved)

    def names(self, x: Any) -> tuple[Hashable, ...]:
        """Return the names that xarray calls dimensions."""
        dims: tuple[Hashable, ...] = x.dims
        return dims

    def flip(self, x: Any, axes: list[int]) -> Any:
        """Reverse data and coordinates by xarray."""
        return x.isel({x.dims[axis]: slice(None, None, -1) for axis in axes})

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        """Permute data and coordinates by xarray."""
        return x.transpose(*(x.dims[axis] for axis in axes))

    def _transpose_data(self, data: Any, axes: Axes, stream: Any, threads: int | None) -> Any:
        is_lazy = isinstance(data, getattr(sys.modules.get("dask.array"), "Array", ()))
        if not is_lazy:
            return self._move(data, axes, stream, threads)
        if stream is not None:
            raise ValueError(
                "stream= is for arrays on a CUDA device; x holds a Dask array: leave it out"
            )
        from ttlg._libraries.dask_operator import transpose

        most = 1 if threads is None else _core.resolve_threads(threads)
        return transpose(data, axes, most, self._move)
