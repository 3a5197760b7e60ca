"""Every way that the search compares has the right result, and so has every call that tries ways."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttlg
from ttlg._contract import costs, functions, kept, pairs, steps

from ..arrays import examples
from .equations import (
    FLOATS,
    NAMED,
    check,
    named_operands,
    planned,
    products_of_matrices,
    random_values,
)

# At one operation a second, transpositions count for nothing, and no way is left out as too slow.
SLOW = 1


def results_of_all_ways(contraction, operands):
    """Call each way of a contraction of two operands."""
    ((_, _, pairing),) = contraction._steps
    for way in pairing.ways:
        yield way, pairing._compiled(way)(*operands, None)


@pytest.fixture
def all_ways(monkeypatch):
    """Leave out no way, however small the contraction is and however many there are."""
    monkeypatch.setattr(pairs, "_MIN_MULTIPLICATIONS", 0)
    monkeypatch.setattr(pairs, "_MAX_TIMED_FORMS", 10**6)


@pytest.mark.usefixtures("all_ways")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("equation", NAMED.values(), ids=NAMED)
def test_every_way(equation, dtype):
    operands = named_operands(equation, dtype, least=3 if len(set(equation)) > 6 else 5)
    contraction = planned(equation, operands, flops=SLOW)
    expected = np.einsum(equation, *operands)
    for _, result in results_of_all_ways(contraction, operands):
        check(np.asarray(result), np.asarray(expected))


@pytest.mark.usefixtures("all_ways")
def test_ways_are_of_every_kind():
    kinds = set()
    for equation in NAMED.values():
        operands = named_operands(equation, least=3)
        for way, _ in results_of_all_ways(planned(equation, operands, flops=SLOW), operands):
            moved = [factor.moved is not None for factor in way.factors]
            kinds.add((way.order, sum(moved)))
            kinds.add(("stack", len(way.product_shape) > 2))
            kinds.add(("summed", way.summed is not None))
    orders = [((0, 1), moved) for moved in range(3)] + [((1, 0), moved) for moved in range(3)]
    assert kinds == {*orders, *((name, is_so) for name in ("stack", "summed") for is_so in (0, 1))}


@pytest.mark.parametrize("dtype", FLOATS)
def test_vectors_are_multiplied_and_summed_in_one_pass(dtype):
    equation = "abcd,dbac->ca"
    extents = dict(zip("abcd", (30, 7, 31, 40), strict=True))
    terms = equation.partition("->")[0].split(",")
    operands = [
        random_values([extents[label] for label in term], dtype, seed)
        for seed, term in enumerate(terms)
    ]
    expected = np.einsum(equation, *operands)
    layouts = []
    for contraction in (planned(equation, operands, flops=SLOW), planned(equation, operands)):
        for run, result in results_of_all_ways(contraction, operands):
            check(np.asarray(result), expected)
            layouts.append(run.loop and run.loop[1])
    assert {"K", "C", None} <= set(layouts)
    ((_, _, pairing),) = planned(equation, operands, flops=SLOW)._steps
    for way in pairing.ways:
        x, y = (each.copy() for each in operands)
        out = x.reshape(-1)[: expected.size].reshape(expected.shape)[::-1]  # overlaps an operand
        assert pairing._compiled(way)(x, y, out) is out
        check(out, expected)


def test_many_small_products_where_the_large_operand_need_not_move():
    equation = "adbec,abc->de"
    x, y = random_values((4, 3, 9, 8, 30), "float64"), random_values((4, 9, 30), "float64", 1)
    contraction = planned(equation, (x, y), flops=SLOW)
    layouts = {way.product_shape for way, _ in results_of_all_ways(contraction, (x, y))}
    assert (4, 9, 3, 8, 1) in layouts or (4, 3, 9, 8, 1) in layouts
    for _, result in results_of_all_ways(contraction, (x, y)):
        check(np.asarray(result), np.einsum(equation, x, y))


def test_no_product_is_measured_on_rows_of_a_power_of_two_for_others():
    assert [costs._rounded(extent) for extent in (1, 15, 17, 48, 1024, 1148, 353, 2000)] == [
        *(1, 15, 16, 48, 1024, 1023, 383, 2047)
    ]


@pytest.mark.usefixtures("all_ways")
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(products_of_matrices(), st.sampled_from(FLOATS))
def test_every_way_of_random_equations(problem, dtype):
    operands = problem.arrays(dtype)
    expected = np.asarray(np.einsum(problem.equation, *operands))
    contraction = planned(problem.equation, operands, flops=SLOW)
    for _, result in results_of_all_ways(contraction, operands):
        check(np.asarray(result), expected)


@pytest.mark.parametrize("equation", [*NAMED.values(), "abc,cd,dbe->ae"])
@pytest.mark.parametrize("learns", [True, False])
def test_calls_that_try_ways_are_right(monkeypatch, equation, learns):
    monkeypatch.setattr(steps, "_MIN_TRIED_SECONDS", 0)
    monkeypatch.setattr(steps, "_WORTH_TRYING", 1e9)
    operands = named_operands(equation)
    expected = np.einsum(equation, *operands)
    with ttlg.learning(learns):
        for _ in range(12):
            check(ttlg.einsum(equation, *operands), expected)


def test_trials_come_to_an_end_and_only_while_learning():
    equation = "abcd,dbea->ec"
    operands = named_operands(equation)
    contraction = planned(equation, operands, flops=SLOW)
    before = contraction.explain()
    pairing = contraction._steps[0][2]
    assert pairing.call == pairing._try
    with ttlg.learning(False):
        for _ in range(20):
            contraction(*operands)
    assert contraction.explain() == before
    assert pairing.call == pairing._try
    with ttlg.learning(True):
        for _ in range(20):
            check(contraction(*operands), np.einsum(equation, *operands))
    assert pairing.call != pairing._try
    assert pairing.chosen in pairing.ways


def test_trials_end_where_threads_have_called_one_way_more_often():
    equation = "abcd,dbea->ec"
    operands = named_operands(equation)
    contraction = planned(equation, operands, flops=SLOW)
    pairing = contraction._steps[0][2]
    pairing._trials[0][2].extend([1.0] * 5)
    with ttlg.learning(True):
        for _ in range(40):
            contraction(*operands)
    assert pairing.call != pairing._try


@pytest.mark.usefixtures("frequent_switches")
@pytest.mark.parametrize("learns", [True, False])
def test_threads_that_call_at_once(monkeypatch, learns):
    monkeypatch.setattr(steps, "_MIN_TRIED_SECONDS", 0)
    monkeypatch.setattr(steps, "_WORTH_TRYING", 1e9)
    equations = [*NAMED.values()][-9:]
    work = []
    for equation in equations:
        operands = named_operands(equation)
        work.append((equation, operands, np.einsum(equation, *operands)))
    begin = threading.Barrier(6)

    def call(first):
        begin.wait()
        for number in range(2 * len(work)):
            equation, operands, expected = work[(number // 4 + first) % len(work)]
            check(ttlg.einsum(equation, *operands), expected)

    with ttlg.learning(learns), ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(call, thread // 3) for thread in range(6)]:
            done.result()


def test_a_repeated_call_is_planned_once_until_plans_are_forgotten(spy):
    plans = spy(functions, "planned_from", lambda result, text, *rest: text)
    x, y = named_operands("ab,bc->ac")
    for _ in range(3):
        ttlg.einsum("ab,bc->ac", x, y)
        ttlg.tensordot(x, y, 1)
    assert plans[0] == "ab,bc->ac"
    first = len(plans)
    assert first == 2 or plans == ["ab,bc->ac"]
    for other in (x.astype("float32"), x[::-1], np.asfortranarray(x)):
        ttlg.einsum("ab,bc->ac", other, y.astype(other.dtype))
    assert len(plans) == first + 3
    ttlg.cache_clear()
    check(ttlg.einsum("ab,bc->ac", x, y), x @ y)
    assert len(plans) == first + 4


def test_no_more_contractions_are_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(kept, "_MAX_CONTRACTIONS", 5)
    for _ in range(2):
        for extent in range(1, 9):
            x, y = random_values((3, extent), "float64"), random_values((extent, 4), "float64", 1)
            check(ttlg.einsum("ab,bc->ac", x, y), x @ y)
            check(ttlg.tensordot(x, y, 1), x @ y)
            assert len(kept.contractions) <= 5


def alike():
    """Yield calls of which each differs from others in its strides, its shapes or its equation."""
    cube, square = random_values((40, 40, 40), "float64"), random_values((40, 40), "float64", 1)
    for axes in [(0, 1, 2), (2, 1, 0), (1, 2, 0)]:
        for step in (1, -1):
            yield "abc,bd->adc", cube.transpose(axes)[::step], square, (1, 0)
    for equation in ("ab,bc->ac", "ab,bc->ca", "ab,cb->ac", "ba,bc", "ba,bc->", "ab,ab->ba"):
        yield equation, square, square[::-1], 1
    yield "aa,bb", square, square, 1
    for rows, columns in [(40, 40), (39, 40), (40, 38), (1, 40)]:
        yield "ab,bcd->dca", square[:rows, :30], cube[:30, :columns], 1


def test_plans_of_calls_that_are_alike_are_told_apart():
    for equation, x, y, axes in alike():
        for _ in range(2):
            check(ttlg.einsum(equation, x, y), np.einsum(equation, x, y))
            check(ttlg.tensordot(x, y, axes), np.tensordot(x, y, axes))
