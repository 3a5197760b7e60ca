"""Matrices of extents that are chosen: products beyond 32 bits, and huge ones."""

import numpy as np
import pytest

from ..arrays import available_bytes, equal_by_blocks, random_array, repeated_raw
from .checks import check
from .kernel_cases import kernels_of, plan_of


# Products in the equations of C2R exceed 32 bits though the matrices are small: the square of b, or
# one extent times the square of the other.
@pytest.mark.parametrize(
    ("shape", "width", "threads", "workspace", "kernel"),
    [
        ((31, 100_003), 2, 8, 6_500_000, "c2r"),
        ((100_003, 31), 2, 8, 6_000_000, "r2c"),
        ((30, 100_042), 2, 8, 6_500_000, "c2r"),
        ((100_042, 30), 2, 8, 6_000_000, "r2c"),
        ((1291, 1292), 1, 1, 130_000, "c2r"),
        ((1292, 1291), 1, 1, 130_000, "c2r"),
    ],
)
def test_extents_whose_products_exceed_32_bits(shape, width, threads, workspace, kernel):
    x = random_array(shape, f"V{width}")
    assert kernels_of(plan_of(x, (1, 0), threads, workspace, kernel)) == [kernel]
    check(x, (1, 0), kernel, threads=threads, workspace=workspace)


def check_huge(shape, axes, kernel):
    """Compare with one copy alone."""
    count = int(np.prod(shape))
    if available_bytes() < 3 * count:
        pytest.skip(f"needs {3 * count >> 30} GiB of free memory")
    before = repeated_raw(count).reshape(shape)
    x = before.copy()
    y = plan_of(x, axes, 2, None, kernel)(x)
    assert equal_by_blocks(y, before.transpose(axes))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "axes", "kernel"),
    [
        ((46_349, 46_351), (1, 0), "c2r"),
        ((49_157, 45_053), (1, 0), "r2c"),
        ((46_349, 46_349), (1, 0), "square"),
        ((3, 720_000_011), (1, 0), "pieces"),
        ((720_000_011, 3), (1, 0), "pieces"),
        ((2900, 2903, 256), (1, 0, 2), "cells"),
        ((33_000, 256, 257), (0, 2, 1), "buffered"),
    ],
)
def test_more_than_2_to_31_elements(shape, axes, kernel):
    assert np.prod(shape) > 1 << 31
    check_huge(shape, axes, kernel)
