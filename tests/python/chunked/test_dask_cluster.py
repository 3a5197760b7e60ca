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


def test_workers_are_two_other_processes(client):
    workers = client.run(os.getpid)
    assert len(workers) == 2
    assert os.getpid() not in workers.values()


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
    lazy = opened_in_the_worker(tmp_path / "x.npy").transpose(AXES)
    assert da.store(lazy, ttlg.dask.Target(target), lock=False) is None
    assert bits(target) == bits(np.load(tmp_path / "y.npy")) == bits(x.transpose(AXES))


def test_workers_share_the_work(client, tmp_path):
    """Every worker writes its process's number into its blocks."""
    target = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.dtype("i8"), (8, 64))

    def number(block_info=None):
        bounds = block_info[None]["array-location"]
        return np.full([end - begin for begin, end in bounds], os.getpid())

    lazy = da.map_blocks(number, chunks=((8,) * 8, 8), dtype="i8", meta=np.empty((0, 0), "i8"))
    da.store(lazy.T, ttlg.dask.Target(target), lock=False)
    assert set(np.unique(target)) == set(client.run(os.getpid).values())


def test_zarr_array(client, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    x = random_array(SHAPE, "f4")
    array = zarr.create_array(tmp_path, shape=SHAPE[::-1], chunks=(10, 25, 60), dtype="f4")
    lazy = da.from_array(x, chunks=(60, 25, 20)).transpose(AXES)
    da.store(lazy, ttlg.dask.Target(array), lock=False)
    assert bits(array[:]) == bits(x.transpose(AXES))


def test_transposed_blocks(client):
    x = random_array(SHAPE, "f4")
    y = ttlg.dask.transpose(da.from_array(x, chunks=(60, 20, 40)), AXES)
    assert bits(y.compute()) == bits(x.transpose(AXES))


def test_stored_array_is_returned(client, tmp_path):
    x = random_array(SHAPE, "f4")
    target = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.dtype("f4"), SHAPE[::-1])
    lazy = da.from_array(x, chunks=(60, 20, 40)).transpose(AXES)
    stored = only(da.store(lazy, ttlg.dask.Target(target), lock=False, return_stored=True))
    assert bits(stored.compute()) == bits(x.transpose(AXES))  # waits until everything is written
    assert bits(target) == bits(x.transpose(AXES))


def test_arrays_in_memory_are_refused(client):
    lazy = da.zeros(SHAPE, chunks=30).transpose(AXES)
    with pytest.raises(TypeError) as raised:
        da.store(lazy, ttlg.dask.Target(np.zeros(SHAPE[::-1])), lock=False)
    errors = [raised.value]
    while cause := errors[-1].__cause__ or errors[-1].__context__:
        errors.append(cause)
    assert any("cannot be shared between processes" in str(error) for error in errors)
