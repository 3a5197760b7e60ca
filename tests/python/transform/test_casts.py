"""Casts that take the place of NumPy's assignment."""

import itertools

import numpy as np
import pytest

from ttlg._functions.casts import cast_into

from .oracle import assert_same, hostile

DTYPES = [
    *("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"),
    *("g", "G", ">f4", ">i4", ">c8", "M8[s]", "U3", "O", "V3"),
]
# Fractions that NumPy cuts off, roundings of its own, warnings, and what transform does not know.
LEFT_TO_NUMPY = [("f4", "i4"), ("i8", "f4"), ("u8", "f8"), ("c8", "f4"), ("f8", "g"), ("f4", ">f4")]


def matrix(dtype):
    x = hostile(np.dtype(dtype).newbyteorder("="))
    return np.resize(x, (len(x), 3)).T.astype(dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_it_is_what_numpy_assigns():
    done = 0
    for source, target in itertools.product(DTYPES[:14] + DTYPES[16:19], DTYPES):
        x = matrix(source)
        out = np.zeros(x.shape, target)
        if not cast_into(out, x, None):
            assert not out.any()
            continue
        wanted = np.empty(x.shape, target)
        wanted[...] = x
        assert_same(out, wanted)
        done += 1
    assert done > 120


@pytest.mark.parametrize(("source", "target"), LEFT_TO_NUMPY)
def test_what_numpy_does_in_another_way(source, target):
    out = np.zeros((2, 3), target)
    assert not cast_into(out, np.ones((2, 3), source), None)
    assert not out.any()


def test_arrays_that_are_refused():
    x = np.ones((2, 3), "f4")
    out = np.zeros((2, 3), "f8")
    out.flags.writeable = False
    assert not cast_into(out, x, None)
    assert not cast_into(x.view("i4"), x.view("u4"), None)
