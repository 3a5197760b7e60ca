"""SciPy's sparse arrays and matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttlg import sparse

from ..arrays import examples
from .tensors import check, problems, random_coords, transposed

scipy_sparse = pytest.importorskip("scipy.sparse")

FORMATS = ("coo", "csr", "csc", "bsr", "dia", "lil", "dok")
DTYPES = ("?", "i1", "u2", "i4", "f4", "f8", "c8", "c16", "g")


def random_matrix(shape, nnz, fmt, seed=0, dtype="f8", kind="array"):
    """Return a matrix with duplicates and explicit zeros, where the format can have them."""
    values = np.random.default_rng(seed).integers(0, 4, nnz).astype(dtype)
    coo = getattr(scipy_sparse, f"coo_{kind}")
    return coo((values, tuple(random_coords(shape, nnz, seed))), shape=shape).asformat(fmt)


def check_matrix(result, x, axes, fmt=None):
    """Compare with SciPy's own transposition."""
    assert type(result) is type(x.asformat(fmt or x.format))
    assert result.shape == tuple(x.shape[axis] for axis in axes)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result.toarray(), x.toarray().transpose(axes))


def check_arrays(result, expected):
    """Compare compressed rows or columns array by array."""
    expected = expected.copy()
    expected.sort_indices()
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name), name)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("axes", [(1, 0), (0, 1)])
@pytest.mark.parametrize("target", [None, *FORMATS])
def test_every_format_to_every_format(kind, fmt, axes, target):
    for shape, nnz in [((12, 18), 60), ((1, 7), 3), ((7, 1), 0), ((40, 6), 2)]:
        x = random_matrix(shape, nnz, fmt, kind=kind)
        kept = x.copy()
        result = sparse.transpose(x, axes, format=target)
        check_matrix(result, x, axes, target)
        assert (kept != x).nnz == 0


@settings(max_examples=examples(60))
@given(
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
    st.integers(0, 300),
    st.sampled_from(DTYPES),
    st.integers(0, 99),
    st.booleans(),
)
def test_compressed_matrices(shape, nnz, dtype, seed, wide):
    x = random_matrix(shape, nnz if all(shape) else 0, "csr", seed, dtype)  # adds duplicates
    for y, z in [(x, x.T.tocsr()), (x.tocsc(), x.T.tocsc())]:
        if wide:
            y.indices, y.indptr = y.indices.astype(np.int64), y.indptr.astype(np.int64)
        result = sparse.transpose(y)
        check_arrays(result, z)
        assert result.format == y.format
        assert result.has_sorted_indices
        assert result.has_canonical_format
        assert {result.indices.dtype, result.indptr.dtype} == {y.indices.dtype}
        other = sparse.transpose(y, format={"csr": "csc", "csc": "csr"}[y.format])
        check_arrays(other, y)  # the same arrays stand for the transpose
        for name in ("data", "indices", "indptr"):
            assert not np.shares_memory(getattr(result, name), getattr(y, name))
            assert not np.shares_memory(getattr(other, name), getattr(y, name))


@settings(max_examples=examples(60))
@given(problems(extents=(1, 2, 3, 5, 9, 2**20), elements=[("i8", ())]))
def test_coordinates_of_any_rank(problem):
    (coords, values, shape), axes = problem
    x = scipy_sparse.coo_array((values, tuple(coords)), shape=shape)
    result = sparse.transpose(x, axes)
    assert type(result) is scipy_sparse.coo_array
    check((np.array(result.coords), result.data, result.shape), transposed(problem[0], axes))
    distinct = np.unique(coords, axis=1).shape[1] == len(values)
    assert result.has_canonical_format == distinct
    assert result.coords[0].dtype == x.coords[0].dtype
    x.sum_duplicates()
    total = sparse.transpose(
        scipy_sparse.coo_array((values, tuple(coords)), shape=shape), axes, sum_duplicates=True
    )
    assert total.has_canonical_format
    assert total.nnz == x.nnz
    assert sparse.transpose(x, axes).has_canonical_format


@pytest.mark.parametrize("fmt", ["coo", "csr", "dok"])
def test_one_dimension(fmt):
    x = scipy_sparse.coo_array(([1.0, 2.0], ([4, 1],)), shape=(6,)).asformat(fmt)
    result = sparse.transpose(x)
    assert type(result) is type(x)
    assert result.shape == (6,)
    assert result.toarray().tolist() == [0, 2, 0, 0, 1, 0]


def test_duplicates_and_unsorted_columns():
    indptr, indices, data = [0, 3, 3, 6], [2, 0, 2, 1, 0, 1], [1.0, 2, 3, 4, 0, 6]
    x = scipy_sparse.csr_array((data, indices, indptr), shape=(3, 3))
    result = sparse.transpose(x)
    assert not result.has_canonical_format
    assert result.has_sorted_indices
    assert result.indptr.tolist() == [0, 2, 4, 6]
    assert result.indices.tolist() == [0, 2, 2, 2, 0, 0]
    assert result.data.tolist() == [2, 0, 4, 6, 1, 3]
    for axes in [(1, 0), (0, 1)]:
        for target in ("csr", "csc", "coo", "bsr"):
            total = sparse.transpose(x, axes, format=target, sum_duplicates=True)
            assert total.nnz == 4
            np.testing.assert_array_equal(total.toarray(), x.toarray().transpose(axes))
            assert target == "bsr" or total.has_canonical_format
    relabelled = sparse.transpose(x, format="csc")
    assert relabelled.indices.tolist() == [0, 2, 2, 0, 1, 1]
    assert relabelled.data.tolist() == [2, 1, 3, 0, 4, 6]
    assert x.data.tolist() == data


def test_sums_as_scipy_does():
    for dtype in DTYPES:
        x = random_matrix((5, 6), 90, "coo", 3, dtype)
        result = sparse.transpose(x, sum_duplicates=True)
        y = x.T.copy()
        y.sum_duplicates()  # by columns
        expected = y.tocsr().tocoo()
        np.testing.assert_array_equal(result.coords, expected.coords)
        np.testing.assert_array_equal(result.data, expected.data)


@pytest.mark.parametrize("blocksize", [(2, 3), (1, 1), (4, 1), (12, 18)])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_blocks_stay_blocks(blocksize, kind):
    x = random_matrix((12, 18), 30, "csr", 5, kind=kind).tobsr(blocksize)
    result = sparse.transpose(x)
    assert type(result) is type(x)
    assert result.blocksize == blocksize[::-1]
    assert result.data.flags.c_contiguous
    expected = x.T.tobsr()
    expected.sort_indices()
    check_arrays(result, expected)
    same = sparse.transpose(x, (0, 1))
    assert same.blocksize == blocksize
    check_arrays(same, x)
    assert not np.shares_memory(same.data, x.data)
    check_matrix(sparse.transpose(x, format="csc"), x, (1, 0), "csc")


def test_blocks_with_duplicates():
    data = np.arange(12.0).reshape(3, 2, 2)
    x = scipy_sparse.bsr_array((data, [1, 0, 1], [0, 3]), shape=(2, 4))
    result = sparse.transpose(x)
    assert result.data.shape == (3, 2, 2)
    np.testing.assert_array_equal(result.toarray(), x.toarray().T)
    total = sparse.transpose(x, sum_duplicates=True)
    assert total.data.shape == (2, 2, 2)
    np.testing.assert_array_equal(total.toarray(), x.toarray().T)


def test_room_for_more_nonzeros():
    x = random_matrix((5, 6), 12, "csr", 6)
    y = x.copy()
    y.data, y.indices = np.append(y.data, [9, 9]), np.append(y.indices, [99, -1]).astype(np.int32)
    check_arrays(sparse.transpose(y), x.T.tocsr())


def test_subclasses_become_scipys_own():
    class Mine(scipy_sparse.csr_array):
        pass

    x = Mine(random_matrix((5, 6), 12, "csr", 7))
    assert type(sparse.transpose(x)) is scipy_sparse.csr_array


def test_64_bit_indices_stay():
    x = random_matrix((5, 6), 12, "coo", 8)
    x.coords = tuple(mode.astype(np.int64) for mode in x.coords)
    assert sparse.transpose(x).coords[0].dtype == np.int64
    assert sparse.transpose(x, format="csr").indices.dtype == np.int64
    tall = scipy_sparse.coo_array(([1.0], ([0], [2**31])), shape=(3, 2**31 + 1))
    assert sparse.transpose(tall).coords[0].dtype == np.int64


def test_raw():
    x = random_matrix((5, 6), 12, "csc", 9)
    coords, values, shape = sparse.transpose(x, format="raw")
    back = scipy_sparse.coo_array((values, tuple(coords)), shape=shape)
    np.testing.assert_array_equal(back.toarray(), x.toarray().T)
    assert not np.shares_memory(values, x.data)


def test_formats_that_do_not_fit():
    cube = scipy_sparse.coo_array(([1.0], ([0], [1], [2])), shape=(2, 3, 4))
    for fmt in FORMATS[1:]:
        with pytest.raises(ValueError, match=f"format '{fmt}' of SciPy is for two dimensions"):
            sparse.transpose(cube, format=fmt)
    with pytest.raises(ValueError, match="unknown format 'gcxs' for SciPy; choose one of 'coo', "):
        sparse.transpose(cube, format="gcxs")
    vector = scipy_sparse.coo_array(([1.0], ([0],)), shape=(2,))
    with pytest.raises(ValueError, match="format 'lil' of SciPy"):
        sparse.transpose(vector, format="lil")


def damaged(fmt, **arrays):
    x = random_matrix((4, 5), 9, fmt, 10)
    for name, change in arrays.items():
        setattr(x, name, change(getattr(x, name)))
    return x


def replaced(position, value):
    def change(array):
        array = array.copy()
        array[position] = value
        return array

    return change


@pytest.mark.parametrize("fmt", ["csr", "csc"])
@pytest.mark.parametrize("algorithm", sparse.algorithms)
@pytest.mark.parametrize(
    ("arrays", "error", "match"),
    [
        ({"indptr": replaced(0, 1)}, ValueError, "0"),
        ({"indptr": replaced(1, 8)}, ValueError, "row"),
        ({"indptr": replaced(2, -1)}, ValueError, "row"),
        ({"indptr": replaced(-1, 99)}, ValueError, "99"),
        ({"indptr": lambda x: x[:-1]}, ValueError, "row"),
        ({"indptr": lambda x: x * 1.0}, TypeError, r"A.indptr must hold integers"),
        ({"indices": replaced(0, 5)}, ValueError, "5"),
        ({"indices": replaced(3, -1)}, ValueError, "-1"),
        ({"indices": lambda x: x[:-1]}, ValueError, "6.*7|7.*6"),
        ({"indices": lambda x: x * 1.0}, TypeError, "A.indices must hold integers"),
        ({"data": lambda x: x[:-1]}, ValueError, "6.*7|7.*6"),
        ({"data": lambda x: x.astype(object)}, TypeError, "Python objects"),
    ],
)
def test_damaged_rows_are_refused(fmt, algorithm, arrays, error, match):
    for axes in [(1, 0), (0, 1)]:
        with pytest.raises(error, match=match):
            sparse.transpose(damaged(fmt, **arrays), axes, algorithm=algorithm, format=fmt)


def test_damaged_coordinates_are_refused():
    with pytest.raises(ValueError, match="77"):
        sparse.transpose(damaged("coo", coords=lambda old: (old[0], replaced(2, 77)(old[1]))))
    with pytest.raises(TypeError, match=r"A.coords\[1\] must hold integers"):
        sparse.transpose(damaged("coo", coords=lambda old: (old[0], old[1] * 1.0)))
