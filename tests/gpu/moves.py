"""Moves in device memory, of any layout that NumPy can describe, compared byte by byte."""

import math
from dataclasses import dataclass

import numpy as np

import ttlg
from ttlg import _core

from ..python.arrays import random_raw
from ..python.interop.producer import CUDA, Producer

WIDTHS = _core.WIDTHS
ODD_WIDTHS = (3, 12, 24)
SCHEMAS = _core.CUDA_KERNELS
INPLACE_KERNELS = _core.CUDA_INPLACE_KERNELS
SQUARE_KERNELS = tuple(each for each in INPLACE_KERNELS if each.startswith("square"))
POISON = 0xA5
GUARD = 256  # bytes before and after what a call may write

_BYTE = (1, 8, 1)
_CODES = {1: _BYTE, 2: (1, 16, 1), 4: (1, 32, 1), 8: (1, 64, 1), 16: (5, 128, 1)}


@dataclass(frozen=True)
class _Address:
    """What `Producer` asks of an array: ``array.ctypes.data``."""

    data: int

    @property
    def ctypes(self):
        return self


class DeviceArray(Producer):
    """A DLPack producer of device memory; the caller keeps the memory alive."""

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.capsule()


def on_device(view, raw, pointer, *, by_bytes=False):
    """Describe the device memory at `pointer`, a copy of the bytes `raw`, as NumPy sees `view`.

    With `by_bytes` each element is an axis of bytes, for strides that are no multiples of it.
    """
    start = view.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
    size = view.dtype.itemsize
    if by_bytes:
        shape, strides, dtype = (*view.shape, size), (*view.strides, 1), _BYTE
    else:
        shape, strides = view.shape, tuple(step // size for step in view.strides)
        dtype = _CODES.get(size, (1, 8, size))
    return DeviceArray(_Address(pointer + start), shape, strides, dtype, device=(CUDA, 0))


def of_unknown_library(x):
    """Describe a tensor of signed integers as an array whose library does not tell its stream."""
    dtype = (0, 8 * x.itemsize, 1)
    return DeviceArray(_Address(x.data_ptr()), tuple(x.shape), x.stride(), dtype, device=(CUDA, 0))


def transpose_into(x, axes, out):
    """Transpose as users do: the call that `check_move` makes by default."""
    ttlg.transpose(x, axes, out=out)


def check_move(raw, x, axes, out_raw, out, call=transpose_into, *, memory):
    """Transpose `x`, which lies in `raw`, into `out`, which lies in `out_raw`, on the GPU.

    `memory` copies bytes to the device and gives an object with ``pointer`` and ``bytes()``.
    Afterwards all bytes of both buffers must be those that NumPy leaves on the host.
    """
    by_bytes = any(step % x.itemsize for step in (*x.strides, *out.strides))
    device_in, device_out = memory(raw), memory(out_raw)
    source = on_device(x, raw, device_in.pointer, by_bytes=by_bytes)
    target = on_device(out, out_raw, device_out.pointer, by_bytes=by_bytes)
    call(source, (*axes, len(axes)) if by_bytes else tuple(axes), target)
    found = device_out.bytes()
    out[...] = x.transpose(axes)
    wrong = np.flatnonzero(found != out_raw)
    assert wrong.size == 0, f"{wrong.size} bytes differ, the first at {wrong[0]} of {found.size}"
    assert np.array_equal(device_in.bytes(), raw), "the input has been written to"


def contiguous(shape, itemsize, lead=0, *, guard=GUARD, poisoned=False):
    """Return bytes with guards at both ends, and a C-contiguous array `lead` bytes past the first.

    A `guard` of 0 leaves it to memcheck to see what lies outside of the array.
    """
    count = guard + lead + math.prod(shape) * itemsize + guard
    raw = np.full(count, POISON, np.uint8) if poisoned else random_raw(count)
    return raw, np.ndarray(shape, f"V{itemsize}", raw, guard + lead)


class TorchMemory:
    """Bytes that PyTorch allocates, on a GPU on a multiple of 512."""

    def __init__(self, raw, device="cuda"):
        import torch

        self._tensor = torch.from_numpy(raw).to(device, copy=True)
        self.pointer = self._tensor.data_ptr()

    def array(self, start, dtype, shape):
        import torch

        end = start + math.prod(shape) * np.dtype(dtype).itemsize
        return self._tensor[start:end].view(getattr(torch, dtype)).view(*shape)

    def bytes(self):
        """Copy back to the host; waits for what was launched before."""
        return self._tensor.cpu().numpy()


def check(
    shape,
    axes,
    itemsize,
    call=transpose_into,
    *,
    lead=0,
    out_lead=0,
    memory=TorchMemory,
    guard=GUARD,
):
    """Transpose a contiguous array into another, each `lead` bytes off an aligned address."""
    raw, x = contiguous(shape, itemsize, lead, guard=guard)
    out_shape = tuple(shape[axis] for axis in axes)
    out_raw, out = contiguous(out_shape, itemsize, out_lead, guard=guard, poisoned=True)
    check_move(raw, x, axes, out_raw, out, call, memory=memory)


_UNITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}


class Gpu:
    """What the tests in place ask of a device: here the GPU, or a stand-in that has the same."""

    name = "cuda"  # as `ttlg.plan` takes it
    torch_device = "cuda"

    def __init__(self, memory=TorchMemory):
        self.memory = memory

    def run(self, plan, x):
        return plan(x)

    def transpose_inplace(self, x, axes):
        return ttlg.transpose_inplace(x, axes)


def planned(shape, axes, itemsize, kernel=None, *, device="cuda", **options):
    """Return a plan in place in which every step is forced to one kernel, if that is given."""
    dtype = _UNITS[itemsize]
    return ttlg.plan(shape, axes, dtype, device=device, inplace=True, kernel=kernel, **options)


def by_units(shape, axes, itemsize, lead=0):
    """Describe elements of `itemsize` bytes, `lead` bytes off an aligned address, to libraries.

    These know few dtypes, aligned ones: other elements are a further axis of units. Returns the
    dtype of the units, the shape and the axes.
    """
    unit = (itemsize | lead) & -(itemsize | lead)
    unit = min(unit, max(_UNITS))
    if unit == itemsize:
        return _UNITS[unit], tuple(shape), tuple(axes)
    return _UNITS[unit], (*shape, itemsize // unit), (*axes, len(axes))


def check_inplace(device, shape, axes, itemsize, plan=None, *, lead=0, guard=GUARD):
    """Permute an array, `lead` bytes off an aligned address, on a device where it lies.

    As `check_move`, by the plan if that is given. `device` is a `Gpu` or has what it has.
    """
    raw, x = contiguous(shape, itemsize, lead, guard=guard)
    dtype, unit_shape, unit_axes = by_units(shape, axes, itemsize, lead)
    memory = device.memory(raw)
    array = memory.array(guard + lead, dtype, unit_shape)
    result = device.run(plan, array) if plan else device.transpose_inplace(array, unit_axes)
    out_shape = tuple(unit_shape[axis] for axis in unit_axes)
    assert tuple(result.shape) == out_shape, f"the result has the shape {tuple(result.shape)}"
    moved = x.transpose(axes).reshape(-1)
    x.reshape(-1)[...] = moved.copy()
    wrong = np.flatnonzero(memory.bytes() != raw)
    assert wrong.size == 0, f"{wrong.size} bytes differ, the first at {wrong[0]} of {raw.size}"
