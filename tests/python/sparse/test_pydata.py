"""pydata's sparse arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttlg import sparse

from ..arrays import examples
from .tensors import dense, random_coords

pydata = pytest.importorskip("sparse")


def random_coo(shape, nnz, seed=0, dtype="f8", fill_value=0):
    values = np.random.default_rng(seed).integers(1, 9, nnz).astype(dtype)
    return pydata.COO(random_coords(shape, nnz, seed), values, shape=shape, fill_value=fill_value)


def check(result, x, axes):
    assert type(result) is type(x)
    assert result.shape == tuple(x.shape[axis] for axis in axes)
    assert result.dtype == x.dtype
    assert result.fill_value == x.fill_value
    assert result.nnz == x.nnz
    np.testing.assert_array_equal(result.todense(), x.todense().transpose(axes))


@st.composite
def cases(draw):
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=5)))
    nnz = draw(st.sampled_from((0, 1, 5, 40)))
    fill = draw(st.sampled_from((0, 7)))
    x = random_coo(shape, nnz, draw(st.integers(0, 99)), fill_value=fill)
    return x, tuple(draw(st.permutations(range(len(shape)))))


@settings(max_examples=examples(40))
@given(cases())
def test_coordinates(case):
    x, axes = case
    result = sparse.transpose(x, axes)
    check(result, x, axes)
    expected = x.transpose(axes)
    np.testing.assert_array_equal(result.coords, expected.coords)
    np.testing.assert_array_equal(result.data, expected.data)
    assert result.coords.dtype == x.coords.dtype
    assert not np.shares_memory(result.data, x.data)
    assert not np.shares_memory(result.coords, x.coords)


@pytest.mark.rotating
@settings(max_examples=examples(40))
@given(cases(), st.data())
def test_compressed(case, data):
    x, axes = case
    if x.ndim > 1:
        some = st.sets(st.integers(0, x.ndim - 1), min_size=1, max_size=x.ndim - 1)
        g = pydata.GCXS.from_coo(x, compressed_axes=tuple(sorted(data.draw(some))))
    else:
        g = pydata.GCXS.from_coo(x)
    result = sparse.transpose(g, axes)
    check(result, g, axes)
    assert result.indices.dtype == g.indices.dtype
    if x.ndim == 2:
        assert result.compressed_axes == g.compressed_axes
    elif axes != tuple(range(x.ndim)):
        expected = g.transpose(axes)
        assert result.compressed_axes == expected.compressed_axes
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(result, name), getattr(expected, name))


@pytest.mark.parametrize("fmt", ["coo", "gcxs", "dok"])
@pytest.mark.parametrize("target", [None, "coo", "gcxs", "dok"])
def test_every_format_to_every_format(fmt, target):
    for shape in [(4,), (5, 6), (3, 4, 5)]:
        x = random_coo(shape, 12).asformat(fmt)
        axes = tuple(range(len(shape)))[::-1]
        result = sparse.transpose(x, format=target)
        assert type(result) is type(x.asformat(target or fmt))
        np.testing.assert_array_equal(result.todense(), x.todense().transpose(axes))


def test_other_formats():
    x = random_coo((3, 4, 5), 12, fill_value=7)
    expected = random_coo((3, 4, 5), 12).todense().transpose((1, 2, 0))
    np.testing.assert_array_equal(dense(sparse.transpose(x, (1, 2, 0), format="raw")), expected)
    fibers = sparse.transpose(x.asformat("gcxs"), (1, 2, 0), format="csf")
    np.testing.assert_array_equal(dense(fibers.to_coo()), expected)
    with pytest.raises(
        ValueError, match=r"unknown format 'csr' for pydata's sparse; choose .*gcxs"
    ):
        sparse.transpose(x, format="csr")


def test_scalars():
    x = pydata.COO.from_numpy(np.array(5.0))
    result = sparse.transpose(x)
    assert result.shape == ()
    assert result.todense() == 5


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.uint64])
def test_coordinates_keep_their_dtype(dtype):
    x = pydata.COO(np.array([[0, 2], [1, 0]], dtype), np.ones(2), shape=(3, 200))
    result = sparse.transpose(x)
    assert result.coords.dtype == dtype
    check(result, x, (1, 0))


def test_duplicates_stay_unless_added():
    coords = np.array([[0, 0, 1], [1, 1, 0]])
    x = pydata.COO(coords, np.array([1, 2, 3]), shape=(2, 2), has_duplicates=False, sorted=True)
    assert sparse.transpose(x).data.tolist() == [3, 1, 2]
    assert sparse.transpose(x, sum_duplicates=True).data.tolist() == [3, 3]


def test_unsorted_coordinates():
    coords = np.array([[1, 0, 1], [0, 1, 1]])
    x = pydata.COO(coords, np.array([1, 2, 3]), shape=(2, 2), has_duplicates=False, sorted=True)
    assert sparse.transpose(x, (0, 1)).coords.tolist() == [[0, 1, 1], [1, 0, 1]]


def test_damaged_arrays_are_refused():
    x = random_coo((4, 5), 9)
    x.coords = x.coords.copy()
    x.coords[1, 3] = 55
    with pytest.raises(ValueError, match="55"):
        sparse.transpose(x)
    for compressed in [(0,), (1, 2)]:
        g = pydata.GCXS.from_coo(random_coo((4, 5, 3), 9), compressed_axes=compressed)
        for name, position, wrong in [
            ("indices", 2, -1),
            ("indices", 2, 15),
            ("indptr", 0, 1),
            ("indptr", 1, 10),
            ("indptr", 2, -1),
        ]:
            h = pydata.GCXS.from_coo(random_coo((4, 5, 3), 9), compressed_axes=compressed)
            getattr(h, name)[position] = wrong
            with pytest.raises(ValueError, match=r"indptr|indices|row|range|nonzero"):
                sparse.transpose(h)
        g.indptr = g.indptr[:-1]
        with pytest.raises(ValueError, match="row"):
            sparse.transpose(g)


def test_columns_beyond_64_bits():
    shape = (2**40, 2**40, 2)
    x = pydata.COO(
        np.array([[1], [2], [0]]), np.ones(1), shape=shape, has_duplicates=False, sorted=True
    )
    assert sparse.transpose(x).coords.tolist() == [[0], [2], [1]]
    with pytest.raises(ValueError, match="exceeds 64 bits; pass format='coo'"):
        sparse.transpose(x, format="gcxs")
