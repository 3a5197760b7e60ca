"""The data set has the paper's strata, and is split in the same way everywhere."""

import collections
import itertools
import math
import random

import numpy as np
import pytest

from ttlg import _core
from ttlg._calibrate.problems import MIN_BYTES, ORDERINGS, RANKS, Problem, problems, shape
from ttlg._calibrate.sample import sample

MAX_BYTES = 64 << 20


@pytest.fixture(scope="module")
def drawn():
    return list(itertools.islice(problems(0, MAX_BYTES), 600))


def test_every_rank_size_width_and_layout_is_drawn(drawn):
    ranks = collections.Counter(len(problem.shape) for problem in drawn)
    # Half of the problems are of strata, an eighth of these of each rank.
    assert all(ranks[rank] >= 0.8 * len(drawn) / 2 / len(RANKS) for rank in RANKS), ranks
    assert {problem.itemsize for problem in drawn} >= {1, 2, 3, 4, 8, 12, 16}
    powers = {math.floor(math.log(problem.bytes / MIN_BYTES, 4)) for problem in drawn}
    assert powers >= set(range(math.floor(math.log(MAX_BYTES / MIN_BYTES, 4))))
    strided = sum(problem.strides is not None for problem in drawn)
    assert 0.15 < strided / len(drawn) < 0.35
    assert max(problem.bytes for problem in drawn) <= MAX_BYTES


def test_orderings_are_those_of_the_paper():
    equal, increasing, decreasing, peak, valley = (shape(5, 1 << 22, each) for each in ORDERINGS)
    assert len(set(equal)) == 1
    assert shape(3, 27, "equal") == (3, 3, 3)
    assert list(increasing) == sorted(set(increasing))
    assert decreasing == increasing[::-1]
    assert sorted(peak) == sorted(valley) == list(increasing)
    assert peak[:3] == tuple(sorted(peak[:3]))
    assert peak[2:] == tuple(sorted(peak[2:], reverse=True))
    assert valley[:3] == tuple(sorted(valley[:3], reverse=True))
    assert valley[2:] == tuple(sorted(valley[2:]))
    assert 0.8 < math.prod(increasing) / 2**22 < 1.2


def test_axes_permute_and_strides_keep_elements_apart(drawn):
    for problem in drawn:
        assert sorted(problem.axes) == list(range(len(problem.shape)))
        if problem.strides is not None and problem.bytes < 1 << 16:
            offsets = sum(
                np.arange(extent).reshape([-1] + [1] * (len(problem.shape) - axis - 1)) * step
                for axis, (extent, step) in enumerate(
                    zip(problem.shape, problem.strides, strict=True)
                )
            )
            apart = np.diff(np.unique(offsets))
            assert np.unique(offsets).size == math.prod(problem.shape)
            assert apart.min(initial=problem.itemsize) >= problem.itemsize


def test_the_split_is_the_same_everywhere_and_one_in_five(drawn):
    again = list(itertools.islice(problems(0, MAX_BYTES), 600))
    assert again == drawn
    assert [each.fold for each in again] == [each.fold for each in drawn]
    assert list(itertools.islice(problems(1, MAX_BYTES), 600)) != drawn
    share = sum(problem.fold == 0 for problem in drawn) / len(drawn)
    assert 0.14 < share < 0.26
    assert Problem((4, 5), (1, 0), "f4").fold == 4


def test_samples_are_the_planners_candidates_and_others_once_each(drawn):
    for number, problem in enumerate(drawn[:40]):
        plans = sample(problem, 2, 20, random.Random(number))
        own = _core.cached_cpu_plan(problem.request(), 2, None)
        assert plans[0] == own
        found = [(plan.kernel, repr(plan.parameters)) for plan in plans]
        assert len(set(found)) == len(found)
        listed = {(kernel, repr(each)) for kernel, each, _ in own.candidates(2)}
        assert listed <= set(found)


def test_samples_of_a_large_problem_differ_in_everything():
    plans = sample(Problem((300, 40, 500), (2, 1, 0), "f4"), 2, 100, random.Random(0))
    drawn = [plan.parameters for plan in plans]
    for name in ("block", "loop_order", "staged", "streaming", "prefetch", "threads"):
        assert len({repr(each[name]) for each in drawn}) > 1, name
    assert {plan.kernel for plan in plans} >= {"tile", "strided_copy"}
