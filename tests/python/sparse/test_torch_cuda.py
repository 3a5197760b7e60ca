"""What is asked of CUDA for PyTorch's tensors, by a stand-in that sorts in host memory."""

import numpy as np
import pytest

import ttlg
from ttlg import _core
from ttlg.sparse import _torch_cuda

torch = pytest.importorskip("torch")


def sparse_of(coords, values, shape):
    return torch.sparse_coo_tensor(coords, values, shape, check_invariants=True)


@pytest.fixture(autouse=True)
def stream(monkeypatch):
    monkeypatch.setattr(_torch_cuda, "_stream_of", lambda device: 7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex128, torch.bool])
@pytest.mark.parametrize("axes", [(1, 0, 2, 3), (0, 1, 3, 2), (-3, 0, 2, 3)])
def test_same_as_on_the_cpu(on_host, axes, dtype):
    rng = np.random.default_rng(0)
    coords = torch.from_numpy(np.stack([rng.integers(0, 30, 500), rng.integers(0, 9, 500)]))
    values = torch.from_numpy(rng.integers(0, 2, (500, 3, 4))).to(dtype)
    one = torch.ones(500, 3, 4)
    for x in (
        sparse_of(coords, values, (30, 9, 3, 4)),
        sparse_of(coords, one, (30, 9, 3, 4)).coalesce(),
        sparse_of(coords[:, :0], values[:0], (30, 9, 3, 4)),
    ):
        order = tuple(axis % 4 for axis in axes)
        found = _torch_cuda.transpose(x, order, "coo", "auto", False)
        expected = ttlg.sparse.transpose(x, axes)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert torch.equal(found._indices(), expected._indices())
        assert torch.equal(found._values(), expected._values())
        assert found.is_coalesced() == x.is_coalesced()
        assert on_host[-1] == (x.is_coalesced(), None, 7)


def test_duplicates_are_added(on_host):
    x = sparse_of(torch.tensor([[1, 1, 0], [2, 2, 3]]), torch.ones(3), (4, 5))
    found = _torch_cuda.transpose(x, (1, 0), "coo", "auto", True)
    assert found.is_coalesced()
    assert torch.equal(found.to_dense(), x.to_dense().T)


def test_what_cuda_does_not_do(on_host):
    x = torch.eye(3).to_sparse()
    with pytest.raises(ValueError, match=r"'no_sort' sorts on the CPU, and A is on device"):
        _torch_cuda.transpose(x, (1, 0), "coo", "no_sort", False)
    with pytest.raises(BufferError, match=r"not 'csf'; pass A\.to_sparse_coo\(\), or A\.cpu"):
        _torch_cuda.transpose(x, (1, 0), "csf", "auto", False)
    assert not on_host


def test_a_build_without_cuda_says_so():
    if ttlg.show_config()["cuda"]["built"]:
        pytest.skip("this build has CUDA")
    with pytest.raises(ttlg.CudaError, match="built without CUDA"):
        _core.sparse_cuda_transpose([0], 0, 0, 0, 1, [3], [0], 8, 8, False, 0, 0, 0, 0)


def test_other_devices_are_refused():
    x = torch.eye(3).to_sparse().to("meta")
    with pytest.raises(BufferError, match=r"is on device meta, .*; pass A\.cpu\(\)"):
        ttlg.sparse.transpose(x)
