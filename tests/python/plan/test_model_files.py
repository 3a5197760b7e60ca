"""Device models in files of a caller's own."""

import json
import os
import shutil
from pathlib import Path

import pytest

import ttlg
from ttlg import _models
from ttlg._machine.processor import machine_key

SHIPPED = Path(ttlg.__file__).parent / "models"
H200 = "nvidia-h200"
CPU_MODELS = sorted(SHIPPED.glob("cpu-*.json"))


def model_file(folder, shipped=H200, **fields):
    path = folder / "mine.json"
    path.write_text(json.dumps(json.loads((SHIPPED / f"{shipped}.json").read_text()) | fields))
    return path


@pytest.mark.parametrize("as_given", [str, Path], ids=["str", "Path"])
@pytest.mark.parametrize("name", _models.shipped())
def test_a_shipped_model_is_itself_from_its_file(name, as_given):
    device = as_given(SHIPPED / f"{name}.json")
    for options in ({}, {"inplace": True}):
        plan = ttlg.plan((300, 400), device=device, **options)
        assert plan == ttlg.plan((300, 400), device=name, **options)
        assert plan.device == name
        seconds = ttlg.predict_time((300, 400), device=device, **options)
        assert seconds == ttlg.predict_time((300, 400), device=name, **options)
    problems = [((300, 400), None), ([5, 6, 7], (2, 0, 1))]
    assert (
        ttlg.predict_times(problems, device=device) == ttlg.predict_times(problems, device=name)
    ).all()


def test_a_model_of_ones_own(tmp_path):
    path = model_file(tmp_path, name="mine", memory_bytes_per_second=1e9, launch_seconds=1)
    assert ttlg.predict_time((300, 400), device=path) > 1
    plan = ttlg.plan((300, 400), device=str(path))
    assert (plan.device, plan.predicted_time > 1) == ("mine", True)
    assert "on mine by" in plan.explain()
    assert ttlg.Plan.from_json(plan.to_json()) == plan


def test_a_file_that_changes_is_read_again(tmp_path):
    path = model_file(tmp_path, launch_seconds=1)
    flops = {"flops": 1e12}
    first = ttlg.predict_contraction("abc,bd->dca", (90, 80, 70), (80, 60), device=path, **flops)
    assert 1 < ttlg.predict_time((300, 400), device=path) < 2
    model_file(tmp_path, launch_seconds=12.5)
    assert ttlg.predict_time((300, 400), device=path) > 12
    second = ttlg.predict_contraction("abc,bd->dca", (90, 80, 70), (80, 60), device=path, **flops)
    assert second.seconds > 2 * first.seconds


def test_one_that_has_not_changed_is_read_once(tmp_path):
    path = model_file(tmp_path)
    assert _models.model_for(path) is _models.model_for(str(path))


@pytest.mark.parametrize("path", CPU_MODELS, ids=lambda path: path.stem)
@pytest.mark.parametrize("inplace", [False, True])
def test_models_of_cpus(path, inplace):
    fields = json.loads(path.read_text())
    shape, axes = (300, 41, 53), (2, 0, 1)
    options = {"threads": 1, "inplace": inplace}
    with ttlg.learning(False):
        before = _models.cpu_model_in_use()
        plan = ttlg.plan(shape, axes, device=path, **options)
        prediction = ttlg.predict_time(shape, axes, device=path, full=True, **options)
        seconds = ttlg.predict_time(shape, axes, device=path, output="warm", **options)
        written = ttlg.Plan.from_json(plan.to_json())
        times = [each.seconds for each in plan.candidates()]
        many = ttlg.predict_times([(shape, axes)], device=path, threads=1, output="warm")
        assert _models.cpu_model_in_use() == before
        # The same as with that model installed.
        own = ttlg._core.cpu_time_model()
        try:
            ttlg._core.set_cpu_time_model(_models.cpu_model(fields))
            expected = ttlg.plan(shape, axes, **options)
            assert plan == expected
            assert times == [each.seconds for each in expected.candidates()]
            assert plan.predicted_time == expected.predicted_time == seconds
            assert prediction.seconds == ttlg.predict_time(shape, axes, **options)
        finally:
            ttlg._core.set_cpu_time_model(own)
    assert prediction.source == fields["name"]
    assert (plan.device, written == plan) == ("cpu", True)
    assert written.predicted_time == plan.predicted_time
    if not inplace:
        assert many[0] == seconds
        assert f"by {fields['name']}" in plan.explain()


def test_a_cpu_model_with_given_parameters():
    device = CPU_MODELS[0]
    plan = ttlg.plan((300, 400), device=device, threads=1)
    again = ttlg.plan((300, 400), device=device, kernel=plan.kernel, parameters=plan.parameters)
    assert again == plan
    assert again.predicted_time == plan.predicted_time


def entries(*keys):
    model = json.loads(CPU_MODELS[-1].read_text())
    return [{"key": key, "model": model | {"name": f"own-{n}"}} for n, key in enumerate(keys)]


def test_the_file_that_calibrate_keeps(tmp_path):
    path = tmp_path / "ttlg-cpu-models.json"
    other = {"vendor": "another"}
    for keys, name in [((other,), "own-0"), ((other, machine_key()), "own-1")]:
        path.write_text(json.dumps(entries(*keys)))
        assert ttlg.predict_time((30, 40), device=path, full=True).source == name
    path.write_text(json.dumps(entries(other, {"vendor": "a third"})))
    with pytest.raises(ValueError, match="holds 2 models, none of which is for this machine"):
        ttlg.plan((30, 40), device=path)


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        (H200, {"name": 3}, "field 'name' must be text, not 3"),
        (H200, {"speed": 3}, "field 'speed' is unknown; a model has name, multiprocessors"),
        (H200, {"multiprocessors": 1.5}, "field 'multiprocessors' must be an integer, not 1.5"),
        (H200, {"clock_hz": True}, "field 'clock_hz' must be a number, not True"),
        (H200, {"clock_hz": 0}, "a property that is not positive, 'clock_hz'"),
        (H200, {"overlap": 3}, "overlap must be a power of two"),
        (H200, {"costs": {"nothing": 1}}, "no term 'nothing'"),
        (H200, {"costs": {"nothing": "x"}}, "field 'costs' must be an object of numbers"),
        ("cpu-zen4", {"low": "x"}, "field 'low' must be a number"),
        ("cpu-zen4", {"low": -1}, "low and high must be positive"),
        ("cpu-zen4", {"coefficients": {"nothing": 1}}, "no term 'nothing'"),
        ("cpu-zen4", {"clock_hz": 1}, "field 'clock_hz' is unknown"),
    ],
    ids=repr,
)
def test_a_file_that_holds_no_model(tmp_path, name, fields, message):
    path = model_file(tmp_path, name, **fields)
    ask = (
        ttlg.plan,
        ttlg.predict_time,
        lambda shape, device: ttlg.predict_times([], device=device),
    )
    for each in ask:
        with pytest.raises(ValueError, match=message) as error:
            each((30, 40), device=path)
        assert repr(str(path)) in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[]", "it holds 0 models"),
        ("3", "must be an object"),
        ("{}", "field 'name' is missing"),
        ('{"name": "x", "cached_bytes": 1, "coefficients": {}, "low": 1}', "'high' is missing"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_text_that_is_no_model(tmp_path, text, message):
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        ttlg.plan((30, 40), device=path)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read the model in file 'nowhere\.json': No such"):
        ttlg.plan((30, 40), device="nowhere.json")
    with pytest.raises(ValueError, match=r"holds no time model: .*[Ii]s a directory"):
        ttlg.plan((30, 40), device=tmp_path)
    with pytest.raises(TypeError, match="device must be a name or the path of a model's file"):
        ttlg.plan((30, 40), device=3)
    with pytest.raises(ValueError, match=r"or the path of a model's file, which ends in '\.json'"):
        ttlg.plan((30, 40), device="mine")


def test_relative_paths(tmp_path, monkeypatch):
    shutil.copy(SHIPPED / f"{H200}.json", tmp_path / "mine.json")
    monkeypatch.chdir(tmp_path)
    assert ttlg.plan((30, 40), device="mine.json") == ttlg.plan((30, 40), device=H200)
    assert ttlg.plan((30, 40), device=os.path.join(".", "mine.json")).device == H200


@pytest.mark.parametrize("options", [{"tune": "measure"}, {"tune": "learn"}], ids=repr)
def test_models_of_files_are_not_measured(tmp_path, options):
    for path in (model_file(tmp_path), CPU_MODELS[0]):
        with pytest.raises(ValueError, match="tune="):
            ttlg.plan((30, 40), device=path, **options)
