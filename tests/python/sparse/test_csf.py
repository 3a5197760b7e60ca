"""Compressed sparse fibers."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings

from ttlg import sparse

from ..arrays import examples
from .tensors import check, problems, random_coords, transposed


@settings(max_examples=examples(80))
@given(problems())
def test_there_and_back(problem):
    tensor, axes = problem
    fibers = sparse.CSF.from_coo(*tensor)
    check(fibers.to_coo(), transposed(tensor, range(len(axes))), tensor[0].dtype)
    moved = sparse.transpose(fibers, axes)
    assert type(moved) is sparse.CSF
    check(moved.to_coo(), transposed(tensor, axes))
    check(sparse.transpose(tensor, axes, format="csf").to_coo(), transposed(tensor, axes))
    check(sparse.transpose(fibers, axes, format="raw"), transposed(tensor, axes))
    # What the constructor accepts is what the functions make.
    check(
        sparse.CSF(moved.shape, moved.pos, moved.crd, moved.values).to_coo(),
        transposed(tensor, axes),
    )


def test_levels():
    coords = [[0, 0, 0, 0, 2], [1, 1, 1, 0, 0], [0, 3, 3, 1, 2]]
    fibers = sparse.CSF.from_coo(coords, np.array([1.0, 2, 3, 4, 5]), (3, 2, 4))
    assert [level.tolist() for level in fibers.pos] == [[0, 2], [0, 2, 3], [0, 1, 4, 5]]
    assert [level.tolist() for level in fibers.crd] == [[0, 2], [0, 1, 0], [1, 0, 3, 3, 2]]
    assert fibers.values.tolist() == [4, 1, 2, 3, 5]  # duplicates in their order
    assert (fibers.shape, fibers.ndim, fibers.nnz, fibers.dtype) == ((3, 2, 4), 3, 5, np.float64)
    assert repr(fibers) == (
        "<ttlg.sparse.CSF (3, 2, 4) float64, 5 nonzeros, nodes per level 2, 3, 5>"
    )


def test_one_level():
    fibers = sparse.CSF.from_coo([[4, 1, 4]], [1, 2, 3], [9])
    assert [level.tolist() for level in fibers.pos + fibers.crd] == [[0, 3], [1, 4, 4]]


def test_empty():
    fibers = sparse.CSF.from_coo(np.empty((3, 0), np.int32), np.empty((0, 2), "f4"), (2, 0, 3))
    assert [level.tolist() for level in fibers.pos] == [[0, 0], [0], [0]]
    assert all(level.size == 0 for level in fibers.crd)
    moved = sparse.transpose(fibers)
    assert (moved.shape, moved.nnz, moved.values.shape) == ((3, 0, 2), 0, (0, 2))


def test_nodes_without_children():
    fibers = sparse.CSF((5, 5), [[0, 3], [0, 1, 1, 2]], [[4, 2, 0], [3, 1]], np.array([7, 8]))
    coords, values, _ = sparse.transpose(fibers, (0, 1), format="raw")
    assert coords.tolist() == [[0, 4], [1, 3]]
    assert values.tolist() == [8, 7]


def test_sums():
    fibers = sparse.CSF.from_coo([[1, 0, 1], [2, 2, 2]], [1, 2, 3], (2, 3))
    moved = sparse.transpose(fibers, sum_duplicates=True)
    assert moved.crd[1].tolist() == [0, 1]
    assert moved.values.tolist() == [2, 4]


def test_result_shares_no_memory():
    fibers = sparse.CSF.from_coo(random_coords((4, 5), 9, 1), np.arange(9), (4, 5))
    arrays = [*fibers.pos, *fibers.crd, fibers.values]
    for moved in (sparse.transpose(fibers, (0, 1)), sparse.transpose(fibers)):
        for array in [*moved.pos, *moved.crd, moved.values]:
            assert not any(np.shares_memory(array, other) for other in arrays)
    assert not np.shares_memory(fibers.to_coo()[1], fibers.values)


def test_pickle():
    fibers = sparse.CSF.from_coo(random_coords((4, 5), 9, 1), np.arange(9), (4, 5))
    check(pickle.loads(pickle.dumps(fibers)).to_coo(), fibers.to_coo())


def test_scipy():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    x = scipy_sparse.random_array((30, 20), density=0.1, format="csr", rng=1)
    fibers = sparse.CSF.from_scipy(x)
    back = fibers.to_scipy()
    assert type(back) is scipy_sparse.coo_array
    np.testing.assert_array_equal(back.toarray(), x.toarray())
    fibers = sparse.transpose(x, format="csf")
    np.testing.assert_array_equal(fibers.to_scipy().toarray(), x.toarray().T)
    cube = scipy_sparse.coo_array(([1.0, 2.0], ([0, 1], [2, 0], [1, 1])), shape=(2, 3, 4))
    np.testing.assert_array_equal(sparse.CSF.from_scipy(cube).to_scipy().toarray(), cube.toarray())
    with pytest.raises(ValueError, match=r"SciPy holds scalars, not elements of shape \(2,\)"):
        sparse.CSF.from_coo([[0]], [[1, 2]], (3,)).to_scipy()


GOOD = {
    "shape": (3, 4),
    "pos": [[0, 2], [0, 1, 3]],
    "crd": [[0, 2], [1, 0, 3]],
    "values": np.arange(3.0),
}


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"shape": ()}, ValueError, r"shape \(\) of rank 0 has none"),
        ({"shape": (3, 4, 5)}, ValueError, "takes 3 levels, but pos has 2 and crd 2"),
        ({"pos": [[0, 2], [0, 1]]}, ValueError, r"pos\[1\] must have 3 pointers for 2 parents"),
        ({"pos": [[0, 2], [0, 4, 3]]}, ValueError, r"pos\[1\] must ascend from 0 to 3"),
        ({"pos": [[0, 2], [1, 1, 3]]}, ValueError, r"pos\[1\] must ascend from 0 to 3"),
        ({"pos": [[0, 3], [0, 1, 3]]}, ValueError, r"pos\[0\] must ascend from 0 to 2"),
        ({"pos": [[0, 2.0], [0, 1, 3]]}, TypeError, r"pos\[0\] must hold integers"),
        ({"crd": [[0, 3], [1, 0, 3]]}, ValueError, r"crd\[0\]\[1\] is 3.* extent 3"),
        ({"crd": [[0, 2], [1, -1, 3]]}, ValueError, r"crd\[1\]\[1\] is -1.* extent 4"),
        ({"crd": [[0, 2], [1.0, 0, 3]]}, TypeError, r"crd\[1\] must hold integers"),
        ({"values": np.arange(4)}, ValueError, "values has 4 elements for 3 nodes"),
        ({"values": np.array([None] * 3)}, TypeError, "Python objects"),
    ],
)
def test_levels_that_do_not_fit(changes, error, match):
    assert sparse.CSF(**GOOD).nnz == 3
    with pytest.raises(error, match=match):
        sparse.CSF(**GOOD | changes)


def test_scalars_have_no_levels():
    with pytest.raises(ValueError, match="a scalar has none"):
        sparse.transpose(([], [1], ()), format="csf")
