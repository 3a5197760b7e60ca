"""The fit of the physical time model finds the costs that made the times, noise and all."""

import functools
import itertools
import json
import random
from dataclasses import asdict, replace

import numpy as np
import pytest

import ttlg
from ttlg import _core, _model_files, _models
from ttlg._calibrate.problems import Problem
from ttlg.benchmarks.gpu import fit_costs
from ttlg.benchmarks.gpu.dataset import problems, sample
from ttlg.benchmarks.gpu.fit_costs import NAMES, Costs, counts_of
from ttlg.benchmarks.gpu.models import fits_of, main
from ttlg.benchmarks.gpu.points import Point, PointFile, problem_of, recounted

pytest.importorskip("scipy")

DEFAULTS = np.array(_core.default_cuda_costs())
LAUNCH = 4e-6
FITTED = ("overlap", "costs", "coefficients")
PROPERTIES = {
    name: value
    for name, value in _models.load("nvidia-h200").to_dict().items()
    if name not in FITTED
} | {"launch_seconds": LAUNCH}


def truth(seed):
    """Draw costs up to 1.6 times as high or low as the defaults."""
    draw = random.Random(seed)
    return {
        name: value * 1.6 ** draw.uniform(-1, 1)
        for name, value in zip(NAMES, DEFAULTS, strict=True)
    }


@functools.cache
def plans(count, seed=0, overlap=4):
    """Return slices of the calibration's problems with the costs of `truth`, and their cases."""
    model = _core.DeviceModel(**PROPERTIES, costs=truth(seed), overlap=overlap)
    result = []
    for number, case in enumerate(itertools.islice(problems(0), count)):
        request = Problem(case.shape, case.axes, case.dtype).request()
        best = _core.cached_cuda_plan(request, model, None)
        schemas = {}
        for kernel, parameters, _, _ in best.candidates():
            schemas.setdefault(kernel, []).append(parameters)
        for kernel, found in schemas.items():
            for parameters in sample(found, 5, number):
                plan = _core.build_cuda_plan(
                    request,
                    pointer_alignment=best.pointer_alignment,
                    model=model,
                    kernel=kernel,
                    **parameters,
                )
                result.append((f"{case.label} {case.shape} {case.axes}", plan))
    return result


def synthetic(count, *, noise, seed=0, overlap=4):
    draw = random.Random(seed)
    return [
        Point(
            plan.kernel,
            plan.features,
            plan.predicted_seconds * (1 + draw.gauss(0, noise)),
            case,
            plan.parameters,
            plan.terms(),
        )
        for case, plan in plans(count, seed, overlap)
    ]


def shares(points, costs):
    """Return the mean share of each term in the times of the points."""
    seconds = np.array([point.seconds for point in points])
    values = np.array([costs[name] for name in NAMES])
    return dict(zip(NAMES, np.mean(counts_of(points) * values / seconds[:, None], 0), strict=True))


@pytest.mark.parametrize("overlap", fit_costs.OVERLAPS)
def test_predictions_are_the_planners(overlap):
    """The one place that counts terms is the planner; the fit sums them up as it does."""
    values = np.array([*truth(overlap).values()])
    found = Costs(values, overlap, LAUNCH)
    own = [plan for _, plan in plans(10, seed=overlap, overlap=overlap)]
    counts = counts_of([Point(plan.kernel, {}, 1.0, terms=plan.terms()) for plan in own])
    expected = [plan.predicted_seconds for plan in own]
    np.testing.assert_allclose(found.predict(counts), expected, rtol=1e-12)


@pytest.mark.rotating
@pytest.mark.parametrize(("overlap", "seed"), [(4, 1), (1, 2)])
def test_noisy_times_give_the_costs_back(overlap, seed):
    points = synthetic(200, noise=0.03, seed=seed, overlap=overlap)
    found = fit_costs.fit_costs(points, LAUNCH, seed=0)
    true = truth(seed)
    assert found.overlap == overlap
    weighty = {name: share for name, share in shares(points, true).items() if share > 0.03}
    assert len(weighty) >= 6
    assert {name.partition(".")[0] for name in weighty} == {"memory", "issue", "latency"}
    for name, share in weighty.items():
        within = 0.05 if share > 0.1 else 0.12
        assert found.costs[name] == pytest.approx(true[name], rel=within), (name, share)
    # The mean of |noise| is 0.8 of its deviation.
    assert 0.02 < found.test["all"].mean < 0.03
    for schema in ("orthogonal_distinct", "orthogonal_arbitrary", "fvi_match_large"):
        assert found.test[schema].mean < 0.05
    assert found.test_regret.mean < 0.05
    seconds = np.array([point.seconds for point in points])
    by_defaults = Costs(DEFAULTS, overlap, LAUNCH).predict(counts_of(points))
    assert np.mean(np.abs(by_defaults / seconds - 1)) > found.test["all"].mean + 0.02


def test_what_was_not_measured_keeps_its_default():
    points = synthetic(100, noise=0, seed=1)
    found = fit_costs.fit_costs(points, LAUNCH, seed=0)
    seen = {name for point in points for name in point.terms}
    ratios = {
        name: found.costs[name] / default
        for name, default in zip(NAMES, DEFAULTS, strict=True)
        if name not in seen
    }
    assert ratios.keys() > {"issue.copy.lines_1", "issue.copy.set_up"}
    # All by the same factor, that of a device which is as fast in everything.
    assert max(ratios.values()) == pytest.approx(min(ratios.values()), rel=1e-4)
    assert 0.5 < min(ratios.values()) < 2


def test_costs_are_never_negative():
    """Where times fall with the bytes, the best that a sum of costs can do is to charge nothing."""
    draw = random.Random(0)
    points = []
    for _ in range(200):
        terms = {"memory.bytes": draw.uniform(1, 2), "latency.waves": 1.0}
        points.append(Point("copy", {}, 10 - 3 * terms["memory.bytes"], terms=terms))
    seconds = np.array([point.seconds for point in points])
    start = Costs(np.ones(len(NAMES)), 1, 1e-3)
    costs = fit_costs.solve(counts_of(points), seconds, start).named()
    assert all(cost >= 0 for cost in costs.values())
    assert costs["memory.bytes"] < 0.01
    assert costs["latency.waves"] == pytest.approx(5.3, rel=0.1)


def test_regret_is_what_the_predicted_choice_loses(monkeypatch):
    """Of five slices the model takes the one that it thinks moves the least."""
    points = [
        Point("copy", {}, seconds + case / 1e6, f"case {case}", {}, {"memory.bytes": bytes_})
        for case in range(20)
        for bytes_, seconds in ((1.0, 1.2), (2.0, 1.0), (3.0, 3.0), (4.0, 4.0), (5.0, 5.0))
    ]
    fitted = []

    def solve_with_overlap(counts, seconds, launch):
        fitted.extend(seconds)
        return Costs(DEFAULTS, 4, launch)

    monkeypatch.setattr(fit_costs, "solve_with_overlap", solve_with_overlap)
    found = fit_costs.fit_costs(points, 1e-3, seed=0)
    assert (found.train_regret.cases, found.test_regret.cases) == (16, 4)
    assert found.test_regret.mean == pytest.approx(0.2, rel=1e-4)
    assert "20.00% in the mean of 4 problems" in fit_costs.table(found)[-1]
    # Problems are fitted to or tested, not both.
    seen = {point.case for point in points if point.seconds in fitted}
    assert not seen & {point.case for point in points if point.seconds not in fitted}
    assert (len(seen), len(fitted)) == (16, found.train["all"].rows)
    assert found.test["all"].rows == found.test["copy"].rows == len(points) - len(fitted)


def loaded(record):
    """Load a model as the package does, which must not change it."""
    values = _model_files.values(json.loads(json.dumps(record)))
    model = _core.DeviceModel(**values)
    assert model.to_dict() == values
    return model


@pytest.mark.rotating
def test_the_better_of_both_models_predicts_a_kernel():
    # The times of one kernel are sums of features, those of the others of terms.
    weights = {"Volume": 1e-11, "NumBlocks": 5e-8, "Input slice": 7e-7, "Output slice": 1e-6}
    regressed = "orthogonal_distinct"
    draw = random.Random(5)
    points = [
        replace(
            point,
            seconds=sum(weights.get(name, 0) * value for name, value in point.features.items())
            * (1 + draw.gauss(0, 0.02)),
        )
        if point.schema == regressed
        else point
        for point in synthetic(150, noise=0.02)
    ]
    found = fits_of(points, LAUNCH)
    assert found.regressed() == [regressed]
    assert f"the better on problems not fitted to: {regressed}" in found.table()[-1]
    record = found.model(PROPERTIES, "measured")
    assert set(record["coefficients"]) == {regressed}
    assert record["coefficients"][regressed]["Volume"] == pytest.approx(1e-11, rel=0.05)
    # All of them are there, with what Table II says of each and with their errors.
    assert {regressed, "orthogonal_arbitrary", "fvi_match_large"} <= set(record["regressions"])
    volume = record["regressions"][regressed]["coefficients"]["Volume"]
    assert volume["t"] == pytest.approx(volume["estimate"] / volume["standard_error"])
    assert record["regressions"][regressed]["test_error"] < 3
    assert record["errors"][regressed]["mean"] > 0.03
    plan = ttlg.plan((4096, 8192), (1, 0), device="nvidia-h200", kernel=regressed)
    own = json.loads(plan.to_json()) | {"device": loaded(record).to_dict()}
    plan = ttlg.Plan.from_json(json.dumps(own))
    assert "by regression" in plan.explain()


def test_points_are_counted_again():
    points = synthetic(20, noise=0.1)
    stale = [replace(point, features={"Old": 1.0}, terms={"old": 1.0}) for point in points]
    unknown = [replace(points[0], schema="no_such_kernel"), replace(points[0], parameters={})]
    assert list(recounted([*stale, *unknown], PROPERTIES)) == points
    assert problem_of("rank 3 1M equal float64 (3, 4) (1, 0)") == ((3, 4), (1, 0), "float64")
    assert problem_of("uint8 (5,) (0,)") == ((5,), (0,), "uint8")
    with pytest.raises(ValueError, match="does not end in a dtype"):
        problem_of("rank 3")


def test_a_record_is_fitted_again(tmp_path, capsys):
    file = tmp_path / "calibrate.json"
    points = [asdict(point) for point in synthetic(60, noise=0.02)]
    machine = {"device": "Some GPU", "commit": "c0ffee"}
    record = {"machine": machine, "properties": PROPERTIES, "points": points}
    file.write_text(json.dumps({"results": record}))
    assert main([str(file), "--outdir", str(tmp_path)]) == 0
    model = json.loads((tmp_path / "nvidia-h200.json").read_text())
    assert model["source"] == f"fitted to {len(points)} launches on Some GPU, commit c0ffee"
    assert loaded(model).calibrated
    assert f"{len(points)} points" in capsys.readouterr().out
    file.write_text(json.dumps(record | {"points": points[:39]}))
    assert main([str(file)]) == 1
    assert "39 points are too few" in capsys.readouterr().out


def test_a_file_of_points_survives_a_kill(tmp_path):
    path = tmp_path / "points.jsonl"
    points = synthetic(3, noise=0)
    file = PointFile(path)
    assert (file.points, file.problems) == ([], 0)
    file.append(0, points[:2])
    file.append(4, points[2:])
    whole = path.read_text()
    path.write_text(whole + '{"problem": 5, "sche')
    again = PointFile(path)
    assert (again.points, again.problems) == (points, 5)
    again.append(5, points[:1])
    assert PointFile(path).points == [*points, points[0]]
    assert path.read_text().startswith(whole)
