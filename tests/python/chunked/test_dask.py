"""Transposed Dask arrays: lazy, in contiguous blocks, and refused before anything is computed."""

import numpy as np
import pytest

from ..arrays import bits, random_array

da = pytest.importorskip("dask.array")

import ttlg
import ttlg.dask


@pytest.fixture
def blocks_seen(spy):
    """Note the arguments of the calls that transpose a block."""
    return spy(ttlg, "transpose", lambda _, x, axes=None, **options: (x.shape, options))


def uneven(x):
    return da.from_array(x, chunks=((3, 1, 5), (7,), (2, 2, 2, 5)))


@pytest.mark.parametrize("axes", [None, (0, 1, 2), (1, 2, 0), (-1, 0, 1), np.array([2, 0, 1])])
def test_equals_numpy_in_contiguous_blocks(axes):
    x = random_array((9, 7, 11), "f4")
    y = ttlg.dask.transpose(uneven(x), axes)
    expected = x.transpose(axes)
    assert y.shape == expected.shape
    assert y.dtype == x.dtype
    order = range(3)[::-1] if axes is None else axes
    assert y.chunks == tuple(uneven(x).chunks[axis] for axis in order)
    assert bits(y.compute(scheduler="threads")) == bits(expected)
    for index in np.ndindex(y.numblocks):
        assert y.blocks[index].compute(scheduler="synchronous").flags.c_contiguous


def test_is_lazy(blocks_seen):
    x = uneven(random_array((9, 7, 11), "f4"))
    y = ttlg.dask.transpose(x, (2, 0, 1))
    assert [shape for shape, _ in blocks_seen] == [(0, 0, 0)]
    del blocks_seen[:]
    y[:2].compute(scheduler="synchronous")
    assert sorted({shape for shape, _ in blocks_seen}) == [(1, 7, 2), (3, 7, 2), (5, 7, 2)]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_of_a_block(blocks_seen, threads):
    x = da.zeros((4, 6), chunks=(2, 3))
    options = {} if threads == 1 else {"threads": threads}
    ttlg.dask.transpose(x, **options).compute(scheduler="synchronous")
    assert blocks_seen[1:] == [((2, 3), {"threads": threads})] * 4


def test_names_depend_on_the_arguments():
    x = da.zeros((4, 4), chunks=2)
    assert ttlg.dask.transpose(x).name == ttlg.dask.transpose(x, (1, 0)).name
    assert ttlg.dask.transpose(x).name != ttlg.dask.transpose(x, (0, 1)).name
    assert ttlg.dask.transpose(x).name != ttlg.dask.transpose(x + 1).name
    assert ttlg.dask.transpose(x).name.startswith("transpose-")


def test_unknown_chunk_sizes():
    x = np.arange(40).reshape(10, 4)
    lazy = da.from_array(x, chunks=(3, 2))
    chosen = lazy[lazy[:, 0] > 14]
    assert np.isnan(chosen.shape[0])
    y = ttlg.dask.transpose(chosen)
    assert y.shape[0] == 4
    assert np.isnan(y.shape[1])
    assert bits(y.compute(scheduler="synchronous")) == bits(x[x[:, 0] > 14].T)


@pytest.mark.parametrize(("shape", "axes"), [((), ()), ((5,), (0,)), ((0, 3), (1, 0))])
def test_few_axes_and_no_elements(shape, axes):
    x = random_array(shape, "f8")
    y = ttlg.dask.transpose(da.from_array(x), axes).compute(scheduler="synchronous")
    assert np.shape(y) == tuple(shape[axis] for axis in axes)
    assert bits(y) == bits(x.transpose(axes))


def test_meta_is_the_blocks_kind():
    class Image(np.ndarray):
        pass

    x = da.from_array(np.zeros((4, 6)).view(Image), chunks=2, asarray=False)
    y = ttlg.dask.transpose(x)
    assert type(y._meta) is Image
    assert y._meta.ndim == 2
    assert type(y.blocks[0, 0].compute(scheduler="synchronous")) is Image


@pytest.mark.parametrize("axes", [5, (0, 1), (0, 0, 1), (0, 1, 3), (0.0, 1, 2), "abc"])
def test_bad_axes_are_ttlgs_errors_and_raised_at_once(axes):
    x = np.zeros((2, 3, 4))
    with pytest.raises((TypeError, ValueError)) as expected:
        ttlg.transpose(x, axes)
    with pytest.raises(expected.type) as raised:
        ttlg.dask.transpose(da.from_array(x), axes)
    assert str(raised.value) == str(expected.value)


def test_what_is_refused_before_anything_is_computed():
    with pytest.raises(TypeError, match=r"must be a Dask array, not ndarray; .*from_array"):
        ttlg.dask.transpose(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="holds Python objects"):
        ttlg.dask.transpose(da.from_array(np.zeros((2, 3), object), chunks=2))
    with pytest.raises(TypeError, match="masked array"):
        ttlg.dask.transpose(da.ma.masked_array(da.zeros((2, 3))))
