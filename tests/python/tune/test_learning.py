"""Plans that are tried on the calls of a process."""

import pickle
from concurrent.futures import ThreadPoolExecutor

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
    expected = np.asarray(x).transpose(AXES)
    for number in range(CALLS):
        assert np.array_equal(np.asarray(call()), expected)
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
    times = [each.measured_seconds for each in kept.candidates() if each.measured_seconds]
    assert times[0] <= min(times) / 0.97  # its own
    assert ttlg.predict_time(SHAPE, AXES, threads=1) == predicted
    ttlg.cache_clear()
    assert not measured(x, out)


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


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_new_results_settle_too_and_calls_that_do_not_learn_use_the_models_choice(x, library):
    if library == "torch":
        x = pytest.importorskip("torch").from_numpy(x)
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
    if library == "numpy":
        other = np.empty(shape)[:, ::-1]
        assert plan(x, other) is other
        assert np.array_equal(other, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "tile"}, "leave tune= or kernel= out"),
        ({"inplace": True}, "leave tune= or inplace= out"),
        ({"device": "nvidia-h200"}, "tune='learn' is for device 'cpu'"),
        *(({"tune": each}, "unknown tune .*'model', 'learn', 'measure'") for each in ("", None, 3)),
    ],
)
def test_what_cannot_learn(options, message):
    with pytest.raises(ValueError, match=message):
        ttlg.plan((4, 5), **{"tune": "learn"} | options)


def test_nothing_is_tried_where_learning_is_off_nor_by_plans(x):
    with ttlg.learning(False):
        for _ in range(40):
            ttlg.transpose(x, AXES, threads=1)
        assert ttlg.show_config()["cpu"]["learning"] is False
    assert measured(x) == 0
    plan = ttlg.plan_for(x, AXES, threads=1)
    before = plan.kernel, plan.parameters
    for _ in range(40):
        plan(x)
    assert (plan.kernel, plan.parameters) == before
    assert measured(x) == 0
    with pytest.raises(KeyError), ttlg.learning(False):
        raise KeyError
    assert ttlg.show_config()["cpu"]["learning"] is True, "put back after an error"


def test_threads_share_trials(x):
    expected = np.ascontiguousarray(x.transpose(AXES))

    def work(_):
        results = (ttlg.transpose(x, AXES, threads=1) for _ in range(CALLS // 4))
        return all(np.array_equal(result, expected) for result in results)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert measured(x)


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        ("0", 0, "False"),
        ("1", 0, "True"),
        ("", 0, "True"),
        ("maybe", 1, "TTLG_LEARN must be 1 or 0, not 'maybe'"),
    ],
)
def test_environment(run_python, text, status, told):
    program = "import ttlg; print(ttlg.show_config()['cpu']['learning'])"
    done = run_python(program, status=status, TTLG_LEARN=text)
    assert told in (done.stderr if status else done.stdout)
