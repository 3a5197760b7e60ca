"""Assignments and selections behave as with Zarr's own buffer: same elements, same errors."""

import itertools

import numpy as np
import pytest

pytest.importorskip("zarr", minversion="3.1")

import zarr
from zarr.core.buffer import cpu

import ttlg.zarr

from ..arrays import random_array

# Chunks of 80 x 80 x 80 exceed the size from which ttlg is used for every dtype but the smallest.
SHAPE, CHUNKS = (100, 90, 110), (80, 80, 80)
DTYPES = ["?", "u1", ">u2", "i4", "f4", ">f8", "c16", "M8[ns]", "m8[s]", "S5", "U3"]


@pytest.fixture
def moved(spy):
    """Count the elements that ttlg moves in place of NumPy."""
    return spy(ttlg.zarr, "copyto", lambda _, dst, src, **options: src.size)


def outcome(call):
    """Return what a call gives, or the type and the message of its error."""
    try:
        return call()
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error), str(error)


def assert_assigns_as_zarr(target, key, value):
    """Assign to copies of `target` that have its strides."""
    ours, theirs = target.copy(order="K"), target.copy(order="K")
    assert outcome(lambda: ttlg.zarr.NDBuffer(ours).__setitem__(key, value)) == outcome(
        lambda: cpu.NDBuffer(theirs).__setitem__(key, value)
    )
    if target.dtype.hasobject:
        assert np.array_equal(ours, theirs)
    else:
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))), ids=str)
def test_every_order_and_dtype(everything_is_large, dtype, axes):
    target = random_array((9, 10, 11), dtype)
    value = random_array(tuple(np.argsort(axes) + 6), dtype).transpose(axes)
    key = tuple(slice(1, 1 + extent) for extent in value.shape)
    assert_assigns_as_zarr(target, key, value)
    assert_assigns_as_zarr(target, key, cpu.NDBuffer(value))
    assert_assigns_as_zarr(np.asfortranarray(target), key, value)


def test_what_is_reordered_goes_to_ttlg_and_the_rest_to_numpy(moved):
    target = ttlg.zarr.NDBuffer(np.empty((80, 80, 80)))
    target[...] = np.ones((80, 80, 80))
    target[:, 1:] = np.ones((80, 79, 80))
    target[...] = np.ones((80, 80, 80)).transpose(1, 0, 2)  # rows stay rows
    target[...] = np.ones((80, 80, 160)).T[::2]  # elements are picked from rows
    target[..., ::2] = np.ones((40, 80, 80)).T
    target[0] = np.ones((80, 80)).T  # small
    ttlg.zarr.NDBuffer(np.empty((255, 256)))[...] = np.ones((256, 255)).T  # below 512 KiB
    columns = ttlg.zarr.NDBuffer(np.empty((2, 300, 300), order="F"))
    columns[:1] = np.ones((1, 300, 300))  # elements are picked from columns
    ttlg.zarr.NDBuffer(np.empty((80, 80, 80), "c16"))[...] = np.ones((80, 80, 80), "c16").T
    ttlg.zarr.NDBuffer(np.empty((2, 300, 300)))[...] = np.ones((300, 300)).T  # broadcast
    assert moved == []
    target[...] = np.ones((80, 80, 80)).T
    target[...] = ttlg.zarr.NDBuffer(np.ones((80, 80, 80)).transpose(1, 2, 0))
    target[:, :, 3:] = np.ones((77, 80, 80)).T
    target[:, 0] = np.ones((80, 80)).T  # small
    ttlg.zarr.NDBuffer(np.empty((256, 256)))[...] = np.ones((256, 256)).T  # 512 KiB
    assert moved == [80**3, 80**3, 77 * 80**2, 256**2]


KEYS = {
    "all": (),
    "ellipsis": ...,
    "slices": (slice(2, 8), slice(None), slice(1, 9, 2)),
    "backwards": (slice(None, None, -1), slice(8, 2, -2)),
    "integer": (3,),
    "integers": (3, slice(None), -1),
    "NumPy's integer": (np.int64(3), slice(None)),
    "new axis": (None, slice(2, 4)),
    "nothing": (slice(4, 4),),
    "list": ([1, 3, 1],),
    "mask": np.arange(1000).reshape(10, 10, 10) % 3 == 0,
    "True": (True, slice(2, 5)),
    "too large": (10,),
    "a float": 1.5,
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_kind_of_key(everything_is_large, key, order):
    target = np.arange(1000.0).reshape(10, 10, 10)
    picked = outcome(lambda: target[key])
    shape = getattr(picked, "shape", (10, 10, 10))
    value = np.asarray(np.random.default_rng(0).random(shape), order=order)
    assert_assigns_as_zarr(target, key, value)


ASSIGNMENTS = {
    "a scalar": (np.zeros((6, 7)), 3.5),
    "to rank 0": (np.zeros(()), np.array(3.5)),
    "a list": (np.zeros((2, 2)), [[1, 2], [3, 4]]),
    "broadcast": (np.zeros((6, 7)), np.arange(7.0)),
    "broadcast, of stride 0": (np.zeros((6, 7)), np.broadcast_to(np.arange(6.0)[:, None], (6, 7))),
    "a leading axis": (np.zeros((6, 7)), np.ones((1, 7, 6)).transpose(0, 2, 1)),
    "another shape": (np.zeros((6, 7)), np.ones((7, 6))),
    "another rank": (np.zeros((6, 7)), np.ones((6, 7, 2))),
    "another dtype": (np.zeros((6, 7)), np.ones((7, 6), "f4").T),
    "another byte order": (np.zeros((6, 7)), np.ones((7, 6), ">f8").T),
    "strings cut": (np.zeros((6, 7), "S2"), np.full((7, 6), "abc", "S3").T),
    "objects": (np.full((6, 7), None), np.full((7, 6), "x", object).T),
    "a string to objects": (np.full((6, 7), None), np.full((7, 6), "x").T),
    "variable strings": (
        np.full((6, 7), "y", np.dtypes.StringDType()),
        np.full((7, 6), "x", np.dtypes.StringDType()).T,
    ),
    "records": (np.zeros((6, 7), "u1,f8"), np.ones((7, 6), "u1,f8").T),
    "nested records": (np.zeros((6, 7), "u1,(2,)f4"), np.ones((7, 6), "u1,(2,)f4").T),
    "other fields": (np.zeros((6, 7), "u1,f8"), np.ones((7, 6), [("a", "u1"), ("b", "f8")]).T),
    "masked": (np.zeros((6, 7)), np.ma.masked_less(np.arange(42.0).reshape(7, 6).T, 5)),
    "to a masked array": (np.ma.masked_all((6, 7)), np.ones((7, 6)).T),
    "empty": (np.zeros((0, 7)), np.ones((7, 0)).T),
    "one dimension": (np.zeros(9), np.arange(18.0)[::-2]),
    "NaN with a payload": (
        np.zeros((6, 7)),
        np.full((7, 6), 0x7FF4_0000_0000_0123, "u8").view("f8").T,
    ),
}


@pytest.mark.parametrize(("target", "value"), ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_every_kind_of_value(everything_is_large, target, value):
    for kind in (lambda x: x, np.asfortranarray if target.ndim else lambda x: x):
        assert_assigns_as_zarr(kind(target), ..., value)


PADDED = np.dtype("u1,f8", align=True)


@pytest.mark.parametrize(
    ("dtype", "elements"),
    [
        ("u1,f8", [42]),
        (PADDED, []),
        ([("a", "u1,f8"), ("b", "u1")], [42]),
        ([("a", PADDED), ("b", "u1")], []),
        ([("a", [("b", PADDED, (2,))])], []),
    ],
    ids=str,
)
def test_padding_is_left_to_numpy(everything_is_large, moved, dtype, elements):
    ttlg.zarr.NDBuffer(np.zeros((6, 7), dtype))[...] = np.ones((7, 6), dtype).T
    assert moved == elements


@pytest.mark.parametrize("kind", [ttlg.zarr.NDBuffer, cpu.NDBuffer])
def test_targets_that_ttlg_refuses(everything_is_large, kind):
    x = np.arange(36.0).reshape(6, 6)
    kind(x)[...] = x.T
    assert np.array_equal(x, np.arange(36.0).reshape(6, 6).T), "overlaps the value"
    memory = np.zeros(12)
    target = np.lib.stride_tricks.as_strided(memory, (6, 7), (8, 8))
    kind(target)[...] = np.ones((7, 6)).T
    assert memory.all(), "its elements overlap"
    x.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        kind(x)[...] = np.ones((6, 6)).T
    assert x[5, 0] == 5


SELECTIONS = {
    "everything": lambda z: z[...],
    "part of chunks": lambda z: z[3:95, 10:, 2:109],
    "every second": lambda z: z[::2, 1:85:3],
    "a plane": lambda z: z[4],
    "a plane of the last axis": lambda z: z[..., 100],
    "an element": lambda z: z[1, 2, 3],
    "out of bounds": lambda z: z[100],
    "oindex": lambda z: z.oindex[[1, 5, 99], :, [0, 2]],
    "vindex": lambda z: z.vindex[[1, 5, 99], [0, 2, 89], [7, 7, 109]],
    "mask": lambda z: z.get_mask_selection(np.indices(SHAPE).sum(0) % 7 == 0),
    "out of another shape": lambda z: z.get_basic_selection(
        ..., out=ttlg.zarr.NDBuffer(np.empty((3, 3), z.dtype))
    ),
    "out that is no buffer": lambda z: z.get_basic_selection(..., out=np.empty(SHAPE, z.dtype)),
}
LAYOUTS = {
    "transposed": {"filters": [{"name": "transpose", "configuration": {"order": [1, 2, 0]}}]},
    "reversed": {"filters": [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}]},
    "result F": {"config": {"order": "F"}},
    "format 2, F": {"zarr_format": 2, "order": "F"},
    "sharded": {"chunks": (42, 42, 42), "shards": (84, 84, 84), "config": {"order": "F"}},
}


def create(store, layout, dtype="f8", **options):
    options = {"shape": SHAPE, "chunks": CHUNKS, "dtype": dtype, "compressors": None} | options
    return zarr.create_array(store, **options | LAYOUTS[layout])


@pytest.fixture(scope="module", params=LAYOUTS)
def stored(request):
    array = create({}, request.param)
    array[:90] = random_array((90, *SHAPE[1:]), "f8")
    return array


@pytest.mark.parametrize("select", SELECTIONS.values(), ids=SELECTIONS)
def test_selections_read(stored, select):
    theirs = outcome(lambda: select(stored))
    with ttlg.zarr.enabled():
        ours = outcome(lambda: select(stored))
    if isinstance(theirs, tuple):  # an error
        assert ours == theirs
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert ours.tobytes() == theirs.tobytes()
    assert ours.flags.f_contiguous == theirs.flags.f_contiguous


def test_reads_go_to_ttlg(stored, moved):
    with ttlg.zarr.enabled():
        stored[...]
    assert bool(moved) == (stored.metadata.zarr_format == 3)


WRITES = {
    "everything": (..., lambda: random_array(SHAPE, "f8")),
    "in Fortran order": (..., lambda: random_array(SHAPE[::-1], "f8").T),
    "part of chunks": (np.s_[3:95, 10:], lambda: random_array((92, 80, 110), "f8")),
    "chunk by chunk": (np.s_[:80, :80, :80], lambda: random_array(CHUNKS, "f8")),
    "a scalar": (..., lambda: 7.0),
    "the fill value": (..., lambda: np.zeros(SHAPE)),
    "another dtype": (..., lambda: np.ones(SHAPE, "i4")),
    "too large": (np.s_[:3], lambda: np.ones((4, *SHAPE[1:]))),
    "broadcast": (..., lambda: np.arange(110.0)),
    "a plane": (np.s_[4], lambda: random_array(SHAPE[1:], "f8")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("key", "value"), WRITES.values(), ids=WRITES)
def test_writes(layout, key, value):
    stores, outcomes = ({}, {}), []
    value = value()
    for store, settings in zip(stores, (ttlg.zarr._OURS, {}), strict=True):
        with zarr.config.set(settings):
            array = create(store, layout)
            outcomes.append(outcome(lambda array=array: array.__setitem__(key, value)))
    assert outcomes[0] == outcomes[1]
    ours, theirs = ({name: data.to_bytes() for name, data in each.items()} for each in stores)
    assert ours == theirs


def test_writes_go_to_ttlg(moved):
    x = random_array(CHUNKS, "f8")
    with ttlg.zarr.enabled():
        array = create({}, "reversed", shape=CHUNKS)
        array[...] = x
        assert moved == [x.size]
        array[...] = x.T  # lies in the order of the chunk: no copy is needed
        flat = create({}, "reversed", shape=(1, 80, 6400), chunks=(1, 80, 6400))
        flat[...] = x.reshape(6400, 80, 1).T
        assert moved == [x.size]
    again = zarr.create_array(
        {},
        shape=CHUNKS,
        chunks=CHUNKS,
        dtype="f8",
        filters=[ttlg.zarr.TransposeCodec(order=(1, 2, 0))],
    )
    again[...] = x
    assert moved == [x.size] * 2
