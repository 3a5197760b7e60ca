"""Stores of transposed Dask arrays in Zarr arrays."""

import pickle

import numpy as np
import pytest

from ..arrays import bits, random_array

da = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr", minversion="3")

import dask

from ttlg.dask import Target

AXES = (2, 0, 1)
SHAPE = (9, 7, 11)
RESULT = (11, 9, 7)


def create(store=None, *, chunks=(4, 3, 7), **options):
    return zarr.create_array(
        {} if store is None else store, shape=RESULT, chunks=chunks, dtype="f4", **options
    )


def store(x, array, chunks, **options):
    lazy = da.from_array(x, chunks=chunks).transpose(AXES)
    da.store(lazy, Target(array), lock=False, **options)


@pytest.mark.parametrize(
    ("scheduler", "options"),
    [
        ("synchronous", {}),
        ("threads", {"zarr_format": 2, "order": "F"}),
        ("threads", {"compressors": None}),
        ("processes", {}),
    ],
)
def test_zarr_array(tmp_path, scheduler, options):
    x = random_array(SHAPE, "f4")
    with dask.config.set(scheduler=scheduler, num_workers=2):
        store(x, create(tmp_path, **options), (6, 7, 8))
    assert bits(zarr.open_array(tmp_path)[:]) == bits(x.transpose(AXES))


def test_shards_are_what_blocks_must_be_multiples_of(tmp_path):
    x = random_array(SHAPE, "f4")
    array = create(tmp_path, chunks=(2, 3, 7), shards=(4, 6, 7))
    with pytest.raises(ValueError, match=r"of \(4, 6, 7\)"):
        store(x, array, (6, 7, 2))
    store(x, array, (6, 7, 4))
    assert bits(array[:]) == bits(x.transpose(AXES))


@pytest.mark.parametrize("chunks", [(3, 7, 3), (2, 7, 4), ((3, 6), 6, 11), ((4, 5), 7, 11)])
def test_blocks_that_share_a_chunk_or_do_not_fit_are_refused(chunks):
    array = create()
    with pytest.raises(ValueError, match="reaches beyond the target"):
        store(random_array((9, 7, 12), "f4"), array, -1)
    with pytest.raises(ValueError, match=r"of \(4, 3, 7\), and two blocks .*; rechunk x so that"):
        store(random_array(SHAPE, "f4"), array, chunks, scheduler="synchronous")
    assert not array[:].any()


def test_regions_begin_where_chunks_begin():
    x = random_array((3, 7, 4), "f4")
    array = create()
    region = np.s_[4:8, 6:9, :]
    store(x, array, -1, regions=region)
    assert bits(array[region]) == bits(x.transpose(AXES))
    array[region] = 0
    # Each breaks one rule: it begins inside a chunk, or ends inside one, or leaves elements out.
    for other in (np.s_[4:8, 4:6, :], np.s_[4:6, 6:9, :], np.s_[0:8:2, 6:9, :]):
        part = random_array(array[other].shape, "f4")
        with pytest.raises(ValueError, match="begin regions there"):
            Target(array)[other] = part
    assert not array[:].any()


def test_what_cannot_be_stored_in(tmp_path):
    with pytest.raises(TypeError, match="Zarr array in memory cannot be shared between processes"):
        pickle.dumps(Target(create()))
    create(tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        Target(zarr.open_array(tmp_path, mode="r"))
    with pytest.raises(TypeError, match="not of Group"):
        Target(zarr.create_group({}))
