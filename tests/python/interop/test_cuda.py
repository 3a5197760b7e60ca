"""Arrays on CUDA devices, up to the launch: streams, devices, allocation, what is refused."""

import gc
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ttlg
from ttlg import _core

from ..arrays import random_array
from . import fake_cuda
from .fake_cuda import MODEL, OnCuda
from .producer import CUDA, Producer, exchanging

DEFAULT = 1  # CUDA's default stream, in DLPack's numbering
MANAGED = 13
pytestmark = pytest.mark.usefixtures("imaginary_devices")


def pair(**fields):
    return (
        OnCuda(random_array((4, 6), "f4"), **fields),
        OnCuda(random_array((6, 4), "f4", seed=1), **fields),
    )


def check_refused(call, error, match=None):
    """Expect an error, and let go of the borrowed arrays that its traceback holds."""
    with pytest.raises(error, match=match) as caught:
        call()
    del caught
    gc.collect()


def check_launch_fails(call, *arrays):
    """Expect the driver's refusal, nothing written, and every export deleted once."""
    before = [array.array.copy() for array in arrays]
    check_refused(call, ttlg.CudaError)
    for array, kept in zip(arrays, before, strict=True):
        assert (array.array == kept).all()
        assert array.exported > 0
        assert array.released_once


@pytest.mark.parametrize("device", [(CUDA, 0), (CUDA, 3), (MANAGED, 1)])
@pytest.mark.parametrize("version", [None, (1, 1)])
def test_arrays_are_ordered_on_the_default_stream(device, version):
    (x, _), (_, out) = pair(device=device, version=version), pair(device=device)
    check_launch_fails(lambda: ttlg.transpose(x, out=out), x, out)
    assert x.asked == out.asked == [DEFAULT]


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (7, 7),
        (0, DEFAULT),
        (2, 2),
        (np.uint64(2**63), 2**63),
        (SimpleNamespace(cuda_stream=9), 9),
        (SimpleNamespace(ptr=0), DEFAULT),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 11)), 11),
        (SimpleNamespace(__cuda_stream__=(0, 11), ptr=3), 11),
    ],
    ids=["handle", "0", "per-thread", "numpy", "torch", "cupy", "protocol", "old protocol"],
)
def test_arrays_are_ordered_on_the_given_stream(stream, handle):
    x, out = pair()
    check_launch_fails(lambda: ttlg.transpose(x, out=out, stream=stream), x, out)
    assert x.asked == out.asked == [handle]
    plan = ttlg.Plan(_core.cuda_plan_for(_core.view(x, "x"), (1, 0), None, MODEL), "f4")
    for call in (lambda: plan(x, out, stream=stream), lambda: plan(x, out, stream)):
        check_launch_fails(call, x, out)
        assert x.asked[-1] == out.asked[-1] == handle


@pytest.mark.parametrize("stream", ["1", 1.5, -1, 2**64, object(), SimpleNamespace(ptr=None)])
def test_what_is_no_stream(stream):
    x, out = pair()
    check_refused(
        lambda: ttlg.transpose(x, out=out, stream=stream),
        TypeError,
        match="stream must be the handle of a CUDA stream, a stream of",
    )
    assert x.exported == 0


def test_producers_that_predate_versions_get_the_stream():
    class Old(OnCuda):
        def __dlpack__(self, *, stream):
            self.asked.append(stream)
            return self.capsule()

    x, out = Old(random_array((4, 6), "f4"), version=None), pair()[1]
    check_launch_fails(lambda: ttlg.transpose(x, out=out, stream=5), x, out)
    assert x.asked == [5]


def test_the_exchange_functions_order_nothing():
    x, out = exchanging()(random_array((4, 6), "f4"), device=(CUDA, 0)), pair()[1]
    check_launch_fails(lambda: ttlg.transpose(x, out=out, stream=5), x, out)
    assert x.asked == (5,)
    view = _core.view_on_stream(x, "x", 6, True)
    assert (view.device, view.stream, x.asked) == ("cuda:0", 6, (5,))


def test_a_device_that_only_the_capsule_tells():
    class Silent(OnCuda):
        __dlpack_device__ = property()

    x, out = Silent(random_array((4, 6), "f4")), pair()[1]
    check_refused(
        lambda: ttlg.transpose(x, out=out),
        BufferError,
        match=r"x lives on cuda:0, but its __dlpack_device__\(\)",
    )


@pytest.mark.parametrize(
    ("x_device", "out_device"), [(0, None), (None, 0), (0, 1), (2, 0)], ids=str
)
def test_different_devices(x_device, out_device):
    def array(shape, device):
        zeros = np.zeros(shape, "f4")
        return zeros if device is None else OnCuda(zeros, device=(CUDA, device))

    x, out = array((4, 6), x_device), array((6, 4), out_device)
    names = ["cpu" if d is None else f"cuda:{d}" for d in (out_device, x_device)]
    message = f"out lives on {names[0]}, but x lives on {names[1]}; pass out on {names[1]}"
    check_refused(lambda: ttlg.transpose(x, out=out), BufferError, match=message)


def test_threads_are_for_the_host():
    x, out = pair()
    check_refused(
        lambda: ttlg.transpose(x, out=out, threads=2),
        ValueError,
        match="threads= is for device 'cpu', not 'cuda:0': leave it out",
    )


def test_out_that_cannot_take_the_result():
    x, _ = pair()
    for out, error, message in (
        (OnCuda(np.zeros((4, 6), "f4")), ValueError, r"out has shape \(4, 6\)"),
        (OnCuda(np.zeros((6, 4), "i4")), TypeError, "converts nothing"),
        (OnCuda(np.zeros((6, 4), "f4"), flags=1), ValueError, "read-only"),
        (OnCuda(x.array, shape=(6, 4), strides=(4, 1)), ValueError, "overlaps"),
        (None, TypeError, r"OnCuda.*__array_namespace__; pass .* as out="),
    ):
        check_refused(lambda out=out: ttlg.transpose(x, out=out), error, match=message)


def test_plans_for_another_device():
    x, out = pair()
    host = ttlg.plan((4, 6), (1, 0))
    modelled = ttlg.plan((4, 6), (1, 0), device="tesla-k40c")
    for call, message in (
        (lambda: host(x, out), "for the device 'cpu', but x lives on cuda:0; .*cuda:0"),
        (lambda: modelled(x, out), "device 'tesla-k40c', but x lives on cuda:0; make anoth"),
        (lambda: modelled(x.array, out.array), "'tesla-k40c', but x lives on cpu.*device='cpu'"),
        (lambda: modelled(x.array, out.array, stream=1), "stream= is for arrays on a CUDA device"),
    ):
        check_refused(call, ValueError, match=message)


def test_plans_run_on_their_layout_only():
    plan = ttlg.Plan(
        _core.cached_cuda_plan(_core.Request((4, 6), (24, 4), 4, (1, 0)), MODEL, None), "f4"
    )
    x, out = pair()
    check_launch_fails(lambda: plan(x, out), x, out)
    for other in (OnCuda(np.zeros((4, 5), "f4")), OnCuda(np.zeros((4, 12), "f4")[:, ::2])):
        check_refused(
            lambda array=other: plan(array, out), ValueError, match="this plan is for x of"
        )


def rgb(offset=0):
    """Return pixels of four bytes, which make words where the address allows."""
    raw = random_array((1280,), "u1")
    start = -raw.ctypes.data % 16 + offset
    return OnCuda(raw[start : start + 15 * 20 * 4].reshape(15, 20, 4))


def test_plans_depend_on_what_both_addresses_allow():
    def alignment(offset, out_offset=None):
        out = None if out_offset is None else _core.view(rgb(out_offset), "out")
        x = _core.view(rgb(offset), "x")
        plan = _core.cuda_plan_for(x, (1, 0, 2) if out is None else (0, 1, 2), out, MODEL)
        return plan.pointer_alignment, plan.describe()["word_bytes"]

    offsets = (0, 8, 4, 2, 1, 3, 12)
    found = [alignment(offset) for offset in offsets]
    assert [given for given, _ in found] == [16, 8, 4, 2, 1, 1, 4]
    assert [word for _, word in found] == [4, 4, 4, 2, 1, 1, 4]
    info = ttlg.cache_info()
    assert (info.hits, info.misses, info.currsize) == (2, 5, 5)
    assert alignment(0, 4)[0] == alignment(4, 0)[0] == 4


def test_a_plan_refuses_addresses_that_its_words_do_not_fit():
    plan = ttlg.Plan(
        _core.cached_cuda_plan(_core.Request((15, 20, 4), (80, 4, 1), 1, (1, 0, 2)), MODEL, None),
        "u1",
    )
    out = OnCuda(np.zeros((20, 15, 4), "u1"))
    check_refused(
        lambda: plan(rgb(2), out), ValueError, match=r"moves 4 bytes at once.*call ttlg\.transpose"
    )
    check_launch_fails(lambda: plan(rgb(8), out), out)


def test_host_and_device_share_no_plan():
    host = Producer(random_array((4, 6), "f4"))
    x, out = pair()
    for number in (1, 2):
        ttlg.transpose(host, out=np.zeros((6, 4), "f4"))
        check_refused(lambda: ttlg.transpose(x, out=out), ttlg.CudaError)
        assert ttlg.cache_info().currsize == 2
        assert ttlg.cache_info().hits == 2 * (number - 1)
    ttlg.cache_clear()
    assert ttlg.cache_info()[:2] == (0, 0)
    assert ttlg.cache_info().currsize == 0


def test_torch_orders_nothing_on_its_own_stream(monkeypatch):
    library = fake_cuda.install_torch(monkeypatch, current=0x70)
    x = fake_cuda.Tensor(random_array((4, 6), "f4"))
    check_launch_fails(lambda: ttlg.transpose(x), x)
    check_launch_fails(lambda: ttlg.transpose(x, stream=0x70), x)
    assert set(x.asked) == {-1}
    assert not library.streams
    assert not x.recorded


@pytest.mark.parametrize("default", [0, 1])
def test_torch_is_ordered_on_the_default_stream_beside_its_own(monkeypatch, default):
    library = fake_cuda.install_torch(monkeypatch, current=0x70)
    x = fake_cuda.Tensor(random_array((4, 6), "f4"))
    check_launch_fails(lambda: ttlg.transpose(x, stream=default), x)
    assert {stream.cuda_stream for stream in library.streams} == {0}
    assert all(stream.waited == [0x70] for stream in library.streams)


def test_torch_is_ordered_on_another_stream(monkeypatch):
    library = fake_cuda.install_torch(monkeypatch, current=0)
    x = fake_cuda.Tensor(random_array((4, 6), "f4"))
    out = fake_cuda.Tensor(random_array((6, 4), "f4"))
    check_launch_fails(lambda: ttlg.transpose(x, out=out, stream=0x90), x, out)
    assert x.asked == out.asked == [-1]
    assert [stream.cuda_stream for stream in library.streams] == [0x90, 0x90]
    assert all(stream.waited == [0] for stream in library.streams)
    assert x.recorded == out.recorded == (0x90,)


def test_torch_tensors_take_part_in_the_stream_of_others(monkeypatch):
    fake_cuda.install_torch(monkeypatch, current=0x70)
    x, _ = pair()
    out = fake_cuda.Tensor(random_array((6, 4), "f4"))
    check_launch_fails(lambda: ttlg.transpose(x, out=out), x, out)
    assert x.asked == [DEFAULT]
    assert out.recorded == (0,)


@pytest.mark.parametrize(("stream", "handle"), [(None, 0x70), (0x90, 0x90)])
def test_cupy_allocates_on_the_stream(monkeypatch, stream, handle):
    library = fake_cuda.cupy(current=0x70)
    monkeypatch.setitem(sys.modules, "cupy", library)
    x = fake_cuda.CupyArray(random_array((4, 6), "f4"))
    check_launch_fails(lambda: ttlg.transpose(x, stream=stream), x)
    ((result, allocated_on),) = library.allocated
    assert result.array.shape == (6, 4)
    assert x.asked == result.asked == [handle]
    assert allocated_on == handle
    assert library.current == 0x70


def test_jax_is_waited_for(monkeypatch):
    library = fake_cuda.jax()
    monkeypatch.setitem(sys.modules, "jax", library)
    x = fake_cuda.JaxArray(random_array((4, 6), "f4"))
    check_launch_fails(lambda: ttlg.transpose(x), x)
    (result,) = library.allocated
    assert result.array.shape == (6, 4)
    assert x.waited
    assert result.waited
    assert x.asked == result.asked == [DEFAULT]
    check_refused(
        lambda: ttlg.transpose(pair()[0], out=fake_cuda.JaxArray(np.zeros((6, 4), "f4"))),
        ValueError,
        match="read-only",
    )


@pytest.mark.skipif(not _core.cuda_config()["built"], reason="built without CUDA")
def test_nothing_is_launched_for_nothing():
    x, out = OnCuda(np.zeros((0, 6), "f4")), OnCuda(np.zeros((6, 0), "f4"))
    assert ttlg.transpose(x, out=out) is out


def test_synchronising_reports_errors():
    check_refused(
        lambda: _core.synchronize(_core.view(OnCuda(np.zeros(3), device=(CUDA, 4095)), "x")),
        ttlg.CudaError,
    )
