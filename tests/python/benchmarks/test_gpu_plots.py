"""Figures of what is measured on a GPU, from stand-in data."""

import json
from dataclasses import asdict

import pytest

torch = pytest.importorskip("torch")

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.gpu import conversion, draw, fit, plots, report, structures
from ttlg.benchmarks.gpu.measure import Result

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
    lost = Result(result(both[0], 2, 1).case, failures={"case": "OutOfMemoryError: too much"})
    found = drawn_by([lost, *(result(axes, *each) for axes in both for each in rates.items())])
    assert [each.get_title() for each in found] == [f"inplace-3d, float64, {axes}" for axes in both]
    assert [curves_of(each) for each in found] == [{"runs": {4096: APPROX(200)}}] * 2


def test_structures_and_when_conversions_pay(drawn):
    seconds = {"memcpy": 1e-3, "direct": 4e-3}
    results = [structures.Result(each, 3, 1_000_000, seconds) for each in ("copy", "store")]
    structures.draw({"results": [asdict(each) for each in results]}, "structures.svg")
    store, copy, gather, _ = drawn[0].axes
    assert curves_of(store) == {"memcpy": {12: APPROX(24)}, "direct": {12: APPROX(3)}}
    assert curves_of(copy) == {"memcpy": {12: APPROX(24)}, "direct": {12: APPROX(6)}}
    assert curves_of(gather) == {}
    seconds = {"to-fields": 3e-4, "to-structures": 5e-4}
    for operation, direct in {"update": 4e-4, "sum": 5e-5}.items():
        seconds |= {f"{operation}-direct": direct, f"{operation}-coalesced": 1.2e-4}
        seconds[f"{operation}-fields"] = 1e-4
    results = [conversion.Result(7, 1000, seconds), conversion.Result(3, 1000, {"to-fields": 1e-4})]
    conversion.draw({"results": [asdict(each) for each in results]}, "conversion.svg")
    times, pays, of_sums, sums_pay = drawn[1].axes
    assert curves_of(times).keys() == {"direct", "coalesced", "fields", *conversion.CONVERSIONS}
    assert curves_of(times)["to-fields"] == {28: APPROX(300), 12: APPROX(100)}
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


def test_model_errors(drawn, calibration, tmp_path):
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"stage": "calibrate", "results": calibration}))
    assert draw.main([str(record), "model.svg"]) == 0
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
