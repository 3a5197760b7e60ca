"""Plans that are tried on the calls of a process."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import ttlg

SHAPE, AXES = (700, 41, 53), (2, 0, 1)
# More calls than trials take, however much the machine delays some.
CALLS = 1500


@pytest.fixture(autouse=True)
def _learning():
    ttlg.cache_clear()
    with ttlg.learning(True):
        yield


@pytest.fixture
def x():
    return np.random.default_rng(5).random(SHAPE)


def measured(x, out=None):
    """Return how many plans have been tried for the layout, as far as the cache knows."""
    return len(ttlg.plan_for(x, AXES, out=out, threads=1)._core.measured)


def calls_until_settled(x, call, out=None):
    expected = np.ascontiguousarray(x.transpose(AXES))
    for number in range(CALLS):
        assert np.array_equal(call(), expected)
        if measured(x, out):
            return number + 1
    return None


def test_calls_settle_on_a_plan_and_move_the_same_bytes(x):
    out = np.empty([SHAPE[axis] for axis in AXES])
    predicted = ttlg.predict_time(SHAPE, AXES, threads=1)
    calls = calls_until_settled(x, lambda: ttlg.transpose(x, AXES, out=out, threads=1), out)
    assert calls is not None
    assert calls > 2
    kept = ttlg.plan_for(x, AXES, out=out, threads=1)
    least = min(seconds for _, _, seconds in kept._core.measured)
    own = [s for k, p, s in kept._core.measured if (k, p) == (kept.kernel, kept._core.parameters)]
    assert own[0] <= least / 0.97
    assert ttlg.predict_time(SHAPE, AXES, threads=1) == predicted
    ttlg.cache_clear()
    assert not measured(x, out)


def test_new_results_settle_too(x):
    assert calls_until_settled(x, lambda: ttlg.transpose(x, AXES, threads=1))


def test_tensors_settle_too(x):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(x)
    expected = tensor.permute(AXES).contiguous()
    for _ in range(CALLS):
        assert torch.equal(ttlg.transpose(tensor, AXES, threads=1), expected)
        if len(ttlg.plan_for(tensor, AXES, threads=1)._core.measured):
            return
    pytest.fail("no plan was kept")


def test_nothing_is_tried_where_learning_is_off(x):
    with ttlg.learning(False):
        for _ in range(40):
            ttlg.transpose(x, AXES, threads=1)
        assert ttlg.show_config()["cpu"]["learning"] is False
    assert measured(x) == 0
    assert ttlg.show_config()["cpu"]["learning"] is True


def test_plans_stay_as_they_are(x):
    plan = ttlg.plan_for(x, AXES, threads=1)
    before = plan.kernel, plan.parameters
    for _ in range(40):
        plan(x)
    assert (plan.kernel, plan.parameters) == before
    assert measured(x) == 0


def test_the_setting_is_put_back_after_an_error():
    with pytest.raises(KeyError), ttlg.learning(False):
        raise KeyError
    assert ttlg.show_config()["cpu"]["learning"] is True


def test_threads_share_trials(x):
    expected = np.ascontiguousarray(x.transpose(AXES))
    wrong = []

    def work():
        for _ in range(CALLS // 4):
            if not np.array_equal(ttlg.transpose(x, AXES, threads=1), expected):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    assert measured(x)


@pytest.mark.parametrize(("text", "learns"), [("0", "False"), ("1", "True"), ("", "True")])
def test_environment(text, learns):
    program = "import ttlg; print(ttlg.show_config()['cpu']['learning'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"TTLG_LEARN": text},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == learns


def test_environment_that_says_nothing():
    done = subprocess.run(
        [sys.executable, "-c", "import ttlg"],
        check=False,
        env=os.environ | {"TTLG_LEARN": "maybe"},
        capture_output=True,
        text=True,
    )
    assert "TTLG_LEARN must be 1 or 0, not 'maybe'" in done.stderr
