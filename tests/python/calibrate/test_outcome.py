"""A new model is kept where it is better than the one in use, on a quiet machine, or by force."""

import os
import random
from dataclasses import replace

import numpy as np
import pytest

import ttlg
from ttlg import _core, _models
from ttlg._calibrate import comparison, noise, run
from ttlg._calibrate.comparison import Change, Comparison
from ttlg._calibrate.noise import Noise
from ttlg._cli import main
from ttlg._machine.processor import machine_key

from .. import time_models

pytest.importorskip("scipy")

QUIET, BUSY = Noise(0.1, 0.05, 2), Noise(4.0, 0.2, 2)


@pytest.fixture
def machine(monkeypatch, directory, rows, truth):
    """Have a machine whose times are those of a model, and nothing is measured.

    The function that is returned says by how much the times that a fit sees are disturbed, what
    else the machine does, before and meanwhile, and which model is in use.
    """
    values = dict(zip(_core.cpu_term_names(), map(float, truth), strict=True))
    here = _core.this_cpu_machine()

    def seconds(plan):
        counts = _core.count_cpu_terms(plan, here, False)
        return sum(count * values[name] for name, count in counts.items()) + 1e-9

    monkeypatch.setattr(comparison, "time_plans", lambda plans, draw: [*map(seconds, plans)])
    monkeypatch.setattr(comparison, "_PROBLEMS", 30)
    monkeypatch.setattr(run, "_cached_bytes", lambda machine: [machine.model.cached_bytes])

    def prepare(disturbed=0.0, before=QUIET, meanwhile=0.05, in_use=None):
        draw = random.Random(0)
        seen = [
            replace(row, samples=(row.seconds * draw.lognormvariate(0, disturbed),))
            for row in rows[:: len(rows) // 500]
        ]
        monkeypatch.setattr(run, "collect", lambda *_: seen)
        monkeypatch.setattr(run, "measure_noise", lambda: before)
        monkeypatch.setattr(noise.OtherPrograms, "busy_cores", lambda _: meanwhile)
        fields = time_models.fields("cpu-before", cached_bytes=here.model.cached_bytes)
        _models.install_cpu_model(fields | {"coefficients": in_use or values})

    # What takes long seems short, and the other way round.
    prepare.far_off = {name: 1e-18 / max(value, 1e-12) for name, value in values.items()}
    return prepare


def kept(directory):
    return _models.saved_models().load(machine_key()) is not None


def test_a_better_model_is_kept_and_how_to_undo_it_is_said(machine, directory):
    machine(in_use=machine.far_off)
    report = ttlg.calibrate()
    assert report.objections == []
    assert report.comparison.in_use == "cpu-before"
    assert report.comparison.off < report.comparison.off_in_use
    assert report.comparison.time.mean < 0
    assert kept(directory)
    assert _core.cpu_time_model().name == "cpu-calibrated"
    assert f"kept in {report.path}" in repr(report)
    assert "'ttlg calibrate --reset', in Python ttlg.reset_calibration()" in repr(report)


def test_a_worse_model_is_not_kept_unless_by_force(machine, directory):
    machine(disturbed=0.6)
    before = _core.cpu_time_model()
    report = ttlg.calibrate()
    assert "it does not predict clearly better than cpu-before" in report.objections
    assert report.comparison.off > report.comparison.off_in_use
    assert report.path is None
    assert not kept(directory)
    assert _core.cpu_time_model().coefficients == before.coefficients
    assert "not kept, cpu-before stays in use: it does not predict" in repr(report)
    assert "force=True" in repr(report)
    forced = ttlg.calibrate(force=True)
    assert forced.objections == report.objections
    assert kept(directory)
    assert _core.cpu_time_model().name == "cpu-calibrated"
    assert f"kept in {forced.path}, by force, although it does not" in repr(forced)
    assert "--reset" in repr(forced)


def test_a_model_whose_plans_are_slower_is_not_kept(machine, directory, monkeypatch):
    machine(in_use=machine.far_off)
    # Whatever the new model prefers to the choice of the one before takes half as much again.
    monkeypatch.setattr(
        comparison,
        "time_plans",
        lambda plans, draw: [1e-4 * (1 + 0.5 * (plans[0] != plans[1])), 1e-4],
    )
    report = ttlg.calibrate()
    assert "the plans that it chooses may be slower than those of cpu-before" in report.objections
    assert not kept(directory)


@pytest.mark.parametrize(
    ("error", "time", "tenth", "objection"),
    [
        (Change(-0.1, 0.05), Change(-0.1, 0.05), 1.1, None),
        (Change(-0.1, 0.05), Change(0, 0.01), 1.1, None),
        (Change(-0.1, 0.2), Change(-0.1, 0.05), 1.1, "clearly better"),
        (Change(-0.1, 0.05), Change(-0.01, 0.1), 1.1, "may be slower"),
        (Change(-0.1, 0.05), Change(-0.3, 0.05), 1.5, "too many"),
        (Change(-0.1, 0.05), Change(float("nan"), 0.05), 1.1, "may be slower"),
    ],
)
def test_a_model_must_be_better_by_more_than_the_standard_error(error, time, tenth, objection):
    found = Comparison("cpu-before", 60, 1.1, 1.2, error, time, tenth).objections()
    assert len(found) == (objection is not None)
    assert objection is None or objection in found[0]


def test_a_model_that_predicts_nothing_is_not_kept_even_by_force(machine, directory):
    machine(disturbed=3.0)
    report = ttlg.calibrate(force=True)
    assert not kept(directory)
    assert _core.cpu_time_model().name == "cpu-before"
    assert "no model beyond 0.2 to 5 is used" in repr(report)
    assert "force" not in repr(report)


def test_a_busy_machine_is_not_measured_unless_by_force(machine, directory, capsys):
    machine(before=BUSY, in_use=machine.far_off)
    with pytest.warns(RuntimeWarning, match=r"too busy .* varies by 400%.* stop other programs"):
        forced = ttlg.calibrate(force=True)
    assert kept(directory)
    assert "too busy" in forced.objections[0]
    ttlg.reset_calibration()
    with pytest.warns(RuntimeWarning, match="not measured: .* too busy"):
        report = ttlg.calibrate()
    assert report.noise == BUSY
    assert report.path is report.comparison is None
    assert "0.2 of 2 cores" in repr(report)
    capsys.readouterr()
    assert main(["calibrate"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "ttlg: not measured: this machine is too busy" in err
    assert "--force" in err


def test_a_machine_that_gets_busy_meanwhile_keeps_its_model(machine, directory):
    machine(meanwhile=1.2, in_use=machine.far_off)
    report = ttlg.calibrate()
    assert report.noise.busy_cores == 1.2
    assert "other programs keep 1.2 of 2 cores busy" in report.objections[0]
    assert not kept(directory)


def test_an_interruption_of_the_comparison_leaves_the_model(machine, directory, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    machine()
    monkeypatch.setattr(_core, "predict_cpu_seconds", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ttlg.calibrate()
    assert _core.cpu_time_model().name == "cpu-before"
    assert not kept(directory)


def test_reset_removes_this_machines_model_and_no_other(directory, capsys):
    file = _models.save_cpu_model(time_models.fields("cpu-mine"))
    other = machine_key() | {"cpu": "another"}
    _models.saved_models().save(other, {"model": time_models.fields("cpu-other")})
    _models.install_default_cpu_model()
    assert _core.cpu_time_model().name == "cpu-mine"
    assert ttlg.reset_calibration() == file
    in_use = ttlg.show_config()["cpu"]["time_model"]
    assert in_use["name"] == _core.cpu_time_model().name != "cpu-mine"
    assert [entry["key"] for entry in _models.saved_models().entries()] == [other]
    _models.install_default_cpu_model()
    assert _core.cpu_time_model().name == in_use["name"]
    assert ttlg.reset_calibration() is None
    assert main(["calibrate", "--reset"]) == 0
    assert "no calibrated model of this machine" in capsys.readouterr().out
    _models.save_cpu_model(time_models.fields("cpu-mine"))
    assert main(["calibrate", "--reset"]) == 0
    out = capsys.readouterr().out
    assert f"removed the calibrated model of this machine in {file}\n" in out
    assert f"in use: {in_use['name']}, {in_use['chosen']}\n" in out


def test_reset_empties_a_damaged_file_and_needs_none(directory):
    path = _models.saved_models().path
    assert ttlg.reset_calibration() is None
    with open(path, "w") as file:
        file.write("[{")
    assert str(ttlg.reset_calibration()) == path
    _models.install_default_cpu_model()  # and warns of nothing
    assert _models.saved_models().entries() == []


@pytest.mark.parametrize(
    ("found", "is_busy"),
    [
        (QUIET, False),
        (BUSY, True),
        (Noise(0.1, 0.6, 2), True),
        (Noise(0.1, 0.6, 16), False),
        (Noise(0.1, float("nan"), 2), False),
    ],
)
def test_noise_is_judged_by_the_spread_and_by_the_share_of_busy_cores(found, is_busy):
    assert bool(found.objections()) == is_busy
    assert "varies by" in str(found)


def test_cores_that_others_keep_busy_are_counted(monkeypatch, tmp_path):
    path = tmp_path / "stat"
    monkeypatch.setattr(noise.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(noise.os, "sysconf", lambda _: 100)
    monkeypatch.setattr(noise.time, "process_time", iter((3.0, 4.0)).__next__)
    monkeypatch.setattr(noise.time, "monotonic", iter((10.0, 14.0)).__next__)
    lines = "cpu 9 9 9 9 9 9 9 9 0 0\ncpu0 {} 0 0 50 50 0 0 0 0 0\ncpu1 0 0 {} 0 0 0 0 {} 0 0\n"
    path.write_text(lines.format(100, 100, 0) + "cpu2 9 9 9 9 9 9 9 9 0 0\n")
    others = noise.OtherPrograms(str(path))
    # 7 seconds of both cores, one of them this process's, in 4 seconds.
    path.write_text(lines.format(400, 300, 200) + "cpu2 9000 9 9 9 9 9 9 9 0 0\n")
    assert others.busy_cores() == pytest.approx(1.5)


def test_noise_is_measured():
    found = noise.measure_noise()
    assert found.spread >= 0
    assert 0 <= found.busy_cores <= os.cpu_count()


def test_what_others_do_is_unknown_where_the_system_does_not_tell(tmp_path):
    assert np.isnan(noise.OtherPrograms(str(tmp_path / "missing")).busy_cores())


def test_a_model_that_predicts_no_time_is_compared_as_far_off(machine):
    machine()
    nothing = _models.cpu_model(time_models.fields("nothing", coefficients={}))
    found = comparison.compare(nothing, [1])
    assert found.off > 1e9 > found.off_in_use
