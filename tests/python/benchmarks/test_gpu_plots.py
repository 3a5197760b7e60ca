"""Figures of what is measured on a GPU, from stand-in data."""

import json
from dataclasses import asdict

import numpy as np
import pytest

torch = pytest.importorskip("torch")
figure = pytest.importorskip("matplotlib.figure")

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import __main__ as cli
from ttlg.benchmarks.gpu import (
    calibrate,
    conversion,
    draw,
    fit,
    inplace,
    plots,
    report,
    session,
    structures,
)
from ttlg.benchmarks.gpu.contenders import COPIES
from ttlg.benchmarks.gpu.measure import Result
from ttlg.benchmarks.gpu.suites import CALLS, SUITES, cases

EVERY_SUITE = [*SUITES, *inplace.SUITES]


@pytest.fixture
def drawn(monkeypatch):
    """Keep figures instead of rendering them, which takes long."""
    figures = []
    monkeypatch.setattr(figure.Figure, "savefig", lambda saved, path: figures.append(saved))
    return figures


def measured(case, **rates):
    """Return a result with these contenders at these GB/s, the copy at 4000."""
    every = {"copy-memcpy": 4000, **rates}
    return Result(case, seconds={name: 2 * case.bytes / rate / 1e9 for name, rate in every.items()})


def recorded(results):
    """Return a record as it is read from a file."""
    return json.loads(json.dumps(report.record({"command": "-m ttlg.benchmarks.gpu"}, results, {})))


def curves_of(axes):
    assert all(list(line.get_xdata()) == sorted(line.get_xdata()) for line in axes.lines)
    return {
        line.get_label(): dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in axes.lines
    }


def drawn_by(drawn, results, tmp_path):
    plots.draw(recorded(results), tmp_path / "suites.png")
    return drawn[-1].axes


@pytest.mark.parametrize("suite", EVERY_SUITE)
def test_every_suite_has_a_figure(suite, drawn, tmp_path):
    own = {"ttlg-inplace": 3000, "c2r": 1000} if suite.startswith("inplace") else {"ttlg": 3000}
    results = [measured(case, **own, torch=500) for case in cases(suite, 2)[:6]]
    if suite == "calls":
        for each in results:
            each.curve = {"ttlg": dict.fromkeys(CALLS, 1e-3)}
    axes = drawn_by(drawn, results, tmp_path)
    titles = [each.get_title() for each in axes if each.get_title()]
    if suite == "inplace-landscape":
        assert titles == ["c2r, GB/s", "ttlg-inplace, GB/s"]
        return
    dtypes = {each.case.dtype for each in results}
    assert {title.split(", ")[0] for title in titles} == {suite}
    assert {title.split(", ")[1] for title in titles} == dtypes
    shown = {
        text.get_text()
        for each in axes
        if each.get_legend()
        for text in each.get_legend().get_texts()
    }
    assert shown == ({"ttlg"} if suite == "calls" else {*own, "torch"})
    assert shown.isdisjoint(COPIES)


def test_throughput_over_the_order_of_squares(drawn, tmp_path):
    results = [
        measured(Case("inplace-square", f"{n}", (n, n), (1, 0), "float32"), **rates)
        for n, rates in {
            2048: {"ttlg-inplace": 2000, "square_tw": 300},
            1024: {"ttlg-inplace": 1000},
        }.items()
    ]
    (axes,) = drawn_by(drawn, results, tmp_path)
    assert curves_of(axes) == {
        "ttlg-inplace": {1024: pytest.approx(1000), 2048: pytest.approx(2000)},
        "square_tw": {2048: pytest.approx(300)},
    }
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("order", "GB/s")


def test_involutions_have_a_panel_each_with_medians(drawn, tmp_path):
    def result(axes, flat, rate):
        shape = tuple(flat if axes[axis] == axis else 4096 for axis in range(3))
        return measured(Case("inplace-3d", f"{flat}", shape, axes, "float64"), runs=rate)

    rates = {2: 100, 3: 500, 4: 200}
    results = [result(axes, *each) for axes in ((0, 2, 1), (2, 1, 0)) for each in rates.items()]
    found = drawn_by(drawn, results, tmp_path)
    titles = [each.get_title() for each in found]
    assert titles == ["inplace-3d, float64, (0, 2, 1)", "inplace-3d, float64, (2, 1, 0)"]
    for each in found:
        assert curves_of(each) == {"runs": {4096: pytest.approx(200)}}


def test_throughput_over_volume_and_over_calls(drawn, tmp_path):
    varying = measured(Case("varying", "A", (3,) * 6, (5, 2, 0, 3, 4, 1), "float64"), ttlg=50)
    calls = measured(Case("calls", "B", (16,) * 6, (5, 2, 0, 3, 4, 1), "float64"), ttlg=3000)
    size = 2 * 16**6 * 8
    calls.curve = {"ttlg": {1: size / 100e9, 10: 10 * size / 1000e9}}
    over_bytes, over_calls = drawn_by(drawn, [varying, calls], tmp_path)
    assert curves_of(over_bytes) == {"ttlg": {3**6 * 8: pytest.approx(50)}}
    assert curves_of(over_calls) == {"ttlg": {1: pytest.approx(100), 10: pytest.approx(1000)}}
    assert over_bytes.get_xscale() == over_calls.get_xscale() == "log"


def test_shares_are_ordered_by_ttlg_and_failures_are_gaps(drawn, tmp_path):
    case = Case("ttc57", "A", (1000, 500), (1, 0), "float64")
    results = [measured(case, ttlg=3000, torch=400), measured(case, torch=800)]
    lost = Result(case, failures={"case": "OutOfMemoryError: too much"})
    (axes,) = drawn_by(drawn, [*results, lost], tmp_path)
    found = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert found["torch"] == pytest.approx([0.2, 0.1])
    assert np.isnan(np.asarray(found["ttlg"], float)[0])
    assert found["ttlg"][1] == pytest.approx(0.75)
    assert axes.get_xlabel() == "cases by ttlg's share"


def test_structures(drawn, tmp_path):
    results = [
        structures.Result("copy", 3, 1_000_000, {"memcpy": 1e-3, "direct": 4e-3, "shared": 2e-3}),
        structures.Result("copy", 7, 1_000_000, {"memcpy": 1e-3, "direct": 4e-3}),
        structures.Result("store", 3, 1_000_000, {"direct": 4e-3}),
    ]
    structures.draw({"results": [asdict(each) for each in results]}, tmp_path / "structures.svg")
    panels = dict(zip(structures.OPERATIONS, drawn[0].axes, strict=True))
    assert [each.get_title() for each in panels.values()] == list(structures.OPERATIONS)
    assert curves_of(panels["copy"]) == {
        "memcpy": {12: pytest.approx(24), 28: pytest.approx(56)},
        "direct": {12: pytest.approx(6), 28: pytest.approx(14)},
        "shared": {12: pytest.approx(12)},
    }
    assert curves_of(panels["store"]) == {"direct": {12: pytest.approx(3)}}
    assert curves_of(panels["gather"]) == {}


def test_when_conversions_pay(drawn, tmp_path):
    seconds = {"to-fields": 3e-4, "to-structures": 5e-4}
    for operation, direct in {"update": 4e-4, "sum": 5e-5}.items():
        seconds |= {f"{operation}-direct": direct, f"{operation}-coalesced": 1.2e-4}
        seconds[f"{operation}-fields"] = 1e-4
    results = [conversion.Result(7, 1000, seconds), conversion.Result(3, 1000, {"to-fields": 1e-4})]
    record = {"results": [asdict(each) for each in results]}
    conversion.draw(record, tmp_path / "conversion.svg")
    times, pays, of_sums, sums_pay = drawn[0].axes
    assert curves_of(times) == {
        "direct": {28: pytest.approx(400)},
        "coalesced": {28: pytest.approx(120)},
        "fields": {28: pytest.approx(100)},
        "to-fields": {28: pytest.approx(300), 12: pytest.approx(100)},
        "to-structures": {28: pytest.approx(500)},
    }
    assert curves_of(pays) == {
        "direct": {28: pytest.approx(8 / 3)},
        "coalesced": {28: pytest.approx(40)},
    }
    assert curves_of(of_sums)["direct"] == {28: pytest.approx(50)}
    assert curves_of(sums_pay).keys() == {"coalesced"}, "it never pays beside direct accesses"


@pytest.fixture
def calibration():
    """Return a record of launches that take twice their bytes' time, and the launch's."""
    points = [
        fit.Point(schema, {}, 1e-6 + 2e-6 * n, f"case {n}", {}, {"memory.bytes": 1e-6 * n})
        for n, schema in enumerate(["copy", "orthogonal_distinct"] * 5, 1)
    ]
    costs = {"memory.bytes": 2.0}
    errors = {"all": {"mean": 0.1}, "copy": {"mean": 0.2}}
    return {
        "machine": {"command": "python -m ttlg.benchmarks.gpu.calibrate --outdir ."},
        "points": [asdict(point) for point in points],
        "properties": {"launch_seconds": 1e-6},
        "costs": {"costs": costs, "overlap": 4, "test": errors},
        "regressions": {"copy": {"test_error": 30.0}},
    }


def test_model_errors(drawn, tmp_path, calibration):
    calibrate.draw(calibration, tmp_path / "model.svg")
    left, right = drawn[0].axes
    found = {line.get_label(): line.get_xydata() for line in left.lines[:2]}
    assert found.keys() == {"copy", "orthogonal_distinct"}
    for points in found.values():
        assert len(points) == 5
        assert points[:, 0] == pytest.approx(points[:, 1])
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in right.containers}
    assert heights == {"physical terms": pytest.approx([10, 20]), "regressions": [30]}
    assert [text.get_text() for text in right.get_xticklabels()] == ["all", "copy"]
    places = {bars.get_label(): [bar.get_x() for bar in bars] for bars in right.containers}
    assert places == {"physical terms": [0, 1], "regressions": [pytest.approx(1.4)]}


def program_of(record, program):
    return {**record, "machine": {"command": f"python -m {program} --json x"}}


def test_records_of_programs_and_of_stages_are_drawn(tmp_path, monkeypatch, calibration):
    seen = []
    for name in draw._DRAWN:
        monkeypatch.setitem(draw._DRAWN, name, lambda record, path, n=name: seen.append((n, path)))
    file, image = tmp_path / "record.json", tmp_path / "figure.svg"
    for program in draw._DRAWN:
        record = program_of({"results": [{}]}, program)
        for contents in (record, {"stage": "bench", "results": record}):
            file.write_text(json.dumps(contents))
            assert draw.main([str(file), str(image)]) == 0
            assert seen.pop() == (program, image)
    file.write_text(json.dumps(calibration))
    assert draw.main([str(file), str(image)]) == 0
    assert seen == [("ttlg.benchmarks.gpu.calibrate", image)]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("{", "Expecting"),
        ("{}", "is no record of ttlg.benchmarks.gpu, ttlg.benchmarks.gpu.structures"),
        ('{"machine": {"command": "python -m ttlg.benchmarks.busy"}}', "is no record of"),
        ('{"machine": {"command": "-m ttlg.benchmarks.gpu"}, "results": []}', "has no results"),
        (None, "No such file"),
    ],
)
def test_what_is_no_record(tmp_path, capsys, contents, message):
    file = tmp_path / "record.json"
    if contents is not None:
        file.write_text(contents)
    with pytest.raises(SystemExit) as ended:
        draw.main([str(file), str(tmp_path / "figure.svg")])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def a_gpu(monkeypatch):
    monkeypatch.setattr(session, "require", lambda: None)
    monkeypatch.setattr(session, "describe", lambda command: {"command": command})


def test_plot_draws_what_was_measured(a_gpu, monkeypatch, tmp_path):
    case = Case("ttc57", "A", (1000, 500), (1, 0), "float64")
    monkeypatch.setattr(cli, "Memory", lambda: None)
    monkeypatch.setattr(cli, "measure", lambda *_: measured(case, ttlg=3000))
    monkeypatch.setattr(
        structures, "measure", lambda op, words: structures.Result(op, words, 9, {"direct": 1.0})
    )
    monkeypatch.setattr(
        conversion, "measure", lambda words: conversion.Result(words, 9, {"to-fields": 1.0})
    )
    file = tmp_path / "figure.png"
    for program, options in (
        (cli, ("--suite", "calls")),
        (structures, ("--words", "3")),
        (conversion, ("--words", "3")),
    ):
        assert program.main([*options, "--plot", str(file)]) == 0
        assert file.stat().st_size > 0
        file.unlink()
        assert program.main([*options, "--plot", str(file), "--budget", "0"]) == 0
        assert not file.exists(), "there is nothing to draw"
