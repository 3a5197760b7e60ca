"""Buffers and objects with an array interface: NumPy views them, and so does ttlg."""

import array
import ctypes
import mmap

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array


class WithInterface:
    """Has NumPy's array interface, and nothing else."""

    def __init__(self, values):
        self.values = values
        self.__array_interface__ = values.__array_interface__


def ctypes_array(values):
    return ((ctypes.c_float * 5) * 3)(*map(tuple, values.tolist()))


KINDS = {
    "memoryview": memoryview,
    "memoryview of a transpose": lambda x: memoryview(np.asfortranarray(x)),
    "__array_interface__": WithInterface,
    "strided __array_interface__": lambda x: WithInterface(
        np.repeat(x, 2, axis=1)[::-1, ::2][::-1]
    ),
    "ctypes": ctypes_array,
}


@pytest.fixture
def x():
    return np.arange(15, dtype="f4").reshape(3, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_result_is_an_ndarray(kind, x):
    given = KINDS[kind](x)
    for result in (
        ttlg.transpose(given),
        ttlg.transpose(given, (1, 0), threads=1),
        ttlg.permute_dims(given, (-1, 0)),
        ttlg.moveaxis(given, 0, 1),
        ttlg.swapaxes(given, 0, -1),
        ttlg.plan_for(given, (1, 0))(given),
    ):
        assert type(result) is np.ndarray
        assert result.dtype == np.float32
        assert result.flags.c_contiguous
        assert bits(result) == bits(x.T)


@pytest.mark.parametrize("kind", KINDS)
def test_out(kind, x):
    out = KINDS[kind](np.zeros((3, 5), "f4"))
    columns = np.asfortranarray(x).T
    assert ttlg.transpose(columns, out=out) is out
    assert bits(np.asarray(out)) == bits(x)
    ttlg.copyto(out, -x)
    assert bits(np.asarray(out)) == bits(-x)
    assert ttlg.plan((5, 3))(np.ascontiguousarray(x.T), out) is out
    assert bits(np.asarray(out)) == bits(x)


def test_other_libraries(x):
    torch = pytest.importorskip("torch")
    out = torch.zeros(5, 3)
    ttlg.transpose(memoryview(x), out=out)
    assert bits(out.numpy()) == bits(x.T)
    given = memoryview(np.zeros((3, 5), "f4"))
    ttlg.transpose(out, out=given)
    assert bits(np.asarray(given)) == bits(x)


def test_one_dimension():
    for given in (array.array("d", [1, 2, 3]), bytearray(b"abc"), mmap.mmap(-1, 10)):
        assert bits(ttlg.transpose(given)) == bits(np.asarray(given))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 5, 1)])
def test_empty_and_unit_axes(shape):
    x = random_array(shape, "i8")
    assert bits(ttlg.transpose(memoryview(x))) == bits(x.T)
    assert ttlg.transpose(WithInterface(x)).shape == x.T.shape


def test_orders_and_places(x):
    given = memoryview(x.copy())
    assert ttlg.ascontiguousarray(given) is given
    columns = ttlg.asfortranarray(given)
    assert columns.flags.f_contiguous
    assert bits(columns) == bits(x)
    result = ttlg.transpose_inplace(given)
    assert np.shares_memory(result, np.asarray(given))
    assert bits(result) == bits(x.T)


@pytest.mark.parametrize("kind", KINDS)
def test_copyto_broadcasts(kind, x):
    out = np.empty((4, 3, 5), "f4")
    ttlg.copyto(out, KINDS[kind](x))
    assert (out == x).all()


def test_what_is_read_only_takes_no_result(x):
    for out in (memoryview(x.T.copy()).toreadonly(), memoryview(b"abc")):
        with pytest.raises(ValueError, match=r"out .*read-only"):
            ttlg.transpose(x if out.ndim == 2 else np.zeros(3, "u1"), out=out)


def test_overlap_is_seen(x):
    with pytest.raises(ValueError, match="overlaps"):
        ttlg.transpose(memoryview(x), out=memoryview(x).cast("B").cast("f", (5, 3)))


def test_python_objects_are_refused():
    with pytest.raises(TypeError, match="x has dtype object"):
        ttlg.transpose(WithInterface(np.array([None, 1])))
