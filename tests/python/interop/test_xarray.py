"""xarray's arrays keep their names and coordinates, over the data of any library."""

import itertools

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


def spellings(dims):
    """List every way to write axes by names, by numbers, and with an ellipsis for a run of them."""
    numbers = {"time": 0, "y": 1, "x": -1}
    for order in itertools.permutations(dims):
        yield order, order
        yield order, [numbers[name] for name in order]
        yield order, (order[0], numbers[order[1]], order[2])
        for start, stop in itertools.combinations_with_replacement(range(4), 2):
            inside = order[start:stop]
            if sorted(inside, key=dims.index) == list(inside):
                yield order, (*order[:start], ..., *order[stop:])


def test_axes_by_name(x):
    count = 0
    for order, axes in spellings(x.dims):
        expected = x.transpose(*order)
        if not any(isinstance(axis, int) for axis in axes):
            assert x.transpose(*axes).dims == expected.dims
        check(ttlg.transpose(x, axes), expected)
        check(ttlg.transpose(x.variable, axes), expected.variable)
        assert ttlg.permute_dims(x.variable, iter(axes)).dims == order
        assert ttlg.permute(x.variable, *axes).dims == order
        assert ttlg.permute(x.variable, axes, threads=1).dims == order
        count += 1
    assert count == 67  # 6 orders in 3 ways, and 49 with an ellipsis
    check(ttlg.permute(x["time"], "time"), x["time"])


def test_the_axes_that_move_by_name(x):
    for (first, name), (second, other) in itertools.product(enumerate(x.dims), repeat=2):
        expected = ttlg.swapaxes(x, first, second)
        check(ttlg.swapaxes(x, name, other), expected)
        check(ttlg.swapaxes(x, first - 3, other), expected)
        check(ttlg.moveaxis(x, name, second), ttlg.moveaxis(x, first, second))
        if first != second:
            moved = ttlg.moveaxis(x, (first, second), (0, -1))
            check(ttlg.moveaxis(x, (name, other), (0, -1)), moved)
            check(ttlg.movedim(x, [name, second], (0, -1)), moved)


def test_names_of_any_kind():
    x = xarray.DataArray(random_array((2, 3, 4), "f4"), dims=(("a", "b"), "xy", None))
    check(ttlg.transpose(x, (None, ("a", "b"), "xy")), x.transpose(None, ("a", "b"), "xy"))
    check(ttlg.moveaxis(x, ("a", "b"), 2), x.transpose("xy", None, ("a", "b")))
    check(ttlg.moveaxis(x, "xy", 0), x.transpose("xy", ("a", "b"), None))


def test_flipped_and_rotated_with_their_coordinates(x):
    for count in range(4):
        for names in itertools.combinations(x.dims, count):
            expected = x.isel({name: slice(None, None, -1) for name in names})
            check(ttlg.flip(x, names), expected)
            check(ttlg.flip(x.variable, [x.dims.index(name) for name in names]), expected.variable)
    check(ttlg.flip(x, "y"), x[:, ::-1])
    check(ttlg.flip(x), x[::-1, ::-1, ::-1])
    for first, second in itertools.permutations(range(3), 2):
        for k in range(-1, 5):
            result = ttlg.rot90(x, k, (x.dims[first], x.dims[second]))
            assert bits(result.data) == bits(np.rot90(x.data, k, (first, second)))
            assert np.shares_memory(result.data, x.data)
            xarray.testing.assert_identical(result.transpose(*x.dims).sortby(["time", "y"]).y, x.y)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ttlg.transpose(x, ("z", ...)), ValueError, "no axis is called 'z'; choose from"),
        (lambda x: ttlg.transpose(x, (..., "x", ...)), ValueError, "more than one ellipsis"),
        (lambda x: ttlg.transpose(x, ("y", "y", ...)), ValueError, "names axis 1 twice"),
        (lambda x: ttlg.transpose(x, ("y", 1, "x")), ValueError, "names axis 1 twice"),
        (lambda x: ttlg.transpose(x, ("y", "x")), ValueError, "name each of the 3 axes once"),
        (lambda x: ttlg.transpose(x, "yx"), TypeError, "must be a sequence of 3 .*, not a str"),
        (lambda x: ttlg.transpose(x, {"time", "y", "x"}), TypeError, "sequence .*, not a set"),
        (lambda x: ttlg.transpose(x, ("y", 0.5, "x")), TypeError, "0.5 is not .*one of the names"),
        (lambda x: ttlg.permute(x, "z", ...), ValueError, "no axis is called 'z'"),
        (lambda x: ttlg.moveaxis(x, "z", 0), ValueError, "source: no axis is called 'z'"),
        (lambda x: ttlg.moveaxis(x, "x", "y"), TypeError, "destination: 'y' is not an axis number"),
        (lambda x: ttlg.swapaxes(x, "x", "z"), ValueError, "axis2: no axis is called 'z'"),
        (lambda x: ttlg.flip(x, "z"), ValueError, "axis: no axis is called 'z'"),
        (lambda x: ttlg.rot90(x, 1, ("x", "x")), ValueError, "names axis 2 twice"),
    ],
)
def test_wrong_names(x, call, error, message):
    with pytest.raises(error, match=message):
        call(x)


def test_wrong_arguments(x):
    with pytest.raises(ValueError, match=r"axes \(0, 1\) do not fit shape \(2, 3, 4\)"):
        ttlg.transpose(x, (0, 1))
    with pytest.raises(ValueError, match="stream= is for arrays on a CUDA device"):
        ttlg.transpose(x, stream=1)
    with pytest.raises(TypeError, match="x has dtype object"):
        ttlg.transpose(x.astype(object))
