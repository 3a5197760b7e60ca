"""What NumPy's `from_dlpack` would make a read-only array of is not written to."""

import gc

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array
from .producer import READ_ONLY, Producer, exchanging


class Forwarding:
    """Forwards the DLPack export of an array of any library."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


DOORS = {
    "transpose": lambda x, out: ttlg.transpose(x, out=out),
    "copyto": lambda x, out: ttlg.copyto(out, x.T),
    "moveaxis": lambda x, out: ttlg.moveaxis(x, 0, 1, out=out),
    "swapaxes": lambda x, out: ttlg.swapaxes(x, 0, 1, out=out),
    "einsum": lambda x, out: ttlg.einsum("ij->ji", x, out=out),
    "plan": lambda x, out: ttlg.plan(x.shape, dtype=x.dtype)(x, out),
    "a plan that learns": lambda x, out: ttlg.plan_for(x, tune="learn")(x, out),
    "plan_for": lambda x, out: ttlg.plan_for(x, out=out)(x, out),
    "transpose_inplace": lambda x, out: ttlg.transpose_inplace(out),
    "asorder": lambda x, out: ttlg.asorder(out, "F", inplace=True),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_forwarded_jax_arrays_never_change(door):
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(24, dtype="float32").reshape(6, 4)
    before = bits(array)
    assert not np.from_dlpack(Forwarding(array)).flags.writeable
    with pytest.raises((BufferError, TypeError, ValueError)) as caught:
        door(random_array((4, 6), "f4"), Forwarding(array))
    assert "pass an array of NumPy, PyTorch or CuPy" in str(caught.value)
    assert bits(array) == before


@pytest.mark.parametrize(
    "door", [each for each in DOORS if each not in ("transpose_inplace", "asorder")]
)
@pytest.mark.parametrize(
    ("make", "fields", "words"),
    [
        (Producer, {"version": None}, r"Producer and shape \(6, 4\) .* numpy\.from_dlpack; pass"),
        (Producer, {"flags": READ_ONLY}, "read-only; pass a writable array"),
        (exchanging(), {"flags": READ_ONLY}, "read-only; pass a writable array"),
        (Producer, {}, None),
        (exchanging(), {}, None),
    ],
    ids=["unversioned", "read-only", "exchanged read-only", "writable", "exchanged writable"],
)
def test_as_numpy_reads_the_flags(door, make, fields, words):
    x = random_array((4, 6), "f4")
    out = make(np.zeros((6, 4), "f4"), **fields)
    out.shape = (6, 4)
    writable = np.from_dlpack(make(np.zeros((6, 4), "f4"), **fields)).flags.writeable
    assert writable == (words is None)
    if writable:
        DOORS[door](x, out)
        assert bits(out.array) == bits(x.T)
    else:
        with pytest.raises((BufferError, ValueError), match=words) as caught:
            DOORS[door](x, out)
        assert not out.array.any()
        del caught
    gc.collect()
    assert out.released_once


def test_the_tensor_of_pytorch_that_shares_the_memory_is_written_to():
    torch = pytest.importorskip("torch")
    x = random_array((4, 6), "f4")
    out = np.zeros((6, 4), "f4")
    with pytest.raises(BufferError, match="pass an array of NumPy, PyTorch or CuPy"):
        ttlg.transpose(x, out=Producer(out, version=None))
    ttlg.transpose(x, out=torch.from_dlpack(Producer(out, version=None)))
    assert bits(out) == bits(x.T)


def test_tensors_of_pytorch_versions_without_version_1(monkeypatch):
    torch = pytest.importorskip("torch")
    x = random_array((4, 6), "f4")
    out = torch.zeros(6, 4)
    monkeypatch.delattr(torch.Tensor, "__dlpack_c_exchange_api__", raising=False)
    old = torch.utils.dlpack.to_dlpack
    monkeypatch.setattr(torch.Tensor, "__dlpack__", lambda tensor, **_: old(tensor))
    ttlg.transpose(x, out=out)
    assert bits(out) == bits(x.T)
    assert bits(ttlg.transpose_inplace(out)) == bits(x)


def test_new_arrays_of_libraries_without_version_1():
    """What the library of `x` has just allocated for the result is written to."""

    class Array(Forwarding):
        device = "cpu"

        def __init__(self, memory):
            self.array = Producer(memory, version=None)
            self.memory, self.shape, self.dtype = memory, memory.shape, memory.dtype

        def __array_namespace__(self):
            return Array

        @staticmethod
        def empty(shape, *, dtype, device):
            return Array(np.empty(shape, dtype))

    x = Array(random_array((4, 6), "f4"))
    assert bits(ttlg.transpose(x).memory) == bits(x.memory.T)
