"""Equations of every form have the results of NumPy."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ttlg

from ..arrays import examples
from .equations import (
    FLOATS,
    NAMED,
    Layout,
    Problem,
    check,
    named_operands,
    problems,
    random_values,
)


def check_problem(problem, dtype):
    operands = problem.arrays(dtype)
    before = [x.copy() for x in operands]
    expected = np.einsum(problem.equation, *operands, optimize=False)
    for _ in range(2):  # planned, and remembered
        check(ttlg.einsum(problem.equation, *operands), expected)
    for x, copy in zip(operands, before, strict=True):
        np.testing.assert_array_equal(x, copy)


def plain(equation, *shapes):
    layouts = [Layout(tuple(range(len(s))), ("plain",) * len(s), 0, True) for s in shapes]
    return Problem(equation, shapes, tuple(layouts))


@settings(max_examples=examples(250))
@given(problems(), st.sampled_from(FLOATS))
@example(plain("ab,ac,ad->abcd", (1, 3), (1, 4), (5, 2)), "float64")
@example(plain("ab,ac,ad->bcd", (1, 3), (1, 4), (5, 2)), "float64")
@example(plain("aab,bcc->", (3, 3, 2), (2, 4, 4)), "complex64")
@example(plain("...a,a...->...", (2, 1, 3), (3, 4)), "float32")
def test_random_equations(problem, dtype):
    check_problem(problem, dtype)


@settings(max_examples=examples(100))
@given(problems(least=2), st.sampled_from(FLOATS))
def test_random_equations_of_mixed_dtypes(problem, dtype):
    mixed = [dtype, "float32", "int16", "float64"][: len(problem.shapes)]
    check_problem(problem, mixed)


@settings(max_examples=examples(120))
@given(problems(), st.sampled_from(["int8", "uint32", "int64", "bool", "float16"]))
def test_random_equations_of_other_dtypes(problem, dtype):
    operands = problem.arrays(dtype)
    expected = np.einsum(problem.equation, *operands, optimize=False)
    if dtype == "float16" and np.abs(expected).max(initial=0) > 1000:
        return  # not exact, so that orders of sums differ
    for _ in range(2):
        check(ttlg.einsum(problem.equation, *operands), expected)


@settings(max_examples=examples(50))
@given(problems())
@example(plain(",,aa", (), (), (2, 2)))
def test_random_equations_of_objects(problem):
    operands = problem.arrays("object")
    expected = np.einsum(problem.equation, *operands, optimize=False)
    result = ttlg.einsum(problem.equation, *operands)
    assert np.shape(result) == np.shape(expected)
    assert np.all(np.asarray(result == expected, dtype=bool))


@settings(max_examples=examples(80))
@given(problems(least=3, extents=(1, 1, 2, 3), plain=True), st.data())
def test_any_path(problem, data):
    operands = problem.arrays("float64")
    path, left = [], len(operands)
    while left > 1:
        taken = data.draw(st.sets(st.integers(0, left - 1), min_size=2, max_size=min(left, 3)))
        path.append(tuple(data.draw(st.permutations(sorted(taken)))))
        left -= len(taken) - 1
    result = ttlg.einsum(problem.equation, *operands, optimize=path)
    check(result, np.einsum(problem.equation, *operands))


@settings(max_examples=examples(80))
@given(problems(), st.sampled_from(FLOATS))
def test_operands_and_lists_of_labels_in_turns(problem, dtype):
    operands = problem.arrays(dtype)
    left, _, output = problem.equation.partition("->")

    def numbers(term):
        dots = term.find("...")
        labels = [ord(label) - ord("A") for label in term.replace("...", "")]
        return labels if dots < 0 else [*labels[:dots], ..., *labels[dots:]]

    turns = []
    for x, term in zip(operands, left.split(","), strict=True):
        turns += [x, numbers(term)]
    if "->" in problem.equation:
        turns.append(numbers(output))
    check(ttlg.einsum(*turns), np.einsum(*turns))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ab,ba->ab", [(30, 400), (400, 30)]),  # one is moved first
        ("abc,bd->bdac", [(20, 30, 40), (30, 5)]),
        ("ab,bc,cd->ad", [(30, 31), (31, 32), (32, 33)]),
        ("ab,ac,ad->bcd", [(9, 3), (9, 4), (9, 5)]),
        ("ab,ac,ad->abcd", [(9, 3), (9, 4), (9, 5)]),
        ("abc,bcd,be,ef->af", [(20, 5, 6), (5, 6, 7), (5, 30), (30, 20)]),
        ("ab,bc->ac", [(300, 1), (300, 40)]),  # broadcast
        ("lab,lbc->lac", [(1, 50, 20), (30, 20, 40)]),
    ],
)
def test_well_known_equations(equation, shapes, dtype):
    check_problem(plain(equation, *shapes), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("equation", NAMED.values(), ids=NAMED)
def test_equations_with_a_choice_of_ways(equation, dtype):
    operands = named_operands(equation, dtype)
    expected = np.einsum(equation, *operands)
    check(ttlg.einsum(equation, *operands), expected)
    turned = [x.copy(order="F") for x in operands]
    check(ttlg.einsum(equation, *turned, threads=2), expected)
    # Of the same shapes, so that a plan for other strides would be found for them.
    backwards = [x[::-1, ...][::-1, ...][..., ::-1] for x in operands]
    check(ttlg.einsum(equation, *backwards), np.einsum(equation, *backwards))


def test_lists_and_numbers():
    a, b = [[1, 2], [3, 4]], [[5.0, 6.0], [7.0, 8.0]]
    check(ttlg.einsum("ab,bc", a, b), np.einsum("ab,bc", a, b))
    check(ttlg.einsum("ab,bc", a, a), np.einsum("ab,bc", a, a))
    check(ttlg.einsum("ab,", a, 2.5), np.einsum("ab,", a, 2.5))
    x = random_values((3, 4), "float32")
    check(ttlg.einsum("ab,,", x, 2.0, 3), np.einsum("ab,,", x, 2.0, 3))
    check(ttlg.einsum(",", 3, 4), np.einsum(",", 3, 4))
    assert isinstance(ttlg.einsum("ab,ab", x, x), np.float32)  # a scalar, as NumPy's


@pytest.mark.parametrize("extent", [5, 200])
def test_another_byte_order_gives_native_results_at_every_call(extent):
    swapped = np.dtype("float64").newbyteorder()
    x = random_values((extent, extent), swapped)
    y = random_values((extent, extent), swapped, 1)
    for _ in range(3):
        check(ttlg.einsum("ab,bc->ac", x, y), np.einsum("ab,bc->ac", x, y))


A, B = np.ones((3, 4)), np.ones((4, 5))


@pytest.mark.parametrize(
    ("operands", "error", "match"),
    [
        (
            ("ab,bc->ac", A, A),
            ValueError,
            r"label 'b' has extent 4 in operand 0 and 3 in operand 1",
        ),
        (("abc,bc->ac", A, B), ValueError, r"'abc' has 3 labels, but operand 0 has shape \(3, 4\)"),
        (("a,bc->ac", A, B), ValueError, r"'a' has 1 labels, but operand 0 has shape \(3, 4\)"),
        (("ab,bc->ac", A), ValueError, "'ab,bc->ac'.*2.*number of operands, 1"),
        (("ab,bc->ac", A, B, B), ValueError, "'ab,bc->ac'.*2.*number of operands, 3"),
        (("ab,bc->ax", A, B), ValueError, "'ab,bc->ax'.*'x'"),
        (("ab,bc->aa", A, B), ValueError, "'ab,bc->aa'.*'a'"),
        (("...ab,...bc->...ac", np.ones((2, 3, 4)), np.ones((5, 4, 2))), ValueError, "2.*5"),
        (("ab",), ValueError, "'ab' needs operands"),
        ((), TypeError, "needs an equation such as"),
        ((A,), TypeError, "needs an equation such as"),
        (("ab,bc", np.ma.masked_array(A), B), TypeError, "operand 0 is a masked array"),
        (("ab,bc", A, np.ma.masked_array(B)), TypeError, "operand 1 is a masked array"),
    ],
)
def test_what_does_not_fit_is_refused(operands, error, match):
    for _ in range(2):
        with pytest.raises(error, match=match):
            ttlg.einsum(*operands)
