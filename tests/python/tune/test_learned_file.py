"""The file by which processes begin with what calls of earlier ones have learned."""

import json

import numpy as np
import pytest

import ttlg
from ttlg import _core, _learned
from ttlg._machine.cache_file import TuneFile

from ..arrays import bits, random_array

SHAPE, AXES = (300, 40, 50), (2, 0, 1)
NAME = "ttlg-learned.json"

LEARN = """
    import numpy as np, ttlg
    x = np.random.default_rng(5).random((700, 41, 53))
    kept = lambda: ttlg.plan_for(x, (2, 0, 1), threads=1)
    predicted = ttlg.predict_time(x.shape, (2, 0, 1), "f8", threads=1)
    calls = 0
    while not kept()._compiled.measured and calls < 1500:
        y = ttlg.transpose(x, (2, 0, 1), threads=1)
        assert np.array_equal(y, x.transpose(2, 0, 1))
        calls += 1
    assert ttlg.predict_time(x.shape, (2, 0, 1), "f8", threads=1) == predicted
    factors = ttlg.show_config()["cpu"]["time_model"].get("factors")
    print(calls > 1, kept().kernel, kept().parameters, predicted, factors)
"""


@pytest.fixture(autouse=True)
def _learning():
    ttlg.cache_clear()
    with ttlg.learning(True):
        yield
    ttlg.cache_clear()


@pytest.fixture
def file(directory):
    return TuneFile(str(directory), NAME)


def next_process(file):
    """Keep what was learned, forget it, and begin with the file."""
    _learned.keep(file)
    ttlg.cache_clear()
    _learned.restore(file)


def learned(threads=2, shape=SHAPE, seconds=1e-3):
    """Let the cache have a plan of a layout that is not the planner's choice."""
    choice = ttlg.plan(shape, AXES, threads=threads)._compiled
    name, parameters, _ = choice.candidates(threads)[-1]
    plan = _core.build_cpu_plan(choice.request, kernel=name, **parameters)
    timed = [(choice, 2 * seconds), (plan, seconds), (choice, 3 * seconds)]
    _core.cache_learned(plan.with_measured(timed), threads, 0.25, 0.5)
    return ttlg.plan(shape, AXES, threads=threads)


def test_the_next_process_begins_with_what_the_last_one_learned(run_python, tmp_path):
    environment = {"TTLG_CACHE_DIR": str(tmp_path / "made"), "TTLG_LEARN": "1"}
    first = run_python(LEARN, **environment)
    second = run_python(LEARN, **environment)
    assert first.stdout.startswith("True ")
    assert second.stdout == first.stdout.replace("True", "False", 1)
    assert first.stderr == second.stderr == ""


def test_factors_of_costs_come_back(file, monkeypatch):
    learned = {"memory_lines": 1.5, "threads": 0.75}
    others = dict.fromkeys(_core.cpu_time_factors()[0], 1.0)
    monkeypatch.setattr(_core, "cpu_time_factors", lambda: (others | learned, 3))
    _learned.keep(file)
    monkeypatch.undo()
    next_process(file)
    assert _core.cpu_time_factors()[0] == pytest.approx(others | learned)
    (entry,) = file.entries()
    for factors in ({"memory_lines": 100.0}, {"none": 1.0}, 5):
        ttlg.cache_clear()
        file.update([entry | {"factors": factors}])
        _learned.restore(file)
        assert _core.cpu_time_factors()[0] == others
    with ttlg.threads(7):  # another number of threads meets other memory
        _learned.restore(file)
        assert _core.cpu_time_factors()[0] == others


def test_nothing_is_written_where_calls_do_not_learn(run_python, tmp_path):
    program = """
        import ttlg
        from ttlg import _core
        plan = ttlg.plan((300, 40, 50), (2, 0, 1), threads=1)._compiled
        _core.cache_learned(plan.with_measured([(plan, 1e-3)]), 1, 0.25, 0.5)
    """
    cache = tmp_path / "cache"
    run_python(program, TTLG_CACHE_DIR=str(cache), TTLG_LEARN="0")
    assert not cache.exists()
    run_python(program, TTLG_CACHE_DIR=str(cache), TTLG_LEARN="1")
    assert [path.name for path in cache.iterdir()] == [NAME]


def test_a_directory_that_cannot_be_used_is_no_error(run_python, tmp_path):
    (tmp_path / "file").touch()
    done = run_python(LEARN, TTLG_CACHE_DIR=str(tmp_path / "file"), TTLG_LEARN="1")
    assert done.stderr == ""


def test_plans_come_back_as_they_were(file):
    plans = [learned(threads=1), learned(threads=2), learned(shape=(20, 30, 40))]
    with ttlg.learning(False):
        assert ttlg.plan(SHAPE, AXES, threads=2) != plans[1]
    next_process(file)
    again = [ttlg.plan(SHAPE, AXES, threads=n) for n in (1, 2)]
    again.append(ttlg.plan((20, 30, 40), AXES, threads=2))
    assert again == plans
    assert [plan._compiled.thread_limit for plan in again] == [1, 2, 2]
    assert {len(plan._compiled.measured) for plan in again} == {2}  # the choice, and the fastest
    assert again[1].gain == pytest.approx(2)
    assert [seconds for _, _, *seconds in _core.measured_plans()] == [[0.25, 0.5]] * 3
    x = random_array(SHAPE, "<f4")
    assert bits(ttlg.transpose(x, AXES, threads=2)) == bits(x.transpose(AXES))
    assert ttlg.cache_info().misses == 0


def test_plans_into_other_outputs_come_back_for_these(file):
    x = np.zeros(SHAPE)
    out = np.empty([SHAPE[axis] for axis in AXES])[:, :, ::-1]
    plan = ttlg.plan_for(x, AXES, out=out, threads=1)._compiled
    _core.cache_learned(plan.with_measured([(plan, 1e-3)]), 1, 0.25, 0.5)
    next_process(file)
    assert ttlg.plan_for(x, AXES, out=out, threads=1)._compiled.measured
    assert not ttlg.plan_for(x, AXES, threads=1)._compiled.measured


def test_the_latest_plans_are_kept(file, monkeypatch):
    monkeypatch.setattr(_learned, "_MAX_ENTRIES", 3)
    for rows in (10, 20, 30):
        learned(shape=(rows, 40, 50))
    _learned.keep(file)
    ttlg.cache_clear()
    learned(shape=(10, 40, 50), seconds=5e-4)
    learned(shape=(40, 40, 50))
    _learned.keep(file)
    assert [entry["key"]["shape"][0] for entry in file.entries()] == [30, 10, 40]
    assert file.entries()[1]["measured"][1][2] == 5e-4


def test_a_file_that_would_stay_the_same_is_not_written(file, monkeypatch):
    learned()
    _learned.keep(file)
    monkeypatch.setattr(file, "_write", None)
    _learned.keep(file)
    ttlg.cache_clear()
    _learned.keep(file)  # nor where nothing has been learned


@pytest.mark.parametrize(
    "change",
    [
        {"key": "text"},
        {"kernel": "none"},
        {"kernel": None},
        {"parameters": {}},
        {"parameters": {"block": [1]}},
        {"measured": [["tile", {}, 1]]},
        {"measured": 5},
        {"predicted": [1]},
        {"predicted": ["a", "b"]},
        *({"key": {name: "other"}} for name in ("cpu", "simd_used", "ttlg", "model")),
    ],
)
def test_entries_that_are_no_plans_of_this_machine_are_left_out(file, change):
    learned()
    learned(shape=(20, 30, 40))
    _learned.keep(file)
    entry, other = file.entries()
    if isinstance(change.get("key"), dict):
        change = {"key": entry["key"] | change["key"]}
    with open(file.path, "w", encoding="utf-8") as text:
        json.dump([entry | change, other], text)
    ttlg.cache_clear()
    _learned.restore(file)
    assert not ttlg.plan(SHAPE, AXES, threads=2)._compiled.measured
    assert ttlg.plan((20, 30, 40), AXES, threads=2)._compiled.measured, "the sound one"


@pytest.mark.parametrize("text", ["", "{", "{}", "[1, null, [], {}]", "[" * 100000])
def test_a_damaged_file_is_replaced(file, directory, text):
    directory.mkdir(parents=True)
    (directory / NAME).write_text(text)
    _learned.restore(file)
    learned()
    _learned.keep(file)
    assert len(file.entries()) == 1
