"""Figures of what is measured on a GPU, from stand-in data."""

import json
from dataclasses import asdict

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import __main__ as cli
from ttlg.benchmarks.gpu import calibrate, conversion, draw, fit, inplace, plots, report, structures
from ttlg.benchmarks.gpu.contenders import COPIES
from ttlg.benchmarks.gpu.measure import Result
from ttlg.benchmarks.gpu.suites import CALLS, SUITES, cases

APPROX = pytest.approx


def measured(case, **rates):
    """Return a result with these contenders at these GB/s, the copy at 4000."""
    every = {"copy-memcpy": 4000, **rates}
    return Result(case, seconds={name: 2 * case.bytes / rate / 1e9 for name, rate in every.items()})


def curves_of(axes):
    """List the curves of a panel, by their labels, as dictionaries."""
    assert all(list(line.get_xdata()) == sorted(line.get_xdata()) for line in axes.lines)
    return {
        line.get_label(): dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in axes.lines
    }


@pytest.fixture
def drawn_by(drawn):
    """Draw results as they are read from a file; return the panels."""

    def panels(results):
        record = report.record({"command": "-m ttlg.benchmarks.gpu"}, results, {})
        plots.draw(json.loads(json.dumps(record)), "suites.png")
        return drawn[-1].axes

    return panels


@pytest.mark.parametrize("suite", [*SUITES, *inplace.SUITES])
def test_every_suite_has_a_figure(suite, drawn_by):
    own = {"ttlg-inplace": 3000, "c2r": 1000} if suite.startswith("inplace") else {"ttlg": 3000}
    results = [measured(case, **own, torch=500) for case in cases(suite, 2)[:6]]
    if suite == "calls":
        for each in results:
            each.curve = {"ttlg": dict.fromkeys(CALLS, 1e-3)}
    axes = drawn_by(results)
    titles = [each.get_title() for each in axes if each.get_title()]
    if suite == "inplace-landscape":
        assert titles == ["c2r, GB/s", "ttlg-inplace, GB/s"]
        return
    dtypes = {each.case.dtype for each in results}
    assert {tuple(title.split(", ")[:2]) for title in titles} == {(suite, each) for each in dtypes}
    legends = [each.get_legend() for each in axes if each.get_legend()]
    shown = {text.get_text() for legend in legends for text in legend.get_texts()}
    assert shown == ({"ttlg"} if suite == "calls" else {*own, "torch"})
    assert shown.isdisjoint(COPIES)


def test_throughput_over_orders_volumes_and_calls(drawn_by):
    squares = [
        measured(Case("inplace-square", f"{n}", (n, n), (1, 0), "float32"), **rates)
        for n, rates in {
            2048: {"ttlg-inplace": 2000, "square_tw": 300},
            1024: {"ttlg-inplace": 1000},
        }.items()
    ]
    (axes,) = drawn_by(squares)
    assert curves_of(axes) == {
        "ttlg-inplace": {1024: APPROX(1000), 2048: APPROX(2000)},
        "square_tw": {2048: APPROX(300)},
    }
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("order", "GB/s")
    varying = measured(Case("varying", "A", (3,) * 6, (5, 2, 0, 3, 4, 1), "float64"), ttlg=50)
    calls = measured(Case("calls", "B", (16,) * 6, (5, 2, 0, 3, 4, 1), "float64"), ttlg=3000)
    size = 2 * 16**6 * 8
    calls.curve = {"ttlg": {1: size / 100e9, 10: 10 * size / 1000e9}}
    over_bytes, over_calls = drawn_by([varying, calls])
    assert curves_of(over_bytes) == {"ttlg": {3**6 * 8: APPROX(50)}}
    assert curves_of(over_calls) == {"ttlg": {1: APPROX(100), 10: APPROX(1000)}}
    assert over_bytes.get_xscale() == over_calls.get_xscale() == "log"


def test_involutions_have_a_panel_each_with_medians(drawn_by):
    def result(axes, flat, rate):
        shape = tuple(flat if axes[axis] == axis else 4096 for axis in range(3))
        return measured(Case("inplace-3d", f"{flat}", shape, axes, "float64"), runs=rate)

    both, rates = ((0, 2, 1), (2, 1, 0)), {2: 100, 3: 500, 4: 200}
    found = drawn_by([result(axes, *each) for axes in both for each in rates.items()])
    assert [each.get_title() for each in found] == [f"inplace-3d, float64, {axes}" for axes in both]
    assert [curves_of(each) for each in found] == [{"runs": {4096: APPROX(200)}}] * 2


def test_shares_are_ordered_by_ttlg_and_failures_are_gaps(drawn_by, curves):
    case = Case("ttc57", "A", (1000, 500), (1, 0), "float64")
    lost = Result(case, failures={"case": "OutOfMemoryError: too much"})
    (axes,) = drawn_by([measured(case, ttlg=3000, torch=400), measured(case, torch=800), lost])
    found = curves(axes)
    assert found["torch"] == APPROX([0.2, 0.1])
    assert np.isnan(np.asarray(found["ttlg"], float)[0])
    assert found["ttlg"][1] == APPROX(0.75)
    assert axes.get_xlabel() == "cases by ttlg's share"


def test_structures_and_when_conversions_pay(drawn):
    results = [
        structures.Result("copy", 3, 1_000_000, {"memcpy": 1e-3, "direct": 4e-3, "shared": 2e-3}),
        structures.Result("copy", 7, 1_000_000, {"memcpy": 1e-3, "direct": 4e-3}),
        structures.Result("store", 3, 1_000_000, {"direct": 4e-3}),
    ]
    structures.draw({"results": [asdict(each) for each in results]}, "structures.svg")
    panels = dict(zip(structures.OPERATIONS, drawn[0].axes, strict=True))
    assert [each.get_title() for each in panels.values()] == list(structures.OPERATIONS)
    assert curves_of(panels["copy"]) == {
        "memcpy": {12: APPROX(24), 28: APPROX(56)},
        "direct": {12: APPROX(6), 28: APPROX(14)},
        "shared": {12: APPROX(12)},
    }
    assert curves_of(panels["store"]) == {"direct": {12: APPROX(3)}}
    assert curves_of(panels["gather"]) == {}
    seconds = {"to-fields": 3e-4, "to-structures": 5e-4}
    for operation, direct in {"update": 4e-4, "sum": 5e-5}.items():
        seconds |= {f"{operation}-direct": direct, f"{operation}-coalesced": 1.2e-4}
        seconds[f"{operation}-fields"] = 1e-4
    results = [conversion.Result(7, 1000, seconds), conversion.Result(3, 1000, {"to-fields": 1e-4})]
    conversion.draw({"results": [asdict(each) for each in results]}, "conversion.svg")
    times, pays, of_sums, sums_pay = drawn[1].axes
    assert curves_of(times) == {
        "direct": {28: APPROX(400)},
        "coalesced": {28: APPROX(120)},
        "fields": {28: APPROX(100)},
        "to-fields": {28: APPROX(300), 12: APPROX(100)},
        "to-structures": {28: APPROX(500)},
    }
    assert curves_of(pays) == {"direct": {28: APPROX(8 / 3)}, "coalesced": {28: APPROX(40)}}
    assert curves_of(of_sums)["direct"] == {28: APPROX(50)}
    assert curves_of(sums_pay).keys() == {"coalesced"}, "it never pays beside direct accesses"


@pytest.fixture
def calibration():
    """Return a record of launches that take twice their bytes' time, and the launch's."""
    points = [
        fit.Point(schema, {}, 1e-6 + 2e-6 * n, f"case {n}", {}, {"memory.bytes": 1e-6 * n})
        for n, schema in enumerate(["copy", "orthogonal_distinct"] * 5, 1)
    ]
    errors = {"all": {"mean": 0.1}, "copy": {"mean": 0.2}}
    return {
        "machine": {"command": "python -m ttlg.benchmarks.gpu.calibrate --outdir ."},
        "points": [asdict(point) for point in points],
        "properties": {"launch_seconds": 1e-6},
        "costs": {"costs": {"memory.bytes": 2.0}, "overlap": 4, "test": errors},
        "regressions": {"copy": {"test_error": 30.0}},
    }


def test_model_errors(drawn, calibration):
    calibrate.draw(calibration, "model.svg")
    left, right = drawn[0].axes
    found = {line.get_label(): line.get_xydata() for line in left.lines[:2]}
    assert found.keys() == {"copy", "orthogonal_distinct"}
    for points in found.values():
        assert len(points) == 5
        assert points[:, 0] == APPROX(points[:, 1])
    bars = {
        each.get_label(): [(bar.get_x(), bar.get_height()) for bar in each]
        for each in right.containers
    }
    assert bars == {
        "physical terms": [(0, APPROX(10)), (1, APPROX(20))],
        "regressions": [(APPROX(1.4), 30)],
    }
    assert [text.get_text() for text in right.get_xticklabels()] == ["all", "copy"]


def test_records_of_programs_and_of_stages_are_drawn(tmp_path, monkeypatch, calibration):
    seen = []
    for name in draw._DRAWN:
        monkeypatch.setitem(draw._DRAWN, name, lambda record, path, n=name: seen.append((n, path)))
    file, image = tmp_path / "record.json", tmp_path / "figure.svg"
    records = {
        program: {"results": [{}], "machine": {"command": f"python -m {program} --json x"}}
        for program in draw._DRAWN
    }
    records["ttlg.benchmarks.gpu.calibrate"] = calibration
    for program, record in records.items():
        for contents in (record, {"stage": "bench", "results": record}):
            file.write_text(json.dumps(contents))
            assert draw.main([str(file), str(image)]) == 0
            assert seen.pop() == (program, image)


def test_plot_draws_what_was_measured(a_gpu, monkeypatch, tmp_path):
    case = Case("ttc57", "A", (1000, 500), (1, 0), "float64")
    monkeypatch.setattr(cli, "Memory", lambda: None)
    file = tmp_path / "figure.png"
    for program, options, result in (
        (cli, ("--suite", "calls"), measured(case, ttlg=3000)),
        (structures, ("--words", "3"), structures.Result("copy", 3, 9, {"direct": 1.0})),
        (conversion, ("--words", "3"), conversion.Result(3, 9, {"to-fields": 1.0})),
    ):
        monkeypatch.setattr(program, "measure", lambda *_, result=result: result)
        assert program.main([*options, "--plot", str(file)]) == 0
        assert file.stat().st_size > 0
        file.unlink()
        assert program.main([*options, "--plot", str(file), "--budget", "0"]) == 0
        assert not file.exists(), "there is nothing to draw"
