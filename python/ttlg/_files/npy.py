"""Transpose ``.npy`` files that may be larger than memory.

A file is read tile by tile at explicit positions instead of being mapped: a mapping needs address
space for the whole file, and a disk that fails under one ends the process with SIGBUS, where a read
or a write raises an exception that can be cleaned up after.
"""

import bisect
import errno
import itertools
import math
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ttlg import _core
from ttlg._arguments.dtypes import element_type, named_type, numpy_dtype
from ttlg._arguments.sizes import read_size
from ttlg._arguments.words import count_of
from ttlg._files.npy_header import format_header, read_header
from ttlg._files.replacing import naming, replacing
from ttlg._functions.transform import transform
from ttlg._functions.transpose import transpose
from ttlg._planning.plan import plan
from ttlg._typing import Axes, Size

DEFAULT_MEMORY = 256 << 20
# The run that each system call moves grows with the root of the memory. From here on a file takes
# at most twice as long as with the best buffers; with 64 KiB it takes three times as long, with 4
# KiB more than ten times.
MIN_MEMORY = 1 << 20


def choose_tile(
    shape: tuple[int, ...], axes: tuple[int, ...], itemsize: int, memory: int
) -> tuple[int, ...]:
    """Find the tile of an array that is contiguous in the longest runs on both sides.

    Every run costs one read or write, so the shorter of the two kinds decides the speed of disks
    and system calls alike. The input is C-contiguous, and its axes and those of the output are
    fused as far as they go. Two tiles take `memory` bytes at most.
    """

    def tile(run: int) -> tuple[int, ...]:
        """Return the smallest tile whose runs have at least `run` bytes on both sides."""
        block = [1] * len(shape)
        for order in (range(len(shape)), axes):
            length = itemsize
            for axis in reversed(order):
                block[axis] = max(block[axis], min(shape[axis], -(-run // length)))
                length *= shape[axis]
        return tuple(block)

    runs = range(1, math.prod(shape) * itemsize + 1)
    return tile(bisect.bisect(runs, memory // 2, key=lambda run: math.prod(tile(run)) * itemsize))


class _Side(NamedTuple):
    """One file: a C-contiguous array from byte `offset` on, and the call that moves its bytes."""

    call: Callable[[int, Sequence[Any], int], int]
    fd: int
    name: str
    offset: int
    shape: tuple[int, ...]
    itemsize: int

    def move(
        self, buffer: np.ndarray[Any, Any], origin: tuple[int, ...], tile: tuple[int, ...]
    ) -> None:
        """Move the tile at `origin` between the file and `buffer`, where it is C-contiguous."""
        data = buffer.view(np.uint8).data
        run = stride = self.itemsize
        starts = np.full(1, self.offset)
        for extent, first, count in zip(
            reversed(self.shape), reversed(origin), reversed(tile), strict=True
        ):
            starts += first * stride
            if run == stride:  # All faster axes are taken whole.
                run *= count
            else:
                starts = np.add.outer(np.arange(count) * stride, starts).ravel()
            stride *= extent
        with naming(self.name):
            for i, start in enumerate(starts.tolist()):
                self._move_run(data[i * run : (i + 1) * run], start)

    def _move_run(self, run: memoryview, position: int) -> None:
        # A call may do less than it was asked for: it is limited to 2 GiB.
        while run:
            count = self.call(self.fd, [run], position)
            if count == 0:
                raise OSError(errno.EIO, f"The file ends at byte {position}")
            run = run[count:]
            position += count


def _fuse(
    shape: tuple[int, ...], axes: tuple[int, ...], itemsize: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Merge the axes that stay adjacent, and drop those of extent 1."""
    fused = plan(shape, axes, f"V{itemsize}")
    last = len(fused.extents) - 1
    return fused.extents[::-1], tuple(last - mode for mode in reversed(fused.perm))


def _tiles(
    shape: tuple[int, ...], largest: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Cut `shape` into tiles: the origin and the extents of each."""
    steps = [range(0, extent, step) for extent, step in zip(shape, largest, strict=True)]
    for origin in itertools.product(*steps):
        left = np.subtract(shape, origin)
        yield origin, tuple(np.minimum(largest, left).tolist())


def _move_tiles(
    source: _Side,
    target: _Side,
    dtypes: "tuple[np.dtype[Any], np.dtype[Any]]",
    axes: tuple[int, ...],
    threads: int | None,
    memory: int,
    progress: bool,
) -> None:
    from tqdm import tqdm

    shape, itemsize = source.shape, source.itemsize
    largest = choose_tile(shape, axes, max(itemsize, target.itemsize), memory)
    buffer_in, buffer_out = (np.empty(math.prod(largest), dtype) for dtype in dtypes)
    move = transpose if dtypes[0] == dtypes[1] else transform
    total = math.prod(shape) * itemsize
    with tqdm(total=total, unit="B", unit_scale=True, disable=None if progress else True) as bar:
        for origin, tile in _tiles(shape, largest):
            out_tile = tuple(tile[axis] for axis in axes)
            x = buffer_in[: math.prod(tile)]
            out = buffer_out[: math.prod(tile)]
            source.move(x, origin, tile)
            move(x.reshape(tile), axes, out=out.reshape(out_tile), threads=threads)
            target.move(out, tuple(origin[axis] for axis in axes), out_tile)
            bar.update(x.nbytes)


def _result_dtype(dtype: Any, source: "np.dtype[Any]", src: str) -> "np.dtype[Any]":
    """Return the dtype of the elements that are written: that of the file, or another."""
    if dtype is None:
        return source
    element_type(source, src)
    return numpy_dtype(named_type(dtype)[0])


def _read_memory(memory: Size | None, itemsize: int) -> int:
    """Read a `memory=` argument: bytes for two buffers that hold an element each."""
    if memory is None:
        return max(DEFAULT_MEMORY, 2 * itemsize)
    size = read_size("memory", memory)
    min_memory = max(MIN_MEMORY, 2 * itemsize)
    if size < min_memory:
        raise ValueError(
            f"memory of {size} bytes is too little for elements of {count_of(itemsize, 'byte')}; "
            f"pass at least {min_memory} bytes"
        )
    return size


def _check_regular(src: str) -> None:
    """Refuse a pipe before it is opened, which would wait for its other end."""
    mode = os.stat(src).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ValueError(
            f"{src} is not a regular file, of which alone ttlg can read any position: write what "
            "comes from there to a file first"
        )


def transpose_npy(
    src: str,
    dst: str,
    axes: Axes | None,
    threads: int | None,
    memory: Size | None,
    progress: bool,
    overwrite: bool,
    dtype: Any = None,
) -> None:
    """Transpose one file into another, as `ttlg.transpose_file` says."""
    _check_regular(src)
    with open(src, "rb") as file:
        shape, fortran_order, stored, offset = header = read_header(file, src)
        order = _core.normalize_axes(axes, shape)
        written = _result_dtype(dtype, stored, src)
        # Elements that nothing converts are moved as bytes, fields or not.
        dtypes = (stored, written) if written != stored else (np.dtype(f"V{stored.itemsize}"),) * 2
        room = _read_memory(memory, max(stored.itemsize, written.itemsize))
        head = format_header(written, tuple(shape[axis] for axis in order))
        out_bytes = math.prod(shape) * written.itemsize
        with replacing(dst, len(head) + out_bytes, overwrite) as out:
            if header.data_bytes:
                if fortran_order:  # The same bytes, read in C order, have the axes reversed.
                    shape = shape[::-1]
                    order = tuple(len(shape) - 1 - axis for axis in order)
                shape, order = _fuse(shape, order, stored.itemsize)
                out_shape = tuple(shape[axis] for axis in order)
                _move_tiles(
                    _Side(os.preadv, file.fileno(), src, offset, shape, stored.itemsize),
                    _Side(os.pwritev, out, dst, len(head), out_shape, written.itemsize),
                    dtypes,
                    order,
                    threads,
                    room,
                    progress,
                )
            # Last, so that not even what a killed run leaves behind looks like a whole file.
            with naming(dst):
                os.pwrite(out, head, 0)
