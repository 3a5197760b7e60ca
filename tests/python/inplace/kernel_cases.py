"""A case for each way to transpose in place, and which kernels a call takes."""

import math
from dataclasses import dataclass

import ttlg
from ttlg import _core

KERNELS = set(_core.CPU_INPLACE_KERNELS)


@dataclass(frozen=True)
class Case:
    """An array of about 2 MiB or more, so that up to eight threads share it.

    Of its workspace each thread takes a part.
    """

    kernel: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    itemsize: int
    workspace: int
    workspace_of_thread: int = 0

    @property
    def nbytes(self):
        return math.prod(self.shape) * self.itemsize

    def limit(self, threads):
        return self.workspace + threads * self.workspace_of_thread


CASES = (
    Case("buffered", (900, 700), (1, 0), 4, 4_000_000),
    Case("buffered", (60, 150, 240), (0, 2, 1), 1, 4_000_000),
    Case("square", (521, 521), (1, 0), 8, 1),
    Case("square", (7, 320, 320), (0, 2, 1), 3, 1),
    Case("c2r", (404, 700), (1, 0), 8, 14_100, 26_000),  # greatest common divisor 4
    Case("c2r", (400, 700), (1, 0), 8, 14_100, 26_000),  # 100: rotated by passes of their own
    Case("r2c", (700, 404), (1, 0), 8, 14_100, 26_000),
    Case("r2c", (700, 400), (1, 0), 8, 14_100, 26_000),
    Case("cells", (100, 101, 320), (1, 0, 2), 1, 60_000),
    Case("cells", (5, 40, 31, 24), (0, 2, 1, 3), 17, 60_000),
    Case("pieces", (3, 1_000_003), (1, 0), 1, 0, 80_000),
    Case("pieces", (1_000_003, 3), (1, 0), 1, 0, 80_000),
)


def plan_of(x, axes, threads=1, workspace=None, kernel=None):
    """Return the plan by which `x` is transposed in place."""
    options = {"threads": threads, "workspace": workspace, "kernel": kernel}
    return ttlg.plan_for(x, axes, inplace=True, **options)


def kernels_of(plan):
    return [step["kernel"] for step in plan.parameters["steps"]]
