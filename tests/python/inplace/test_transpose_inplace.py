"""Transposition in place: NumPy's result in the same memory, or nothing changed."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttlg
from ttlg import _core

from ..arrays import SIZES, bits, random_array, shapes
from .checks import check


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_equals_numpy(data):
    shape = data.draw(shapes(max_rank=7))
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    x = random_array(shape, f"V{data.draw(st.sampled_from(SIZES))}")
    order = data.draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray]))
    check(order(x).reshape(shape), axes, threads=data.draw(st.sampled_from([1, 2, 3])))


@pytest.mark.parametrize("dtype", ["u1", "<f4", "<f8", "V12"])
@pytest.mark.parametrize("threads", [1, 2])
def test_larger_arrays(dtype, threads):
    for shape in [(700, 900), (900, 700), (640, 640), (600, 1200), (997, 499), (3, 50000)]:
        check(random_array(shape, dtype), (1, 0), threads=threads)
    for axes in itertools.permutations(range(4)):
        check(random_array((20, 35, 30, 25), dtype), axes, threads=threads)


def test_there_and_back():
    x = random_array((123, 45, 67), "<f8")
    expected = x.copy()
    there = ttlg.transpose_inplace(x, (2, 0, 1))
    back = ttlg.transpose_inplace(there, (1, 2, 0))
    assert bits(back) == bits(expected)
    assert bits(x) == bits(expected)


def test_axes_are_reversed_by_default():
    assert ttlg.transpose_inplace(np.zeros((2, 3, 4))).shape == (4, 3, 2)


def test_a_subclass_keeps_its_class():
    x = np.arange(6.0).reshape(2, 3).view(np.recarray)
    result = ttlg.transpose_inplace(x)
    assert type(result) is np.recarray
    assert result.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_workspace_is_a_limit():
    shape = (60, 61, 62, 63)
    view = _core.view(np.zeros(shape), "x")
    before = None
    for limit in (40_000, 1_000_000, 200_000_000):
        plan = _core.cpu_inplace_plan_for(view, (3, 2, 1, 0), 1, limit)
        assert 0 < plan.workspace_bytes <= limit
        assert before is None or plan.predicted_seconds < before.predicted_seconds
        check(random_array(shape, "<f8"), (3, 2, 1, 0), workspace=limit, threads=1)
        before = plan
    default = _core.cpu_inplace_plan_for(view, (3, 2, 1, 0), 1, None)
    assert default.workspace_bytes <= math.prod(shape) * 8 // 20


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
    x = torch.arange(2 * 3 * 50.0).reshape(2, 3, 50)
    expected = x.permute(2, 0, 1).clone()
    version = x._version
    result = ttlg.transpose_inplace(x, (2, 0, 1))
    assert torch.equal(result, expected)
    assert result.data_ptr() == x.data_ptr()
    assert x._version == version + 1
    backwards = torch.arange(6.0).reshape(2, 3).t()
    assert torch.equal(ttlg.transpose_inplace(backwards), torch.arange(6.0).reshape(2, 3))
    with pytest.raises(BufferError, match="requires grad"):
        ttlg.transpose_inplace(torch.ones(2, 3, requires_grad=True))


def test_jax_is_refused():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"never change; call ttlg\.transpose"):
        ttlg.transpose_inplace(jax.numpy.ones((2, 3)))
