"""The fit finds the seconds that made the times."""

import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ttlg import _core
from ttlg._calibrate import choices, fit
from ttlg._calibrate.choices import solve_choices
from ttlg._calibrate.comparison import Change, Comparison
from ttlg._calibrate.data import Case, Row, read
from ttlg._calibrate.errors import errors, regrets, summarize
from ttlg._calibrate.noise import Noise
from ttlg._calibrate.problems import Problem
from ttlg._calibrate.run import fit_rows
from ttlg.benchmarks import cpu_model

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def reported(rows):
    return fit_rows(rows, _core.this_cpu_machine(), Noise(0.1, 0.0, 2))


def test_known_seconds_are_found_again(points, truth):
    held_out = np.array([row.case.problem.fold == 0 for row in points.rows])
    seconds = fit.solve(points.part(~held_out), np.zeros(len(truth)))
    assert (seconds >= 0).all()
    tested = points.part(held_out)
    found = errors(tested.seconds, tested.counts @ seconds)
    assert found.mean < 0.05
    assert abs(found.signed) < 0.02


def test_outliers_do_not_move_the_fit(points, truth):
    draw = random.Random(0)
    disturbed = [seconds * draw.choice((1,) * 19 + (20,)) for seconds in points.seconds]
    data = fit.Design(points.rows, points.counts, np.array(disturbed))
    seconds = fit.solve(data, np.zeros(len(truth)))
    assert abs(errors(points.seconds, points.counts @ seconds).signed) < 0.05


def test_what_no_row_has_is_as_before_in_the_new_scale(points, truth):
    unseen = ~points.counts.any(axis=0)
    assert unseen.any()
    prior = truth + 1e-10
    slower = fit.Design(points.rows, points.counts, 3 * (points.counts @ prior))
    seconds = fit.solve(slower, prior)
    assert seconds[unseen] == pytest.approx(3 * prior[unseen], rel=0.01)
    assert seconds @ points.counts.T == pytest.approx(slower.seconds, rel=0.02)


@pytest.mark.rotating
def test_a_report_tells_errors_of_both_parts_and_a_model_predicts_as_it_says(reported):
    report, fields = reported
    assert set(report.held_out) <= {"copy", "tile", "shuffle", "strided_copy"}
    assert report.all_held_out.rows == sum(each.rows for each in report.held_out.values())
    # Not the mean: a term that only the rows held out have is as in the model before.
    assert report.all_held_out.median < 0.02
    assert 0.5 < report.low <= 1.05
    assert 0.95 <= report.high < 2
    assert report.regret.median < 0.02
    model = {name: fields[name] for name in ("name", "cached_bytes", "coefficients", "low", "high")}
    assert _core.CpuTimeModel(**model).coefficients == fields["coefficients"]
    change = Change(-0.1, 0.01)
    report = replace(report, comparison=Comparison("cpu-before", 60, 1.1, 1.2, change, change, 1.3))
    assert "held out" in repr(report)
    assert "tile" in repr(report)
    assert "1.10, those of cpu-before, the model in use, by 1.20" in repr(report)
    assert "take 0.905 of the time" in repr(report)
    assert "1.30 of it or more in a tenth" in repr(report)


def test_a_report_draws_every_kernel(reported):
    pytest.importorskip("matplotlib")
    report, _ = reported
    ax = report.plot()
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == set(report.kernels) >= set(report.held_out)
    assert report.plot(ax) is ax
    assert {point.get_alpha() for point in ax.get_legend().legend_handles} == {
        1
    }  # colours can be told


def test_regret_is_what_the_first_choice_costs(rows):
    case = Case(Problem((8, 9), (1, 0), "f4"), 1)
    choices = [Row(case, "tile", {}, (seconds,), 1.0) for seconds in (3.0, 2.0, 4.0, 5.0, 6.0)]
    data = fit.Design(choices, np.eye(5), np.array([row.seconds for row in choices]))
    found = regrets(data, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert found == {case: pytest.approx(0.5)}
    assert summarize(found).mean == pytest.approx(0.5)
    assert summarize(regrets(data, data.seconds)).p95 == 0


def test_lines_are_read_as_they_are_written(tmp_path, rows):
    strided = next(row for row in rows if row.case.problem.strides is not None)
    fresh = replace(strided, case=replace(strided.case, fresh=True))
    path = tmp_path / "rows.jsonl"
    unsorted = replace(strided, samples=(3e-6, 2e-6))
    path.write_text("".join(f"{row.to_json()}\n" for row in (strided, fresh, unsorted)))
    first, second, third = read(path)
    assert (first.case, second.case) == (strided.case, fresh.case)
    assert first.plan() == strided.plan()
    assert third.seconds == 2e-6


@pytest.fixture(scope="module")
def misjudged(points):
    """Return times that grow faster than any sum of terms, but are in the same order."""
    return fit.Design(points.rows, points.counts, 100 * points.seconds**1.3)


def test_choices_lose_less_than_by_times_alone(misjudged, truth):
    by_times = fit.solve(misjudged, np.zeros(len(truth)))
    by_choices = solve_choices([misjudged], by_times, error_weight=0.1)
    assert (by_choices >= 0).all()
    lost = [
        summarize(regrets(misjudged, misjudged.counts @ each)).mean
        for each in (by_times, by_choices)
    ]
    assert lost[1] < 0.5 * lost[0]


@pytest.mark.parametrize("seed", [163, 222, 251, 280, 310])
def test_measurements_that_mean_nothing_overflow_nothing(seed):
    """Few plans with any times: the first step along the gradient was too long for exp."""
    generator = np.random.default_rng(seed)
    cases, terms = generator.integers(2, 6), generator.integers(2, 9)
    counts = generator.lognormal(0, 4, (2 * cases, terms))
    counts *= generator.random((2 * cases, terms)) < 0.6
    counts[:, 0] += 1
    rows = [SimpleNamespace(case=plan // 2) for plan in range(2 * cases)]
    data = fit.Design(rows, counts, generator.lognormal(0, 6, 2 * cases))
    assert (solve_choices([data], np.ones(terms)) >= 0).all()


def test_choices_are_right_in_the_median(points, truth):
    noise = np.exp(0.3 * np.random.default_rng(3).standard_normal(len(points.rows)))
    noisy = fit.Design(points.rows, points.counts * noise[:, None], points.seconds)
    chosen = fit.chosen(noisy, noisy.counts @ truth)
    cases = [row.case for row in noisy.part(chosen).rows]
    assert len(set(cases)) == len(cases) == len({row.case for row in points.rows})
    # Of plans predicted with errors, the one predicted to be fastest takes longer than that.
    assert np.median((noisy.seconds / (noisy.counts @ truth))[chosen]) > 1.1
    seconds = fit.scale_to_choices(noisy, truth)
    predicted = noisy.counts @ seconds
    assert (fit.chosen(noisy, predicted) == chosen).all()
    assert np.median((noisy.seconds / predicted)[chosen]) == pytest.approx(1)
    low, high = fit.quantiles(noisy, predicted)
    assert 0.4 < low < 1 < high < 2.5


def test_choices_of_the_model_that_is_written_are_right_in_the_median(misjudged):
    names = _core.cpu_term_names()
    machine = _core.this_cpu_machine()
    model = cpu_model.model_of(misjudged, np.zeros(len(names)), misjudged.seconds, machine)
    seconds = np.array([model["coefficients"].get(name, 0.0) for name in names])
    predicted = misjudged.counts @ seconds
    chosen = fit.chosen(misjudged, predicted)
    off = np.median((misjudged.seconds / predicted)[chosen])
    assert off == pytest.approx(1, abs=0.01)


def test_nothing_predicted_is_not_scaled(points, truth):
    nothing = np.zeros(len(truth))
    assert (fit.scale_to_choices(points, nothing) == nothing).all()


def test_what_choices_lose_changes_as_its_gradient_says(misjudged, truth):
    seen = misjudged.counts.any(axis=0)
    part = fit.Design(misjudged.rows, misjudged.counts[:, seen], misjudged.seconds)
    loss = choices._Loss(part, 0.3)
    at = np.log(fit.solve(misjudged, np.zeros(len(truth)))[seen] + 1e-11)
    value, gradient = loss(at)
    draw = np.random.default_rng(2)
    for _ in range(5):
        step = 1e-6 * draw.standard_normal(len(at))
        assert loss(at + step)[0] - value == pytest.approx(gradient @ step, rel=1e-2, abs=1e-11)
