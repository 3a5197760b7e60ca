"""Panels show every value, no more names than can be read, and of each program what it records."""

import importlib

import pytest

from ttlg.benchmarks.panels import Panel, draw


def panel(count, title="some"):
    labels = [f"case {number} of a name that is longer than that" for number in range(count)]
    values = {"a": [*range(1, count + 1)], "b": [None, *range(2, count + 1)]}
    return Panel(title, labels, values, "seconds", "log")


def test_a_curve_for_each_contender_with_gaps(tmp_path, drawn):
    draw([panel(4)], tmp_path / "figure.svg")
    (axes,) = drawn[0].axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert lines == {"a": [[0, 1], [1, 2], [2, 3], [3, 4]], "b": [[1, 2], [2, 3], [3, 4]]}
    assert (axes.get_title(), axes.get_ylabel(), axes.get_yscale()) == ("some", "seconds", "log")
    assert axes.get_xticklabels()[0].get_text() == "case 0 of a name that is ..."


def test_many_cases_are_not_named(tmp_path, drawn):
    draw([panel(200)], tmp_path / "figure.svg")
    (axes,) = drawn[0].axes
    assert not any("case" in label.get_text() for label in axes.get_xticklabels())


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (3, (1, 3)), (5, (2, 3)), (9, (3, 3))])
def test_panels_side_by_side(tmp_path, drawn, count, shape):
    draw([panel(2, str(number)) for number in range(count)], tmp_path / "figure.png")
    axes = drawn[0].axes
    assert [each.get_title() for each in axes[:count]] == [*map(str, range(count))]
    assert len(axes) == shape[0] * shape[1]
    assert not any(each.axison for each in axes[count:])


CASE = {"suite": "gentt", "name": "A", "shape": [4, 5], "axes": [1, 0], "dtype": "float32"}
COPIES = {"copy-numpy": 1.0, "copy-plain": 2.0, "copy-streaming": 4.0}
ABLATION = {
    "ablation": "loops",
    "case": CASE,
    "threads": 1,
    "chosen": "b",
    "seconds": {**COPIES, "a": 2.0, "b": 4.0},
    "predicted": {"a": 10.0, "b": 5.0},
}
BUSY = {
    **{name: CASE[name] for name in ("shape", "axes", "dtype")},
    "inplace": True,
    "microseconds": {"default": {"mean": 3.0, "p90": 8.0}, "one": {"mean": 2.0, "p90": 4.0}},
}
LEARNED = [
    {"model": model, "threads": 1, "regrets": regrets}
    for model, regrets in (("a", [0.5, 0.25]), ("a", [0.25, 0.25]), ("b", [0.125, 0.0]))
]
FACTORS = {"a": 2, "b": 3, "c": 4}
CONTRACTION = {
    "part": "nine",
    "equation": "ab,bc->ac",
    "extents": FACTORS,
    "dtype": "float64",
    "moves": False,
}
CONTRACTIONS = [
    {"case": CONTRACTION | {"name": name}, "seconds": {"ttlg": 1.0, **others}}
    | {"threads": 1, "first": 1.0, "predicted": 1.0, "layout": ""}
    for name, others in (("A", {"numpy": 3.0, "torch": 4.0}), ("B", {"numpy": 2.0}))
]
SECONDS = {"zarr": 4.0, "ttlg": 1.0, "zarr again": 2.0}
ZARR = {"order": "F", "dtype": "u1", "seconds": {"read": SECONDS, "write": SECONDS}}
BY_ZARR = {"ttlg": [4.0], "zarr again": [2.0]}
DASK = [
    {"method": method, "seconds": seconds, "anonymous_peak": 10**8}
    for method, seconds in (("copy", 1.0), ("ttlg", 2.0), ("dask", 3.0))
]
TREES = {
    name: {"predicted": 2 * seconds, "measured": seconds}
    for name, seconds in (("operations", 0.002), ("time", 0.001))
}
OF_TREES = {
    "tree of the least operations, measured": [2.0],
    "tree of the least operations, predicted": [4.0],
    "tree of the least time, measured": [1.0],
    "tree of the least time, predicted": [2.0],
}


@pytest.mark.parametrize(
    ("program", "needs", "record", "labels", "values"),
    [
        (
            "ablations",
            None,
            {"ablations": [ABLATION]},
            ["a", "b (chosen)"],
            [{"measured": [0.5, 0.25], "predicted": [0.1, 0.2]}],
        ),
        (
            "busy",
            None,
            {"results": [BUSY]},
            ["4x5 float32 in place"],
            [{"mean": [1.5], "p90": [2.0]}],
        ),
        (
            "learning",
            None,
            {"results": LEARNED},
            ["after 1 calls", "after 10 calls"],
            [{"a": [37.5, 25], "b": [12.5, 0]}],
        ),
        (
            "contraction.report",
            None,
            {"results": CONTRACTIONS},
            ["B", "A"],
            [{"numpy": [2, 3], "torch": [None, 4]}],
        ),
        (
            "contraction.networks",
            "cotengra",
            {"results": [{"name": "ring", "bond": 2, **TREES}]},
            ["ring, bond 2"],
            [OF_TREES],
        ),
        (
            "dask_store",
            "dask.array",
            {"runs": DASK},
            ["run 1"],
            [
                {"copy": [1.0], "ttlg": [2.0], "dask": [3.0]},
                {"copy": [100.0], "ttlg": [100.0], "dask": [100.0]},
            ],
        ),
        ("zarr_io", "zarr", {"results": [ZARR]}, ["F, u1"], [BY_ZARR] * 2),
        ("zarr_io", "zarr", {"large": ZARR["seconds"]}, ["4 GB, f4"], [BY_ZARR] * 2),
    ],
)
def test_panels_of_programs(program, needs, record, labels, values):
    if needs:
        pytest.importorskip(needs)
    found = importlib.import_module(f"ttlg.benchmarks.{program}").panels(record)
    assert [each.labels for each in found] == [labels] * len(values)
    assert [each.values for each in found] == values
