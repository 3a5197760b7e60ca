"""Plots show what was measured."""

import itertools

import numpy as np
import pytest

from ttlg.benchmarks.case import Case, named, scaled_rank
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.measure import Result
from ttlg.benchmarks.plots import plot
from ttlg.benchmarks.report import Report
from ttlg.benchmarks.suites import SUITES

from .test_report import REPORT


def at_rate(suite, rows, columns, **rates):
    """Return a result with these contenders at these GB/s, the copy at 20."""
    case = Case(suite, f"{rows}x{columns}", (rows, columns), (1, 0), "float64")
    seconds = {name: 2 * case.bytes / rate / 1e9 for name, rate in rates.items()}
    return Result(case, 1, "c2r", seconds | dict.fromkeys(COPIES, 2 * case.bytes / 20e9))


def test_shares_of_each_contender(tmp_path, drawn, curves):
    plot(Report({}, REPORT.results[:3]), tmp_path / "shares.svg")
    one, two = drawn[0].axes
    assert [axes.get_title() for axes in (one, two)] == ["big, 1 thread", "big, 2 threads"]
    found = curves(one)
    assert found.keys() == {"ttlg-plan", "ttlg", "ttlg-cold", "numpy", "hptt"}
    # From the case where ttlg's share is least: B and then A.
    assert found["ttlg"] == pytest.approx([0.25, 0.5])
    assert found["numpy"] == pytest.approx([0.2, 0.1])
    assert np.isnan(np.asarray(found["hptt"], float)[0])
    assert curves(two).keys() >= {"jax", "ttlg"}


@pytest.mark.parametrize("suite", ["inplace-random", "inplace-aos"])
def test_histograms_of_throughput_and_share(tmp_path, drawn, suite):
    results = [at_rate(suite, 1000 + n, 1000, ttlg=n, openblas=2.1) for n in (5, 6, 10)]
    results[0].seconds.pop("openblas")
    plot(Report({}, tuple(results)), tmp_path / "histograms.png")
    throughput, share = drawn[0].axes
    for axes, unit in ((throughput, 1), (share, 20)):
        assert axes.get_title() == f"{suite}, 1 thread"
        medians = [line.get_xdata()[0] for line in axes.lines]
        assert medians == pytest.approx([6 / unit, 2.1 / unit])
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels == ["ttlg", "openblas"]
        heights = [patch.get_xy()[:, 1].max() for patch in axes.patches]
        assert heights == [1, 2]
    assert throughput.get_xlabel() == "GB/s, median dashed"


def heat(axes):
    return np.ma.filled(axes.collections[0].get_array().astype(float), np.nan).reshape(8, 8)


def test_landscape_is_a_heat_map_for_each_kernel(tmp_path, drawn):
    suite = "inplace-landscape"
    results = (
        at_rate(suite, 1500, 24000, ttlg=5, c2r=3, r2c=1),
        at_rate(suite, 24000, 1500, ttlg=6, c2r=2, r2c=4),
        at_rate(suite, 24500, 1600, ttlg=8, c2r=2, r2c=4),
    )
    plot(Report({}, results), tmp_path / "maps.png")
    c2r, r2c, rule, chosen = drawn[0].axes[:4]
    assert [axes.get_title() for axes in (c2r, r2c, rule, chosen)] == [
        "c2r, GB/s",
        "r2c, GB/s",
        "m > n, GB/s",
        "ttlg, GB/s",
    ]
    for axes, few_rows, many_rows in ((c2r, 3, 2), (r2c, 1, 4), (rule, 1, 2)):
        cells = heat(axes)
        assert cells[0, 7] == pytest.approx(few_rows, rel=0.03)
        assert cells[7, 0] == pytest.approx(many_rows, rel=0.03)
        assert np.isnan(cells).sum() == 62
    assert heat(chosen)[7, 0] == pytest.approx(7, rel=0.03)


def test_landscape_clamps_what_is_above_the_99th_percentile(tmp_path, drawn):
    results = [at_rate("inplace-landscape", 1500, 1000 + n, ttlg=10) for n in range(200)]
    fast = at_rate("inplace-landscape", 24000, 24000, ttlg=1000)
    plot(Report({}, (*results, fast)), tmp_path / "map.png")
    assert heat(drawn[0].axes[0])[7, 7] == pytest.approx(10)


def test_thousands_of_matrices_are_drawn_in_fine_cells(tmp_path, drawn):
    results = [at_rate("inplace-landscape", 1000 + 20 * n, 5000, ttlg=10) for n in range(1000)]
    plot(Report({}, tuple(results)), tmp_path / "map.png")
    assert drawn[0].axes[0].collections[0].get_array().size == 50 * 50


def permuted(suite, axes, **seconds):
    case = named(suite, (4,) * len(axes), axes, "float64")
    return Result(case, 1, "tile", seconds | dict.fromkeys(COPIES, 1e-6))


def test_bandwidths_are_sorted_by_scaled_rank(tmp_path, drawn, curves):
    """Of scaled ranks 4, 1 and 2, which is not the order of the axes."""
    every = [(0, 2, 1, 3, 4, 5), (0, 1, 2, 3, 4, 5), (4, 5, 0, 1, 2, 3)]
    assert [scaled_rank(axes) for axes in every] == [4, 1, 2]
    results = [
        permuted("sixd", axes, **{"ttlg-plan": at, "ttlg": 9, "ttlg-cold": 2 * at, "numpy": 4 * at})
        for at, axes in enumerate(every, 1)
    ]
    plot(Report({}, tuple(results)), tmp_path / "ranks.png")
    repeated, single, *ranks = drawn[0].axes
    gigabytes = 2 * results[0].case.bytes / 1e9
    assert curves(repeated) == {
        "ttlg-plan": pytest.approx([gigabytes / 2, gigabytes / 3, gigabytes]),
        "numpy": pytest.approx([gigabytes / 8, gigabytes / 12, gigabytes / 4]),
    }
    assert curves(single).keys() == {"ttlg-cold", "numpy"}
    assert curves(single)["ttlg-cold"] == pytest.approx(
        [gigabytes / 4, gigabytes / 6, gigabytes / 2]
    )
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
def test_case_by_case(tmp_path, drawn, curves, suite, ours, theirs):
    results = [
        permuted(suite, (1, 0), ttlg=5e-7, numpy=1e-6, torch=1e-6),
        permuted(suite, (2, 1, 0), ttlg=2.5e-7, numpy=1e-6),
    ]
    plot(Report({}, tuple(results)), tmp_path / "cases.png")
    (axes,) = drawn[0].axes
    assert curves(axes)["ttlg"] == pytest.approx(ours)
    assert curves(axes)["numpy"] == pytest.approx(theirs)
    assert len(curves(axes)["torch"]) == 1
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["4^2 (1,0) float64", "4^3 (2,1,0) float64"]


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_has_a_figure(drawn, suite):
    """From stand-ins for what two of its cases took."""
    kernels = ("c2r", "r2c") if suite in ("inplace-random", "inplace-landscape") else ()
    seconds = dict.fromkeys(("ttlg-plan", "ttlg", "ttlg-cold", *kernels, "numpy"), 2.0)
    seconds |= dict.fromkeys(COPIES, 1.0)
    chosen = [*itertools.islice(SUITES[suite](), 2)]
    plot(Report({}, tuple(Result(case, 1, "tile", seconds) for case in chosen)), "figure.png")
    assert any(axes.has_data() for axes in drawn[0].axes)
