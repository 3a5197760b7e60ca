"""The kernels that benchmarks compare others with: every byte, over hostile sizes."""

import itertools

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

from ttlg.benchmarks.gpu import baselines

# One row, one column, squares, m | n, n | m, primes, and other common divisors.
MATRICES = [
    (1, 1), (1, 300), (300, 1), (2, 2), (31, 31), (64, 64), (100, 100),
    (3, 8), (4, 8), (7, 21), (96, 32), (300, 3), (2, 1000), (1000, 2),
    (37, 41), (127, 64), (257, 263), (48, 36), (36, 48), (100, 250), (510, 34),
]  # fmt: skip
TENSORS = [
    ((5,), (0,)), ((1, 1), (1, 0)), ((300, 1), (1, 0)), ((37, 41), (1, 0)), ((16, 64), (1, 0)),
    ((2, 3, 5), (2, 1, 0)), ((7, 1, 9), (1, 2, 0)), ((5, 6, 7), (1, 0, 2)), ((4, 4, 4, 4), (3, 1, 0, 2)),
    ((2, 3, 2, 3, 2, 3), (4, 1, 5, 0, 3, 2)), ((2,) * 9, (8, 0, 7, 1, 6, 2, 5, 3, 4)),
]  # fmt: skip


def numbered(elements, itemsize):
    """Return distinct elements of this many bytes."""
    words = np.arange(elements, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bytes_ = np.zeros((elements, 16), np.uint8)
    bytes_[:, :8] = words.view(np.uint8).reshape(-1, 8)
    bytes_[:, 8:] = ~bytes_[:, :8]
    return np.ascontiguousarray(bytes_[:, :itemsize]).view(f"V{itemsize}").reshape(-1)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_naive(itemsize):
    for shape, axes in TENSORS:
        x = numbered(np.prod(shape), itemsize).reshape(shape)
        expected = np.ascontiguousarray(x.transpose(axes))
        source = cupy.asarray(x.reshape(-1).view(np.uint8))
        y = cupy.full((x.nbytes,), 0xA5, np.uint8)
        baselines.naive(shape, axes, itemsize)(source.data.ptr, y.data.ptr)
        np.testing.assert_array_equal(y.get(), expected.reshape(-1).view(np.uint8), str(shape))


@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("make", [baselines.cycles, baselines.algorithm_1])
def test_matrices_in_place(make, itemsize):
    for m, n in MATRICES:
        x = numbered(m * n, itemsize).reshape(m, n)
        y = cupy.asarray(x.reshape(-1).view(np.uint8))
        transpose = make(m, n, itemsize)
        for calls in (1, 2):  # the second takes what the first has left for an m by n matrix
            transpose(y.data.ptr)
            x = np.ascontiguousarray(x.T).reshape(m, n)
            found, expected = y.get(), x.reshape(-1).view(np.uint8)
            np.testing.assert_array_equal(found, expected, f"{m} by {n}, {calls} calls")


def test_every_kernel_is_tested():
    tested = set(itertools.product(("cycles", *baselines._PASSES), (4, 8)))
    assert baselines.kernels().keys() == tested | {("naive", size) for size in (1, 2, 4, 8, 16)}
