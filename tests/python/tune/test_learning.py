"""Plans that are tried on the calls of a process."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import ttlg
from ttlg import _core

MODEL = _core.cpu_time_model().name
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
    return len(ttlg.plan_for(x, AXES, out=out, threads=1)._compiled.measured)


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
    least = min(seconds for _, _, seconds in kept._compiled.measured)
    own = [
        s
        for k, p, s in kept._compiled.measured
        if (k, p) == (kept.kernel, kept._compiled.parameters)
    ]
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
        if len(ttlg.plan_for(tensor, AXES, threads=1)._compiled.measured):
            return
    pytest.fail("no plan was kept")


def test_what_settled_calls_took_corrects_predictions_of_others(x):
    other = (900, 35, 41), AXES, "float64"
    with ttlg.learning(False):
        plain = ttlg.predict_time(*other, threads=1)
    assert ttlg.predict_time(*other, threads=1, full=True).source == MODEL
    out = np.empty([SHAPE[axis] for axis in AXES])
    assert calls_until_settled(x, lambda: ttlg.transpose(x, AXES, out=out, threads=1), out)
    assert ttlg.predict_time(*other, threads=1) == plain, "it has a plan since the first question"
    assert ttlg.predict_time(*other, threads=1, full=True).seconds == plain
    other = (901, 35, 41), AXES, "float64"
    corrected = ttlg.predict_time(*other, threads=1, full=True)
    assert corrected.source == f"{MODEL}, corrected by calls"
    told = ttlg.show_config()["cpu"]["time_model"]
    assert told["corrected_by_layouts"] == 1
    assert any(factor != 1 for factor in told["factors"].values())
    assert "corrected by calls" in ttlg.plan(*other, threads=1).explain()
    with ttlg.learning(False):
        without = ttlg.predict_time(*other, threads=1, full=True)
        assert without.seconds != corrected.seconds
        assert without.source == MODEL
        assert "factors" not in ttlg.show_config()["cpu"]["time_model"]
    ttlg.cache_clear()
    assert ttlg.predict_time(*other, threads=1, full=True) == without


def test_calls_that_do_not_learn_use_what_the_model_prefers(x):
    with ttlg.learning(False):
        choice = ttlg.plan_for(x, AXES, threads=1)
    assert calls_until_settled(x, lambda: ttlg.transpose(x, AXES, threads=1))
    with ttlg.learning(False):
        assert ttlg.plan_for(x, AXES, threads=1) == choice
        assert measured(x) == 0


def test_trials_are_told_of(x):
    out = np.empty([SHAPE[axis] for axis in AXES])
    for _ in range(5):
        ttlg.transpose(x, AXES, out=out, threads=1)
    plan = ttlg.plan_for(x, AXES, out=out, threads=1)
    assert "measured by calls so far, the fastest of" in plan.explain()
    assert plan.candidates()[0].measured_seconds > 0


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("into", ["new", "out"])
def test_plans_that_learn(x, library, into):
    shape = [SHAPE[axis] for axis in AXES]
    out = np.empty(shape) if into == "out" else None
    expected = np.ascontiguousarray(x.transpose(AXES))
    plan = ttlg.plan(SHAPE, AXES, "float64", threads=1, tune="learn")
    if library == "torch":
        torch = pytest.importorskip("torch")
        x, out = torch.from_numpy(x), None if out is None else torch.from_numpy(out)
        plan = ttlg.plan_for(x, AXES, out=out, threads=1, tune="learn")
    elif into == "out":
        plan = ttlg.plan_for(x, AXES, out=out, threads=1, tune="learn")
    assert plan.gain is None
    for _ in range(CALLS):
        assert np.array_equal(plan(x, out), expected)
        if plan.gain is not None:
            break
    assert plan.gain >= 1
    assert "measured, the fastest of" in plan.explain()
    fixed = pickle.loads(pickle.dumps(plan))
    assert (fixed.kernel, fixed.parameters) == (plan.kernel, plan.parameters)
    assert plan == plan  # noqa: PLR0124
    assert plan != fixed
    assert len({plan, fixed}) == 2
    with pytest.raises(ValueError, match="shape"):
        plan(x[1:])


def test_plans_that_learn_into_other_outputs(x):
    plan = ttlg.plan_for(x, AXES, threads=1, tune="learn")
    out = np.empty([SHAPE[axis] for axis in AXES])[:, ::-1]
    assert plan(x, out) is out
    assert np.array_equal(out, x.transpose(AXES))


def test_what_cannot_learn():
    with pytest.raises(ValueError, match="leave tune= or kernel= out"):
        ttlg.plan((4, 5), tune="learn", kernel="tile")
    with pytest.raises(ValueError, match="leave tune= or inplace= out"):
        ttlg.plan((4, 5), tune="learn", inplace=True)
    with pytest.raises(ValueError, match="tune='learn' is for device 'cpu'"):
        ttlg.plan((4, 5), tune="learn", device="nvidia-h200")
    with pytest.raises(ValueError, match="'model', 'learn', 'measure'"):
        ttlg.plan((4, 5), tune="guess")


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
