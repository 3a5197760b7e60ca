"""The benchmark of calls that learn: its models and its problems."""

import pytest

import ttlg
from ttlg import _core
from ttlg.benchmarks import learning

from .. import time_models


@pytest.fixture(autouse=True)
def _model():
    with time_models.restored():
        yield


def test_a_model_plans_for_a_while():
    before = _core.cpu_time_model().name
    with learning.planning_by(learning.read_models(["skylake-sp"])["skylake-sp"]):
        assert _core.cpu_time_model().name == "cpu-skylake-sp"
    assert _core.cpu_time_model().name == before


def test_problems_are_those_whose_calls_learn():
    drawn = learning.draw_problems(3, 4)
    assert len(set(drawn)) == 4
    for each in drawn:
        assert 2e-4 < ttlg.predict_time(each.shape, each.axes, each.dtype, threads=1) < 1.5e-2
