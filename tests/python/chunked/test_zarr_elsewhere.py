"""Arrays written with ttlg are read without it, and the other way round, by every reader."""

import numpy as np
import pytest

pytest.importorskip("zarr", minversion="3.1")

import zarr

import ttlg.zarr

pytestmark = pytest.mark.usefixtures("everything_is_large", "default_settings_of_zarr")

SHAPE, CHUNKS = (100, 90, 70), (64, 64, 64)


def transposed(*order):
    return {"name": "transpose", "configuration": {"order": order}}


LAYOUTS = {
    "F": {"filters": [transposed(2, 1, 0)]},
    "permuted": {"filters": [transposed(1, 2, 0)]},
    "planes swapped": {"filters": [transposed(1, 0, 2)]},
    "twice": {"filters": [transposed(1, 2, 0), transposed(0, 2, 1)]},
    "uncompressed": {"filters": [transposed(2, 1, 0)], "compressors": None},
    "big-endian": {
        "filters": [transposed(2, 1, 0)],
        "serializer": {"name": "bytes", "configuration": {"endian": "big"}},
    },
    "sharded": {"filters": [transposed(2, 1, 0)], "chunks": (32, 32, 32), "shards": (64, 64, 64)},
    "format 2, C": {"zarr_format": 2, "order": "C"},
    "format 2, F": {"zarr_format": 2, "order": "F"},
}
DTYPES = ["u1", "u2", "f4", "f8", "c16"]


def values(dtype):
    count = int(np.prod(SHAPE))
    return (np.arange(count) % 251).astype(dtype).reshape(SHAPE)


def write(folder, layout, x):
    options = {"shape": SHAPE, "chunks": CHUNKS, "dtype": x.dtype} | LAYOUTS[layout]
    array = zarr.create_array(folder, **options)
    array[:50] = x[:50]  # ends in the middle of chunks
    array[50:] = np.asfortranarray(x[50:])


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.mark.parametrize("dtype", DTYPES)
def test_files_are_the_same(tmp_path, layout, dtype):
    x = values(dtype)
    write(tmp_path / "zarr", layout, x)
    with ttlg.zarr.enabled():
        write(tmp_path / "ttlg", layout, x)
    theirs, ours = (
        {
            p.relative_to(tmp_path / name): p.read_bytes()
            for p in (tmp_path / name).rglob("*")
            if p.is_file()
        }
        for name in ("zarr", "ttlg")
    )
    assert len(theirs) > 8
    assert ours == theirs

    assert np.array_equal(zarr.open_array(tmp_path / "ttlg", mode="r")[:], x)
    with ttlg.zarr.enabled():
        assert np.array_equal(zarr.open_array(tmp_path / "zarr", mode="r")[:], x)


@pytest.mark.parametrize("dtype", DTYPES[:4])
def test_tensorstore(tmp_path, layout, dtype):
    tensorstore = pytest.importorskip("tensorstore")
    x = values(dtype)

    def store(name):
        driver = "zarr" if "format 2" in layout else "zarr3"
        kvstore = {"driver": "file", "path": str(tmp_path / name)}
        return tensorstore.open({"driver": driver, "kvstore": kvstore}, open=True).result()

    with ttlg.zarr.enabled():
        write(tmp_path / "ours", layout, x)
    assert np.array_equal(store("ours").read().result(), x)

    write(tmp_path / "theirs", layout, np.zeros_like(x))
    store("theirs").write(x).result()
    with ttlg.zarr.enabled():
        assert np.array_equal(zarr.open_array(tmp_path / "theirs", mode="r")[:], x)


def enable_for_all_sizes():
    ttlg.zarr._MIN_BYTES = 0
    ttlg.zarr.enable()


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask(tmp_path, scheduler):
    da = pytest.importorskip("dask.array")
    x = values("u2")
    write(tmp_path / "in", "F", x)
    options = {"initializer": enable_for_all_sizes} if scheduler == "processes" else {}
    with ttlg.zarr.enabled():
        source = da.from_zarr(zarr.open_array(tmp_path / "in", mode="r"))
        target = zarr.create_array(
            tmp_path / "out",
            shape=SHAPE[::-1],
            chunks=CHUNKS,
            dtype=x.dtype,
            filters=[transposed(1, 2, 0)],
        )
        da.store(
            source.T.rechunk(CHUNKS),
            target,
            lock=False,
            scheduler=scheduler,
            num_workers=2,
            **options,
        )
    assert np.array_equal(zarr.open_array(tmp_path / "out", mode="r")[:], x.T)
