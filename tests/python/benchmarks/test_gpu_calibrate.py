"""What the GPU's calibration keeps when something fails or stops."""

import itertools
import json
import types

import pytest

from ttlg.benchmarks.case import Case

torch = pytest.importorskip("torch")

import ttlg
from ttlg.benchmarks.gpu import calibrate
from ttlg.benchmarks.gpu.dataset import DTYPES, RANKS, problems
from ttlg.benchmarks.measure import WrongResultError

CASE = Case("calibrate", "A", (3, 4), (1, 0), "float64")


def candidate(kernel, features):
    return types.SimpleNamespace(kernel=kernel, parameters={"slice": 1}, features=features)


@pytest.fixture
def calibration(monkeypatch, device, tmp_path):
    """Run the program on problems of one slice each; return status, JSON and model."""
    volume = itertools.count(1000)
    monkeypatch.setattr(calibrate, "require", lambda: None)
    monkeypatch.setattr(calibrate, "describe", lambda _: {"device": "Some GPU", "commit": "c0ffee"})
    monkeypatch.setattr(calibrate, "Memory", lambda: device)
    monkeypatch.setattr(calibrate, "properties", lambda: {"name": "gpu", "launch_seconds": 1e-9})
    monkeypatch.setattr(calibrate, "problems", lambda seed: [CASE] * 60)
    monkeypatch.setattr(
        calibrate, "chosen", lambda plan, seed: [candidate("copy", {"Volume": float(next(volume))})]
    )
    monkeypatch.setattr(calibrate, "plan_of", lambda plan, each: each)

    def run(seconds):
        turns = itertools.count()
        monkeypatch.setattr(calibrate, "_seconds", lambda *args: seconds(next(turns), *args))
        file = tmp_path / "results.json"
        status = calibrate.main(["--outdir", str(tmp_path), "--json", str(file)])
        return status, json.loads(file.read_text()), json.loads((tmp_path / "gpu.json").read_text())

    return run


def test_wrong_slices_are_left_out_of_the_fit(calibration, capsys):
    def seconds(turn, own, buffers, expected):
        if turn == 50:
            raise WrongResultError("a wrong result")
        return 2e-9 * own.features["Volume"]

    status, found, model = calibration(seconds)
    assert (status, len(found["points"])) == (1, 59)
    assert list(found["failures"].values()) == ["WrongResultError: a wrong result"]
    assert "copy" in next(iter(found["failures"]))
    assert model["coefficients"]["copy"]["Volume"] == pytest.approx(2e-9)
    assert "failed: A float64 (3, 4) (1, 0) copy {'slice': 1}: WrongResultError" in (
        capsys.readouterr().out
    )


def test_an_interrupt_fits_the_points_so_far(calibration):
    def seconds(turn, own, buffers, expected):
        if turn == 45:
            raise KeyboardInterrupt
        return 2e-9 * own.features["Volume"]

    status, found, model = calibration(seconds)
    assert (status, len(found["points"])) == (130, 45)
    assert found["regressions"]["copy"]["train_points"] == 36
    assert model["coefficients"]["copy"]["Volume"] == pytest.approx(2e-9)


def test_a_lost_device_ends_the_calibration(calibration, device):
    def seconds(turn, own, buffers, expected):
        if turn == 42:
            device.lost = True
            raise ttlg.CudaError("an illegal memory access was encountered")
        return 2e-9 * own.features["Volume"]

    status, found, model = calibration(seconds)
    assert (status, len(found["points"])) == (1, 42)
    assert "device" in found["failures"]
    assert model["coefficients"]["copy"]


def test_slices_are_verified(device):
    x = device.buffers(CASE)
    with pytest.raises(WrongResultError):
        calibrate._seconds(lambda a, b: None, x, x.inputs[0].t().contiguous())


def test_calibration_touches_every_rank_and_dtype_early():
    first = itertools.islice(problems(calibrate._SEED), 8)
    seen = {(len(case.shape), case.dtype) for case in first}
    assert seen == set(itertools.product(RANKS, DTYPES))
