"""`ttlg.calibrate` measures, fits, keeps a model and uses it, or changes nothing."""

import json
import random
import sys

import pytest

import ttlg
from ttlg import _calibrate, _core, _models
from ttlg._calibrate import comparison, run
from ttlg._calibrate.data import read
from ttlg._calibrate.measure import measure
from ttlg._calibrate.noise import Noise
from ttlg._calibrate.problems import Problem
from ttlg._cli import main
from ttlg.benchmarks import cpu_model

from .. import time_models

pytest.importorskip("scipy")


HOURS = 1e5  # a test that measured would not end in time


@pytest.fixture
def few_problems(monkeypatch):
    monkeypatch.setattr(run, "_SETS", 4)
    monkeypatch.setattr(run, "_MIN_BYTES", 1 << 16)
    monkeypatch.setattr(run, "measure_noise", lambda: Noise(0.1, 0.0, 2))
    monkeypatch.setattr(comparison, "_PROBLEMS", 3)
    monkeypatch.setattr(comparison, "_MAX_BYTES", 1 << 16)
    # However badly it predicts what is measured while other tests run.
    monkeypatch.setattr(_models, "_MIN_LOW", 0)
    monkeypatch.setattr(_models, "_MAX_HIGH", float("inf"))


def test_the_model_is_kept_and_in_use(directory, few_problems):
    report = ttlg.calibrate(budget=0.01, progress=False, force=True)
    assert report.path is not None
    assert report.path.parent == directory
    model = _core.cpu_time_model()
    assert model.name == "cpu-calibrated"
    assert model.cached_bytes == report.cached_bytes
    assert (model.low, model.high) == (report.low, report.high)
    plan = _core.cached_cpu_plan(Problem((300, 200), (1, 0), "f4").request(), 1, None)
    counts = _core.count_cpu_terms(plan, _core.this_cpu_machine(), False)
    expected = sum(n * model.coefficients.get(name, 0.0) for name, n in counts.items())
    assert _core.predict_cpu_seconds(plan, False) == pytest.approx(expected)
    assert str(report.path) in repr(report)
    assert report.comparison.problems == 3


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("step", ["collect", "fit_rows"])
def test_what_is_interrupted_leaves_model_and_file(
    directory, few_problems, monkeypatch, failure, step
):
    def fail(*arguments):
        raise failure

    _models.save_cpu_model(time_models.fields("before"))
    files = {path: path.read_bytes() for path in directory.iterdir()}
    assert files
    model = _core.cpu_time_model()
    monkeypatch.setattr(run, "collect", lambda *_: [])
    monkeypatch.setattr(run, step, fail)
    with pytest.raises(failure):
        ttlg.calibrate(budget=0.01)
    assert {path: path.read_bytes() for path in directory.iterdir()} == files
    assert _core.cpu_time_model().coefficients == model.coefficients


def test_a_directory_that_cannot_be_used_is_told_before_measuring(monkeypatch, tmp_path):
    occupied = tmp_path / "file"
    occupied.touch()
    monkeypatch.setenv("TTLG_CACHE_DIR", str(occupied))
    with pytest.raises(ValueError, match="TTLG_CACHE_DIR"):
        ttlg.calibrate(budget=HOURS)


def test_scipy_is_asked_for_before_measuring(monkeypatch, directory):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match=r"ttlg\[calibrate\]"):
        ttlg.calibrate(budget=HOURS)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"device": "cuda:1"}, ValueError, "gpu_verify"),
        ({"device": "tesla-k40c"}, ValueError, "choose 'cpu'"),
        ({"device": 1}, TypeError, "device"),
        ({"budget": 0}, ValueError, "positive"),
        ({"budget": float("nan")}, ValueError, "positive"),
        ({"budget": "60"}, TypeError, "budget"),
    ],
)
def test_arguments_are_checked(arguments, error, text):
    with pytest.raises(error, match=text):
        _calibrate.calibrate(**arguments)


def test_the_command_prints_the_report(directory, few_problems, capsys):
    assert main(["calibrate", "--budget", "0.01"]) == 0
    assert "held out" in capsys.readouterr().out
    assert main(["calibrate", "--device", "cuda"]) == 1
    assert "gpu_verify" in capsys.readouterr().err


@pytest.mark.parametrize("strides", [None, (-1600, 8)])
def test_measurements_are_of_every_plan_beside_a_copy(strides):
    problem = Problem((40, 100), (1, 0), "f4", strides)
    rows = measure(problem, [1, 2], 6, random.Random(0))
    assert rows[0].kernel == _core.cached_cpu_plan(problem.request(), 1, None).kernel
    assert {(row.case.threads, row.case.fresh) for row in rows} == {
        (threads, fresh) for threads in (1, 2) for fresh in (False, True)
    }
    for row in rows:
        assert row.case.problem == problem
        assert list(row.samples) == sorted(row.samples)
        assert row.seconds > 1e-8  # a call that moves nothing takes less
        assert row.copy_seconds > 1e-8


def test_a_data_file_grows_and_is_evaluated(directory, capsys):
    path = directory / "rows.jsonl"
    options = ["--seconds", "0.3", "--most-bytes", "65536", "--sets", "4"]
    assert cpu_model.main(["measure", str(path), *options]) == 0
    first = list(read(path))
    assert cpu_model.main(["measure", str(path), *options]) == 0
    rows = list(read(path))
    assert rows[: len(first)] == first
    again = {row.case.problem for row in rows[len(first) :]}
    assert again
    assert not again & {row.case.problem for row in first}
    written = directory / "evaluation.json"
    model = directory / "cpu-mine.json"
    outputs = ["--json", str(written), "--model", str(model)]
    assert cpu_model.main(["evaluate", str(path), *outputs]) == 0
    assert _models.cpu_model(json.loads(model.read_text())).name == "cpu-mine"
    assert f'"rows": {len(rows)}' in written.read_text()
    assert "regret of first row" in capsys.readouterr().out
