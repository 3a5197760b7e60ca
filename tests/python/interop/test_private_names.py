"""What ttlg uses of other libraries that they do not document is there, and what is not is refused."""

import importlib
import inspect
import mmap
import weakref

import numpy as np
import pytest

from ttlg._libraries.private_names import find


def test_a_missing_name_is_refused_with_the_release():
    message = f"ttlg uses numpy.linalg._no, which numpy {np.__version__} lacks: install a release"
    with pytest.raises(ImportError, match=message):
        find("numpy.linalg", "_no")
    with pytest.raises(ImportError, match=r"ttlg uses numpy\.ndarray\._no, which numpy"):
        find(np.ndarray, "_no")
    with pytest.raises(ImportError, match=r"ttlg uses numpy\._no\.name, which numpy"):
        find("numpy._no", "name")


def test_the_state_of_pytorch():
    torch = pytest.importorskip("torch")
    private = importlib.import_module("ttlg._libraries.torch_private")
    asked = []

    def ask(x):
        asked.append((private.are_transforms_active(), private.is_forward_differentiating()))
        return x

    ask(None)
    torch.func.grad(ask)(torch.tensor(1.0))
    with torch.autograd.forward_ad.dual_level():
        ask(None)
    assert asked == [(False, False), (True, False), (False, True)]
    assert (private.is_tracing(), private.count_of_modes()) == (False, 0)


def test_the_dispatcher_of_pytorch():
    torch = pytest.importorskip("torch", minversion="2.5")
    names = importlib.import_module("ttlg._libraries.torch_private").operator_names()
    assert callable(names.single_level_function.apply)
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
    assert not (keys & names.keys_below_autograd).has(torch._C.DispatchKey.AutogradCPU)
    for manager in (
        names.enable_single_level_function(),
        names.set_forward_grad_enabled(True),
        names.below_autograd(),
    ):
        with manager:
            pass


def test_a_release_of_pytorch_without_a_name_is_refused(monkeypatch):
    torch = pytest.importorskip("torch")
    private = importlib.import_module("ttlg._libraries.torch_private")
    monkeypatch.delattr(torch._C, "_is_tracing")
    with pytest.raises(ImportError, match=r"ttlg uses torch\._C\._is_tracing, which torch 2"):
        importlib.reload(private)
    monkeypatch.undo()
    importlib.reload(private)


def test_a_block_of_dask_without_elements():
    da = pytest.importorskip("dask.array")
    meta = find(da.Array, "_meta").__get__(da.zeros((4, 6), chunks=2, dtype="f4"))
    assert isinstance(meta, np.ndarray)
    assert (meta.ndim, meta.size, meta.dtype) == (2, 0, np.float32)


def test_the_workers_of_dask():
    worker = pytest.importorskip("distributed.worker")
    assert isinstance(worker.Worker._instances, weakref.WeakSet)


def test_the_codec_of_zarr():
    zarr = pytest.importorskip("zarr", minversion="3")
    method = find(zarr.codecs.TransposeCodec, "_encode_single")
    assert [*inspect.signature(method).parameters] == ["self", "chunk_array", "_chunk_spec"]
    assert inspect.iscoroutinefunction(method)


def test_a_memmap_ends_at_its_mapping(tmp_path):
    mapped = np.memmap(tmp_path / "x", np.uint8, "w+", shape=(4, 6))
    assert isinstance(mapped.base, mmap.mmap)
    assert mapped[1:, ::2].base is mapped
