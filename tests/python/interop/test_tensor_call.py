"""The way of a tensor through the extension: one call, and what that asks PyTorch."""

import sys

import numpy as np
import pytest

import ttlg
from ttlg import _core

from ..arrays import bits, random_array
from . import fake_cuda
from .producer import CUDA, READ_ONLY, exchanging

AXES = (2, 0, 1)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def state(torch):
    return pytest.importorskip("ttlg._libraries.torch_state")


def hooks_with(state, **changed):
    names = (
        "attributes",
        "methods",
        "methods_of_complex",
        "states",
        "allocate",
        "threads",
        "after_write",
        "model_of",
    )
    return tuple(changed.get(name, hook) for name, hook in zip(names, state.HOOKS, strict=True))


def calls_of(function):
    """List the functions of Python and of the extension that a call enters, after a first one."""
    function()
    entered = []

    def note(frame, event, argument):
        if event == "call":
            entered.append(frame.f_code.co_name)
        elif event == "c_call" and argument.__module__ == _core.__name__:
            entered.append(argument)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.parametrize("with_out", [False, True], ids=["new", "out"])
def test_a_plain_tensor_enters_the_extension_once(torch, with_out):
    x = torch.rand(4, 5, 6)
    options = {"out": torch.empty(6, 4, 5)} if with_out else {}
    entered = calls_of(lambda: ttlg.transpose(x, AXES, **options))
    assert [each for each in entered if not isinstance(each, str)] == [_core.transpose_tensor]
    assert len(entered) < 20


def test_what_says_no_is_left_alone(torch, state):
    x, out = torch.rand(4, 5, 6), torch.zeros(6, 4, 5)
    version = out._version

    def moved(x, out=None, axes=AXES, **changed):
        return _core.transpose_tensor(x, axes, out, None, hooks_with(state, **changed))

    assert torch.equal(moved(x), x.permute(AXES))
    for changed in (
        {"attributes": ("is_leaf",)},
        {"methods": ("is_contiguous",)},
        {"states": (lambda: 0, lambda: 1)},
    ):
        assert moved(x, **changed) is None
        assert moved(x, out, **changed) is None
    for unfit in (
        out.numpy(),
        torch.zeros(6, 5, 4),
        torch.zeros(6, 4, 5, dtype=torch.int32),
        torch.zeros(6, 4, 1).expand(6, 4, 5),
        torch.zeros(6, 4, 5, requires_grad=True),
        torch.nn.Parameter(torch.zeros(6, 4, 5)),
        torch._neg_view(torch.zeros(6, 4, 5)),
        torch.empty(6, 4, 5, device="meta"),
        x.reshape(6, 4, 5),
    ):
        assert moved(x, unfit) is None
    for unfit in (x.numpy(), torch.tensor(1.0), torch.zeros(4, 0, 6), x.to_sparse(), "x"):
        assert moved(unfit) is None
    for axes in ((0, 0, 1), (0, 1), "abc", 3):
        assert moved(x, out, axes) is None
    assert moved(x, allocate="new_zeros") is not None
    assert moved(x[0, 0], axes=(0,), allocate="repeat") is None
    assert (out == 0).all()
    assert out._version == version


def test_an_interrupted_count_of_a_write_is_made_up_for(torch, state):
    counted = []

    def interrupted(out):
        counted.append(out)
        if len(counted) == 1:
            raise KeyboardInterrupt

    x, out = torch.rand(4, 5, 6), torch.zeros(6, 4, 5)
    hooks = hooks_with(state, after_write=interrupted)
    with pytest.raises(KeyboardInterrupt):
        _core.transpose_tensor(x, AXES, out, None, hooks)
    assert [id(each) for each in counted] == [id(out)] * 2
    assert torch.equal(out, x.permute(AXES))


def test_threads_are_those_of_pytorch_unless_others_are_chosen(torch, state):
    asked = []
    hooks = hooks_with(state, threads=lambda: asked.append(1) or 1)
    x = torch.rand(4, 5, 6)

    def move(threads):
        assert torch.equal(_core.transpose_tensor(x, AXES, None, threads, hooks), x.permute(AXES))

    move(None)
    assert asked == [1]
    move(2)
    with ttlg.threads(2):
        move(None)
    assert asked == [1]


class Lent(exchanging(base=fake_cuda.Tensor)):
    """A CUDA tensor of a PyTorch that has functions for compiled callers."""


Lent.__dlpack_c_exchange_api__ = Lent.__base__.__dlpack_c_exchange_api__


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("with_out", [False, True], ids=["new", "out"])
def test_a_call_on_a_gpu_asks_for_one_stream_and_no_context(
    monkeypatch, imaginary_devices, number, with_out
):
    library = fake_cuda.install_torch(monkeypatch, current=0x70)
    asked = []
    monkeypatch.setattr(library.cuda, "current_stream", asked.append)
    x = Lent(random_array((4, 6), "f4"), device=(CUDA, number))
    out = Lent(np.zeros((6, 4), "f4"), device=(CUDA, number)) if with_out else None
    monkeypatch.setattr(Lent.__base__, "told", ())
    with pytest.raises(ttlg.CudaError):  # there is no driver that takes such memory
        ttlg.transpose(x, out=out)
    assert Lent.told == ((CUDA, number),)
    assert x.calls == 0
    assert asked == library.contexts == library.streams == []
    assert x.released_once
    assert x.exported == 1
    if with_out:
        assert not out.array.any()
        assert (out.exported, out.released_once) == (1, True)


def test_another_stream_on_a_gpu_takes_no_context(monkeypatch, imaginary_devices):
    library = fake_cuda.install_torch(monkeypatch, current=0x70)
    x = Lent(random_array((4, 6), "f4"), device=(CUDA, 0))
    with pytest.raises(ttlg.CudaError):
        ttlg.transpose(x, stream=0x90)
    assert not library.contexts
    assert x.recorded == (0x90,)


def test_a_gpu_takes_no_threads(monkeypatch, imaginary_devices):
    fake_cuda.install_torch(monkeypatch, current=0x70)
    x = Lent(random_array((4, 6), "f4"), device=(CUDA, 0))
    with pytest.raises(ValueError, match="threads= is for device 'cpu', not 'cuda:0'"):
        ttlg.transpose(x, threads=2)


@pytest.mark.parametrize("flags", [0, READ_ONLY])
def test_tensors_of_the_host_that_a_library_lends(monkeypatch, flags):
    fake_cuda.install_torch(monkeypatch, current=0x70)
    monkeypatch.setattr(Lent, "is_cuda", False)
    x = Lent(random_array((4, 6), "f4"), device=(1, 0), flags=READ_ONLY)
    out = Lent(np.zeros((6, 4), "f4"), device=(1, 0), flags=flags)
    if flags:
        with pytest.raises(ValueError, match="read-only"):
            ttlg.transpose(x, out=out)
        assert not out.array.any()
    else:
        assert ttlg.transpose(x, out=out) is out
        assert bits(out.array) == bits(x.array.T)
        assert bits(ttlg.transpose(x).array) == bits(x.array.T)
