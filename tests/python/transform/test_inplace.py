"""Elements that are computed and permuted in the memory that they have."""

import itertools

import numpy as np
import pytest

import ttlg

from . import oracle
from .oracle import assert_same, dtype_of, hostile

PAIRS = [
    *(("float32", "float32"), ("int32", "float32"), ("float32", "int32"), (">f4", "float32")),
    *((">i2", "float16"), ("float16", "bfloat16"), ("uint8", "bool"), ("complex64", "complex64")),
    *((">c16", "complex128"), ("float64", "complex64"), ("int8", "float8_e5m2")),
]


def filled(shape, source, order):
    dtype = np.dtype(dtype_of(source))
    values = hostile(dtype.newbyteorder("=")).astype(dtype)
    return np.asarray(np.resize(values, shape), order=order)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_every_permutation(source, result, order):
    shape = (7, 33, 12)
    scale = np.linspace(-2, 3, 33)
    for axes in itertools.permutations(range(3)):
        x = filled(shape, source, order)
        place = [1, 1, 1]
        place[axes.index(1)] = 33
        wanted = oracle.transform(
            x.transpose(axes),
            dtype_of(result),
            scale.reshape(place),
            3,
            conj=True,
        )
        y = ttlg.transform_inplace(
            x, axes, dtype=result, scale=scale, offset=3, axis=1, conj=True, threads=2
        )
        assert_same(np.ascontiguousarray(y), wanted)
        assert y.flags.c_contiguous if order == "C" else y.flags.f_contiguous
        assert np.shares_memory(x, y)


def test_bytes_alone_are_brought_into_order():
    x = np.arange(24, dtype=">i8").reshape(2, 3, 4)
    y = ttlg.transform_inplace(x)
    assert y.dtype == np.int64
    assert (y == np.arange(24).reshape(2, 3, 4).T).all()
    assert ttlg.transform_inplace(y, range(3), saturate=False) is not None


def test_tensors():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    version = x._version
    y = ttlg.transform_inplace(x, dtype="int32", scale=2)
    assert y.dtype == torch.int32
    assert y.tolist() == [[0, 6], [2, 8], [4, 10]]
    assert x._version > version
    with pytest.raises(BufferError, match="requires grad"):
        ttlg.transform_inplace(torch.ones(2, 2, requires_grad=True), scale=2)


def read_only():
    x = np.ones((2, 3), "f4")
    x.flags.writeable = False
    return x


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        (np.ones((2, 3), "f4"), {"dtype": "float64"}, ValueError, "another number of bytes"),
        (np.ones((2, 3), "f4"), {"scale": [1, 2], "axis": 1}, ValueError, "3 indices"),
        (np.ones((2, 3), "f4"), {"scale": 1j}, TypeError, "complex"),
        (np.ones((2, 3), "f4"), {"scale": 2, "axis": 5}, ValueError, "out of range"),
        (np.ones((2, 3), "f4"), {"scale": 2, "axes": (0, 0)}, ValueError, "twice"),
        (np.ones((2, 6), "f4")[:, ::2], {"scale": 2}, ValueError, "gaps|order"),
        (np.ones((2, 3), "M8[s]"), {"scale": 2}, TypeError, "datetime64"),
        (read_only(), {"scale": 2}, ValueError, "read-only"),
        ([[1.0, 2.0]], {"scale": 2}, TypeError, "list"),
    ],
)
def test_refuses(x, options, error, message):
    before = np.array(x)
    with pytest.raises(error, match=message):
        ttlg.transform_inplace(x, **options)
    assert (np.asarray(x) == before).all()
