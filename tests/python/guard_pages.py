"""Run one kernel on arrays that touch unreadable pages; a stray access ends this process.

Usage: guard_pages.py copy|tile|shuffle|run|reference|transpose
       guard_pages.py before|after    (strays on purpose, to show that the guard works)
"""

import ctypes
import itertools
import mmap
import sys

import numpy as np
from blocks import blocks_of, edited

import ttlg

ITEMSIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 33)
SHAPES = (
    (1,),
    (67,),
    (333,),
    (9, 5),
    (17, 19),
    (65, 31),
    (33, 64),
    (3, 33, 7),
    (7, 2, 40),
    (3, 5, 2, 9),
)
SIDES = ("before", "after")
PROT_NONE = 0


class GuardedMemory:
    """Memory between two pages that may be neither read nor written."""

    def __init__(self, size):
        page = mmap.PAGESIZE
        pages = -(-size // page)
        self._memory = mmap.mmap(-1, (pages + 2) * page)
        self.raw = np.frombuffer(self._memory, np.uint8)[page:-page]
        start = self.raw.ctypes.data
        mprotect = ctypes.CDLL(None, use_errno=True).mprotect
        mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for guard in (start - page, start + self.raw.size):
            if mprotect(guard, page, PROT_NONE) != 0:
                raise OSError(ctypes.get_errno(), "mprotect failed")

    def array(self, shape, dtype, side):
        """Return an array that touches the guard page on one side."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        start = 0 if side == "before" else self.raw.size - size
        return self.raw[start : start + size].view(dtype).reshape(shape)


def views(block):
    """Yield views of the block that reach its first and its last byte."""
    yield block
    yield block[(slice(None, None, -1),) * block.ndim]
    yield block.T
    if all(extent % 2 for extent in block.shape):
        yield block[(slice(None, None, 2),) * block.ndim]


def fields(memory, side):
    """Yield arrays of some fields of structures, the first and last bytes of which are the memory's.

    In either direction of the structures and of the fields.
    """
    structures = 35
    for itemsize, count in itertools.product((1, 2, 3, 4, 8, 12), (2, 3, 4)):
        for taken, step in ((1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (4, 1)):
            if (taken - 1) * step >= count:
                continue
            strides = (count * itemsize, step * itemsize)
            size = (structures - 1) * strides[0] + (taken - 1) * strides[1] + itemsize
            raw = memory.array((size,), np.uint8, side)
            x = np.ndarray((structures, taken), f"V{itemsize}", raw, strides=strides)
            for signs in itertools.product((1, -1), repeat=2):
                yield x[:: signs[0], :: signs[1]]


def variants(kernel, x, axes):
    """Yield plans with this kernel, as the planner makes them and with blocks that do not divide."""
    try:
        plan = ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, kernel=kernel)
    except ValueError:
        return
    yield plan
    for staged, streaming, limits, threads in (
        (False, False, (5, 3, 2, 1), 2),
        (False, False, (16, 16, 16, 16), 1),
        (True, True, (13, 29, 13, 29), 1),
        (True, True, (64, 8, 3, 33), 2),
        (False, True, (64, 64, 64, 64), 2),
    ):
        blocks = blocks_of(plan, limits, (0, 1, 2, 3))
        try:
            yield edited(
                plan, **blocks, staged=staged, streaming=streaming, prefetch=2, threads=threads
            )
        except ValueError as error:
            if not any(text in str(error) for text in ("streaming ", "a staged block may")):
                raise


def calls(kernel, x, axes):
    """Yield calls that transpose `x` with this kernel; "transpose" is the public function."""
    if kernel == "transpose":
        yield lambda out: ttlg.transpose(x, axes, out=out)
        yield lambda out: ttlg.transpose(x, axes, out=out, threads=2)
    else:
        for plan in variants(kernel, x, axes):
            yield lambda out, plan=plan: plan(x, out)


def arrays(memory):
    """Yield everything that is transposed, on either side of the memory."""
    for itemsize, shape, side in itertools.product(ITEMSIZES, SHAPES, SIDES):
        yield from views(memory.array(shape, np.dtype(f"V{itemsize}"), side))
    for side in SIDES:
        yield from fields(memory, side)


def check(kernel):
    """Transpose with one kernel between guard pages; return the number of transpositions."""
    count = 0
    capacity = max(np.prod(shape) for shape in SHAPES) * max(ITEMSIZES)
    source, target = GuardedMemory(capacity), GuardedMemory(capacity)
    source.raw[:] = np.random.default_rng(0).integers(0, 256, source.raw.size, np.uint8)
    for x in arrays(source):
        for axes in itertools.permutations(range(x.ndim)):
            expected = x.transpose(axes)
            wanted = expected.tobytes()
            for call in calls(kernel, x, axes):
                out = target.array(expected.shape, x.dtype, SIDES[count % 2])
                out.view(np.uint8).fill(0xA5)
                case = (kernel, x.dtype, x.shape, x.strides, axes, hex(x.ctypes.data), count)
                print(*case, flush=True)
                call(out)
                assert out.tobytes() == wanted, case
                count += 1
    return count


def stray(side):
    """Read one byte beyond the guarded memory."""
    raw = GuardedMemory(100).raw
    return ctypes.string_at(raw.ctypes.data + (-1 if side == "before" else raw.size), 1)


if __name__ == "__main__":
    if sys.argv[1] in SIDES:
        stray(sys.argv[1])
        print("unharmed")
    else:
        print("transpositions", check(sys.argv[1]))
