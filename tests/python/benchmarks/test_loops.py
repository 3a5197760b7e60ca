"""The benchmark of loop orders compares all of them; times are stand-ins."""

import itertools

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.loops import measure
from ttlg.benchmarks.loops.measure import blocked, cases, nests

from ..blocks import edited

PLAIN = {"staged": False, "streaming": False, "prefetch": 0, "threads": 1}


def test_all_permutations_in_which_nothing_fuses():
    listed = list(cases())
    ranks = [len(case.axes) for case in listed]
    assert [ranks.count(rank) for rank in (3, 4, 5)] == [3, 11, 53]
    for case in listed:
        assert len(ttlg.plan(case.shape, case.axes, case.dtype).extents) == len(case.axes)
        assert 38e6 < case.bytes < 40e6


@pytest.mark.parametrize(
    ("axes", "block", "loops"),
    [((2, 1, 0), [3, 6, 2], [2, 0]), ((1, 0, 2), [4, 3], [0, 1]), ((2, 1, 0), [7, 6, 5], [])],
)
def test_blocks_come_in_every_order(axes, block, loops):
    plan = edited(
        ttlg.plan((5, 6, 7), axes), kernel="strided_copy", block=block, loop_order=loops, **PLAIN
    )
    last = len(block) - 1  # of the axes that are modes of blocks
    orders = [*itertools.permutations(loops)]
    found = blocked(plan)
    assert list(found) == [tuple(last - mode for mode in order) for order in orders]
    assert list(found.values()) == [edited(plan, loop_order=[*order]) for order in orders]


@pytest.mark.parametrize("axes", [(2, 1, 0), (1, 0, 2), (3, 1, 0, 2), (2, 1, 0, 3)])
def test_nests_come_in_every_order_that_comet_compares(axes):
    shape = (3, 4, 5, 6)[: len(axes)]
    plan = ttlg.plan(shape, axes, threads=1)
    found = nests(plan, ttlg.loop_order(shape, axes).comet)
    every = itertools.permutations(range(len(axes)))
    assert list(found) == [order for order in every if order[-1] in (len(axes) - 1, axes[-1])]
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for order, nest in found.items():
        np.testing.assert_array_equal(nest(x), x.transpose(axes))
        assert nest.kernel == "strided_copy"
        # All loops but the innermost are loops over blocks, of one element along them.
        rows = shape[order[-1]] if axes[-1] != len(axes) - 1 else 1
        assert np.prod(nest.parameters["block"]) == rows
        folded = len(axes) - len(nest.parameters["block"])
        modes = [len(axes) - 1 - folded - axis for axis in order[:-1]]
        assert list(nest.parameters["loop_order"]) == modes


def test_a_row_has_the_time_of_each_order(tiny, monkeypatch):
    """Each contender takes longer than the one before."""
    monkeypatch.setattr(
        measure, "time_calls", lambda entrants, _: {x.name: at for at, x in enumerate(entrants, 1)}
    )
    case = next(case for case in cases() if case.axes == (3, 1, 0, 2))
    found = measure.measure(case, 1)
    order = ttlg.loop_order(case.shape, case.axes, case.dtype, threads=1)
    texts = [" ".join(map(str, each)) for each in (order.comet, order.planned, order.cheapest)]
    assert [found.comet, found.planned, found.cheapest] == texts
    assert found.comet in found.nests
    assert found.planned in found.blocks
    times = [found.copy, *found.blocks.values(), *found.nests.values()]
    assert times == [1, *range(1 + len(COPIES), len(COPIES) + len(times))]
    plan = ttlg.plan(case.shape, case.axes, case.dtype, threads=1)
    assert found.predicted.keys() == found.blocks.keys()
    assert found.predicted[found.planned] == plan.predicted_time
