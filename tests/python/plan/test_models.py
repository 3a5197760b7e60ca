"""Models: those of GPUs that are nowhere near, and which one this machine's CPU gets."""

import itertools
import json
import random
import shutil
from importlib import resources

import numpy as np
import pytest

import ttlg
from ttlg import _core, _models
from ttlg._machine.processor import machine_facts, machine_key

from .. import time_models

PHYSICAL = "physical terms, uncalibrated"
# TTLG (IPDPS 2018), Table II.
PUBLISHED = {
    "orthogonal_distinct": {
        "Volume": 1.278e-11,
        "NumBlocks": 5.001e-08,
        "Input slice": 7.835e-07,
        "Output slice": 1.252e-06,
        "Cycles": -2.692e-11,
    },
    "orthogonal_arbitrary": {
        "Volume": -3.018e-11,
        "NumThreads": 2.730e-10,
        "Total Slice": 2.126e-07,
        "Input Stride": -8.880e-12,
        "Output Stride": -1.091e-11,
        "Special Instr": 3.047e-11,
        "Cycles": 5.112e-10,
    },
}


def test_k40c_has_the_published_coefficients():
    text = (resources.files("ttlg") / "models" / "tesla-k40c.json").read_text()
    assert json.loads(text)["coefficients"] == PUBLISHED


@pytest.mark.parametrize(
    ("device", "rate"),
    [("nvidia-h100-80gb-hbm3", 3.35e12), ("nvidia-h100", 3.35e12), ("nvidia-h200", 4.8e12)],
)
def test_models_from_data_sheets(device, rate):
    plan = ttlg.plan((8192, 8192), (1, 0), "float64", device=device)
    assert plan.device == "nvidia-h100-80gb-hbm3" if "h100" in device else device
    bytes_moved = 2 * plan.nbytes
    assert bytes_moved / rate < plan.predicted_time < 1.25 * bytes_moved / rate
    assert "(uncalibrated)" in repr(plan)
    said = f"on {plan.device} by physical terms, uncalibrated: no hardware has fitted them"
    assert said in plan.explain()


def test_only_models_that_nothing_was_fitted_to_are_uncalibrated():
    assert ttlg.show_config()["cuda"]["models"] == [
        "nvidia-h100-80gb-hbm3 (uncalibrated)",
        "nvidia-h200 (uncalibrated)",
        "tesla-k40c",
    ]
    fitted = ttlg.plan((2048, 4096), (1, 0), device="tesla-k40c")
    assert "uncalibrated" not in repr(fitted) + fitted.explain()
    record = json.loads(ttlg.plan((64, 128), device="nvidia-h200").to_json())
    record["device"]["coefficients"] = {"orthogonal_distinct": {"Volume": 1e-9}}
    again = ttlg.Plan.from_json(json.dumps(record))
    assert "uncalibrated" not in repr(again) + again.explain()


def test_a_model_says_which_of_its_times_are_fitted():
    # Table II has regressions of the two Orthogonal kernels.
    for axes, kind in [((0, 2, 1), "regression"), ((1, 0, 2), PHYSICAL)]:
        plan = ttlg.plan((512, 256, 300), axes, "float64", device="tesla-k40c")
        assert f"on tesla-k40c by {kind}" in plan.explain()
        found = ttlg.predict_time((512, 256, 300), axes, "f8", device="tesla-k40c", full=True)
        assert found.source == f"tesla-k40c, {kind}"
    small = ttlg.plan((8, 9), (1, 0), device="tesla-k40c")
    assert PHYSICAL in small.explain()
    assert "(uncalibrated)" in repr(small)


# TTLG, Figs. 6, 8 and 10: the time of every permutation whose fastest axis moves is Table II's, and
# none is beyond the 200 GB/s that the paper measured at best.
@pytest.mark.parametrize("extent", [15, 16, 17])
def test_the_papers_tensors_take_the_times_of_the_regressions(extent):
    rates = []
    for axes in itertools.permutations(range(6)):
        if axes[-1] == 5:
            continue
        found = ttlg.predict_time((extent,) * 6, axes, "float64", device="tesla-k40c", full=True)
        assert found.source == "tesla-k40c, regression"
        rates.append(2 * extent**6 * 8 / found.seconds)
    assert len(rates) == 600
    assert 90e9 < min(rates) < max(rates) < 200e9


def growing(seed, count, device, smallest):
    """Predict random tensors and the same with more of some axis, so that alignments stay."""
    draw = random.Random(seed)
    for _ in range(count):
        dtype = draw.choice(["float64", "float32", "uint8", "uint16", "complex128"])
        rank = draw.randrange(2, 7)
        volume = 2 ** draw.uniform(smallest, 31) / np.dtype(dtype).itemsize
        weights = [draw.uniform(0.3, 1.7) for _ in range(rank)]
        shape = [max(1, round(volume ** (weight / sum(weights)))) for weight in weights]
        more = list(shape)
        more[draw.randrange(rank)] *= draw.choice([3, 5, 7, 9])
        axes = draw.sample(range(rank), rank)
        yield ttlg.predict_times([(shape, axes), (more, axes)], dtype, device=device), shape, axes


@pytest.mark.parametrize("device", ["tesla-k40c", "nvidia-h200"])
def test_predictions_rise_with_the_volume(device):
    for (less, more), *problem in growing(1, 1000, device, 20):
        assert less <= more, problem
    # Of tensors that take about as long as a launch, another kernel may suit the larger better.
    for (less, more), *problem in growing(2, 300, device, 3):
        assert less <= 1.05 * more, problem


FITTED = {"memory.read_in_l2": 0.125, "issue.orthogonal_distinct.lines_4": 0.5}


def test_a_fitted_model_survives_json_exactly():
    record = _models.load("nvidia-h200").to_dict() | {"costs": FITTED, "overlap": 8}
    model = _core.DeviceModel(**json.loads(json.dumps(record)))
    assert model.calibrated
    assert model.to_dict() == record
    assert model == _core.DeviceModel(**record)
    assert model != _models.load("nvidia-h200")
    other = json.loads(ttlg.plan((64, 128), (1, 0), device="nvidia-h200").to_json())
    other["device"] = record
    plan = ttlg.Plan.from_json(json.dumps(other))
    assert json.loads(plan.to_json())["device"] == record
    assert "uncalibrated" not in plan.explain()


def test_costs_that_are_not_given_are_the_defaults():
    defaults = dict(zip(_core.cuda_cost_names(), _core.default_cuda_costs(), strict=True))
    assert _core.DeviceModel(name="a", costs=defaults) == _core.DeviceModel(name="a")
    assert _core.DeviceModel(name="a").to_dict()["costs"] == {}
    free = _core.DeviceModel(name="a", costs={"memory.bytes": 0})
    assert free.to_dict()["costs"] == {"memory.bytes": 0}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"costs": {"memory.byte": 1}}, "no term 'memory.byte'"),
        ({"costs": {"memory.bytes": -1e-9}}, "cost of 'memory.bytes' must be a number >= 0"),
        ({"costs": {"memory.bytes": float("nan")}}, "cost of 'memory.bytes'"),
        ({"costs": {"memory.bytes": float("inf")}}, "cost of 'memory.bytes'"),
        ({"overlap": 3}, "overlap must be a power of two from 1 to 16, not 3"),
        ({"overlap": 0}, "overlap must be a power of two"),
        ({"overlap": 32}, "overlap must be a power of two"),
        ({"coefficients": {"copy": {"Volume": float("nan")}}}, "'Volume' must be a finite number"),
        ({"coefficients": {"copies": {"Volume": 1.0}}}, "unknown kernel 'copies'"),
        ({"clock_hz": float("inf")}, "a property that is not positive"),
        ({"launch_seconds": 0}, "a property that is not positive"),
        ({"memory_bytes_per_second": float("nan")}, "a property that is not positive"),
    ],
    ids=str,
)
def test_what_is_no_model_of_a_gpu_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        _core.DeviceModel(name="some-gpu", **fields)


@pytest.fixture
def cache_directory(monkeypatch, tmp_path):
    """Return the directory where models are looked for; the one in use is put back at the end."""
    monkeypatch.delenv("TTLG_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with time_models.restored():
        yield tmp_path / "ttlg"


def in_use():
    found = ttlg.show_config()["cpu"]["time_model"]
    assert found["name"] == _core.cpu_time_model().name
    return found["name"], found["chosen"]


@pytest.fixture
def shipped(monkeypatch, tmp_path, cache_directory):
    """Ship these models of CPUs, by name and what they are for, and choose one of them."""

    def ship(**matches):
        folder = tmp_path / "models"
        folder.mkdir()
        for name, match in matches.items():
            text = json.dumps(time_models.fields(f"cpu-{name}", match=match))
            (folder / f"cpu-{name}.json").write_text(text)
        monkeypatch.setattr(_models, "_FOLDER", folder)
        _models.install_default_cpu_model()

    return ship


def test_the_shipped_model_that_knows_most_of_this_machine_is_chosen(shipped):
    facts = machine_facts()
    same = {"vendor": facts["vendor"], "family": facts["family"]}
    shipped(
        all={},
        vendor=same,
        kind=same | {"l2_cache_bytes": facts["l2_cache_bytes"]},
        other=same | {"l2_cache_bytes": 1, "simd_used": facts["simd_used"]},
    )
    name, chosen = in_use()
    assert name == "cpu-kind"
    assert chosen == (
        f"shipped for vendor {facts['vendor']}, family {facts['family']}, "
        f"l2_cache_bytes {facts['l2_cache_bytes']}"
    )


@pytest.mark.parametrize(
    ("facts", "model"),
    [
        ({"vendor": "AuthenticAMD", "family": 26, "model": 2}, "zen5"),
        ({"vendor": "GenuineIntel", "family": 6, "model": 85}, "skylake"),
        ({"vendor": "GenuineIntel", "family": 6, "model": 84}, "generic"),
        ({"vendor": "0x41"}, "generic"),
    ],
)
def test_a_processor_is_known_by_vendor_family_and_model(shipped, monkeypatch, facts, model):
    monkeypatch.setattr(_models, "machine_facts", lambda: facts)
    shipped(
        generic={},
        zen5={"vendor": "AuthenticAMD", "family": 26},
        skylake={"vendor": "GenuineIntel", "family": 6, "model": 85},
    )
    assert in_use()[0] == f"cpu-{model}"


def test_without_a_shipped_model_it_is_the_one_that_is_compiled_in(shipped):
    _models.install_cpu_model(time_models.fields())
    shipped(other={"family": -1})
    assert in_use() == ("cpu-generic", "no shipped model is for this CPU")


def test_the_next_process_plans_by_the_saved_model(cache_directory, run_python):
    file = _models.save_cpu_model(time_models.fields("cpu-mine"))
    assert file == cache_directory / "ttlg-cpu-models.json"
    home = cache_directory.parent / "home"
    (home / ".cache").mkdir(parents=True)
    shutil.copytree(cache_directory, home / ".cache" / "ttlg")
    script = "import ttlg; print(*ttlg.show_config()['cpu']['time_model'].values(), sep=': ')"
    for found, environment in (
        (file, {"XDG_CACHE_HOME": str(cache_directory.parent)}),
        (file, {"XDG_CACHE_HOME": "/nowhere", "TTLG_CACHE_DIR": str(cache_directory)}),
        (home / ".cache/ttlg" / file.name, {"XDG_CACHE_HOME": "", "HOME": str(home)}),
    ):
        result = run_python(script, **environment)
        assert result.stdout == f"cpu-mine: calibrated on this machine, in {found}\n", result.stderr
        assert result.stderr == ""


def test_the_saved_model_wins_over_shipped_ones(shipped):
    _models.save_cpu_model(time_models.fields("cpu-first"))
    _models.save_cpu_model(time_models.fields("cpu-mine"))
    shipped(all={})
    assert in_use()[0] == "cpu-mine"


@pytest.mark.parametrize("name", machine_key())
def test_models_of_other_machines_and_versions_do_not_count(shipped, cache_directory, name):
    file = _models.save_cpu_model(time_models.fields("cpu-mine"))
    (entry,) = json.loads(file.read_text())
    entry["key"][name] = "another"
    file.write_text(json.dumps([entry]))
    shipped(all={})  # and warns of nothing
    assert in_use()[0] == "cpu-all"
    _models.save_cpu_model(time_models.fields("cpu-mine"))
    assert len(json.loads(file.read_text())) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: text.encode()[:-5],
        lambda text: b"\xff\xfe\x00",
        lambda text: b"[" * 100_000,
        lambda text: b'{"models": []}',
        lambda text: text.replace('"model":', '"other":').encode(),
        lambda text: text.replace('"model": {', '"model": 3, "other": {').encode(),
        lambda text: text.replace('"low": 0.75', '"low": -1').encode(),
        lambda text: text.replace('"low": 0.75', '"low": 0.1').encode(),
        lambda text: text.replace('"high": 1.5', '"high": 448').encode(),
        lambda text: text.replace('"cached_bytes"', '"cache_bytes"').encode(),
        lambda text: text.replace('"call":', '"unknown":').encode(),
        lambda text: text.replace('"call": 2e-07', '"call": NaN').encode(),
        lambda text: text.replace('"call": 2e-07', '"call": "1"').encode(),
    ],
)
def test_a_damaged_file_is_ignored_with_one_warning(shipped, damage):
    file = _models.save_cpu_model(time_models.fields("cpu-mine"))
    damaged = damage(file.read_text())
    assert damaged != file.read_bytes()
    file.write_bytes(damaged)
    with pytest.warns(UserWarning, match="'python -m ttlg calibrate'") as caught:
        shipped(all={})
    assert [str(file) in str(each.message) for each in caught] == [True]
    assert in_use()[0] == "cpu-all"
    _models.save_cpu_model(time_models.fields("cpu-mine"))
    _models.install_default_cpu_model()
    assert in_use()[0] == "cpu-mine"


def test_what_is_no_model_is_not_installed(cache_directory):
    before = in_use()
    for broken in ({"low": -1}, {"high": 448}, {"coefficients": {"unknown": 1.0}}, {"speed": 3}):
        for refuse in (_models.install_cpu_model, _models.save_cpu_model):
            with pytest.raises((TypeError, ValueError)):
                refuse(time_models.fields() | broken)
        assert in_use() == before
    assert not cache_directory.exists()


def test_a_cache_directory_that_cannot_be_written_to(cache_directory):
    cache_directory.write_text("in the way")
    with pytest.raises(ValueError, match=r"cache directory '.*' cannot be used: .*TTLG_CACHE_DIR"):
        _models.save_cpu_model(time_models.fields())
    _models.install_default_cpu_model()  # and warns of nothing
