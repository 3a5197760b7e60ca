"""Plots and panels show what was measured."""

import itertools

import numpy as np
import pytest

from ttlg.benchmarks.case import Case, named, scaled_rank
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.measure import Result
from ttlg.benchmarks.plots import plot
from ttlg.benchmarks.report import Report
from ttlg.benchmarks.suites import SUITES

from .conftest import module
from .test_report import REPORT


@pytest.fixture
def plotted(drawn):
    """Return a function that plots results and returns the axes."""

    def axes(results):
        plot(Report({}, tuple(results)), "figure.png")
        return drawn[-1].axes

    return axes


def at_rate(suite, rows, columns, **rates):
    """Return a result with these contenders at these GB/s, the copy at 20."""
    case = Case(suite, f"{rows}x{columns}", (rows, columns), (1, 0), "float64")
    seconds = {name: 2 * case.bytes / rate / 1e9 for name, rate in rates.items()}
    return Result(case, 1, "c2r", seconds | dict.fromkeys(COPIES, 2 * case.bytes / 20e9))


def permuted(suite, axes, **seconds):
    case = named(suite, (4,) * len(axes), axes, "float64")
    return Result(case, 1, "tile", seconds | dict.fromkeys(COPIES, 1e-6))


def test_shares_of_each_contender(plotted, curves):
    one, two = plotted(REPORT.results[:3])
    assert [axes.get_title() for axes in (one, two)] == ["big, 1 thread", "big, 2 threads"]
    found = curves(one)
    assert found.keys() == {"ttlg-plan", "ttlg", "ttlg-cold", "numpy", "hptt"}
    # From the case where ttlg's share is least: B and then A.
    assert found["ttlg"] == pytest.approx([0.25, 0.5])
    assert found["numpy"] == pytest.approx([0.2, 0.1])
    assert np.isnan(np.asarray(found["hptt"], float)[0])
    assert curves(two).keys() >= {"jax", "ttlg"}


@pytest.mark.parametrize("suite", ["inplace-random", "inplace-aos"])
def test_histograms_of_throughput_and_share(plotted, suite):
    results = [at_rate(suite, 1000 + n, 1000, ttlg=n, openblas=2.1) for n in (5, 6, 10)]
    results[0].seconds.pop("openblas")
    for axes, unit in zip(plotted(results), (1, 20), strict=True):
        medians = [line.get_xdata()[0] for line in axes.lines]
        assert medians == pytest.approx([6 / unit, 2.1 / unit])
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels == ["ttlg", "openblas"]
        assert [patch.get_xy()[:, 1].max() for patch in axes.patches] == [1, 2]


def heat(axes):
    return np.ma.filled(axes.collections[0].get_array().astype(float), np.nan)


def test_landscape_is_a_heat_map_for_each_kernel(plotted):
    suite = "inplace-landscape"
    maps = plotted(
        [
            at_rate(suite, 1500, 24000, ttlg=5, c2r=3, r2c=1),
            at_rate(suite, 24000, 1500, ttlg=6, c2r=2, r2c=4),
            at_rate(suite, 24500, 1600, ttlg=8, c2r=2, r2c=4),
        ]
    )
    titles = [f"{name}, GB/s" for name in ("c2r", "r2c", "m > n", "ttlg")]
    assert [axes.get_title() for axes in maps[:4]] == titles
    for axes, wide, tall in zip(maps[:4], (3, 1, 1, 5), (2, 4, 2, 7), strict=True):
        cells = heat(axes).reshape(8, 8)
        assert (cells[0, 7], cells[7, 0]) == pytest.approx((wide, tall), rel=0.03)
        assert np.isnan(cells).sum() == 62


def test_bandwidths_are_sorted_by_scaled_rank(plotted, curves):
    """Of scaled ranks 4, 1 and 2, which is not the order of the axes."""
    every = [(0, 2, 1, 3, 4, 5), (0, 1, 2, 3, 4, 5), (4, 5, 0, 1, 2, 3)]
    assert [scaled_rank(axes) for axes in every] == [4, 1, 2]
    results = [
        permuted("sixd", axes, **{"ttlg-plan": at, "ttlg": 9, "ttlg-cold": 2 * at, "numpy": 4 * at})
        for at, axes in enumerate(every, 1)
    ]
    repeated, single, *ranks = plotted(results)
    rates = 2 * results[0].case.bytes / 1e9 / np.array([2, 3, 1])
    assert curves(repeated) == {
        "ttlg-plan": pytest.approx(rates),
        "numpy": pytest.approx(rates / 4),
    }
    assert curves(single) == {
        "ttlg-cold": pytest.approx(rates / 2),
        "numpy": pytest.approx(rates / 4),
    }
    assert [list(axes.lines[0].get_ydata()) for axes in ranks] == [[1, 2, 4]] * 2
    assert repeated.get_title() == "4^6, repeated use, sixd, 1 thread"


@pytest.mark.parametrize(
    ("suite", "ours", "theirs"),
    [
        ("gentt", [2, 4], [1, 1]),
        ("twos", [2, 4], [1, 1]),
        ("latency", [500, 250], [1000, 1000]),
        ("call", [500, 250], [1000, 1000]),
        ("sparse-matrices", [1, 1], [2, 4]),
    ],
)
def test_case_by_case(plotted, curves, suite, ours, theirs):
    results = [
        permuted(suite, (1, 0), ttlg=5e-7, numpy=1e-6, torch=1e-6),
        permuted(suite, (2, 1, 0), ttlg=2.5e-7, numpy=1e-6),
    ]
    (axes,) = plotted(results)
    found = curves(axes)
    assert (found["ttlg"], found["numpy"]) == (pytest.approx(ours), pytest.approx(theirs))
    assert len(found["torch"]) == 1
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["4^2 (1,0) float64", "4^3 (2,1,0) float64"]


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_has_a_figure(plotted, suite):
    """From stand-ins for what two of its cases took."""
    kernels = ("c2r", "r2c") if suite in ("inplace-random", "inplace-landscape") else ()
    names = ("ttlg-plan", "ttlg", "ttlg-cold", *kernels, "numpy", *COPIES)
    chosen = itertools.islice(SUITES[suite](), 2)
    found = plotted([Result(case, 1, "tile", dict.fromkeys(names, 2.0)) for case in chosen])
    assert any(axes.has_data() for axes in found)


def recorded():
    """List programs, records, and the cases and curves of their panels."""
    calls = {"default": {"mean": 3.0, "p90": 8.0}, "one": {"mean": 2.0, "p90": 4.0}}
    results = [{"shape": [4, 5], "dtype": "float32", "inplace": True, "microseconds": calls}]
    yield "busy", {"results": results}, ["4x5 float32 in place"], [{"mean": [1.5], "p90": [2.0]}]
    learned = (("a", [0.5, 0.25]), ("a", [0.25, 0.25]), ("b", [0.125, 0.0]))
    results = [{"model": model, "threads": 1, "regrets": each} for model, each in learned]
    labels = ["after 1 calls", "after 10 calls"]
    yield "learning", {"results": results}, labels, [{"a": [37.5, 25], "b": [12.5, 0]}]
    trees = {"operations": {"predicted": 0.004, "measured": 0.002}}
    trees["time"] = {"predicted": 0.003, "measured": 0.001}
    values = {
        f"tree of the least {name}, {kind}": [1000 * tree[kind]]
        for name, tree in trees.items()
        for kind in ("measured", "predicted")
    }
    results = [{"name": "ring", "bond": 2, **trees}]
    yield "contraction.networks", {"results": results}, ["ring, bond 2"], [values]
    methods = {"copy": [1.0], "ttlg": [2.0], "dask": [3.0]}
    runs = [
        {"method": name, "seconds": seconds, "anonymous_peak": 10**8}
        for name, (seconds,) in methods.items()
    ]
    memory = {name: [100.0] for name in methods}
    yield "dask_store", {"runs": runs}, ["run 1"], [methods, memory]
    seconds = {each: {"zarr": 4.0, "ttlg": 1.0, "zarr again": 2.0} for each in ("read", "write")}
    results = [{"order": "F", "dtype": "u1", "seconds": seconds}]
    values = [{"ttlg": [4.0], "zarr again": [2.0]}] * 2
    yield "zarr_io", {"results": results}, ["F, u1"], values
    yield "zarr_io", {"large": seconds}, ["4 GB, f4"], values


@pytest.mark.parametrize(("program", "record", "labels", "values"), [*recorded()])
def test_panels_of_programs(program, record, labels, values):
    if program == "zarr_io":
        pytest.importorskip("zarr")
    found = module(program).panels(record)
    assert [each.labels for each in found] == [labels] * len(values)
    assert [each.values for each in found] == values
