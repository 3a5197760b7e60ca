"""Stores of transposed Dask arrays by a cluster of processes."""

import os

import numpy as np
import pytest

from ..arrays import bits, random_array

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
            n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=None
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


def threads_and_limit():
    return ttlg.get_num_threads(), ttlg.show_config()["cpu"]["result_pool_limit_bytes"]


def test_workers_use_one_thread_and_keep_little_memory(client):
    """A nanny asks all libraries for one thread, and what waits would count as the worker's."""
    assert set(client.run(threads_and_limit).values()) == {(1, 10**9 // 32)}


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
