"""Reversed and rotated arrays: what the library's own functions return, for the next call to read."""

import itertools
import re

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array
from ..interop.kinds import Array

X = random_array((2, 3, 4), "f4")
SUBSETS = [axes for n in range(4) for axes in itertools.combinations(range(-3, 0), n)]
PLANES = list(itertools.permutations((0, 1, -1), 2))


def check(result, expected):
    """Compare an array of any library with NumPy's, and what the next call makes of it."""
    assert tuple(result.shape) == expected.shape
    assert bits(np.ascontiguousarray(result)) == bits(expected)
    assert bits(np.asarray(ttlg.transpose(result))) == bits(expected.T)
    assert bits(np.asarray(ttlg.ascontiguousarray(result))) == bits(expected)


def arrays():
    yield X
    yield X[:, ::-1, ::2]
    yield X[0]
    yield X[:, :0]
    yield np.zeros((2, 2), [("a", "u1"), ("b", "f8")])


def check_everywhere(convert, back=np.asarray, subsets=SUBSETS, planes=PLANES):
    """Compare with NumPy over axes and turns, whether or not the library makes views."""
    for axis in (None, 0, -1, np.int8(1), *subsets):
        check(back(ttlg.flip(convert(X), axis)), np.flip(X, axis))
    for k, plane in itertools.product(range(-4, 6), planes):
        check(back(ttlg.rot90(convert(X), k, plane)), np.rot90(X, k, plane))
    check(back(ttlg.rot90(convert(X))), np.rot90(X))


def test_views_of_numpy():
    check_everywhere(lambda x: x)
    for x in arrays():
        for result, expected in (
            (ttlg.flip(x), np.flip(x)),
            (ttlg.flip(x, 0), np.flip(x, 0)),
            *((ttlg.rot90(x, k), np.rot90(x, k)) for k in range(4)),
        ):
            assert result.strides == expected.strides
            assert result.dtype == expected.dtype
            assert np.shares_memory(result, x) == bool(x.size)
            check(result, expected)


def test_rank_zero():
    x = np.array(3.0)
    assert ttlg.flip(x) == ttlg.flip(x, ()) == 3
    with pytest.raises(ValueError, match="out of range"):
        ttlg.flip(x, 0)
    with pytest.raises(ValueError, match="out of range"):
        ttlg.rot90(x)


def test_subclasses_stay_and_buffers_become_arrays():
    class Named(np.ndarray):
        pass

    assert type(ttlg.flip(X.view(Named))) is type(ttlg.rot90(X.view(Named))) is Named
    masked = np.ma.array([1, 2, 3], mask=[0, 0, 1])
    assert ttlg.flip(masked).mask.tolist() == [True, False, False]
    view = memoryview(X)
    check(ttlg.flip(view, 1), np.flip(X, 1))
    check(ttlg.rot90(view, 3), np.rot90(X, 3))
    assert np.shares_memory(ttlg.rot90(view), X)


def test_tensors():
    torch = pytest.importorskip("torch")
    check_everywhere(torch.from_numpy, lambda x: x.numpy())
    x = torch.from_numpy(X).requires_grad_()
    for result, expected in (
        (ttlg.flip(x, (0, 2)), x.flip(0, 2)),
        *((ttlg.rot90(x, k, (2, 0)), torch.rot90(x, k, (2, 0))) for k in range(4)),
    ):
        assert torch.equal(result, expected)
        assert result.stride() == expected.stride()
        weights = torch.rand(expected.shape)
        (gradient,) = torch.autograd.grad((result * weights).sum(), x)
        assert torch.equal(gradient, torch.autograd.grad((expected * weights).sum(), x)[0])
    assert torch.equal(torch.func.vmap(ttlg.rot90)(x), torch.rot90(x, dims=(1, 2)))
    lazy = torch.complex(x.detach(), x.detach()).conj()
    assert torch.equal(ttlg.transpose(ttlg.rot90(lazy)), torch.rot90(lazy).permute(2, 1, 0))


def test_jax_arrays():
    jax = pytest.importorskip("jax", minversion="0.8")
    check_everywhere(jax.numpy.asarray, subsets=[(), (0, 2)], planes=[(2, 1)])  # compiles each
    x = jax.numpy.asarray(X)
    rotated = jax.jit(lambda x: ttlg.rot90(x, 3, (1, 2)))(x)
    assert bits(np.asarray(rotated)) == bits(np.rot90(X, 3, (1, 2)))
    assert bits(np.asarray(jax.vmap(ttlg.rot90)(x))) == bits(np.rot90(X, 1, (1, 2)))


def test_any_library_of_the_array_api():
    check_everywhere(Array, lambda x: x.array)


def test_libraries_without_such_functions():
    class Exporter:
        shape = X.shape

        def __dlpack__(self, **options):
            return X.__dlpack__(**options)

    for function in (ttlg.flip, ttlg.rot90):
        with pytest.raises(
            TypeError, match=r"has no __array_namespace__, .*; pass an array of NumPy"
        ):
            function(Exporter())
        with pytest.raises(TypeError, match=r"m must be an array .*not builtins\.list; make one"):
            function([[1, 2]])


@pytest.mark.parametrize("axis", [3, -4, (0, 0), (0, -3), 1.0, "0", (0, None)])
def test_wrong_axes_of_flip(axis):
    with pytest.raises((TypeError, ValueError)) as by_numpy:
        np.flip(X, axis)
    with pytest.raises((TypeError, ValueError), match=r"^axis") as by_ttlg:
        ttlg.flip(X, axis)
    assert issubclass(by_numpy.type, by_ttlg.type)


@pytest.mark.parametrize(
    ("k", "axes", "message"),
    [
        (1, (0, 0), r"axes (0, 0) names axis 0 twice"),
        (1, (0, -3), r"axes (0, -3) names axis 0 twice"),
        (1, (0,), "axes (0,) must be the two of the plane, not 1"),
        (1, (0, 1, 2), "axes (0, 1, 2) must be the two of the plane, not 3"),
        (0, (0, 3), "axes: axis 3 is out of range -3..2"),
    ],
)
def test_wrong_planes(k, axes, message):
    with pytest.raises(ValueError):  # noqa: PT011
        np.rot90(X, k, axes)
    with pytest.raises(ValueError, match=re.escape(message)):
        ttlg.rot90(X, k, axes)


def test_wrong_turns():
    with pytest.raises(TypeError, match=r"k must be an integer, not 1\.5"):
        ttlg.rot90(X, 1.5)
