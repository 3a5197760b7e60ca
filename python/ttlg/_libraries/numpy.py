"""NumPy: arrays in host memory."""

from typing import Any

import numpy as np

from ttlg import _core
from ttlg._arguments.dtypes import numpy_dtype
from ttlg._libraries.advice import OUTPUTS, type_name
from ttlg._libraries.dlpack import Library


class Ndarrays(Library):
    """Arrays with the attributes and methods of NumPy's, wherever they live."""

    def has_order(self, x: Any, order: str) -> bool:
        """Read the flags of `x`."""
        return bool(x.flags.c_contiguous if order == "C" else x.flags.f_contiguous)

    def flip(self, x: Any, axes: list[int]) -> Any:
        """View `x` by negative strides."""
        return x[tuple(slice(None, None, -1 if axis in axes else 1) for axis in range(x.ndim))]

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        """View `x`, in its class."""
        return x.transpose(axes)

    def reshaped(self, x: Any, shape: tuple[int, ...], fortran: bool) -> Any:
        """View the memory of `x`, in the class of `x`."""
        straight = x if x.flags.c_contiguous else x.T
        return straight.reshape(shape[::-1]).T if fortran else straight.reshape(shape)


class NumPy(Ndarrays):
    """NumPy's arrays."""

    array_class = ("numpy", "ndarray")

    def viewed(self, x: Any, dtype: str) -> Any:
        """View `x` in its class."""
        return x.view(numpy_dtype(dtype))

    def owns(self, x: Any) -> bool:
        """Whether `x` is an ndarray or of a subclass."""
        return isinstance(x, np.ndarray)

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Look at `x`, unless it is a masked array."""
        if isinstance(x, np.ma.MaskedArray):
            filled = "" if name in OUTPUTS else f", or {name}.filled()"
            raise TypeError(
                f"{name} is a masked array, whose mask would be lost; pass {name}.data, and "
                f"{name}.mask in a call of its own{filled}"
            )
        return _core.view(x, name)

    def empty(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: str | None = None
    ) -> Any:
        """Allocate a plain ndarray; `wrap_result` gives it the class of `x`."""
        if type(x).transpose is not np.ndarray.transpose:
            raise TypeError(
                f"x is a {type_name(x)}, whose own transpose() may do "
                "more than move elements; pass numpy.asarray(x), or an array as out="
            )
        # Allocated by itself a dtype of no bytes, such as S0, turns into one of one byte.
        kind = x.dtype if dtype is None else numpy_dtype(dtype)
        return _core.new_ndarray(shape, kind) if kind.itemsize else np.ndarray(shape, kind)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """View `x` in another shape, in its class."""
        return np.broadcast_to(x, shape, subok=True)

    def stack(self, arrays: list[Any]) -> Any:
        """Stack arrays, in their class where NumPy can."""
        return np.stack(arrays)

    def wrap_result(self, x: Any, source: _core.TensorView, buffer: Any) -> Any:
        """Give the result the class of `x` by NumPy's protocol, which `__array_finalize__` ends."""
        return buffer if type(x) is np.ndarray else x.__array_wrap__(buffer)


class Buffers(NumPy):
    """What NumPy views as an array without a copy: buffers, and what has an array interface."""

    def owns(self, x: Any) -> bool:
        """Whether `x` is more than text or a number, which NumPy takes too."""
        if isinstance(x, bytes | np.generic) or hasattr(x, "__dlpack__"):
            return False
        return hasattr(x, "__array_interface__") or _is_buffer(x)

    def view(self, x: Any, name: str, stream: Any = None) -> _core.TensorView:
        """Look at what NumPy sees."""
        return super().view(np.asarray(x), name)

    def has_order(self, x: Any, order: str) -> bool:
        """Look at what NumPy sees."""
        return super().has_order(np.asarray(x), order)

    def flip(self, x: Any, axes: list[int]) -> Any:
        """View what NumPy sees."""
        return super().flip(np.asarray(x), axes)

    def reshaped(self, x: Any, shape: tuple[int, ...], fortran: bool) -> Any:
        """View what NumPy sees."""
        return super().reshaped(np.asarray(x), shape, fortran)

    def empty(
        self, x: Any, source: _core.TensorView, shape: tuple[int, ...], dtype: str | None = None
    ) -> Any:
        """Allocate an ndarray."""
        return super().empty(np.asarray(x), source, shape, dtype)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """View what NumPy sees."""
        return super().broadcast(np.asarray(x), shape)

    def wrap_result(self, x: Any, source: _core.TensorView, buffer: Any) -> Any:
        """Return the ndarray as it is."""
        return buffer


def _is_buffer(x: Any) -> bool:
    try:
        memoryview(x).release()
    except (TypeError, BufferError):
        return False
    return True
