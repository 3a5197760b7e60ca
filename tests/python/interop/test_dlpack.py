"""What a DLPack producer may hand over, and how it is read."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array
from .producer import READ_ONLY, SUBBYTE_PADDED, Producer, Silent, exchanging

VERSIONS = [(1, 0), (1, 1), (1, 9)]
FORMS = pytest.mark.parametrize("version", [None, *VERSIONS])
# What has no version is not written to.
OUTPUT_FORMS = pytest.mark.parametrize("version", VERSIONS)


def transposed(x, axes, shape, dtype):
    """Return the bits that ttlg writes into a poisoned NumPy array, after a look at the deleters."""
    out = np.frombuffer(bytearray(b"\xa5" * np.zeros(shape, dtype).nbytes), dtype).reshape(shape)
    assert ttlg.transpose(x, axes, out=out) is out
    assert x.released_once
    return bits(out)


@FORMS
@pytest.mark.parametrize("offset", [4, 8, 12, 100])
def test_byte_offset_is_added(version, offset):
    memory = random_array((100,), "f4")
    array = memory[offset // 4 :][:24].reshape(4, 6)
    fields = {"shape": (4, 6), "strides": (6, 1), "byte_offset": offset, "version": version}
    assert transposed(Producer(memory, **fields), None, (6, 4), "f4") == bits(array.T)
    if version is not None:  # else it is not written to
        written, expected = np.zeros((2, 100), "f4")
        out = Producer(written, **fields)
        assert ttlg.transpose(array.T.copy(), out=out) is out
        assert out.released_once
        expected[offset // 4 :][:24] = array.ravel()
        assert bits(written) == bits(expected)


@FORMS
@pytest.mark.parametrize("shape", [(), (5,), (3, 4, 5), (3, 0, 5)])
def test_null_strides_mean_compact(version, shape):
    array = random_array(shape, "i4")
    x = Producer(array, strides="null", version=version)
    assert transposed(x, None, shape[::-1], "i4") == bits(array.T)


@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16"])
def test_negative_strides_divided_as_unsigned(dtype):
    """CuPy 14 exports them so."""
    array = random_array((3, 4, 6), dtype)[::-1, :, ::-2]
    strides = tuple(step % 2**64 // array.itemsize for step in array.strides)
    assert max(strides) > 2**59
    expected = array.transpose(1, 2, 0)
    x = Producer(array, strides=strides)
    assert transposed(x, (1, 2, 0), expected.shape, dtype) == bits(expected)


@pytest.mark.parametrize("garbage", [0, -1, 10**9, 2**62, 2**63 - 1, -(2**62), -(2**63)])
def test_strides_of_axes_of_one_element_mean_nothing(garbage):
    array = random_array((4, 6), "f4")
    x = Producer(array, (1, 4, 1, 6), (garbage, 6, garbage, 1))
    assert transposed(x, None, (6, 1, 4, 1), "f4") == bits(array.T)
    out = Producer(np.empty((6, 4), "f4"), (6, 1, 4, 1), (4, garbage, 1, garbage))
    ttlg.transpose(array.reshape(1, 4, 1, 6), out=out)
    assert bits(out.array) == bits(array.T)


@pytest.mark.parametrize("garbage", [0, -1, 10**9, 2**62, 2**63 - 1, -(2**62), -(2**63)])
def test_strides_of_empty_arrays_mean_nothing(garbage):
    x = Producer(np.empty(1, "f4"), (4, 0, 6), (garbage,) * 3)
    out = Producer(np.empty(1, "f4"), (6, 0, 4), (garbage,) * 3)
    assert ttlg.transpose(x, out=out) is out
    assert ttlg.plan((4, 0, 6))(x, out) is out


def test_empty_array_without_memory():
    x = Producer(np.empty((0, 4), "f4"), null_data=True)
    assert transposed(x, None, (4, 0), "f4") == b""


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("c8", {"dtype": (2, 32, 2)}),  # lanes, which move together
        ("u1", {"dtype": (0, 4, 1), "flags": SUBBYTE_PADDED}),  # in whole bytes
    ],
)
def test_elements_that_numpy_does_not_know(word, fields):
    x = Producer(random_array((4, 6), word), **fields)
    out = Producer(np.empty((6, 4), word), **fields)
    ttlg.transpose(x, out=out)
    assert bits(out.array) == bits(x.array.T)


class Old(Producer):
    """From before max_version."""

    def __dlpack__(self):
        return self.capsule()


@pytest.mark.parametrize(
    ("make", "fields"),
    [
        (Old, {"version": None}),
        (Old, {"version": (1, 1)}),
        (Silent, {}),
        (Producer, {"flags": READ_ONLY}),
    ],
)
def test_inputs_of_many_kinds(make, fields):
    array = random_array((4, 6), "f4")
    x = make(array, **fields)
    assert transposed(x, None, (6, 4), "f4") == bits(array.T)
    assert x.exported == 1


def test_producer_is_asked_for_version_1():
    class Curious(Producer):
        def __dlpack__(self, **keywords):
            self.asked = keywords
            return self.capsule()

    x = Curious(random_array((4, 6), "f4"))
    ttlg.transpose(x, out=np.empty((6, 4), "f4"))
    assert x.asked["max_version"][0] == 1
    assert x.asked.get("stream") is None  # the only value there is for host memory


@OUTPUT_FORMS
def test_memory_is_borrowed_until_the_elements_have_moved(version):
    class Watching(Producer):
        seen = None

        def _delete(self, address):
            super()._delete(address)
            self.seen = bits(out.array)

    array = random_array((4, 6), "f4")
    x = Watching(array, version=version)
    out = Watching(np.zeros((6, 4), "f4"), version=version)
    ttlg.transpose(x, out=out)
    assert x.seen == out.seen == bits(array.T)


def test_exchange_functions_are_preferred():
    array = random_array((3, 4, 5), "f4")
    x = exchanging()(array)
    assert transposed(x, (2, 0, 1), (5, 3, 4), "f4") == bits(array.transpose(2, 0, 1))
    out = exchanging()(np.zeros((5, 4, 3), "f4"))
    assert ttlg.transpose(x, out=out) is out
    assert bits(out.array) == bits(array.T)
    for producer, exports in ((x, 2), (out, 1)):
        assert producer.calls == 0
        assert producer.exported == exports
        assert producer.released_once


class NoCapsule(exchanging()):
    __dlpack_c_exchange_api__ = 3


class Subclass(exchanging()):
    """May export in another way."""


@pytest.mark.parametrize(
    "kind",
    [
        exchanging(version=(2, 0)),
        exchanging(name=b"another name"),
        exchanging(status=-1),
        NoCapsule,
        Subclass,
    ],
)
def test_without_exchange_functions_the_method_is_called(kind):
    array = random_array((3, 4, 5), "f4")
    x = kind(array)
    assert transposed(x, (2, 0, 1), (5, 3, 4), "f4") == bits(array.transpose(2, 0, 1))
    assert x.calls == x.exported == 1
