"""Predicted times of contractions."""

import math

import pytest

import ttlg

from .equations import NAMED

FLOPS = 1e10


def shapes_of(equation, extent):
    return [(extent,) * len(term) for term in equation.split("->")[0].split(",")]


@pytest.mark.parametrize("flops", [FLOPS, None])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32"])
@pytest.mark.parametrize("equation", [*NAMED.values(), "ab,bc,cd->da", "ab->ba"])
def test_seconds_are_positive_and_the_sum_of_their_parts(equation, dtype, flops):
    shapes = shapes_of(equation, 8)
    estimate = ttlg.predict_contraction(equation, *shapes, dtype=dtype, flops=flops)
    assert 0 < estimate.seconds < 60
    assert estimate.seconds == estimate.transposing + estimate.multiplying
    assert estimate.transposing >= 0
    assert estimate.multiplying > 0
    assert len(estimate.layouts) == len(estimate.alternatives)
    chosen = sum(seconds[0] for seconds in estimate.alternatives)
    assert math.isclose(chosen, estimate.seconds, rel_tol=1e-9)
    for seconds in estimate.alternatives:
        assert seconds[0] == min(seconds)


@pytest.mark.parametrize("equation", NAMED.values(), ids=NAMED)
def test_with_flops_it_is_the_same_every_time(equation):
    shapes = shapes_of(equation, 9)
    first = ttlg.predict_contraction(equation, *shapes, flops=FLOPS)
    ttlg.cache_clear()
    assert ttlg.predict_contraction(equation, *map(list, shapes), flops=FLOPS) == first
    assert ttlg.contraction(equation, *shapes, flops=FLOPS).estimate() == first


def test_questions_that_differ_are_told_apart():
    def ask(equation="abcd,dbea->ec", extent=20, **options):
        options = {"flops": FLOPS, **options}
        return ttlg.predict_contraction(equation, *shapes_of(equation, extent), **options).seconds

    first = ask()
    assert ask(flops=2 * FLOPS) < first
    assert ask(extent=21) > first
    assert ask(dtype="complex128") > first
    assert ask(dtype="float32") < first
    assert ask(device="nvidia-h200") < first
    assert ask() == first


@pytest.mark.parametrize("flops", [1e13, None])
@pytest.mark.parametrize("device", ["nvidia-h200", "nvidia-h100-80gb-hbm3", "tesla-k40c"])
def test_gpus_need_not_be_there(device, flops):
    for equation in (*NAMED.values(), "ab,bc,cd->da", "ab->ba"):
        estimate = ttlg.predict_contraction(
            equation, *shapes_of(equation, 12), device=device, flops=flops, dtype="float32"
        )
        assert 0 < estimate.seconds < 1
        assert estimate.seconds == estimate.transposing + estimate.multiplying


@pytest.mark.parametrize(
    "equation",
    [
        "ab,bc->ac",
        "ba,cb->ca",
        "abc,cd->abd",
        "abcd,cde->abe",
        "lab,lbc->lac",
        "ab,b->a",
        "ab,cd->abcd",
    ],
)
@pytest.mark.parametrize("extent", [3, 33])
def test_what_lies_as_matrices_is_not_transposed(equation, extent):
    estimate = ttlg.predict_contraction(equation, *shapes_of(equation, extent), flops=FLOPS)
    assert estimate.transposing == 0
    assert "moved" not in "".join(estimate.layouts)


@pytest.mark.parametrize("equation", ["abcd,dbea->ec", "abcde,efbad->cf"])
def test_what_does_not_is(equation):
    estimate = ttlg.predict_contraction(equation, *shapes_of(equation, 20), flops=1e12)
    assert estimate.transposing > 0
    assert "moved to" in estimate.layouts[0]


@pytest.mark.parametrize("equation", NAMED.values(), ids=NAMED)
def test_larger_contractions_take_longer(equation):
    extents = (6, 9, 14) if len(set(equation)) > 6 else (8, 16, 32)
    seconds = [
        ttlg.predict_contraction(equation, *shapes_of(equation, extent), flops=FLOPS).seconds
        for extent in extents
    ]
    assert seconds == sorted(seconds)
    assert seconds[0] < seconds[-1]


def test_flops_set_the_time_of_products():
    shapes = [(1000, 1000), (1000, 1000)]
    for dtype, operations in (("float64", 2), ("complex64", 8)):
        slow = ttlg.predict_contraction("ab,bc->ac", *shapes, flops=1e9, dtype=dtype)
        assert slow.seconds == pytest.approx(operations * 1000**3 / 1e9, rel=0.1)


def test_a_plan_by_measurements_measures_each_kind_once(spy):
    from ttlg._contract.costs import Costs

    measured = spy(Costs, "_measure", lambda seconds, costs, kind, *orders: (kind, *orders))
    for _ in range(3):
        ttlg.contraction("abcd,dbea->ec", *shapes_of("abcd,dbea->ec", 9))
    assert measured
    assert len(set(measured)) == len(measured)
    before = len(measured)
    ttlg.predict_contraction("abcd,dbea->ec", *shapes_of("abcd,dbea->ec", 9), flops=FLOPS)
    ttlg.contraction("abcd,dbea->ec", *shapes_of("abcd,dbea->ec", 9))
    assert len(measured) == before
