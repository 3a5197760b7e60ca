"""Every array library has one module with the same functions, and none of them is imported."""

import importlib
import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ttlg
from ttlg import _core, _libraries
from ttlg._libraries.cupy import CuPy
from ttlg._libraries.dlpack import Library
from ttlg._libraries.jax import Jax
from ttlg._libraries.numpy import Buffers, NumPy
from ttlg._libraries.private_names import find
from ttlg._libraries.torch import Torch
from ttlg._libraries.xarray import Xarray

from ..arrays import bits, random_array
from . import fake_cuda
from .fake_cuda import OnCuda
from .kinds import Array, Namespace
from .producer import VULKAN, Producer

NAMED = [NumPy, Torch, CuPy, Jax, Xarray, Buffers]
IMPORTED_BY_THE_CALLER = [Torch, CuPy, Jax, Xarray]


def functions(cls):
    return {
        name: list(inspect.signature(member).parameters)
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("cls", NAMED, ids=lambda cls: cls.__name__)
def test_every_library_offers_the_same_functions(cls):
    assert functions(cls) == functions(Library)


@pytest.mark.parametrize("cls", IMPORTED_BY_THE_CALLER, ids=lambda cls: cls.__name__)
def test_a_library_is_found_by_its_array_class(monkeypatch, cls):
    module, name = cls.array_class
    array = type("Array", (), {})
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(**{name: array}))
    library = _libraries.library_of(array())
    assert type(library) is cls
    assert not library.owns(object())


def test_what_belongs_to_no_library_goes_by_dlpack():
    for x in (Producer(np.zeros(3)), OnCuda(np.zeros(3)), 3, None):
        assert type(_libraries.library_of(x)) is Library


def test_stand_ins_for_tensors_belong_to_pytorch_where_it_is_imported(monkeypatch):
    stand_in = type("StandIn", (), {"__torch_function__": None})()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert type(_libraries.library_of(stand_in)) is Torch
    monkeypatch.delitem(sys.modules, "torch")
    assert type(_libraries.library_of(stand_in)) is Library


@pytest.mark.parametrize("module", ["torch", "cupy", "jax", "xarray"])
def test_a_library_that_is_being_imported_owns_nothing(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, SimpleNamespace())
    assert type(_libraries.library_of(np.zeros(3))) is NumPy
    assert type(_libraries.library_of(object())) is Library


def test_views_say_whether_they_are_on_the_host():
    x = random_array((4, 6), "f4")
    for on_host in (x, Producer(x), Producer(x, device=(fake_cuda.CUDA + 1, 0))):
        view = _core.view(on_host, "x")
        assert (view.on_host, view.device, view.stream) == (True, "cpu", 0)
    view = _core.view(OnCuda(x), "x")
    assert (view.on_host, view.device) == (False, "cuda:0")
    assert view.stream != 0


def test_a_frozen_view_takes_no_result():
    x, out = (_core.view(np.zeros((3, 3)), name) for name in ("x", "out"))
    _core.check_out(x, (1, 0), out)
    out.freeze()
    assert out.readonly
    with pytest.raises(ValueError, match="read-only"):
        _core.check_out(x, (1, 0), out)


def stack_of(name):
    if name == "numpy":
        return np.asarray, np.stack
    module = pytest.importorskip(name)
    return module.asarray, module.stack


@pytest.mark.parametrize("name", ["numpy", "torch", "jax.numpy"])
@pytest.mark.parametrize("kind", [list, tuple])
def test_several_arrays_are_refused_with_what_to_call(name, kind):
    as_array, stack = stack_of(name)
    arrays = kind(as_array(np.arange(6.0).reshape(2, 3) + n) for n in range(4))
    message = rf"^\w+ must be an array .*; stack its arrays first, as {name}\.stack\(\w+\) does, or"
    for call in (
        ttlg.transpose,
        lambda x: ttlg.permute_dims(x, (2, 0, 1)),
        lambda x: ttlg.permute(x, 2, 0, 1),
        lambda x: ttlg.moveaxis(x, 0, -1),
        lambda x: ttlg.swapaxes(x, 0, 1),
        lambda x: ttlg.copyto(np.zeros((4, 2, 3)), x),
        ttlg.ascontiguousarray,
        ttlg.plan_for,
        ttlg.plan((4, 2, 3)),
        ttlg.flip,
        ttlg.rot90,
    ):
        with pytest.raises(TypeError, match=message):
            call(arrays)
    assert bits(np.asarray(ttlg.transpose(stack(arrays)))) == bits(np.transpose(arrays))  # as told


def test_an_array_of_the_standard_on_a_device_out_of_reach():
    class OnDevice(Array):
        device = "gpu"

        def __dlpack_device__(self):
            return (VULKAN, 0)

    with pytest.raises(BufferError, match=r"x lives on DLPack device type 7.*\.cpu\(\)"):
        ttlg.transpose(OnDevice(np.zeros((2, 3))))


def test_errors_of_the_library_pass(monkeypatch):
    def full(shape, **options):
        raise MemoryError("no room")

    monkeypatch.setattr(Namespace, "empty", full)
    with pytest.raises(MemoryError, match="no room"):
        ttlg.transpose(Array(np.zeros((2, 3))))


def test_a_missing_name_is_refused_with_the_release():
    message = f"ttlg uses numpy.linalg._no, which numpy {np.__version__} lacks: install a release"
    with pytest.raises(ImportError, match=message):
        find("numpy.linalg", "_no")
    with pytest.raises(ImportError, match=r"ttlg uses numpy\.ndarray\._no, which numpy"):
        find(np.ndarray, "_no")
    with pytest.raises(ImportError, match=r"ttlg uses numpy\._no\.name, which numpy"):
        find("numpy._no", "name")


def test_a_release_of_pytorch_without_a_name_is_refused(monkeypatch):
    torch = pytest.importorskip("torch")
    private = importlib.import_module("ttlg._libraries.torch_private")
    monkeypatch.delattr(torch._C, "_is_tracing")
    with pytest.raises(ImportError, match=r"ttlg uses torch\._C\._is_tracing, which torch 2"):
        importlib.reload(private)
    monkeypatch.undo()
    importlib.reload(private)
