"""The benchmark of loop orders verifies and compares all of them; times are stand-ins."""

import itertools

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.case import named
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.loops import measure, report
from ttlg.benchmarks.loops.measure import Row, blocked, cases, nests

from ..blocks import edited

PLAIN = {"staged": False, "streaming": False, "prefetch": 0, "threads": 1}


def row(axes, planned, cheapest, blocks, nests):
    """Return a row with these times, those of nests with COMET's first."""
    case = named("loops", (4,) * len(axes), axes, "float32")
    predicted = dict.fromkeys(blocks, 1.0)
    return Row(case, "tile", next(iter(nests)), planned, cheapest, 1, blocks, predicted, nests)


NESTS = {"1 2 0": 9.0, "1 0 2": 6.0, "2 1 0": 12.0}
ROWS = (
    row((2, 1, 0), "0 2", "2 0", {"0 2": 3.0, "2 0": 2.0}, NESTS),
    row((0, 2, 1), "0 1", "0 1", {"0 1": 4.0, "1 0": 5.0}, {"0 2 1": 8.0, "0 1 2": 8.0}),
    row((4, 2, 1, 0, 3), "1", "1", {"1": 3.0}, {"2 1 0 4 3": 9.0}),
)


@pytest.fixture
def standing(monkeypatch):
    """Measure three permutations of few elements, each contender taking longer than the one before."""
    shapes = {3: (5, 6, 7), 4: (3, 4, 5, 6), 5: (2, 3, 2, 3, 4)}
    monkeypatch.setattr(measure, "SHAPES", shapes)
    monkeypatch.setattr(
        measure,
        "time_calls",
        lambda entrants, repeats: {each.name: 1.0 + at for at, each in enumerate(entrants)},
    )


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
    found = blocked(plan)
    folds = len(block) == 2
    expected = [
        tuple(2 - folds - mode for mode in order) for order in itertools.permutations(loops)
    ]
    assert list(found) == expected
    for order, each in found.items():
        assert each == edited(plan, loop_order=[2 - folds - axis for axis in order])


def is_valid(order, axes):
    return order[-1] in (len(axes) - 1, axes[-1])


@pytest.mark.parametrize("axes", [(2, 1, 0), (1, 0, 2), (3, 1, 0, 2), (2, 1, 0, 3)])
def test_nests_come_in_every_order_that_comet_compares(axes):
    shape = (3, 4, 5, 6)[: len(axes)]
    plan = ttlg.plan(shape, axes, threads=1)
    found = nests(plan, ttlg.loop_order(shape, axes).comet)
    every = itertools.permutations(range(len(axes)))
    assert list(found) == [order for order in every if is_valid(order, axes)]
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


def test_a_row_has_the_time_of_each_order(standing):
    case = next(case for case in cases() if case.axes == (3, 1, 0, 2))
    found = measure.measure(case, 1)
    order = ttlg.loop_order(case.shape, case.axes, case.dtype, threads=1)
    assert found.comet == " ".join(map(str, order.comet))
    assert (found.planned, found.cheapest) == tuple(
        " ".join(map(str, each)) for each in (order.planned, order.cheapest)
    )
    assert found.copy == 1
    assert found.planned in found.blocks
    assert found.predicted.keys() == found.blocks.keys()
    assert found.comet in found.nests
    times = [*found.blocks.values(), *found.nests.values()]
    assert times == [1 + len(COPIES) + at for at in range(len(times))]
    plan = ttlg.plan(case.shape, case.axes, case.dtype, threads=1)
    assert found.predicted[found.planned] == plan.predicted_time


def test_table():
    assert [line.split() for line in report.table(ROWS)][2:5] == [
        ["3", "2", "1", "25.0%", "(50%)", "0.0%", "(0%)", "25.0%", "(50%)", "2.5", "(2.0", "to", "3.0)"],
        ["5", "1", "1", "-", "-", "-", "3.0", "(3.0", "to", "3.0)"],
        ["all", "3", "2", "25.0%", "(50%)", "0.0%", "(0%)", "25.0%", "(50%)", "3.0", "(2.0", "to", "3.0)"],
    ]  # fmt: skip


def test_other_weights_of_the_output():
    for each in ROWS:
        assert report.weighed(each, each.planned, 1.01) == each.cheapest
        assert report.weighed(each, each.comet, 1.01) == each.comet
    assert [report.weighed(each, each.comet, 0.6) for each in ROWS[:2]] == ["1 0 2", "0 1 2"]
    rows = [line.split() for line in report.table(ROWS)][7:]
    assert [line[0] for line in rows] == ["0.6", "0.99", "1.01", "1.5", "1.95", "3.0"]
    assert rows[0][1:] == ["25.0%", "(50%)", "0.0%", "(0%)"]
    assert rows[2][1:] == ["0.0%", "(0%)", "25.0%", "(50%)"]
