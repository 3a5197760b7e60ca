"""What the panels of each program show, from stand-ins for what it records."""

import pytest

from ttlg.benchmarks import ablations, busy, learning
from ttlg.benchmarks.contraction import report as contractions

CASE = {"suite": "gentt", "name": "A", "shape": [4, 5], "axes": [1, 0], "dtype": "float32"}
COPIES = {"copy-numpy": 1.0, "copy-plain": 2.0, "copy-streaming": 4.0}
CONTRACTION = {
    "part": "nine",
    "name": "A",
    "equation": "ab,bc->ac",
    "extents": {"a": 2, "b": 3, "c": 4},
    "dtype": "float64",
    "moves": False,
}


def contraction(name, ours, **others):
    return {
        "case": CONTRACTION | {"name": name},
        "threads": 1,
        "seconds": {"ttlg": ours, **others},
        "first": 1.0,
        "predicted": 1.0,
        "layout": "",
    }


def tree(seconds):
    return {"operations": 1.0, "predicted": 2 * seconds, "measured": seconds, "searching": 1.0}


def microseconds(mean, p90):
    return {"mean": mean, "p90": p90, "max": 9.0, "calls": 3, "longest_burst": 0}


ABLATION = {
    "ablation": "loops",
    "case": CASE,
    "threads": 1,
    "seconds": {**COPIES, "a": 2.0, "b": 4.0},
    "chosen": "b",
    "predicted": {"a": 10.0, "b": 5.0},
}
BUSY = {
    **{name: CASE[name] for name in ("shape", "axes", "dtype")},
    "inplace": True,
    "microseconds": {"default": microseconds(3.0, 8.0), "one": microseconds(2.0, 4.0)},
}
LEARNED = [
    {"model": model, "threads": 1, "regrets": regrets}
    for model, regrets in (("a", [0.5, 0.1]), ("a", [0.3, 0.3]), ("b", [0.2, 0.0]))
]
ZARR = {"order": "F", "dtype": "u1", "seconds": {}}
for _what in ("read", "write"):
    ZARR["seconds"][_what] = {"zarr": 4.0, "ttlg": 1.0, "zarr again": 2.0}
DASK = [
    {"method": method, "seconds": seconds, "anonymous_peak": 10**8}
    for method, seconds in (("copy", 1.0), ("ttlg", 2.0), ("dask", 3.0))
]
NETWORK = {"name": "ring", "bond": 2, "operations": tree(0.002), "time": tree(0.001)}


def test_ablations_show_shares_of_the_ceiling():
    (panel,) = ablations.panels({"ablations": [ABLATION]})
    assert panel.labels == ["a", "b (chosen)"]
    assert panel.values == {"measured": [0.5, 0.25], "predicted": [0.1, 0.2]}


def test_busy_processes_show_the_time_of_one_threads():
    (panel,) = busy.panels({"results": [BUSY]})
    assert panel.labels == ["4x5 float32 in place"]
    assert panel.values == {"mean": [1.5], "p90": [2.0]}


def test_learning_shows_the_mean_regret_by_calls():
    (panel,) = learning.panels({"results": LEARNED})
    assert panel.labels == ["after 1 calls", "after 10 calls"]
    assert panel.values["a"] == pytest.approx([40, 20])
    assert panel.values["b"] == pytest.approx([20, 0])


def test_contractions_are_sorted_by_the_gain():
    results = [contraction("A", 1.0, numpy=3.0, torch=4.0), contraction("B", 1.0, numpy=2.0)]
    (panel,) = contractions.panels({"results": results})
    assert panel.labels == ["B", "A"]
    assert panel.values == {"numpy": [2, 3], "torch": [None, 4]}


def test_networks_show_both_trees():
    pytest.importorskip("cotengra")
    from ttlg.benchmarks.contraction import networks

    (panel,) = networks.panels({"results": [NETWORK]})
    assert panel.values["tree of the least operations, measured"] == [2.0]
    assert panel.values["tree of the least time, predicted"] == [2.0]


def test_stores_show_seconds_and_memory():
    from ttlg.benchmarks import dask_store

    time, memory = dask_store.panels({"runs": DASK})
    assert time.values == {"copy": [1.0], "ttlg": [2.0], "dask": [3.0]}
    assert memory.values["ttlg"] == [100.0]


def test_zarr_shows_the_speed_by_its_own():
    pytest.importorskip("zarr", minversion="3.1")
    from ttlg.benchmarks import zarr_io

    write, read = zarr_io.panels({"results": [ZARR]})
    assert (write.title, read.title) == ("write", "read")
    assert read.values == {"ttlg": [4.0], "zarr again": [2.0]}
