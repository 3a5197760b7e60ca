"""Loop orders: COMET's cost and its least over all orders, and the loops of the planner's plans."""

import contextlib
import itertools

import numpy as np
import pytest

import ttlg
from ttlg import _core

from .. import time_models
from ..blocks import edited

# The axes of each mode that blocks may cut, and the permutation of these modes.
CASES = [
    ((12, 90), None, "float64", [(0,), (1,)], (1, 0)),
    ((15, 16, 17), (2, 1, 0), "float32", [(0,), (1,), (2,)], (2, 1, 0)),
    ((5, 6, 7, 8), (3, 1, 0, 2), "float64", [(0,), (1,), (2,), (3,)], (3, 1, 0, 2)),
    ((15, 16, 17), (1, 2, 0), "float32", [(0,), (1, 2)], (1, 0)),
    ((4, 6, 3, 50), (2, 0, 1, 3), "float32", [(0, 1), (2,)], (1, 0)),  # the last axis stays
    ((4, 1, 6, 7, 3), (4, 3, 1, 0, 2), "uint8", [(0, 2), (3,), (4,)], (2, 1, 0)),
]
PLAIN = {"staged": False, "streaming": False, "prefetch": 0, "threads": 1}


@pytest.fixture(autouse=True)
def _time_model():
    with time_models.installed():
        yield


def costs(axes, orders):
    """Return COMET's cost of each of some orders of axes, from its source's description.

    Positions are counted from 0, the outermost axis of a side. The loops are `orders`, the outermost
    first; the innermost one has no penalty.
    """
    ins = np.arange(len(axes))
    outs = np.argsort(axes)
    weights = 2.0**ins + 1.01 * 2.0**outs
    loops = np.array(orders)
    penalties = 10 * 2.0 ** np.arange(loops.shape[1] - 2, -2, -1)
    penalties[-1] = 0
    return weights[loops] @ penalties


def modes(order, rank):
    """Turn axes into modes, which are numbered from the fastest one."""
    return [rank - 1 - axis for axis in order]


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_the_order_is_the_cheapest_of_all(rank):
    orders = list(itertools.permutations(range(rank)))
    for axes in orders:
        expected = costs(axes, orders)
        perm = modes(reversed(axes), rank)
        found = [_core.loop_cost(perm, modes(order, rank)) for order in orders]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        least = np.argmin(expected)
        assert np.count_nonzero(expected <= expected[least] * (1 + 1e-9)) == 1
        # COMET takes only orders whose innermost loop has stride 1 on a side.
        assert orders[least][-1] in (rank - 1, axes[-1])
        order = ttlg.loop_order(range(2, 2 + rank), axes)
        assert order.comet == orders[least]
        assert order.comet_cost == pytest.approx(expected[least], rel=1e-12)


def test_the_order_of_a_copy_is_kept():
    for rank in range(12):
        assert ttlg.loop_order((2,) * rank, range(rank)).comet == tuple(range(rank))


@contextlib.contextmanager
def planned(plan):
    """Let the planner choose a plan for its layout."""
    _core.cache_put(plan._compiled, 1, None)
    try:
        yield
    finally:
        ttlg.cache_clear()


@pytest.mark.parametrize(("shape", "axes", "dtype", "loops", "perm"), CASES)
def test_the_planners_loops(shape, axes, dtype, loops, perm):
    plan = ttlg.plan(shape, axes, dtype, threads=1)
    modes_left = plan.extents[len(plan.extents) - len(loops) :]
    block = [extent // 2 for extent in modes_left]
    every = list(itertools.permutations(range(len(loops))))
    cheapest = every[int(np.argmin(costs(perm, every)))]
    # Some blocks are cut along all modes, the others along all but one.
    for count in (len(loops), len(loops) - 1):
        for order in itertools.permutations(range(len(loops)), count):
            cut = modes(order, len(loops))
            whole = [
                part if mode in cut else extent
                for mode, (part, extent) in enumerate(zip(block, modes_left, strict=True))
            ]
            forced = edited(plan, kernel="strided_copy", block=whole, loop_order=cut, **PLAIN)
            with planned(forced):
                found = ttlg.loop_order(shape, axes, dtype, threads=1)
            least = [loop for loop in cheapest if loop in order]
            assert found.planned == tuple(itertools.chain(*(loops[loop] for loop in order)))
            assert found.cheapest == tuple(itertools.chain(*(loops[loop] for loop in least)))
            assert found.planned_cost == pytest.approx(costs(perm, [order])[0])
            assert found.cheapest_cost == pytest.approx(costs(perm, [least])[0])
            assert found.planned_cost >= found.cheapest_cost


@pytest.mark.parametrize("threads", [1, 2])
def test_they_are_those_of_the_plan(threads):
    shape, axes = (150, 160, 170), (2, 1, 0)
    loops = ttlg.plan(shape, axes, "float64", threads=threads).parameters["loop_order"]
    found = ttlg.loop_order(shape, axes, "float64", threads=threads)
    assert found.planned == tuple(2 - mode for mode in loops)


@pytest.mark.parametrize("shape", [(), (5,), (1, 1), (3, 0), (2, 3)])
def test_nothing_is_cut_into_blocks(shape):
    order = ttlg.loop_order(shape)
    assert (order.planned, order.planned_cost) == (order.cheapest, order.cheapest_cost) == ((), 0)
    assert sorted(order.comet) == list(range(len(shape)))


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        ttlg.loop_order((2, 3), (0, 0))
    with pytest.raises(ValueError, match="negative extent"):
        ttlg.loop_order((2, -3))
    with pytest.raises(TypeError, match="object"):
        ttlg.loop_order((2, 3), dtype=object)
