"""Results are written where the caller says, or nothing is written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttlg
from ttlg._contract import kept, outputs, ways

from ..arrays import examples
from .equations import (
    FLOATS,
    NAMED,
    check,
    layouts,
    named_operands,
    problems,
    random_values,
)


@settings(max_examples=examples(60))
@given(problems(), st.sampled_from([*FLOATS, "int64", "bool"]), st.data())
def test_any_layout(problem, dtype, data):
    operands = problem.arrays(dtype)
    expected = np.einsum(problem.equation, *operands)
    layout = data.draw(layouts(np.ndim(expected)))
    kinds = tuple("back" if kind == "zero" else kind for kind in layout.kinds)
    out = layout._replace(kinds=kinds, writable=True).of(np.shape(expected), dtype, 99)
    for _ in range(2):
        out[...] = 77
        assert ttlg.einsum(problem.equation, *operands, out=out) is out
        check(out, np.asarray(expected))


@pytest.mark.parametrize("equation", [*NAMED.values(), "ab,bc,cd->ad"])
def test_large_results(equation):
    operands = named_operands(equation)
    expected = np.asarray(np.einsum(equation, *operands))
    wide = np.zeros([2 * extent for extent in expected.shape])
    for out in (
        np.zeros(expected.shape),
        np.zeros(expected.shape, order="F"),
        wide[(slice(None, None, 2),) * expected.ndim + (...,)],
    ):
        for _ in range(2):  # planned, and remembered
            out[...] = 77
            assert ttlg.einsum(equation, *operands, out=out) is out
            check(out, expected)
    assert np.count_nonzero(wide) == np.count_nonzero(expected)  # nothing between its elements


@pytest.fixture
def copies(monkeypatch):
    """Count the copies to `out`."""
    counted = []

    def deliver(result, out):
        if out is not None:
            counted.append(out)
        return outputs.deliver(result, out)

    monkeypatch.setattr(ways, "deliver", deliver)
    return counted


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("equation", ["ab,bc->ac", "ab,bc->ca", "abc,cbd->ad"])
def test_products_are_written_where_they_belong(equation, order, copies):
    x, y = named_operands(equation)
    expected = np.einsum(equation, x, y)
    out = np.full(expected.shape, 77.0, order=order)
    # BLAS writes the transpose as well, and takes as long at a given speed.
    costs = kept.costs_for("float64", "cpu", None, 1e10)
    tensors = [(x.shape, x.strides), (y.shape, y.strides)]
    contraction = kept.planned_from(equation, tensors, costs, "auto", out)
    assert contraction(x, y, out=out) is out
    check(out, expected)
    assert not copies


def test_of_tensordot_and_of_planned_contractions():
    x, y = named_operands("ab,bc->ac")
    contraction = ttlg.contraction("ab,bc->ac", x.shape, y.shape)
    for call in (
        lambda out: ttlg.tensordot(x, y, 1, out=out),
        lambda out: contraction(x, y, out=out),
    ):
        for _ in range(2):
            out = np.zeros((x.shape[0], y.shape[1]), order="F")
            assert call(out) is out
            check(out, x @ y)


def test_scalars():
    x = random_values((30, 40), "float64")
    out = np.zeros(())
    for equation, operands in [("ab,ab->", (x, x)), ("ab->", (x,)), ("ab,ab,->", (x, x, 2.0))]:
        assert ttlg.einsum(equation, *operands, out=out) is out
        check(out, np.asarray(np.einsum(equation, *operands)))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [*FLOATS, "float16", "int64"])
@pytest.mark.parametrize("equation", ["ab,bc->ac", "ab,bc,cd->da", "ab->ba", "ab,ab->"])
def test_results_are_added_to_what_is_there(equation, dtype, order):
    operands = [(3 * x).astype(dtype) for x in named_operands(equation)]
    result = ttlg.einsum(equation, *operands)
    out = np.asarray(np.full(np.shape(result), 7, dtype), order=order)
    for number in (1, 2):  # planned, and remembered
        assert ttlg.einsum(equation, *operands, out=out, accumulate=True) is out
        expected = np.full(np.shape(result), 7, dtype)
        for _ in range(number):
            expected = (result + expected).astype(dtype)
        np.testing.assert_array_equal(out, expected)
    planned = ttlg.contraction(equation, *(x.shape for x in operands), dtype=dtype)
    assert planned(*operands, out=out, accumulate=True) is out
    np.testing.assert_array_equal(out, result + expected)


def test_nothing_is_added_to_what_is_refused():
    x, y = named_operands("ab,bc->ac")
    with pytest.raises(ValueError, match="pass out="):
        ttlg.einsum("ab,bc->ac", x, y, accumulate=True)
    out = np.ones((x.shape[0], y.shape[1]), "float32")
    with pytest.raises(TypeError, match="float32"):
        ttlg.einsum("ab,bc->ac", x, y, out=out, accumulate=True)
    assert (out == 1).all()
