"""CuPy's sparse matrices, by a stand-in for CuPy whose arrays are NumPy's."""

import contextlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ttlg
from ttlg import _core


class Device(contextlib.nullcontext):
    id = 2


class Array(np.ndarray):
    """Has what is asked of CuPy's arrays."""

    device = Device()

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


class Matrix:
    """Has what is asked of CuPy's COO matrices."""

    __module__ = "cupyx.scipy.sparse._coo"
    format = "coo"

    def __init__(self, arrays, shape):
        self.data, (self.row, self.col) = arrays
        self.shape = shape
        self.is_summed = False

    def sum_duplicates(self):
        self.is_summed = True


@pytest.fixture
def cupy(monkeypatch):
    module = SimpleNamespace(
        ascontiguousarray=lambda x: np.ascontiguousarray(x).view(Array),
        empty=lambda count, dtype: np.empty(count, dtype).view(Array),
        cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=9)),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)


def matrix():
    rng = np.random.default_rng(0)
    row, col = (rng.integers(0, n, 300).astype(np.int64).view(Array) for n in (40, 7))
    return Matrix((rng.random(300).astype("f4").view(Array), (row, col)), (40, 7))


def test_transposed(cupy, on_host):
    x = matrix()
    y = ttlg.sparse.transpose(x)
    coords, values, shape = ttlg.sparse.transpose(
        (np.array([x.row, x.col]), np.array(x.data.view(np.ndarray)), x.shape)
    )
    assert type(y) is Matrix
    assert y.shape == shape == (7, 40)
    np.testing.assert_array_equal(y.row, coords[0])
    np.testing.assert_array_equal(y.col, coords[1])
    np.testing.assert_array_equal(y.data, values)
    assert on_host == [(False, 2, 9)]
    assert not y.is_summed
    assert ttlg.sparse.transpose(x, sum_duplicates=True).is_summed


def test_refused(cupy, on_host):
    x = matrix()
    with pytest.raises(ValueError, match=r"'seq_qsort' sorts on the CPU, and A is on device 2"):
        ttlg.sparse.transpose(x, algorithm="SEQ_QSORT")
    with pytest.raises(BufferError, match=r"format 'csf' is made on the host, .* pass A\.get\(\)"):
        ttlg.sparse.transpose(x, format="csf")
    x.format = "csr"
    with pytest.raises(BufferError, match=r"CuPy's format 'csr', .* pass A\.tocoo\(\), or A\.get"):
        ttlg.sparse.transpose(x)
    assert not on_host


def test_the_core_takes_no_less(cupy):
    with pytest.raises(ValueError, match="perm"):
        _core.sparse_cuda_workspace(3, [2, 3], [0, 0], 8, 8, False, 0)
