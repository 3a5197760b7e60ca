"""Stores of transposed Dask arrays: every kind of target, on the schedulers of one machine."""

import os
import pathlib
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from ..arrays import bits, random_array
from ..transpose.test_dtypes import DTYPES, name_of

da = pytest.importorskip("dask.array")

import dask

import ttlg
from ttlg.dask import Target

AXES = (2, 0, 1)
SHAPE = (9, 7, 11)
CHUNKS = ((3, 1, 5), (7,), (2, 2, 2, 5))
RESULT = (11, 9, 7)
X = random_array(SHAPE, "f4")
EXPECTED = X.transpose(AXES)

IN_ONE_PROCESS = ["synchronous", "threads"]


@pytest.fixture(scope="module")
def processes():
    """Return the options of Dask's scheduler of processes, with two that stay."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield {"scheduler": "processes", "pool": pool}


@pytest.fixture(params=[*IN_ONE_PROCESS, "processes"])
def scheduler(request):
    if request.param == "processes":
        return request.getfixturevalue("processes")
    return {"scheduler": request.param}


def store(x, target, *, axes=AXES, chunks=CHUNKS, scheduler="threads", **options):
    """Store `x`, transposed, in a Target of `target`."""
    options.setdefault("lock", False)
    lazy = da.from_array(x, chunks=chunks).transpose(axes)
    scheduler = scheduler if isinstance(scheduler, dict) else {"scheduler": scheduler}
    with dask.config.set(**scheduler):
        return da.store(lazy, Target(target), **options)


def only(stored):
    """Return the array that a store returned, which older versions of Dask put into a tuple."""
    return stored[0] if isinstance(stored, tuple) else stored


def test_store_refuses_another_shape_before_it_writes():
    x = da.ones((3, 4), chunks=2)
    for shape in ((5, 3), (4, 2), (3, 4), (4,)):
        out = np.zeros(shape)
        for target in (out, Target(out)):
            with pytest.raises(
                ValueError, match=r"transposed has shape \(4, 3\), but the array has"
            ):
                ttlg.dask.store(x, target)
        assert not out.any()
    out = np.zeros((6, 9))
    with pytest.raises(ValueError, match=r"but its region has shape \(4, 4\)"):
        ttlg.dask.store(x, out, region=(slice(1, 5), slice(2, 6)))
    assert not out.any()
    with pytest.raises(TypeError, match="x must be a Dask array, not ndarray"):
        ttlg.dask.store(np.ones((3, 4)), out)


def test_store_into_a_region():
    x, out = np.arange(12.0).reshape(3, 4), np.zeros((6, 9))
    lazy = ttlg.dask.store(
        da.from_array(x, chunks=2), out, region=(slice(1, 5), slice(2, 5)), compute=False
    )
    assert not out.any()
    dask.compute(lazy)
    assert (out[1:5, 2:5] == x.T).all()
    assert out.sum() == x.sum()


def open_npy(path, *, shape=RESULT, dtype="f4", order="C"):
    return np.lib.format.open_memmap(path, "w+", np.dtype(dtype), shape, order == "F")


def sent(target):
    """Return the Target that another process gets."""
    return pickle.loads(pickle.dumps(target))


@pytest.fixture
def moved(spy):
    """Note the shapes of the blocks that ttlg moves, and their threads."""
    return spy(ttlg, "copyto", lambda _, dst, src, threads=None: (src.shape, threads))


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_file(tmp_path, scheduler, order):
    target = open_npy(tmp_path / "y.npy", order=order)
    assert target.offset > 0
    with dask.config.set(**scheduler):
        assert ttlg.dask.store(da.from_array(X, chunks=CHUNKS), target, AXES) is None
    assert bits(target) == bits(EXPECTED)
    on_file = np.load(tmp_path / "y.npy")
    assert on_file.flags.fnc == (order == "F")
    assert bits(on_file) == bits(EXPECTED)


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
def test_dtypes(tmp_path, dtype, moved):
    y = random_array(SHAPE, dtype).transpose(AXES)
    array = open_npy(tmp_path / "y.npy", dtype=dtype)
    for target, key in ((Target(array), np.s_[:4, :, :]), (sent(Target(array)), np.s_[4:, :, :])):
        target[key] = y[key]
    expected = np.zeros(array.shape, dtype)  # the file's padding stays as it was
    for name in array.dtype.names or [...]:
        expected[name] = y[name]
    assert bits(array) == bits(expected)
    assert len(moved) == 2


def test_npy_file_with_unaligned_elements(tmp_path, scheduler):
    (tmp_path / "raw").write_bytes(bytes(5000 + X.nbytes))
    target = np.memmap(tmp_path / "raw", "f4", "r+", 4999, RESULT)
    store(X, target, scheduler=scheduler)
    raw = (tmp_path / "raw").read_bytes()
    assert raw[4999:-1] == bits(EXPECTED)
    assert not any(raw[:4999] + raw[-1:])


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:, 1:-1, ::-1],
        lambda x: x[1:, 1:-1].T.T[..., ::-1],
        lambda x: np.asarray(x)[1:, 1:-1],
    ],
)
def test_part_of_a_file(tmp_path, scheduler, view):
    whole = open_npy(tmp_path / "y.npy", shape=(12, 11, 7))
    expected = np.zeros_like(whole, subok=False)
    view(expected)[...] = EXPECTED
    store(X, view(whole), scheduler=scheduler)
    assert bits(np.load(tmp_path / "y.npy")) == bits(expected)


@pytest.mark.parametrize("lock", [False, True])
@pytest.mark.parametrize("scheduler", IN_ONE_PROCESS)
def test_array_in_memory(scheduler, moved, lock):
    x = random_array(SHAPE, "f8")
    target = np.zeros((22, 9, 7))[::2]
    store(x, target, scheduler=scheduler, lock=lock)
    assert bits(target) == bits(x.transpose(AXES))
    assert len(moved) == 12
    assert {threads for _, threads in moved} == {1}


def test_number_of_threads(moved):
    target = np.zeros((6, 4))
    da.store(da.ones((4, 6)).T, Target(target, threads=2), lock=False, scheduler="synchronous")
    assert moved == [((6, 4), 2)]


def test_no_axes():
    target = np.zeros(())
    da.store(da.from_array(np.array(3.5)), Target(target), lock=False)
    assert target == 3.5


def test_pickled_target_is_small_and_writes_to_the_file(tmp_path):
    target = open_npy(tmp_path / "y.npy", shape=(1 << 14, 64))
    pickled = pickle.dumps(Target(target[5:]))
    assert len(pickled) < 1000
    assert len(pickle.dumps(target)) > target.nbytes
    other = pickle.loads(pickled)
    assert (other.shape, other.ndim, other.dtype) == (((1 << 14) - 5, 64), 2, target.dtype)
    assert other[1:2].sum() == 0
    other[1:2, 2:4] = np.ones((1, 2), "f4")
    assert target.sum() == 2
    assert target[6, 2] == target[6, 3] == 1
    assert len(pickle.dumps(other)) == len(pickled)


def test_a_pickled_target_keeps_nothing_mapped(tmp_path):
    target = sent(Target(open_npy(tmp_path / "y.npy")))
    target[0:11, 0:9, 0:7] = np.ones(RESULT, "f4")
    with open("/proc/self/maps") as maps:
        assert str(tmp_path) not in maps.read()
    assert np.load(tmp_path / "y.npy").sum() == 11 * 9 * 7


@pytest.mark.parametrize(
    ("view", "key", "random"),
    [
        (np.s_[:, :], np.s_[0:2, 0:512], True),
        (np.s_[:, :], np.s_[0:2, 0:1024], False),
        (np.s_[:, ::-1], np.s_[0:2, 0:1024], False),
        (np.s_[:, None], np.s_[0:2, 0:1, 0:1024], False),
    ],
)
def test_pages_between_short_runs_are_not_read(tmp_path, monkeypatch, view, key, random):
    """Half a row of a MiB is short; whole rows are not. The flag rr is the advice of random reads."""
    target = Target(open_npy(tmp_path / "y.npy", shape=(4, 1024), dtype="V1024")[view])
    flags = []

    def note(dst, src, **options):
        smaps = pathlib.Path("/proc/self/smaps").read_text()
        mapping = smaps[smaps.rindex(str(tmp_path)) :]
        flags.append("rr" in mapping.partition("VmFlags:")[2].partition("\n")[0].split())

    monkeypatch.setattr(ttlg, "copyto", note)
    target[key] = np.zeros([each.stop for each in key], "V1024")
    assert flags == [random]


ASSIGNED = {
    "cast": (np.zeros((4, 3), ">i2"), np.linspace(-3, 3, 12).reshape(4, 3)),
    "rounded": (np.zeros((4, 3), "f4"), np.linspace(-3, 3, 12).reshape(3, 4).T),
    "broadcast": (np.zeros((4, 3)), np.array([1.0, 2.0, 3.0])),
    "scalar": (np.zeros((4, 3)), 7),
    "objects": (np.empty((4, 3), object), np.array([["a", "bc", None]] * 4, object)),
    "masked": (np.zeros((3, 3)), np.ma.masked_array(np.arange(9.0).reshape(3, 3), np.eye(3)).T),
}


@pytest.mark.parametrize(("target", "value"), ASSIGNED.values(), ids=ASSIGNED)
def test_assigns_as_numpy(target, value):
    expected = target.copy()
    expected[...] = value
    Target(target)[tuple(slice(0, extent) for extent in target.shape)] = value
    assert target.tolist() == expected.tolist()


def test_regions(tmp_path, scheduler):
    target = open_npy(tmp_path / "y.npy", shape=(30, 9, 20))
    expected = np.zeros_like(target, subok=False)
    region = np.s_[3:25:2, :, 10:17]
    expected[region] = EXPECTED
    store(X, target, scheduler=scheduler, regions=region)
    assert bits(target) == bits(expected)


def test_stored_array_is_returned(tmp_path, scheduler):
    target = open_npy(tmp_path / "y.npy")
    stored = only(store(X, target, scheduler=scheduler, return_stored=True))
    assert bits(target) == bits(EXPECTED)
    assert isinstance(stored, da.Array)
    with dask.config.set(**scheduler):
        assert bits(stored.compute()) == bits(EXPECTED)
        target[:] = 0
        assert not stored.compute().any()


def test_a_target_is_a_new_task_each_time():
    array = np.zeros((2, 3))
    target = Target(array)
    assert dask.base.tokenize(target) == dask.base.tokenize(target)
    assert dask.base.tokenize(target) != dask.base.tokenize(Target(array))


def test_repr():
    assert repr(Target(np.zeros((2, 3), "f4"))) == "Target(shape=(2, 3), dtype=float32)"


def test_other_shapes_are_refused():
    for shape in ((11, 9, 6), (10, 9, 7), (2, 9, 7)):
        target = np.zeros(shape, "f4")
        with pytest.raises(ValueError, match=r"reaches beyond the target, whose shape is \("):
            store(X, target, chunks=-1)
        assert not target.any()
    with pytest.raises(ValueError, match="could not broadcast"):
        Target(np.zeros((4, 4)))[0:2, 0:2] = np.zeros((3, 3))


def test_keys_that_dask_does_not_use_are_refused():
    target = Target(np.zeros((3, 4)))
    for key in (0, ..., slice(2), (0, slice(2)), [1, 2], (slice(None), [0, 1])):
        with pytest.raises(TypeError, match=r"written by dask\.array\.store"):
            target[key] = 1
    assert not target[:].any()


def test_read_only_arrays_are_refused(tmp_path):
    open_npy(tmp_path / "y.npy")
    array = np.zeros(3)
    array.flags.writeable = False
    for each in (array, np.load(tmp_path / "y.npy", mmap_mode="r")):
        with pytest.raises(ValueError, match=r"read-only; open it with mode 'r\+'"):
            Target(each)


def test_other_objects_are_refused():
    for each in ([1, 2], np.float32(3), da.zeros(3), memoryview(bytearray(3))):
        with pytest.raises(TypeError, match=f"not of {type(each).__name__}; give that to"):
            Target(each)


def test_what_lies_in_no_shared_file_is_not_sent_to_processes(processes, tmp_path):
    target = np.zeros(RESULT, "f4")
    with pytest.raises(TypeError, match=r"array in memory, .* cannot be shared between processes"):
        store(X, target, scheduler=processes)
    assert not target.any()
    copied = open_npy(tmp_path / "y.npy").copy()
    for each in (copied, np.load(tmp_path / "y.npy", mmap_mode="c")):
        with pytest.raises(TypeError, match="of mode 'c', cannot be shared"):
            pickle.dumps(Target(each))


def test_a_memmap_of_a_file_that_was_removed(tmp_path):
    array = open_npy(tmp_path / "y.npy")
    os.unlink(tmp_path / "y.npy")
    store(X, array)
    assert bits(array) == bits(EXPECTED)
