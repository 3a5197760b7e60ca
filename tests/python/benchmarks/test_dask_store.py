"""The benchmark of Dask's stores: what it records, and that it notices wrong results."""

import json
import shlex

import numpy as np
import pytest

pytest.importorskip("dask.array")

from ttlg.benchmarks import dask_store

CASE = shlex.split("--shape 6 20 30 3 --axes 0 3 1 2 --chunks 4 20 30 3")


def test_record(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    record, image = tmp_path / "record.json", tmp_path / "stores.png"
    options = ["--folder", str(tmp_path), *CASE, "--json", str(record), "--plot", str(image)]
    assert dask_store.main(options) == 0
    assert {*tmp_path.iterdir()} == {record, image}
    written = json.loads(record.read_text())
    assert written["case"]["axes"] == [0, 3, 1, 2]
    assert [each["method"] for each in written["runs"]] == ["copy", "ttlg", "dask"]
    assert all(each["seconds"] > 0 and each["anonymous_peak"] > 0 for each in written["runs"])
    assert written["machine"]["versions"]["dask"]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "100% of the copy" in lines[0]


def test_source_differs_everywhere(tmp_path):
    dask_store.write_source(tmp_path / "x.npy", (5, 7))
    x = np.load(tmp_path / "x.npy")
    assert x.shape == (5, 7)
    assert np.unique(x).size > 30
    assert ((x >= 1) & (x < 2)).all()


def test_wrong_results_are_noticed(tmp_path):
    files = dask_store.Files(tmp_path / "x.npy", tmp_path / "y.npy", (1, 0), (5, 7))
    x = np.arange(35, dtype="f4").reshape(5, 7)
    np.save(files.source, x)
    np.save(files.result, x.T)
    dask_store._check_samples(files)
    wrong = x.T.copy()
    wrong[3, 2] += 1
    for each in (wrong, x):
        np.save(files.result, each)
        with pytest.raises(SystemExit, match="is wrong"):
            dask_store._check_samples(files)
