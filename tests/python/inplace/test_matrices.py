"""Matrices of every kind of extents: small ones all, larger ones drawn, huge ones chosen."""

import itertools

import numpy as np
import pytest

from ..arrays import available_bytes, equal_by_blocks, random_array, random_raw, repeated_raw
from .checks import check
from .kernel_cases import kernels_of, plan_of

WIDTHS = (*range(1, 17), 24)


def refuses(x, workspace):
    """Whether no way to transpose the matrix needs so little workspace."""
    try:
        plan_of(x, (1, 0), 1, workspace)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("remainder", range(4))
def test_every_matrix_of_few_rows_and_columns(remainder):
    kernels = set()
    raw = random_raw(64 * 64 * 24)
    for m, n in itertools.product(range(1 + remainder, 65, 4), range(1, 65)):
        x = np.ndarray((m, n), f"V{WIDTHS[(m + 5 * n) % 17]}", raw.copy())
        check(x, (1, 0), threads=1)
        # Without room for a copy, rows and columns or cells are moved.
        for workspace in (x.nbytes - 1, x.nbytes // 3):
            if workspace > 0 and not refuses(x, workspace):
                kernels.update(kernels_of(plan_of(x, (1, 0), 1, workspace)))
                check(x, (1, 0), threads=1, workspace=workspace)
    assert kernels >= {"c2r", "r2c", "cells", "square"}


def extents_to(max_bytes, width, random):
    """Draw two extents to 3000, small ones as often as large ones."""
    while True:
        m, n = (int(extent) for extent in 3000 ** random.random(2))
        if m * n * width <= max_bytes:
            return m, n


@pytest.mark.parametrize("width", WIDTHS)
def test_random_matrices(width):
    random = np.random.default_rng(width)
    for _ in range(5):
        x = random_array(extents_to(6 << 20, width, random), f"V{width}")
        check(x, (1, 0), threads=2)
        small = max(x.nbytes // 8, 20_000)
        if not refuses(x, small):
            check(x, (1, 0), threads=1, workspace=small)


RELATED = [
    (1499, 1511),  # primes
    (2999, 360),  # coprime
    (1000, 3000),  # one divides the other
    (3000, 500),
    (1448, 1448),  # square
    (2048, 1024),  # powers of two
    (64, 2048),
    (2187, 729),  # powers of three
    (1290, 1935),  # two thirds
    (1155, 1365),  # greatest common divisor 105
    (961, 992),  # 31: rotations are fused into the passes over rows
    (1056, 1089),  # 33: they are passes of their own
]


@pytest.mark.parametrize(("m", "n"), RELATED)
@pytest.mark.parametrize("width", [1, 3, 4])
def test_extents_that_are_related(m, n, width):
    x = random_array((m, n), f"V{width}")
    check(x, (1, 0), threads=2)
    check(x, (1, 0), threads=2, workspace=x.nbytes // 2)
    check(x, (1, 0), threads=1, workspace=x.nbytes // 6)


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


@pytest.mark.parametrize("shape", [(31, 10_000_000), (10_000_000, 30), (10_000_000, 31)])
def test_long_matrices(shape):
    check_huge(shape, (1, 0), "pieces")


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
