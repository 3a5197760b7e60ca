"""PyTorch's sparse tensors on the CPU."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from ttlg import sparse

from ..arrays import examples
from .tensors import check, dense, problems, random_coords, transposed

torch = pytest.importorskip("torch")

# fmt: off
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e5m2",
]
# fmt: on


@pytest.fixture(autouse=True)
def _quiet():
    """PyTorch warns that some layouts are new when the first tensor of one is made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def coo(coords, values, shape, **options):
    indices = torch.as_tensor(np.asarray(coords, np.int64))
    return torch.sparse_coo_tensor(indices, values, shape, check_invariants=False, **options)


def random_coo(shape, nnz, seed=0, dtype=torch.float64):
    """Return an uncoalesced tensor."""
    values = torch.arange(nnz).remainder(9).to(dtype)
    return coo(random_coords(shape, nnz, seed), values, shape)


def random_matrix(layout, index_dtype=torch.int64, seed=0):
    """Return compressed rows or columns."""
    x = random_coo((7, 9), 30, seed).coalesce().to_sparse(layout=layout)
    names = ("crow", "col") if layout == torch.sparse_csr else ("ccol", "row")
    pointers, indices = (getattr(x, f"{name}_indices")().to(index_dtype) for name in names)
    return torch.sparse_compressed_tensor(pointers, indices, x.values(), x.shape, layout=layout)


def arrays(x):
    return x._indices().numpy(), x._values().numpy(), tuple(x.shape)


@settings(max_examples=examples(60))
@given(problems(max_rank=5, extents=(1, 2, 3, 9, 1000), elements=[("f8", ()), ("f4", (3,))]))
def test_coordinates_of_any_rank(problem):
    tensor, axes = problem
    coords, values, shape = tensor
    inner = values.shape[1:]
    x = coo(coords, torch.from_numpy(values.copy()), (*shape, *inner))
    order = (*axes, *range(len(shape), len(shape) + len(inner)))
    result = sparse.transpose(x, order)
    torch.sparse_coo_tensor(
        result._indices(), result._values(), result.shape, check_invariants=True
    )
    assert result.layout == torch.sparse_coo
    expected = transposed(tensor, axes)
    check((result._indices().numpy(), result._values().numpy(), expected[2]), expected, np.int64)
    assert result.shape == (*expected[2], *inner)
    assert result.is_coalesced() == (np.unique(coords, axis=1).shape[1] == len(values))
    total = sparse.transpose(x, order, sum_duplicates=True)
    assert total.is_coalesced()
    moved = np.unique(expected[0], axis=1)
    np.testing.assert_array_equal(total._indices().numpy(), moved)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    x = random_coo((5, 6, 7), 40, 1, getattr(torch, dtype))
    result = sparse.transpose(x, (2, 0, 1))
    assert result.dtype == x.dtype
    coords, numbers, _ = transposed((x._indices().numpy(), np.arange(40), (5, 6, 7)), (2, 0, 1))
    np.testing.assert_array_equal(result._indices().numpy(), coords)
    expected = x._values()[torch.from_numpy(numbers)]
    assert result._values().view(torch.uint8).equal(expected.view(torch.uint8))


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float64", "complex64"])
def test_sums_as_coalesce_does(dtype):
    x = random_coo((4, 3), 50, 2, getattr(torch, dtype))
    result = sparse.transpose(x, sum_duplicates=True)
    expected = x.transpose(0, 1).coalesce()
    assert result.is_coalesced()
    assert result.indices().equal(expected.indices())
    assert result.values().equal(expected.values())


def test_what_cannot_be_added_is_refused():
    x = random_coo((4, 3), 50, 2, torch.float8_e5m2)
    with pytest.raises(TypeError, match=r"torch.float8_e5m2 cannot be added"):
        sparse.transpose(x, sum_duplicates=True)


def test_single_zeros_keep_their_sign():
    x = coo([[0, 1, 1], [1, 0, 0]], torch.tensor([-0.0, 1.0, 2.0]), (2, 2))
    values = sparse.transpose(x, sum_duplicates=True).values()
    assert values.tolist() == [3.0, 0.0]
    assert values.signbit().tolist() == [False, True]


def test_hybrid_tensors():
    values = torch.arange(2 * 3 * 4.0).reshape(2, 3, 4)
    x = coo([[1, 0], [0, 2]], values, (2, 3, 3, 4))
    for axes in [(1, 0, 2, 3), (1, 0, 3, 2), (0, 1, 3, 2), (-3, 0, -1, 2)]:
        result = sparse.transpose(x, axes)
        assert result.sparse_dim() == 2
        assert result._values().is_contiguous()
        assert result.to_dense().equal(x.to_dense().permute(axes))
    coords, elements, shape = sparse.transpose(x, (1, 0, 3, 2), format="raw")
    assert shape == (3, 2)
    assert elements.shape == (2, 4, 3)
    assert coords.tolist() == [[0, 2], [1, 0]]
    for axes in [None, (2, 1, 0, 3)]:
        with pytest.raises(
            ValueError, match=r"mix the sparse axes of A .* first 2, with its dense"
        ):
            sparse.transpose(x, axes)


def test_hybrid_rows():
    values = torch.arange(8.0).reshape(2, 2, 2)
    x = torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2]), torch.tensor([1, 0]), values, (2, 2, 2, 2), check_invariants=False
    )
    for fmt in (None, "csc", "coo"):
        result = sparse.transpose(x, (1, 0, 3, 2), format=fmt)
        assert result.to_dense().equal(x.to_dense().permute(1, 0, 3, 2))


def test_dense_axes_alone():
    x = coo(np.empty((0, 1)), torch.arange(6.0).reshape(1, 2, 3), (2, 3))
    assert sparse.transpose(x).to_dense().equal(x.to_dense().T)


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_csc])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("axes", [(1, 0), (0, 1)])
def test_compressed_matrices(layout, index_dtype, axes):
    x = random_matrix(layout, index_dtype)
    for fmt, target in [
        (None, layout),
        ("csr", torch.sparse_csr),
        ("csc", torch.sparse_csc),
        ("coo", torch.sparse_coo),
    ]:
        result = sparse.transpose(x, axes, format=fmt)
        assert result.layout == target
        assert result.to_dense().equal(x.to_dense().permute(axes))
        if fmt == "coo":
            assert result.is_coalesced()
            continue
        csr = target == torch.sparse_csr
        pointers = result.crow_indices() if csr else result.ccol_indices()
        indices = result.col_indices() if csr else result.row_indices()
        assert pointers.dtype == indices.dtype == index_dtype
        torch.sparse_compressed_tensor(
            pointers, indices, result.values(), result.shape, layout=target, check_invariants=True
        )


def test_coordinates_to_compressed_matrices():
    x = random_coo((7, 9), 30, 3)
    for fmt in ("csr", "csc"):
        result = sparse.transpose(x, format=fmt, sum_duplicates=True)
        assert result.to_dense().equal(x.to_dense().T)
        with pytest.raises(ValueError, match=f"duplicates, which PyTorch's format '{fmt}' cannot"):
            sparse.transpose(x, format=fmt)
    with pytest.raises(ValueError, match="format 'csr' is for two dimensions, not 3"):
        sparse.transpose(random_coo((2, 3, 4), 5), format="csr")
    with pytest.raises(ValueError, match=r"unknown format 'bsr' for PyTorch; choose one of 'coo'"):
        sparse.transpose(x, format="bsr")


def test_other_formats():
    x = random_coo((3, 4, 5), 30, 4)
    expected = x.to_dense().permute(1, 2, 0).numpy()
    np.testing.assert_array_equal(dense(sparse.transpose(x, (1, 2, 0), format="raw")), expected)
    fibers = sparse.transpose(x, (1, 2, 0), format="csf", sum_duplicates=True)
    np.testing.assert_array_equal(dense(fibers.to_coo()), expected)
    with pytest.raises(TypeError, match=r"NumPy has no dtype for the values of A, torch.bfloat16"):
        sparse.transpose(x.to(torch.bfloat16), format="raw")


def test_input_is_neither_modified_nor_aliased():
    x = random_coo((3, 4), 9, 5).coalesce()
    kept = [a.copy() for a in arrays(x)[:2]]
    for axes in [(0, 1), (1, 0)]:
        result = sparse.transpose(x, axes)
        for before, array in zip(kept, arrays(x)[:2], strict=True):
            np.testing.assert_array_equal(array, before)
        for mine in arrays(result)[:2]:
            assert not any(np.shares_memory(mine, array) for array in arrays(x)[:2])


def test_layouts_in_memory_and_conjugates():
    indices = torch.tensor([[0, 1], [2, 0], [1, 1]]).T  # one nonzero after another
    values = torch.tensor([1 + 1j, 2.0, 3j]).conj()
    x = torch.sparse_coo_tensor(indices, values, (3, 2), check_invariants=False)
    result = sparse.transpose(x)
    assert result.to_dense().equal(x.to_dense().T)


def test_threads_are_pytorchs(spy, monkeypatch):
    import ttlg
    from ttlg import _core

    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    used = spy(_core, "sparse_transpose", lambda result, *arguments: arguments[8])
    x = random_coo((3, 4), 9)
    sparse.transpose(x)
    sparse.transpose(x, threads=1)
    with ttlg.threads(2):
        sparse.transpose(x)
    assert used == [3, 1, 2]


def test_what_is_more_than_memory_is_refused():
    x = random_coo((3, 4), 9)
    with pytest.raises(BufferError, match=r"requires grad, .* pass A.detach\(\)"):
        sparse.transpose(x.clone().requires_grad_())
    with torch.no_grad():
        result = sparse.transpose(x.clone().requires_grad_())
    assert not result.requires_grad
    with pytest.raises(BufferError, match=r"A is on device meta, .* pass A.cpu\(\)"):
        sparse.transpose(x.to("meta"))


def test_blocks_and_batches_are_refused():
    x = torch.eye(4).to_sparse_bsr((2, 2))
    with pytest.raises(ValueError, match=r"layout torch.sparse_bsr, whose blocks ttlg does not"):
        sparse.transpose(x)
    batch = torch.eye(4).expand(2, 4, 4).to_sparse_csr()
    with pytest.raises(ValueError, match="has 1 batch dimensions"):
        sparse.transpose(batch, (0, 2, 1))


def test_damaged_indices_are_refused():
    x = coo([[0, 1], [2, 99]], torch.ones(2), (3, 4))
    with pytest.raises(ValueError, match="99"):
        sparse.transpose(x)
    for pointers, indices in [([0, 2, 1, 2], [0, 1]), ([0, 1, 1, 2], [0, 7]), ([0, 1, 9], [0, 1])]:
        y = torch.sparse_compressed_tensor(
            torch.tensor(pointers),
            torch.tensor(indices),
            torch.ones(2),
            (len(pointers) - 1, 4),
            layout=torch.sparse_csr,
            check_invariants=False,
        )
        with pytest.raises(ValueError, match=r"row|extent"):
            sparse.transpose(y)
