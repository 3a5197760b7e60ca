"""What the GPU's calibration keeps when something fails or stops."""

import itertools
import json
import sys
import types
from dataclasses import replace

import pytest

from ttlg.benchmarks.case import Case

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

import ttlg
from ttlg.benchmarks.gpu import calibrate, session
from ttlg.benchmarks.measure import WrongResultError

CASE = Case("calibrate", "A", (3, 4), (1, 0), "float64")


def give_wrong_result():
    raise WrongResultError("a wrong result")


def interrupt():
    raise KeyboardInterrupt


@pytest.fixture
def calibration(monkeypatch, device, tmp_path):
    """Run the program on problems of one slice each; return status, JSON and model."""
    volume = itertools.count(1000)
    monkeypatch.setattr(session, "require", lambda: None)
    monkeypatch.setattr(session, "describe", lambda _: {"device": "Some GPU", "commit": "c0ffee"})
    monkeypatch.setattr(calibrate, "Memory", lambda: device)
    known = {"name": "gpu", "launch_seconds": 1e-9, "byte_seconds": 1e-9}
    monkeypatch.setattr(calibrate, "properties", lambda: known)
    drawn = [replace(CASE, name=f"A{number}") for number in range(60)]
    monkeypatch.setattr(calibrate, "problems", lambda seed: drawn)

    def chosen(plan, seed):
        features = {"Volume": float(next(volume))}
        return [types.SimpleNamespace(kernel="copy", parameters={"slice": 1}, features=features)]

    monkeypatch.setattr(calibrate, "chosen", chosen)
    monkeypatch.setattr(calibrate, "plan_of", lambda plan, each: each)
    monkeypatch.setattr(
        calibrate,
        "terms_of",
        lambda plan, known: {"memory.bytes": plan.features["Volume"] * known["byte_seconds"]},
    )

    def run(*options, **fails):
        """Take the time of the volume for slices, and let those fail whose numbers are given."""
        numbers = itertools.count()

        def seconds(own, *_):
            number = f"at_{next(numbers)}"
            fails.get("always", fails.get(number, lambda: None))()
            return 2e-9 * own.features["Volume"]

        monkeypatch.setattr(calibrate, "_seconds", seconds)
        file = tmp_path / "results.json"
        status = calibrate.main(["--outdir", str(tmp_path), "--json", str(file), *options])
        model = tmp_path / "gpu.json"
        model = json.loads(model.read_text()) if model.exists() else None
        return status, json.loads(file.read_text()), model

    return run


def test_it_writes_the_model_and_its_errors(calibration, capsys):
    status, found, model = calibration()
    assert (status, len(found["points"])) == (0, 60)
    assert model["costs"]["memory.bytes"] == pytest.approx(2, rel=0.01)
    assert model["errors"]["copy"]["rows"] == 12
    assert model["errors"]["copy"]["mean"] < 0.01
    assert model["source"] == "fitted to 60 launches on Some GPU, commit c0ffee"
    regression = found["regressions"]["copy"]
    assert regression["test_points"] == 12
    assert regression["coefficients"]["Volume"]["estimate"] == pytest.approx(2e-9)
    assert found["costs"]["test"]["copy"] == model["errors"]["copy"]
    assert "copy" in capsys.readouterr().out


def test_what_fails_or_stops_leaves_the_other_points(calibration, device, capsys):
    status, found, model = calibration(at_50=give_wrong_result)
    assert (status, len(found["points"])) == (1, 59)
    assert list(found["failures"].values()) == ["WrongResultError: a wrong result"]
    assert model["costs"]["memory.bytes"] == pytest.approx(2, rel=0.01)
    assert "failed: A50 float64 (3, 4) (1, 0) copy {'slice': 1}: WrongResultError" in (
        capsys.readouterr().out
    )

    def lose():
        device.lost = True
        raise ttlg.CudaError("an illegal memory access was encountered")

    status, found, model = calibration(at_42=lose)
    assert (status, len(found["points"])) == (1, 42)
    assert "device" in found["failures"]
    assert model["costs"]["memory.bytes"] > 1


def test_it_goes_on_from_the_points_of_earlier_runs(calibration, tmp_path):
    points = ("--points", str(tmp_path / "points.jsonl"))
    status, found, model = calibration(*points, at_45=interrupt)
    assert (status, len(found["points"])) == (130, 45)
    assert found["regressions"]["copy"]["train_points"] == 36
    assert model["costs"]["memory.bytes"] == pytest.approx(2, rel=0.01)
    status, found, model = calibration(*points, "--count", "55")
    assert (status, len(found["points"])) == (0, 55)
    assert [point["case"].split()[0] for point in found["points"]] == [f"A{n}" for n in range(55)]
    assert model["source"].startswith("fitted to 55 launches")
    for options, count in ((("--count", "55"), 55), ((), 60)):
        status, found, _ = calibration(*points, *options)
        assert (status, len(found["points"])) == (0, count)


def test_without_points_there_is_no_model(calibration, monkeypatch, capsys):
    status, found, model = calibration(always=give_wrong_result)
    assert (status, found["costs"], model) == (1, None, None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert calibrate.main(["--outdir", "nowhere"]) == 2
    assert "calibrate: fitting a time model needs SciPy" in capsys.readouterr().err


def test_terms_are_those_on_a_device_as_measured():
    """Not on the one that the plan was made for, whose copy was not measured."""
    plan = ttlg.plan((64, 80), (1, 0), device="nvidia-h200")
    known = json.loads(plan.to_json())["device"]
    twice = known | {"memory_bytes_per_second": known["memory_bytes_per_second"] / 2}
    found, slower = (calibrate.terms_of(plan, each) for each in (known, twice))
    assert found == plan._compiled.terms()
    assert slower["memory.bytes"] == pytest.approx(2 * found["memory.bytes"])
    assert slower["issue.wavefronts"] == found["issue.wavefronts"]


def test_slices_are_verified(device):
    x = device.buffers(CASE)
    with pytest.raises(WrongResultError):
        calibrate._seconds(lambda a, b: None, x, x.inputs[0].t().contiguous())
