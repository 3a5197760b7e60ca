"""Run all kernels in every width, with 16-byte and with single accesses, under compute-sanitizer.

A script of its own, because the libraries' kernels would be checked too, slowly: it only allocates
and copies with CuPy, from the driver directly, so that memcheck knows each array's last byte.
"""

import ctypes
import importlib
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
# Extents that tiles divide, and extents that leave remainders on either side.
PROBLEMS = [
    ((64, 128), (1, 0)),
    ((37, 131), (1, 0)),
    ((3, 700), (1, 0)),
    ((24, 33, 20), (2, 1, 0)),
    ((6, 48, 32), (1, 0, 2)),
    ((7, 33, 65), (1, 0, 2)),
    ((40, 36, 8), (1, 0, 2)),
    ((41, 35, 7), (1, 0, 2)),
    ((5, 16, 3, 8, 2), (4, 1, 3, 0, 2)),
    ((5, 6, 4, 7, 4), (2, 4, 1, 0, 3)),
    ((2048,), (0,)),
    ((1999,), (0,)),
]
# In place; square matrices of several tiles, and of rows that are whole vectors.
INPLACE_PROBLEMS = [
    ((64, 64), (1, 0)),
    ((131, 131), (1, 0)),
    ((2, 33, 33), (0, 2, 1)),
    ((33, 2, 33), (2, 1, 0)),
    ((48, 36), (1, 0)),
    ((37, 130), (1, 0)),
    ((256, 32), (1, 0)),
    ((6007, 5), (1, 0)),
    ((21, 13, 96), (1, 0, 2)),
]


class CupyMemory:
    """Bytes in an allocation of exactly their number."""

    def __init__(self, raw):
        import cupy

        self._count = raw.size
        self._memory = cupy.cuda.alloc(raw.size)
        self._memory.copy_from_host(raw.ctypes.data_as(ctypes.c_void_p), raw.size)
        self.pointer = self._memory.ptr

    def array(self, start, dtype, shape):
        import cupy

        return cupy.ndarray(shape, dtype, self._memory + start)

    def bytes(self):
        """Copy back to the host; waits for what was launched before."""
        raw = np.empty(self._count, np.uint8)
        self._memory.copy_to_host(raw.ctypes.data_as(ctypes.c_void_p), raw.size)
        return raw


def inplace_problems(itemsize):
    """List the problems in place, among them one whose rows or columns no multiprocessor holds."""
    return [*INPLACE_PROBLEMS, ((3, 240_000 // itemsize + 7), (1, 0))]


def move_inplace(moves, device):
    """Move all problems in place by each kernel, compare, and return how many each moved."""
    moved = dict.fromkeys(moves.INPLACE_KERNELS, 0)
    for kernel in moves.INPLACE_KERNELS:
        for itemsize in moves.WIDTHS:
            for shape, axes in inplace_problems(itemsize):
                try:
                    plan = moves.planned(shape, axes, itemsize, kernel, device=device.name)
                except ValueError:
                    continue
                moves.check_inplace(device, shape, axes, itemsize, plan, guard=0)
                moved[kernel] += 1
    for itemsize in moves.WIDTHS:
        for shape, axes in INPLACE_PROBLEMS:
            for lead in (1, itemsize):
                moves.check_inplace(device, shape, axes, itemsize, lead=lead)
    return moved


def main():
    """Move all problems, compare, and print how many each kernel took part in."""
    import cupy

    import ttlg

    sys.path.insert(0, str(ROOT))
    moves = importlib.import_module("tests.gpu.moves")
    cupy.cuda.set_allocator(None)
    for schema in moves.SCHEMAS:
        moved = 0
        for itemsize in moves.WIDTHS:
            for shape, axes in PROBLEMS:
                try:
                    plan = ttlg.plan(shape, axes, f"V{itemsize}", device="cuda", kernel=schema)
                except ValueError:
                    continue
                moves.check(
                    shape,
                    axes,
                    itemsize,
                    lambda x, _axes, out, plan=plan: plan(x, out),
                    memory=CupyMemory,
                    guard=0,
                )
                moved += 1
        print(f"{schema}: {moved} problems")
        if moved == 0:
            sys.exit(f"{schema} took part in nothing")
    for itemsize in moves.WIDTHS:
        for shape, axes in PROBLEMS:
            # One byte or element past an aligned address: no 16-byte access is allowed.
            for lead in (1, itemsize):
                moves.check(shape, axes, itemsize, lead=lead, out_lead=lead, memory=CupyMemory)
    for kernel, moved in move_inplace(moves, moves.Gpu(CupyMemory)).items():
        print(f"{kernel}: {moved} problems in place")
        if moved == 0:
            sys.exit(f"{kernel} took part in nothing")


if __name__ == "__main__":
    main()
