"""Plans are timed alternately, and clearly slow ones less often."""

import random

import pytest

from ttlg._calibrate.measure import _alternate


class _Plan:
    """Takes the same time for each call, but for those that something else delays."""

    def __init__(self, seconds, delayed=()):
        self.seconds = seconds
        self.delayed = delayed
        self.asked = 0

    def __call__(self, calls):
        self.asked += 1
        return calls * self.seconds * (10 if self.asked in self.delayed else 1)


def test_one_delayed_sample_does_not_count():
    # A plan is asked once for how many calls a sample has, and twice for each sample.
    plans = [_Plan(1.0), _Plan(0.9, delayed=(3,)), _Plan(5.0)]
    samples, copied = _alternate(plans, [_Plan(0.5)], 4, random.Random(0))
    assert [len(each) for each in samples] == [4, 4, 2]
    assert [each[0] for each in samples] == pytest.approx([1.0, 0.9, 5.0])
    assert copied == pytest.approx(0.5)
