"""Transposition in place: NumPy's result in the same memory, or nothing changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttlg

from ..arrays import SIZES, random_array, shapes
from .checks import check


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_equals_numpy(data):
    shape = data.draw(shapes(max_rank=7))
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    x = random_array(shape, f"V{data.draw(st.sampled_from(SIZES))}")
    order = data.draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray]))
    check(order(x).reshape(shape), axes, threads=data.draw(st.sampled_from([1, 2, 3])))


def test_a_subclass_keeps_its_class():
    x = np.arange(6.0).reshape(2, 3).view(np.recarray)
    result = ttlg.transpose_inplace(x)
    assert type(result) is np.recarray
    assert result.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_plan_is_kept():
    ttlg.cache_clear()
    x = np.zeros((30, 40))
    for _ in range(3):
        ttlg.transpose_inplace(x)
    assert ttlg.cache_info()[:2] == (2, 1)


def read_only(x):
    x.setflags(write=False)
    return x


@pytest.mark.parametrize(
    ("x", "arguments", "error", "match"),
    [
        (read_only(np.ones((4, 5))), {}, ValueError, "read-only"),
        (np.ones((4, 10))[:, ::2], {}, ValueError, r"shape \(4, 5\) and byte strides \(80, 16\)"),
        (np.ones((4, 5, 6)).transpose(1, 0, 2), {}, ValueError, "C or Fortran order"),
        (np.broadcast_to(np.ones(5), (4, 5)), {}, ValueError, "C or Fortran order"),
        (np.ones((4, 5))[::-1], {}, ValueError, "C or Fortran order"),
        (np.ma.ones((4, 5)), {}, TypeError, "masked array"),
        (np.ones((4, 5), object), {}, TypeError, "objects"),
        (np.ones((400, 500)), {"workspace": 100}, ValueError, "100 bytes is too small"),
        (np.ones((4, 5)), {"workspace": 0}, ValueError, "workspace must be 1 byte or more"),
        (np.ones((4, 5)), {"workspace": 2.5}, TypeError, "whole number of bytes"),
        (np.ones((4, 5)), {"axes": (0, 0)}, ValueError, "axes"),
        (np.ones((4, 5)), {"threads": 0}, ValueError, "threads"),
        ([[1, 2]], {}, TypeError, "list"),
    ],
)
def test_what_is_refused_is_as_before(x, arguments, error, match):
    before = np.asarray(x).tolist()
    with pytest.raises(error, match=match):
        ttlg.transpose_inplace(x, **arguments)
    assert np.asarray(x).tolist() == before


def test_out_that_overlaps_is_told_of_the_call_in_place():
    x = np.ones((4, 4))
    with pytest.raises(ValueError, match="transpose_inplace"):
        ttlg.transpose(x, out=x)


def test_pytorch():
    torch = pytest.importorskip("torch")
    backwards = torch.arange(6.0).reshape(2, 3).t()
    version = backwards._version
    assert torch.equal(ttlg.transpose_inplace(backwards), torch.arange(6.0).reshape(2, 3))
    assert backwards._version == version + 1
    with pytest.raises(BufferError, match="requires grad"):
        ttlg.transpose_inplace(torch.ones(2, 3, requires_grad=True))


def test_jax_is_refused():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"never change; call ttlg\.transpose"):
        ttlg.transpose_inplace(jax.numpy.ones((2, 3)))
