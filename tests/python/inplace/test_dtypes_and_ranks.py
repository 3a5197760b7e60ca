"""Any element of a fixed size, any rank, any place in memory; older views see other elements."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array, random_raw, zeros_in_line
from ..transpose.test_dtypes import DTYPES, name_of
from .checks import check


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
@pytest.mark.parametrize("shape", [(60, 35), (33, 33), (5, 18, 35)])
def test_dtypes(dtype, shape):
    check(random_array(shape, dtype).copy(), None)  # which has its padding to itself


@pytest.mark.parametrize("dtype", ["V0", "S0"])
def test_elements_without_bytes(dtype):
    assert ttlg.transpose_inplace(np.zeros((2, 3, 4), dtype), (1, 2, 0)).shape == (3, 4, 2)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (0,), (0, 5), (5, 0, 3), (1, 1, 1), (1, 0, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_shapes_where_nothing_moves(shape, order):
    x = np.array(random_array(shape, "<f8"), order=order)
    before = bits(x)
    check(x, None)
    assert bits(x) == before


def test_the_highest_rank():
    random = np.random.default_rng(0)
    x = np.arange(1 << 14, dtype="<u2").reshape(random.permutation([2] * 14 + [1] * 50))
    for _ in range(5):
        x = check(x, tuple(random.permutation(64).tolist()))


@pytest.mark.parametrize("begin", [1, 3, 8, 63])
@pytest.mark.parametrize("shape", [(64, 65), (64, 64), (5, 30, 40)])
def test_arrays_that_begin_anywhere_in_a_line(begin, shape):
    x = zeros_in_line(begin, shape, "<f8")
    x[...] = random_array(shape, "<f8")
    check(x, None)


def test_nothing_beside_the_array_changes():
    memory = random_raw(50_000)
    before = memory.copy()
    x = memory[1001 : 1001 + 4 * 90 * 60].view("<f4").reshape(90, 60)
    check(x, None)
    assert bits(memory[:1001]) == bits(before[:1001])
    assert bits(memory[1001 + x.nbytes :]) == bits(before[1001 + x.nbytes :])


def test_older_views_show_other_elements():
    x = np.arange(6).reshape(2, 3)
    row = x[0]
    flat = x.reshape(-1)
    y = ttlg.transpose_inplace(x)
    assert y.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.tolist() == [[0, 3, 1], [4, 2, 5]]
    assert row.tolist() == [0, 3, 1]
    assert flat.tolist() == [0, 3, 1, 4, 2, 5]
    y[2, 1] = 9
    assert x[1, 2] == 9


def test_a_mapped_file_holds_the_result(tmp_path):
    path = tmp_path / "numbers"
    x = np.memmap(path, "<i4", "w+", shape=(40, 30))
    x[...] = np.arange(1200).reshape(40, 30)
    expected = np.asarray(x).T.copy()
    y = ttlg.transpose_inplace(x)
    assert type(y) is np.memmap
    y.flush()
    assert np.array_equal(np.fromfile(path, "<i4").reshape(30, 40), expected)
