"""Libraries that ttlg has never heard of: the array API standard and DLPack are enough."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array
from .producer import VULKAN


class Namespace:
    """The part of an array API namespace that allocates."""

    allocated = 0

    @classmethod
    def empty(cls, shape, *, dtype=None, device=None):
        assert device == "host"
        cls.allocated += 1
        return Array(np.full(shape, 0xA5, f"u{dtype.itemsize}").view(dtype))


class Array:
    """An array of a library of its own."""

    device = "host"

    def __init__(self, array):
        self.array = array

    @property
    def dtype(self):
        return self.array.dtype

    def __array_namespace__(self, *, api_version=None):
        return Namespace

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", ["?", "u1", "f2", "i4", "f4", "f8", "c8"])
def test_result_is_allocated_by_the_library_of_x(dtype):
    if dtype == "c8":
        array = random_array((5, 3, 7), "f4").astype("c8")
    else:
        array = random_array((5, 3, 7), dtype)
    before = Namespace.allocated
    result = ttlg.transpose(Array(array), (2, 0, 1))
    assert type(result) is Array
    assert result.dtype == array.dtype
    assert Namespace.allocated == before + 1
    assert bits(result.array) == bits(array.transpose(2, 0, 1))


@pytest.mark.parametrize("shape", [(), (0,), (1, 5, 1), (3, 0, 2)])
def test_empty_and_unit_axes(shape):
    array = random_array(shape, "f4")
    result = ttlg.transpose(Array(array))
    assert result.array.shape == shape[::-1]
    assert bits(result.array) == bits(array.T)


@pytest.mark.parametrize(
    ("shape", "strides", "order"),
    [
        ((2, 3), (12, 4), "C"),
        ((2, 3), (4, 8), "F"),
        ((1, 3), (400, 4), "CF"),
        ((0, 3), (400, 40), "CF"),
        ((2, 3), (24, 8), ""),
    ],
)
def test_arrays_in_order_are_returned_as_they_are(shape, strides, order):
    array = np.lib.stride_tricks.as_strided(np.zeros(200, "f4"), shape, strides)
    x = Array(array)
    assert (ttlg.ascontiguousarray(x) is x) == ("C" in order)
    if "F" in order:
        assert ttlg.asfortranarray(x) is x


def test_plan():
    array = random_array((4, 5, 6), "f4")
    result = ttlg.plan(array.shape, (2, 0, 1))(Array(array))
    assert type(result) is Array
    assert bits(result.array) == bits(array.transpose(2, 0, 1))


def test_out():
    array = random_array((4, 6), "f4")
    out = Array(np.zeros((6, 4), "f4"))
    before = Namespace.allocated
    assert ttlg.transpose(Array(array), out=out) is out
    assert Namespace.allocated == before
    assert bits(out.array) == bits(array.T)


def test_read_only_arrays():
    array = random_array((4, 6), "f4")
    array.flags.writeable = False
    assert bits(ttlg.transpose(Array(array)).array) == bits(array.T)
    with pytest.raises(ValueError, match="read-only"):
        ttlg.transpose(np.zeros((6, 4), "f4"), out=Array(array))


def test_namespace_on_a_device_out_of_reach():
    class OnDevice(Array):
        device = "gpu"

        def __dlpack_device__(self):
            return (VULKAN, 0)

    with pytest.raises(BufferError, match=r"x lives on DLPack device type 7.*\.cpu\(\)"):
        ttlg.transpose(OnDevice(np.zeros((2, 3))))


def test_errors_of_the_library_pass():
    class Full(Namespace):
        @classmethod
        def empty(cls, shape, *, dtype=None, device=None):
            raise MemoryError("no room")

    class Large(Array):
        def __array_namespace__(self, *, api_version=None):
            return Full

    with pytest.raises(MemoryError, match="no room"):
        ttlg.transpose(Large(np.zeros((2, 3))))
