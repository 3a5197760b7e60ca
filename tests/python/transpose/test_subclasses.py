"""Subclasses of ndarray keep their class where NumPy's protocol says how, or are refused."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array


class WithUnit(np.ndarray):
    """Carries a unit from array to array as NumPy's documentation shows."""

    unit = None

    def __array_finalize__(self, source):
        self.unit = getattr(source, "unit", None)


class Labelled(np.ndarray):
    """Names its axes, which its own transpose permutes."""

    def transpose(self, *axes):
        return super().transpose(*axes)


class Wrapping(np.ndarray):
    """Decides itself what a result is wrapped in."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return ("wrapped", array)


def metres(shape, dtype="f4"):
    x = random_array(shape, dtype).view(WithUnit)
    x.unit = "m"
    return x


@pytest.mark.parametrize("shape", [(4, 5, 6), (3, 0), (5,), ()])
def test_attributes_are_kept(shape):
    x = metres(shape)
    plan = ttlg.plan(shape)
    for result in (ttlg.transpose(x), ttlg.permute_dims(x, range(x.ndim)[::-1]), plan(x)):
        assert type(result) is WithUnit
        assert result.unit == "m"
        assert result.flags.c_contiguous
        assert result.base is None or result.base.base is None
        assert bits(result) == bits(x.T)


@pytest.mark.parametrize(("cls", "dtype"), [(np.matrix, "f8"), (np.recarray, "i4,f8")])
def test_classes_of_numpy(cls, dtype):
    x = random_array((3, 4), dtype).view(cls)
    result = ttlg.transpose(x)
    assert type(result) is cls
    assert result.dtype == x.dtype
    assert bits(result) == bits(x.T)


def test_a_class_decides_for_itself():
    x = random_array((3, 4), "f4").view(Wrapping)
    word, result = ttlg.transpose(x)
    assert word == "wrapped"
    assert bits(result) == bits(x.T)


def test_a_class_with_its_own_transpose_is_refused():
    x = random_array((3, 4), "f4").view(Labelled)
    for call in (ttlg.transpose, ttlg.plan((3, 4))):
        with pytest.raises(TypeError, match=r"x is a .*Labelled.*own transpose.*numpy\.asarray"):
            call(x)
    assert bits(ttlg.transpose(np.asarray(x))) == bits(np.asarray(x).T)
    out = np.empty((4, 3), "f4")
    assert ttlg.transpose(x, out=out) is out
    assert bits(out) == bits(np.asarray(x).T)


def test_out_keeps_its_own_class():
    x, out = metres((3, 4)), np.zeros((4, 3), "f4").view(WithUnit)
    assert ttlg.transpose(x, out=out) is out
    assert out.unit is None
    assert bits(out) == bits(x.T)
