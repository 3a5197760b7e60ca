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
from ttlg.benchmarks.gpu import calibrate, models, session
from ttlg.benchmarks.gpu import device as gpu_device
from ttlg.benchmarks.gpu.dataset import DTYPES, RANKS, problems
from ttlg.benchmarks.measure import WrongResultError

CASE = Case("calibrate", "A", (3, 4), (1, 0), "float64")


def failing(number, fail):
    """Return seconds by the volume, but for the slice of one number."""

    def seconds(now, own, *_):
        if now == number:
            fail()
        return 2e-9 * own.features["Volume"]

    return seconds


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

    def run(seconds, *options):
        numbers = itertools.count()
        monkeypatch.setattr(calibrate, "_seconds", lambda *args: seconds(next(numbers), *args))
        file = tmp_path / "results.json"
        status = calibrate.main(["--outdir", str(tmp_path), "--json", str(file), *options])
        return status, json.loads(file.read_text()), json.loads((tmp_path / "gpu.json").read_text())

    return run


def test_it_writes_the_model_and_its_errors(calibration, capsys):
    status, found, model = calibration(failing(None, None))
    assert (status, len(found["points"])) == (0, 60)
    assert model["costs"]["memory.bytes"] == pytest.approx(2, rel=0.01)
    assert model["errors"]["copy"]["rows"] == 12
    assert model["errors"]["copy"]["mean"] < 0.01
    assert model["source"] == "fitted to 60 launches on Some GPU, commit c0ffee"
    assert found["regressions"]["copy"]["test_points"] == 12
    assert found["costs"]["test"]["copy"] == model["errors"]["copy"]
    assert "copy" in capsys.readouterr().out


def test_wrong_slices_are_left_out_of_the_fit(calibration, capsys):
    status, found, model = calibration(failing(50, give_wrong_result))
    assert (status, len(found["points"])) == (1, 59)
    assert list(found["failures"].values()) == ["WrongResultError: a wrong result"]
    assert "copy" in next(iter(found["failures"]))
    assert model["costs"]["memory.bytes"] == pytest.approx(2, rel=0.01)
    assert found["regressions"]["copy"]["coefficients"]["Volume"]["estimate"] == (
        pytest.approx(2e-9)
    )
    assert "failed: A50 float64 (3, 4) (1, 0) copy {'slice': 1}: WrongResultError" in (
        capsys.readouterr().out
    )


def test_an_interrupt_fits_the_points_so_far(calibration):
    status, found, model = calibration(failing(45, interrupt))
    assert (status, len(found["points"])) == (130, 45)
    assert found["regressions"]["copy"]["train_points"] == 36
    assert model["costs"]["memory.bytes"] == pytest.approx(2, rel=0.01)


def test_it_goes_on_from_the_points_of_earlier_runs(calibration, tmp_path):
    points = ("--points", str(tmp_path / "points.jsonl"))
    status, found, _ = calibration(failing(45, interrupt), *points)
    assert (status, len(found["points"])) == (130, 45)
    status, found, model = calibration(failing(None, None), *points, "--count", "55")
    assert (status, len(found["points"])) == (0, 55)
    assert [point["case"].split()[0] for point in found["points"]] == [f"A{n}" for n in range(55)]
    assert model["source"].startswith("fitted to 55 launches")
    status, found, _ = calibration(failing(0, give_wrong_result), *points, "--count", "55")
    assert (status, len(found["points"])) == (0, 55)
    status, found, _ = calibration(failing(None, None), *points)
    assert (status, len(found["points"])) == (0, 60)


def test_a_lost_device_ends_the_calibration(calibration, device):
    def lose():
        device.lost = True
        raise ttlg.CudaError("an illegal memory access was encountered")

    status, found, model = calibration(failing(42, lose))
    assert (status, len(found["points"])) == (1, 42)
    assert "device" in found["failures"]
    assert model["costs"]["memory.bytes"] > 1


def test_without_points_there_is_no_model(calibration, tmp_path):
    with pytest.raises(FileNotFoundError):
        calibration(lambda *_: give_wrong_result())
    assert json.loads((tmp_path / "results.json").read_text())["costs"] is None
    assert calibrate.main(["--outdir", str(tmp_path)]) == 1


def test_terms_are_those_on_a_device_as_measured():
    """Not on the one that the plan was made for, whose copy was not measured."""
    plan = ttlg.plan((64, 80), (1, 0), device="nvidia-h200")
    known = json.loads(plan.to_json())["device"]
    twice = known | {"memory_bytes_per_second": known["memory_bytes_per_second"] / 2}
    found, slower = (calibrate.terms_of(plan, each) for each in (known, twice))
    assert found == plan._compiled.terms()
    assert slower["memory.bytes"] == pytest.approx(2 * found["memory.bytes"])
    assert slower["issue.wavefronts"] == found["issue.wavefronts"]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64", "complex128"])
def test_bits_of_every_width_are_compared(dtype):
    words = gpu_device._DTYPES[dtype]
    x = torch.arange(6 * 64, dtype=torch.uint8).view(words)
    assert gpu_device.same_bits(x, x.clone())
    other = x.clone()
    other.view(torch.uint8)[-1] ^= 1
    assert not gpu_device.same_bits(x, other)
    if words.is_floating_point:
        nan, zero = torch.full((1,), torch.nan, dtype=words), torch.zeros(1, dtype=words)
        assert gpu_device.same_bits(nan, nan.clone())
        assert not gpu_device.same_bits(zero, -zero)


def test_slices_are_verified(device):
    x = device.buffers(CASE)
    with pytest.raises(WrongResultError):
        calibrate._seconds(lambda a, b: None, x, x.inputs[0].t().contiguous())


def test_without_scipy_nothing_is_measured(calibration, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert calibrate.main(["--outdir", "nowhere"]) == 2
    assert "calibrate: fitting a time model needs SciPy" in capsys.readouterr().err


def test_calibration_touches_every_rank_and_dtype_early():
    first = itertools.islice(problems(models.SEED), len(RANKS) * len(DTYPES))
    seen = {(len(case.shape), case.dtype) for case in first}
    assert seen == set(itertools.product(RANKS, DTYPES))
