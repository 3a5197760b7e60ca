"""Arrays of NumPy whose elements trade places with those at the other end of some axes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._functions.transpose import transpose
from ttlg._libraries import library_of

_HELD_BYTES = 1 << 20  # of elements that wait for the others


def mirror_in_place(dst: Any, src: Any, threads: int | None) -> bool:
    """Copy `src` into `dst` if it is the same array with some axes reversed; return whether it is.

    A part of the array after another, and the one that it trades places with, so that about
    `_HELD_BYTES` are taken besides the array.
    """
    if not (isinstance(dst, np.ndarray) and isinstance(src, np.ndarray)):
        return False
    axes = _mirrored_axes(dst, src)
    if axes is None:
        return False
    target = dst.view(np.ndarray)
    library = library_of(target)
    # No input overlaps itself, so that what is left is a fault of the output's own.
    elements = np.broadcast_to(np.empty((), dst.dtype), dst.shape)
    _core.check_out(library.view(elements, "src"), range(dst.ndim), library.view(target, "dst"))
    if axes and dst.size:
        _Mirror(axes, target, threads).reverse(target)
    return True


def _mirrored_axes(dst: np.ndarray, src: np.ndarray) -> tuple[int, ...] | None:
    """Return the axes along which `src` is `dst` from its other end; None if it is not `dst`."""
    if dst.shape != src.shape or dst.dtype != src.dtype:
        return None
    axes = []
    first = dst.ctypes.data
    for axis, (extent, into, step) in enumerate(
        zip(dst.shape, dst.strides, src.strides, strict=True)
    ):
        if extent > 1 and step == -into:
            axes.append(axis)
            first += (extent - 1) * into
        elif extent > 1 and step != into:
            return None
    return tuple(axes) if src.ctypes.data == first else None


def _slowest(x: np.ndarray) -> int:
    return max(range(x.ndim), key=lambda axis: (x.shape[axis] > 1, abs(x.strides[axis])))


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, part)


class _Mirror:
    def __init__(self, axes: Sequence[int], x: np.ndarray, threads: int | None) -> None:
        self._axes = axes
        self._order = tuple(range(x.ndim))
        self._most = max(1, _HELD_BYTES // max(x.itemsize, 1))
        self._spare = np.empty(min(self._most, x.size), x.dtype)
        self._threads = threads

    def reverse(self, x: np.ndarray) -> None:
        """Mirror `x` along the axes."""
        if x.size <= self._most:
            self._copy(x, self._hold(x))
            return
        axis = _slowest(x)
        if axis not in self._axes:
            for begin, end in self._parts(x, axis):
                self.reverse(x[_along(axis, slice(begin, end))])
            return
        half = x.shape[axis] // 2
        rest = x.shape[axis] - half
        self._exchange(x[_along(axis, slice(half))], x[_along(axis, slice(rest, None))])
        if half < rest:
            self.reverse(x[_along(axis, slice(half, rest))])

    def _exchange(self, x: np.ndarray, y: np.ndarray) -> None:
        """Mirror `x` into `y`, and `y` into `x`."""
        if x.size <= self._most:
            held = self._hold(x)
            self._copy(x, self._mirrored(y))
            self._copy(y, held)
            return
        axis = _slowest(x)
        extent = x.shape[axis]
        for begin, end in self._parts(x, axis):
            other = (extent - end, extent - begin) if axis in self._axes else (begin, end)
            self._exchange(x[_along(axis, slice(begin, end))], y[_along(axis, slice(*other))])

    def _parts(self, x: np.ndarray, axis: int) -> Iterator[tuple[int, int]]:
        extent = x.shape[axis]
        parts = min(extent, -(-x.size // self._most))
        step = -(-extent // parts)  # the same for nearly all, which share their plans
        for begin in range(0, extent, step):
            yield begin, min(begin + step, extent)

    def _mirrored(self, x: np.ndarray) -> np.ndarray:
        back = slice(None, None, -1)
        return x[tuple(back if axis in self._axes else slice(None) for axis in range(x.ndim))]

    def _hold(self, x: np.ndarray) -> np.ndarray:
        held = self._spare[: x.size].reshape(x.shape)
        self._copy(held, self._mirrored(x))
        return held

    def _copy(self, into: np.ndarray, x: np.ndarray) -> None:
        transpose(x, self._order, out=into, threads=self._threads)
