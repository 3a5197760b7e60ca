"""The benchmark of calls that learn: models, checkpoints and what it reports of them."""

import pytest

import ttlg
from ttlg import _core
from ttlg._calibrate.problems import Problem
from ttlg.benchmarks import learning

from .. import time_models

SMALL = Problem((300, 400), (1, 0), "f4")


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


def test_every_model_has_a_regret_at_each_checkpoint():
    models = learning.read_models(["generic", "zen5"])
    found = learning.measure(SMALL, 1, models, 12)
    assert [each.model for each in found] == ["generic", "zen5"]
    for each in found:
        assert len(each.regrets) == 2, "after 1 and 10 calls"
        assert min(each.regrets) >= 0
        assert min(each.cost, each.predicted, each.measured) > 0


def test_wrong_bytes_are_found(monkeypatch):
    models = learning.read_models(["generic"])
    monkeypatch.setattr(learning.ttlg, "transpose", lambda *_, **__: None)
    with pytest.raises(AssertionError, match="wrong result"):
        learning.measure(SMALL, 1, models, 2)


def test_choices_for_other_problems_before_and_after():
    models = learning.read_models(["generic"])
    found = learning.measure_unseen([SMALL], [Problem((200, 500), (1, 0), "f4")], 1, models, 2)
    assert [each.model for each in found] == ["generic", "generic, learned"]
    assert all(each.cost is None for each in found)
    lines = [*learning.table(found)]
    assert len(lines) == 3
    assert lines[2].startswith("generic, learned")
