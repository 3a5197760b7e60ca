"""The benchmark of Dask's stores: what it records, and that it notices wrong results."""

import numpy as np
import pytest

pytest.importorskip("dask.array")

from ttlg.benchmarks import dask_store


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
