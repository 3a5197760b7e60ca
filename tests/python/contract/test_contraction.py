"""Planned contractions: what they say, what they predict, and what they compute."""

import math

import numpy as np
import pytest

import ttlg

from .equations import check, random_values

FLOPS = 1e10
# (64, 65, 66) and (66, 67): matrices as they are.
PLAIN = ("abc,cd->abd", (64, 65, 66), (66, 67))
# The middle axis is summed, and every axis is long, so that one operand is moved.
MIDDLE = ("dbea,abcd->ec", (40, 41, 42, 43), (43, 41, 44, 40))


def test_attributes_and_repr():
    contraction = ttlg.contraction(*PLAIN, dtype="float32", flops=FLOPS)
    assert contraction.equation == "abc,cd->abd"
    assert contraction.shapes == ((64, 65, 66), (66, 67))
    assert contraction.dtype == "float32"
    assert contraction.path == ((0, 1),)
    seconds = contraction.estimate().seconds
    assert repr(contraction) == f"<ttlg.Contraction abc,cd->abd float32, {seconds:.3g} s predicted>"


def test_what_the_equation_leaves_open_is_filled_in():
    assert ttlg.contraction("ba,cb", (2, 3), (4, 2), flops=FLOPS).equation == "ba,cb->ac"
    filled = ttlg.contraction("...ab,bc->...ac", (5, 2, 3), (3, 4), flops=FLOPS).equation
    (first, second), output = filled.split("->")[0].split(","), filled.split("->")[1]
    assert first[1:] + "," + second + "->" + output[1:] == "ab,bc->ac"
    assert first[0] == output[0] not in "abc"


@pytest.mark.parametrize("dtype", ["int64", "bool", "float16"])
def test_dtypes_without_matrix_products(dtype):
    x, y = random_values((5, 6), dtype), random_values((6, 7), dtype, 1)
    contraction = ttlg.contraction("ab,bc->ca", x.shape, y.shape, dtype=dtype)
    check(contraction(x, y), np.einsum("ab,bc->ca", x, y))
    assert contraction.estimate().layouts == ("the library's own einsum",)
    assert "einsum" in contraction.explain()


def test_one_operand():
    x = random_values((5, 6, 5), "float64")
    check(ttlg.contraction("aba->b", x.shape)(x), np.einsum("aba->b", x))
    assert ttlg.contraction("aba->b", x.shape).path == ()


def test_explain_tells_views_from_what_is_moved():
    plain = ttlg.contraction(*PLAIN, flops=FLOPS)
    first, step, *_ = plain.explain().split("\n")
    assert first.startswith("abc,cd->abd, float64: ")
    assert first.endswith(" ms predicted, 0 ms to transpose")
    assert "abc as it lies" in step
    assert "cd as it lies" in step
    assert "moved" not in plain.explain()
    assert f"{64 * 65} x 66 by 66 x 67" in step or f"67 x 66 by 66 x {64 * 65}" in step

    middle = ttlg.contraction(*MIDDLE, flops=FLOPS)
    moved = [run for run in (middle._steps[0][2].chosen,) for f in run.factors if f.moved]
    assert len(moved) >= 1
    assert middle.explain().count(" moved to ") == len(moved)
    assert "other ways from" in middle.explain()
    assert not middle.explain().split("\n")[0].endswith(" 0 ms to transpose")


def test_explain_has_a_line_for_each_step():
    contraction = ttlg.contraction("ab,bc,cd->ad", (3, 4), (4, 5), (5, 6), flops=FLOPS)
    assert len(contraction.path) == len(contraction.estimate().layouts) == 2
    assert len(contraction.explain().split("\n")) == 3
    elements = ttlg.contraction("ab,ab->ab", (3, 4), (3, 4), flops=FLOPS)
    assert "elements multiplied" in elements.explain()


@pytest.mark.parametrize(
    "shapes", [(), ((4, 5),), ((4, 5), (5, 7)), ((5, 4), (5, 6)), ((4, 5), (5, 6), (6, 7))]
)
def test_other_shapes_are_refused(shapes):
    contraction = ttlg.contraction("ab,bc->ac", (4, 5), (5, 6), flops=FLOPS)
    with pytest.raises(ValueError, match=r"planned for .*\(\(4, 5\), \(5, 6\)\), not") as caught:
        contraction(*map(np.ones, shapes))
    assert str(shapes) in str(caught.value)


def test_strides():
    x = random_values((60, 61, 62), "float64").transpose(2, 0, 1)
    y = random_values((61, 60, 63), "float64", 1)
    equation = "cab,bad->cd"
    given = ttlg.contraction(equation, x.shape, y.shape, strides=(x.strides, None), flops=FLOPS)
    check(given(x, y), np.einsum(equation, x, y))
    contiguous = np.ascontiguousarray(x)
    check(given(contiguous, y), np.einsum(equation, x, y))
    # In this layout the summed axes lie together, in the other order than in y.
    turned = y.transpose(1, 0, 2).copy().transpose(1, 0, 2)
    views = ttlg.contraction(
        equation, x.shape, y.shape, strides=(x.strides, turned.strides), flops=FLOPS
    )
    assert views.estimate().transposing == 0
    assert given.estimate().transposing > 0
    check(views(x, turned), np.einsum(equation, x, y))
    default = ttlg.contraction(equation, x.shape, y.shape, flops=FLOPS)
    same = ttlg.contraction(
        equation, x.shape, y.shape, strides=(contiguous.strides, y.strides), flops=FLOPS
    )
    assert default.estimate() == same.estimate()


@pytest.mark.parametrize("strides", [[(8, 8)], [(8, 8)] * 3, [(8,), None], [None, (8, 8, 8)]])
def test_strides_that_do_not_fit_are_refused(strides):
    with pytest.raises(ValueError, match="strides"):
        ttlg.contraction("ab,bc->ac", (4, 5), (5, 6), strides=strides, flops=FLOPS)


CHAIN = [
    random_values(shape, "float64", n) for n, shape in enumerate([(5, 6), (6, 7), (7, 8), (8, 9)])
]


@pytest.mark.parametrize(
    ("optimize", "path"),
    [
        ([(0, 1), (0, 1), (0, 1)], ((0, 1), (0, 1), (0, 1))),
        ([(2, 3), (1, 2), (0, 1)], ((2, 3), (1, 2), (0, 1))),
        ([(3, 2), (2, 1), (1, 0)], ((2, 3), (1, 2), (0, 1))),
        (((1, 2), (0, 2), (0, 1)), ((1, 2), (0, 2), (0, 1))),
        ([(0, 1, 2), (0, 1)], None),
        ([(1, 2, 3), (0, 1)], None),
        ([(0, 1, 2, 3)], None),
        ([[2, 0, 3], [0, 1]], None),
        ("optimal", None),
        ("greedy", None),
        (True, None),
        (False, None),
    ],
)
def test_paths(optimize, path):
    equation = "ab,bc,cd,de->ea"
    shapes = [x.shape for x in CHAIN]
    contraction = ttlg.contraction(equation, *shapes, optimize=optimize, flops=FLOPS)
    assert len(contraction.path) == 3
    if path is not None:
        assert contraction.path == path
    expected = np.einsum(equation, *CHAIN)
    check(contraction(*CHAIN), expected)
    for _ in range(2):
        check(ttlg.einsum(equation, *CHAIN, optimize=optimize), expected)


def _products(path, number):
    """Return which operands each step brings together."""
    left = [frozenset([n]) for n in range(number)]
    made = []
    for numbers in path:
        taken = [left.pop(n) for n in sorted(numbers, reverse=True)]
        left.append(frozenset().union(*taken))
        made.append(left[-1])
    return made


def test_steps_of_three_operands_stay_together():
    shapes = [x.shape for x in CHAIN]
    for first in [(0, 1, 2), (1, 2, 3), (0, 2, 3)]:
        path = [first, (0, 1)]
        contraction = ttlg.contraction("ab,bc,cd,de->ea", *shapes, optimize=path, flops=FLOPS)
        assert frozenset(first) == _products(contraction.path, 4)[1]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        (("ab,bc->ac",), {}, ValueError, "needs the shapes"),
        (("ab,bc->ac", (4, 5)), {}, ValueError, "2.*1"),
        (("ab,bc->ac", (4, 5), (6, 7)), {}, ValueError, "'b' has extent 5 .* 0 and 6 .* 1"),
        (("ab,bc->ac", (4, 5), (5, -1)), {}, ValueError, "negative"),
        (("ab,bc->ac", (4, 5), (5, 1.5)), {}, TypeError, "integer"),
        (("ab,bc->ac", (4, 5), (5, 6)), {"dtype": "float23"}, TypeError, "float23"),
        (("ab,bc->ac", (4, 5), (5, 6)), {"device": "abacus"}, ValueError, "'abacus'.*nvidia-h200"),
        (("ab,bc->ac", (4, 5), (5, 6)), {"threads": "2"}, TypeError, "threads"),
        (("ab,bc->ac", (4, 5), (5, 6)), {"threads": 0}, ValueError, "threads"),
        (("ab,bc->ac", (4, 5), (5, 6)), {"flops": 0}, ValueError, "flops"),
        (("ab,bc->ac", (4, 5), (5, 6)), {"flops": -1.0}, ValueError, "flops"),
    ],
)
@pytest.mark.parametrize("function", [ttlg.contraction, ttlg.predict_contraction])
def test_what_does_not_fit_is_refused(function, arguments, options, error, match):
    for _ in range(2):
        with pytest.raises(error, match=match):
            function(*arguments, **options)


def test_an_unknown_search_is_refused_with_its_name():
    for _ in range(2):
        with pytest.raises((ValueError, KeyError), match="by luck"):
            ttlg.contraction("ab,bc,cd->ad", (4, 5), (5, 6), (6, 7), optimize="by luck")


def test_extents_of_zero_and_one():
    assert ttlg.contraction("ab,bc->ac", (4, 0), (0, 5), flops=FLOPS).estimate().seconds > 0
    result = ttlg.contraction("ab,bc->ac", (4, 0), (0, 5))(np.ones((4, 0)), np.ones((0, 5)))
    check(result, np.zeros((4, 5)))
    x, y = random_values((4, 1), "float64"), random_values((9, 5), "float64", 1)
    assert math.isfinite(ttlg.contraction("ab,bc->ac", (4, 1), (9, 5)).estimate().seconds)
    check(ttlg.contraction("ab,bc->ac", (4, 1), (9, 5))(x, y), np.einsum("ab,bc->ac", x, y))
