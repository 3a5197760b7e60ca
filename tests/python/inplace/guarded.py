"""Transpose in place where unreadable pages begin; a stray access ends this process.

Prints the kernels that were used. Needs the folder of guard_pages.py on the path of modules.
"""

import itertools

import numpy as np
from guard_pages import SIDES, GuardedMemory
from kernel_cases import CASES, kernels_of, plan_of

WIDTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 33)
SHAPES = ((67,), (9, 5), (17, 19), (65, 31), (31, 70), (64, 64), (33, 99), (3, 33, 7), (3, 5, 2, 9))
LONG_BYTES = 40_000  # of rows or columns that are cut into pieces


def problems():
    """Yield shapes, axes, bytes of an element, threads, limits of the workspace and kernels."""
    for width in WIDTHS:
        long = LONG_BYTES // width
        for shape in (*SHAPES, (3, long), (long, 3), (3, long - 1), (long - 1, 3)):
            size = int(np.prod(shape)) * width
            for axes in itertools.permutations(range(len(shape))):
                for workspace in (None, size - 1, size // 2, size // 4, size // 10):
                    yield shape, axes, width, 1, workspace, None
    for case in CASES:
        yield case.shape, case.axes, case.itemsize, 2, case.limit(2), case.kernel


def transpose_beside_page(memory, values, problem, side):
    """Return the kernels that did it; none where the workspace is too small for any."""
    shape, axes, width, threads, workspace, kernel = problem
    x = memory.array(shape, f"V{width}", side)
    try:
        plan = plan_of(x, axes, threads, workspace, kernel)
    except ValueError:
        return []
    x.view(np.uint8).reshape(-1)[:] = values[: x.nbytes]
    wanted = x.transpose(axes).tobytes()
    print(*problem, side, flush=True)
    assert plan(x).tobytes() == wanted, problem
    return kernels_of(plan)


def main():
    most = max(case.nbytes for case in CASES)
    memory, small = GuardedMemory(most), GuardedMemory(4 * LONG_BYTES)
    values = np.random.default_rng(0).integers(0, 256, most, np.uint8)
    kernels = set()
    for problem in problems():
        size = int(np.prod(problem[0])) * problem[2]
        for side in SIDES:
            where = small if size <= small.raw.size else memory
            kernels.update(transpose_beside_page(where, values, problem, side))
    print("kernels", *sorted(kernels))


if __name__ == "__main__":
    main()
