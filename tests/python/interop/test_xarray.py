"""xarray's arrays keep their names and coordinates, over the data of any library."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

xarray = pytest.importorskip("xarray")


@pytest.fixture
def x():
    result = xarray.DataArray(
        random_array((2, 3, 4), "f4"),
        dims=("time", "y", "x"),
        coords={
            "time": [10, 20],
            "y": [1.0, 2.0, 3.0],
            "height": (("y", "x"), random_array((3, 4), "f8")),
            "scalar": 7,
        },
        name="temperature",
        attrs={"units": "K"},
    )
    result.encoding["_FillValue"] = -1.0
    return result


def check(result, expected):
    assert type(result) is type(expected)
    xarray.testing.assert_identical(result, expected)
    assert result.encoding == expected.encoding
    assert type(result.data) is type(expected.data)


@pytest.mark.parametrize("axes", [None, (0, 1, 2), (2, 0, 1), (-1, 0, -2), [1, 0, 2]])
def test_a_data_array_keeps_names_coordinates_and_attributes(x, axes):
    dims = [x.dims[axis] for axis in (axes or (2, 1, 0))]
    result = ttlg.transpose(x, axes, threads=1)
    check(result, x.transpose(*dims))
    assert result.data.flags.c_contiguous
    assert not np.shares_memory(result.data, x.data)
    check(ttlg.transpose(x.variable, axes), x.variable.transpose(*dims))


def test_functions_upon_it(x):
    check(ttlg.permute_dims(x, (1, 2, 0)), x.transpose("y", "x", "time"))
    check(ttlg.moveaxis(x, 0, -1), x.transpose("y", "x", "time"))
    check(ttlg.swapaxes(x, 0, 1), x.transpose("y", "time", "x"))
    check(ttlg.transpose(x["time"]), x["time"])
    check(ttlg.transpose(x["time"].variable), x["time"].variable)
    check(ttlg.transpose(x[0, 0, 0]), x[0, 0, 0])


def test_data_of_dask_stay_lazy(x):
    dask = pytest.importorskip("dask.array")
    lazy = x.chunk({"time": 1})
    for result in (ttlg.transpose(lazy, (2, 0, 1)), ttlg.transpose(lazy, (2, 0, 1), threads=2)):
        assert isinstance(result.data, dask.Array)
        assert result.chunks == ((4,), (1, 1), (3,))
        assert result.data.blocks[0].compute().flags.c_contiguous
        xarray.testing.assert_identical(result.compute(), x.transpose("x", "time", "y"))
    with pytest.raises(ValueError, match="threads must be"):
        ttlg.transpose(lazy, threads=0)
    with pytest.raises(ValueError, match=r"stream= is for .*Dask array: leave it out"):
        ttlg.transpose(lazy, stream=1)


def test_data_in_a_file_are_read(x, tmp_path):
    pytest.importorskip("zarr")
    x.to_dataset().to_zarr(tmp_path / "x", consolidated=False)
    opened = xarray.open_zarr(tmp_path / "x", chunks=None, consolidated=False)["temperature"]
    result = ttlg.transpose(opened)
    assert type(result.data) is np.ndarray
    xarray.testing.assert_identical(result, opened.transpose())


def test_data_of_jax(x):
    jax = pytest.importorskip("jax")
    result = ttlg.transpose(x.copy(data=jax.numpy.asarray(x.data)))
    assert isinstance(result.data, jax.Array)
    assert bits(np.asarray(result.data)) == bits(x.data.T)


def test_what_would_lose_the_names_is_refused(x):
    array = np.zeros((4, 3, 2), "f4")
    for call, name in (
        (lambda: ttlg.transpose(x, out=array), "x"),
        (lambda: ttlg.transpose(x.data, out=x.transpose()), "out"),
        (lambda: ttlg.copyto(array.T, x), "src"),
        (lambda: ttlg.copyto(x, array.T), "dst"),
        (lambda: ttlg.plan((2, 3, 4))(x), "x"),
        (lambda: ttlg.transpose_inplace(x), "x"),
        (lambda: ttlg.ascontiguousarray(x), "x"),
    ):
        with pytest.raises(TypeError, match=rf"{name} is a xarray.*names.*pass {name}\.data"):
            call()
    assert not array.any()


def test_wrong_arguments(x):
    with pytest.raises(ValueError, match=r"axes \(0, 1\) do not fit shape \(2, 3, 4\)"):
        ttlg.transpose(x, (0, 1))
    with pytest.raises(TypeError, match="'time' is not an axis number"):
        ttlg.transpose(x, ("time", "y", "x"))
    with pytest.raises(ValueError, match="stream= is for arrays on a CUDA device"):
        ttlg.transpose(x, stream=1)
    with pytest.raises(TypeError, match="x has dtype object"):
        ttlg.transpose(x.astype(object))
