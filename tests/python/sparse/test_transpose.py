"""Tuples of coordinates, values and shape: every rank, width and extent."""

import numpy as np
import pytest
from hypothesis import given, settings

import ttlg
from ttlg import sparse

from ..arrays import examples
from .tensors import check, dense, problems, random_coords, transposed

SMALL = {"extents": (1, 2, 3, 4, 5), "elements": [("i8", ()), ("i4", (2,))]}


@settings(max_examples=examples(100))
@given(problems(**SMALL))
def test_equals_dense(problem):
    tensor, axes = problem
    inner = range(len(axes), len(axes) + tensor[1].ndim - 1)
    expected = dense(tensor).transpose((*axes, *inner))
    result = sparse.transpose(tensor, axes)
    np.testing.assert_array_equal(dense(result), expected)
    coords, values, _ = result = sparse.transpose(tensor, axes, sum_duplicates=True)
    np.testing.assert_array_equal(dense(result), expected)
    assert len({*map(tuple, coords.T)}) == len(values)


def test_axes_as_in_numpy():
    tensor = random_coords((4, 5, 6), 30, 1), np.arange(30), (4, 5, 6)
    check(sparse.transpose(tensor), transposed(tensor, (2, 1, 0)))
    check(sparse.transpose(tensor, (-1, 0, -2)), transposed(tensor, (2, 0, 1)))
    check(sparse.transpose(tensor, iter([1, 0, 2])), transposed(tensor, (1, 0, 2)))
    check(sparse.transpose(tensor, np.array([1, 0, 2])), transposed(tensor, (1, 0, 2)))


@pytest.mark.parametrize("extent", [2**31 - 1, 2**31, 2**31 + 1, 2**62, 2**63 - 1])
def test_extreme_extents(extent):
    coords = np.array([[extent - 1, 0, 5, extent - 1], [0, 1, 1, 1]])
    tensor = coords, np.arange(4), (extent, 2)
    check(sparse.transpose(tensor), transposed(tensor, (1, 0)))


def test_indices_keep_their_width_while_that_holds_them():
    coords = np.array([[1, 0], [0, 1]], np.int32)
    for extent, dtype in [(2**31, np.int32), (2**31 + 1, np.int64)]:
        moved, _, _ = sparse.transpose((coords, np.ones(2), (extent, 2)))
        assert moved.dtype == dtype
    assert sparse.transpose((coords.astype(np.int64), np.ones(2), (2, 2)))[0].dtype == np.int64


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "u4", "u8", ">i4", ">i8"])
def test_other_integers_become_64_bits(dtype):
    coords = random_coords((9, 8), 20, 3)
    tensor = coords.astype(dtype), np.arange(20), (9, 8)
    check(sparse.transpose(tensor), transposed((coords, *tensor[1:]), (1, 0)), np.int64)


def test_coordinates_of_several_arrays():
    expected = [[0, 1, 2], [3, 0, 4]]
    for coords in [
        [[3, 0, 4], [0, 1, 2]],
        (np.array([3, 0, 4], np.int32), [0, 1, 2]),
        np.array([[3, 0], [0, 1], [4, 2]]).T,
        np.array([[3, 9, 0, 9, 4, 9], [0, 9, 1, 9, 2, 9]])[:, ::2],
        np.array([[3, 0, 4], [0, 1, 2]], order="F").view(np.matrix),
    ]:
        result = sparse.transpose((coords, [5, 6, 7], (5, 3)))
        np.testing.assert_array_equal(result[0], expected)
        np.testing.assert_array_equal(result[1], [5, 6, 7])


def test_empty_lists():
    coords, values, shape = sparse.transpose(([[], []], [], (5, 3)))
    assert coords.shape == (2, 0)
    assert coords.dtype == np.int64
    assert values.shape == (0,)
    assert shape == (3, 5)


def test_scalars():
    coords, values, shape = sparse.transpose((np.empty((0, 2), int), np.array([3, 4]), ()))
    assert (coords.shape, values.tolist(), shape) == ((0, 2), [3, 4], ())
    coords, values, shape = sparse.transpose(([], [3, 4], ()), sum_duplicates=True)
    assert (coords.shape, values.tolist(), shape) == ((0, 1), [7], ())


@pytest.mark.parametrize("inner", [(0,), (3, 0)])
def test_elements_of_no_bytes(inner):
    _, values, _ = sparse.transpose(([[1, 0]], np.empty((2, *inner)), (2,)))
    assert values.shape == (2, *inner)


def test_as_many_modes_as_there_may_be():
    coords = random_coords((2,) * 64, 20, 7)
    tensor = coords, np.arange(20), (2,) * 64
    for algorithm in sparse.algorithms:
        result = sparse.transpose(tensor, algorithm=algorithm)
        check(result, transposed(tensor, range(64)[::-1]))
    with pytest.raises(ValueError, match="rank 65 exceeds the limit of 64"):
        sparse.transpose((np.zeros((65, 1), int), [1], (2,) * 65))


@pytest.mark.parametrize(
    "dtype", ["?", "c16", "M8[s]", "S3", "U2", "f2", "m8[D]", [("a", "i1"), ("b", "f8")], ">c8"]
)
def test_dtypes_of_values(dtype):
    values = np.frombuffer(np.random.default_rng(4).bytes(30 * np.dtype(dtype).itemsize), dtype)
    tensor = random_coords((6, 5), 30, 5), values, (6, 5)
    check(sparse.transpose(tensor), transposed(tensor, (1, 0)))


def test_input_is_neither_modified_nor_aliased():
    coords, values = random_coords((6, 5), 30, 6), np.arange(30.0)
    for axes in [(0, 1), (1, 0)]:
        for is_sorted in (False, True):
            tensor = coords, values, (6, 5)
            if is_sorted:
                tensor = transposed(tensor, axes)
            kept = tensor[0].copy(), tensor[1].copy(), tensor[2]
            for array in tensor[:2]:
                array.flags.writeable = False
            result = sparse.transpose(tensor, axes)
            check(tensor, kept)
            for array in result[:2]:
                assert array.flags.writeable
                assert not any(np.shares_memory(array, other) for other in tensor[:2])
            coords, values = kept[:2]


def test_sums_of_duplicates():
    coords = np.array([[1, 0, 1, 1], [2, 2, 0, 2]], np.int32)
    for values, total in [
        (np.array([1, 2, 3, 4], np.int8), [3, 2, 5]),
        (np.array([True, True, False, True]), [False, True, True]),
        (np.array([1, 2, 3, 4], ">f4"), [3, 2, 5]),
        (np.array([1, 2, 3, 4j]), [3, 2, 1 + 4j]),
        (np.array([100, 2, 3, 100], np.int8), [3, 2, -56]),
        (np.array([1, 2, 3, 4], "m8[s]"), np.array([3, 2, 5], "m8[s]")),
    ]:
        moved, added, _ = sparse.transpose((coords, values, (2, 3)), sum_duplicates=True)
        assert moved.tolist() == [[0, 2, 2], [1, 0, 1]]
        assert moved.dtype == np.int32
        assert added.dtype == values.dtype
        assert added.tolist() == np.asarray(total).tolist()


@pytest.mark.parametrize("dtype", ["M8[s]", "S3", "U2", "V4", [("a", "i4")]])
def test_what_cannot_be_added_is_refused(dtype):
    tensor = np.zeros((2, 2), int), np.zeros(2, dtype), (2, 2)
    with pytest.raises(TypeError, match=r"cannot be added; leave out sum_duplicates"):
        sparse.transpose(tensor, sum_duplicates=True)


def test_threads_block(spy):
    from ttlg import _core

    used = spy(_core, "sparse_transpose", lambda result, *arguments: arguments[8])
    tensor = np.zeros((2, 2), int), np.zeros(2), (2, 2)
    with ttlg.threads(3):
        sparse.transpose(tensor)
    sparse.transpose(tensor, threads=2)
    assert used == [3, 2]
