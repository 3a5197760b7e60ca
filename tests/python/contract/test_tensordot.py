"""Contractions over axes have the results of NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttlg

from ..arrays import examples
from .equations import FLOATS, check, layouts, random_values


@st.composite
def contractions(draw):
    """Draw shapes, layouts and axes in any form that NumPy reads."""
    extents = st.sampled_from((0, 1, 1, 2, 3, 4))
    shapes = [draw(st.lists(extents, max_size=4)) for _ in range(2)]
    if draw(st.booleans()):  # a number of axes
        axes = draw(st.integers(0, min(map(len, shapes))))
        shapes[1][:axes] = shapes[0][len(shapes[0]) - axes :]
    else:
        number = draw(st.integers(0, min(map(len, shapes))))
        both = [draw(st.permutations(range(len(shape))))[:number] for shape in shapes]
        for i, j in zip(*both, strict=True):
            shapes[1][j] = shapes[0][i]
        both = [
            [axis - len(shape) if draw(st.booleans()) else axis for axis in each]
            for each, shape in zip(both, shapes, strict=True)
        ]
        if number == 1 and draw(st.booleans()):
            both = [each[0] for each in both]
        kind = draw(st.sampled_from([tuple, list]))
        axes = kind(kind(each) if isinstance(each, list) else each for each in both)
    return [tuple(shape) for shape in shapes], [draw(layouts(len(shape))) for shape in shapes], axes


@settings(max_examples=examples(200))
@given(contractions(), st.sampled_from([*FLOATS, "int64"]))
def test_random_axes(problem, dtype):
    shapes, drawn, axes = problem
    x, y = (
        each.of(shape, dtype, n) for n, (each, shape) in enumerate(zip(drawn, shapes, strict=True))
    )
    for _ in range(2):
        check(ttlg.tensordot(x, y, axes), np.tensordot(x, y, axes))


A = random_values((6, 7, 8, 9), "float64")
B = random_values((9, 8, 7, 6), "float64", 1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "axes",
    [
        0,
        ((), ()),
        ([], []),
        (0, 3),
        (-1, 0),
        ([3], [0]),
        ((2, 3), (1, 0)),
        ([-1, -3], [0, 2]),
        ((0, 1, 2), (3, 2, 1)),
        ((0, 1, 2, 3), (-1, -2, -3, -4)),
        (np.int64(3), np.int64(0)),
        ((np.int64(3), 1), (0, np.int64(2))),
        (range(1, 4), [2, 1, 0]),
        [(3, 2), [0, 1]],
    ],
)
def test_forms_of_axes(axes, dtype):
    x, y = A.astype(dtype), B.astype(dtype)
    if axes == 0 or (not isinstance(axes[0], int) and len(np.atleast_1d(axes[0])) == 0):
        x, y = x[:3, 0], y[:, 1, :2]
    for _ in range(2):
        check(ttlg.tensordot(x, y, axes), np.tensordot(x, y, axes))
    turned = y.copy(order="F")[::-1, ..., ::-1][::-1, ..., ::-1]
    check(ttlg.tensordot(x, turned, axes), np.tensordot(x, turned, axes))


def test_numbers_of_axes():
    x, y = random_values((20, 30, 40), "float64"), random_values((30, 40, 20), "float64", 1)
    check(ttlg.tensordot(x, y), np.tensordot(x, y))  # two
    check(ttlg.tensordot(x, y.T.copy().T, 2), np.tensordot(x, y))
    check(ttlg.tensordot(x, y.transpose(1, 0, 2), 1), np.tensordot(x, y.transpose(1, 0, 2), 1))
    check(ttlg.tensordot(x[0, 0], y[0, :2, 0], 0), np.tensordot(x[0, 0], y[0, :2, 0], 0))


def test_axes_as_arrays():
    check(ttlg.tensordot(A, B, np.array([[3, 2], [0, 1]])), np.tensordot(A, B, ((3, 2), (0, 1))))
    axes = (np.array([3, 2]), np.array([0, 1]))
    check(ttlg.tensordot(A, B, axes), np.tensordot(A, B, ((3, 2), (0, 1))))


def test_lists_scalars_and_mixed_dtypes():
    x = [[1, 2], [3, 4]]
    check(ttlg.tensordot(x, x, 1), np.tensordot(x, x, 1))
    check(ttlg.tensordot(x, [[0.5], [1.5]], 1), np.tensordot(x, [[0.5], [1.5]], 1))
    check(ttlg.tensordot(3.0, x, 0), np.tensordot(3.0, x, 0))
    mixed = A[0, 0].astype("float32"), B[:, 0, 0].astype("complex128")
    check(ttlg.tensordot(*mixed, 1), np.tensordot(*mixed, 1))


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_many_axes(dtype):
    x, y = random_values((1, 2) * 8, dtype), random_values((2, 1) * 3, dtype, 1)
    axes = ((1, 3, 5), (0, 2, 4))
    check(ttlg.tensordot(x, y, axes), np.tensordot(x, y, axes))
    x, y = random_values((2,) * 12, dtype), random_values((2,) * 14, dtype, 1)
    check(ttlg.tensordot(x, y, 10), np.tensordot(x, y, 10))


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_more_axes_than_there_are_letters(dtype):
    x, y = random_values((1,) * 29 + (3,), dtype) + 1, random_values((3,) + (1,) * 29, dtype) + 1
    check(ttlg.tensordot(x, y, 1), np.tensordot(x, y, 1))


X, Y = np.ones((3, 4)), np.ones((4, 5))


@pytest.mark.parametrize(
    ("axes", "error", "match"),
    [
        (3, ValueError, "over 3 axes of operands with 2 and 2; pass axes= from 0 to 2"),
        (-1, ValueError, "over -1 axes"),
        (2, ValueError, r"shapes \(3, 4\) and \(4, 5\): axis 0 of a and axis 0 of b.*3 and 4"),
        ((0, 0), ValueError, r"shapes \(3, 4\) and \(4, 5\): axis 0 of a and axis 0 of b.*3 and 4"),
        ((-2, -1), ValueError, "axis 0 of a and axis 1 of b.*3 and 5"),
        ((2, 0), ValueError, "a has no axis 2, but 2 axes"),
        ((0, -3), ValueError, "b has no axis -3, but 2 axes"),
        (((0, 1), (0,)), ValueError, "2 of a and 1 of b, not as many"),
        (((1, 1), (0, 0)), ValueError, "an axis of a is given twice"),
        (((0, 1), (0, -2)), ValueError, "an axis of b is given twice"),
        (1.0, TypeError, "axes must be a number, or the axes of a and those of b, not 1.0"),
        ((1, 2, 3), TypeError, "axes must be a number, or the axes of a"),
        ((1,), TypeError, "axes must be a number, or the axes of a"),
        ((1.5, 0), TypeError, "axes must be a number, or the axes of a"),
        ("ab", TypeError, "axes must be a number, or the axes of a"),
        (None, TypeError, "axes must be a number, or the axes of a"),
    ],
)
def test_what_does_not_fit_is_refused(axes, error, match):
    for _ in range(2):
        with pytest.raises(error, match=match):
            ttlg.tensordot(X, Y, axes)


def test_an_extent_of_one_does_not_broadcast():
    with pytest.raises(ValueError, match="1 and 4"):
        ttlg.tensordot(np.ones((3, 1)), Y, 1)


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="operand 1 is a masked array"):
        ttlg.tensordot(X, np.ma.masked_array(Y), 1)
