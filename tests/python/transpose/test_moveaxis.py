"""Axes that move past others and axes that change places: NumPy's functions, as copies."""

import itertools

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

X = random_array((2, 3, 4, 5), "f4")


@pytest.mark.parametrize("source", range(-4, 4))
@pytest.mark.parametrize("destination", range(-4, 4))
def test_one_axis(source, destination):
    for result, expected in (
        (ttlg.moveaxis(X, source, destination), np.moveaxis(X, source, destination)),
        (ttlg.swapaxes(X, source, destination), np.swapaxes(X, source, destination)),
    ):
        assert result.shape == expected.shape
        assert result.flags.c_contiguous
        assert bits(result) == bits(expected)
        assert not np.shares_memory(result, X)


@pytest.mark.parametrize("count", range(5))
def test_several_axes(count):
    for source in itertools.permutations(range(4), count):
        for destination in itertools.permutations(range(-4, 0), count):
            expected = np.moveaxis(X, source, destination)
            result = ttlg.moveaxis(X, source, destination)
            assert result.shape == expected.shape
            assert bits(result) == bits(expected)


@pytest.mark.parametrize(
    "source", [[0, 2], range(0, 3, 2), np.array([0, 2]), (np.int8(0), True + True), {0: 1, 2: 3}]
)
def test_axes_of_many_kinds(source):
    assert bits(ttlg.moveaxis(X, source, (3, 1))) == bits(np.moveaxis(X, (0, 2), (3, 1)))
    assert bits(ttlg.moveaxis(X, iter([0, 2]), (3, 1))) == bits(np.moveaxis(X, (0, 2), (3, 1)))
    assert bits(ttlg.moveaxis(X, np.array(1), [-1])) == bits(np.moveaxis(X, 1, -1))
    assert bits(ttlg.swapaxes(X, np.int8(1), np.array(-1))) == bits(np.swapaxes(X, 1, -1))


def test_results_in_given_memory():
    out = np.empty((3, 4, 5, 2), "f4")
    assert ttlg.moveaxis(X, 0, -1, out=out, threads=1) is out
    assert bits(out) == bits(np.moveaxis(X, 0, -1))
    assert ttlg.swapaxes(X[:, :, 0], 0, 1, out=out[:, 0, :, :].swapaxes(1, 2)[:, :, :]) is not None
    assert bits(out[:, 0].swapaxes(1, 2)) == bits(X[:, :, 0].swapaxes(0, 1))


def test_arguments_are_passed_on():
    with pytest.raises(ValueError, match="threads must be"):
        ttlg.moveaxis(X, 0, 1, threads=0)
    with pytest.raises(ValueError, match="stream= is for arrays on a CUDA device"):
        ttlg.swapaxes(X, 0, 1, stream=1)
    with pytest.raises(TypeError, match="x must be an array"):
        ttlg.moveaxis([[1, 2]], 0, 1)


@pytest.mark.parametrize(
    ("source", "destination", "message"),
    [
        (4, 0, "source: axis 4 is out of range -4..3"),
        (0, -5, "destination: axis -5 is out of range -4..3"),
        ((0, 1, -4), (0, 1, 2), r"source \(0, 1, -4\) names axis 0 twice"),
        ((0, 1), (2, 2), r"destination \(2, 2\) names axis 2 twice"),
        ((0, 1), (2,), r"source \(0, 1\) names 2 axes and destination \(2,\) 1; give one"),
        (0.0, 1, "source: 0.0 is not an axis number"),
        (0, None, "destination: None is not an axis number"),
        ("0", 1, "source: '0' is not an axis number"),
        ((0, 1.0), (1, 0), "source: 1.0 is not an axis number"),
    ],
)
def test_wrong_axes_of_moveaxis(source, destination, message):
    with pytest.raises((TypeError, ValueError)) as by_numpy:
        np.moveaxis(X, source, destination)
    out = np.zeros((5, 4, 3, 2), "f4")
    with pytest.raises((TypeError, ValueError), match=message) as by_ttlg:
        ttlg.moveaxis(X, source, destination, out=out)
    assert issubclass(by_numpy.type, by_ttlg.type)
    assert not out.any()


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ((4, 0), "axis1: axis 4 is out of range -4..3"),
        ((0, -5), "axis2: axis -5 is out of range -4..3"),
        ((0.0, 1), "axis1: 0.0 is not an axis number"),
        ((0, (1,)), r"axis2: \(1,\) is not an axis number"),
        ((None, 1), "axis1: None is not an axis number"),
    ],
)
def test_wrong_axes_of_swapaxes(axes, message):
    with pytest.raises((TypeError, ValueError)) as by_numpy:
        np.swapaxes(X, *axes)
    with pytest.raises((TypeError, ValueError), match=message) as by_ttlg:
        ttlg.swapaxes(X, *axes)
    assert issubclass(by_numpy.type, by_ttlg.type)


def test_rank_zero():
    x = np.array(3.0)
    assert ttlg.moveaxis(x, (), ()) == 3
    with pytest.raises(ValueError, match="out of range"):
        ttlg.moveaxis(x, 0, 0)


def test_tensors():
    torch = pytest.importorskip("torch", minversion="2.5")
    x = torch.arange(120.0).reshape(2, 3, 4, 5).requires_grad_()
    for by_ttlg, by_torch in (
        (lambda x: ttlg.moveaxis(x, (0, -1), (-2, 0)), lambda x: x.movedim((0, -1), (-2, 0))),
        (lambda x: ttlg.swapaxes(x, 1, -1), lambda x: x.swapaxes(1, -1)),
    ):
        for function in (by_ttlg, torch.compile(by_ttlg, fullgraph=True, backend="aot_eager")):
            result = function(x)
            assert result.is_contiguous()
            assert result.requires_grad
            assert torch.equal(result, by_torch(x))
        batched = torch.func.vmap(by_ttlg)(torch.stack([x, x + 1]))
        assert torch.equal(batched[1], by_torch(x + 1))


@pytest.mark.parametrize("rank", range(5))
def test_permute_takes_axes_one_by_one_and_together(rank):
    x = random_array((2, 3, 4, 5)[:rank], "f4")
    for order in itertools.permutations(range(rank)):
        for axes in (order, tuple(axis - rank for axis in order)):
            expected = x.transpose(axes)
            for result in (
                ttlg.permute(x, *axes),
                ttlg.permute(x, axes),
                ttlg.permute(x, list(axes)),
                ttlg.permute(x, iter(axes)),
                ttlg.permute(x, np.array(axes, "i8")),
                ttlg.permute(x, axes, out=np.zeros(expected.shape, "f4"), threads=1),
            ):
                assert result.shape == expected.shape
                assert result.flags.c_contiguous
                assert bits(result) == bits(expected)
                assert not np.shares_memory(result, x)


def test_pytorchs_name_is_that_of_the_same_function():
    assert ttlg.movedim is ttlg.moveaxis


def test_permute_of_one_axis():
    x = random_array((5,), "f4")
    for axis in (0, -1, (0,), np.int8(0), np.array(0), np.array([0]), [-1]):
        assert bits(ttlg.permute(x, axis)) == bits(x)


@pytest.mark.parametrize(
    ("axes", "error", "message"),
    [
        ((), ValueError, "name each of the 4 axes once, not 0"),
        ((0, 1), ValueError, "name each of the 4 axes once, not 2"),
        ((0, 1, 2, 2), ValueError, "axis 2 appears twice"),
        (((0, 1), (2, 3)), TypeError, r"\(0, 1\) is not an axis number; pass integers"),
        (("0",), TypeError, "'0' is not an axis number; pass integers, such as"),
        (("n", "c", "h", "w"), TypeError, "'n' is not .*: only axes of xarray have names"),
        ((1.0,), TypeError, "1.0 is not an axis number"),
        ((..., 0), TypeError, "Ellipsis is not an axis number; pass integers"),
        (({0, 1, 2, 3},), TypeError, "must be a sequence of 4 integers, not a set"),
        ((None,), TypeError, "None is not an axis number"),
    ],
)
def test_wrong_axes_of_permute(axes, error, message):
    out = np.zeros((2, 3, 4, 5), "f4")
    with pytest.raises(error, match=message):
        ttlg.permute(X, *axes, out=out)
    assert not out.any()
