"""Stores of transposed Dask arrays by a cluster of processes."""

import os

import numpy as np
import pytest

from ..arrays import bits, random_array, resident_bytes

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import ttlg.dask

from .test_dask_target import only

SHAPE = (60, 50, 70)
AXES = (2, 1, 0)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len({os.getpid(), *client.run(os.getpid).values()}) == 3
        yield client


def opened_in_the_worker(path):
    """Return the Dask array of a file of which every block is read where it is used."""

    def read(block_info=None):
        bounds = block_info[None]["array-location"]
        return np.load(path, mmap_mode="r")[tuple(slice(*each) for each in bounds)]

    return da.map_blocks(
        read, chunks=((60,), (20, 25, 5), (40, 30)), dtype="f4", meta=np.empty((0, 0, 0), "f4")
    )


def resident_after_imports():
    """Return the memory of a worker that has imported this module, and so dask.array."""
    return resident_bytes()


def fill_and_empty_the_pool():
    """Make and drop results of 816 MB, 48 MB each."""
    x = np.ones((2000, 3000))
    for _ in range(17):
        assert ttlg.transpose(x).shape == (3000, 2000)
    results = [ttlg.transpose(x) for _ in range(10)]
    del results
    return ttlg.show_config()["cpu"]["result_pool_limit_bytes"]


@pytest.mark.usefixtures("plain_malloc")
def test_memory_of_results_does_not_stop_a_worker():
    """A worker pauses, and takes no task any more, when its process seems to hold 80 %."""
    options = {"n_workers": 1, "threads_per_worker": 2, "memory_limit": "1GB"}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.submit(ttlg.transpose, np.ones((20, 30))).result(timeout=60)
        before = client.submit(resident_after_imports, pure=False).result(timeout=60)
        limit = client.submit(fill_and_empty_the_pool).result(timeout=60)
        assert limit == 10**9 // 32
        assert client.submit(sum, [1, 1]).result(timeout=60) == 2
        after = client.submit(resident_after_imports, pure=False).result(timeout=60)
        assert after <= 1.2 * before + limit


def test_workers_use_one_thread(client):
    """As Dask asks of all libraries, in the environment that a nanny gives to its worker."""
    assert set(client.run(ttlg.get_num_threads).values()) == {1}


@pytest.mark.parametrize("order", ["C", "F"])
def test_file_to_file(client, tmp_path, order):
    x = random_array(SHAPE, "f4")
    np.save(tmp_path / "x.npy", x)
    target = np.lib.format.open_memmap(
        tmp_path / "y.npy", "w+", np.dtype("f4"), SHAPE[::-1], order == "F"
    )
    lazy = ttlg.dask.transpose(opened_in_the_worker(tmp_path / "x.npy"), AXES)
    stored = only(da.store(lazy, ttlg.dask.Target(target), lock=False, return_stored=True))
    assert bits(stored.compute()) == bits(x.transpose(AXES))  # waits until everything is written
    assert bits(target) == bits(np.load(tmp_path / "y.npy")) == bits(x.transpose(AXES))


def test_arrays_in_memory_are_refused(client):
    lazy = da.zeros(SHAPE, chunks=30).transpose(AXES)
    with pytest.raises(TypeError) as raised:
        da.store(lazy, ttlg.dask.Target(np.zeros(SHAPE[::-1])), lock=False)
    error = raised.value
    while error and "cannot be shared between processes" not in str(error):
        error = error.__cause__ or error.__context__
    assert error
