"""Of structured arrays only the fields are written: the bytes between them may be others'.

NumPy's assignment is the oracle, and every byte of the memory is compared.
"""

import itertools
import math
import pickle

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array, random_raw

RECORD = np.dtype([("x", "f4"), ("mass", "f4"), ("y", "f4")])
SHAPE, AXES = (2, 3, 2), (2, 0, 1)


def layout(**fields):
    """Return a dtype of 12 bytes from the format and the offset of each field."""
    formats, offsets = zip(*fields.values(), strict=True) if fields else ((), ())
    names = list(fields)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": 12})


HOLLOW = layout(a=("u1", 1), b=("u2", 6))  # bytes 1, 6 and 7
DTYPES = {
    "two of three": RECORD[["x", "y"]],
    "no gap": RECORD[["x", "mass"]],
    "none": RECORD[[]],
    "all": RECORD,
    "backwards": layout(a=("f4", 8), b=("f4", 0)),
    "overlapping": layout(a=("u4", 2), b=("u2", 4), c=("u1", 11)),
    "titles": np.dtype(
        {"names": ["a", "b"], "formats": ["u2", "u2"], "offsets": [0, 6], "titles": ["one", "two"]}
    ),
    "aligned": np.dtype([("a", "u1"), ("b", "u4"), ("c", "u2")], align=True),
    "nested": np.dtype([("i", "u1"), ("s", HOLLOW), ("j", "u2")]),
    "nested in a gap": np.dtype(
        {"names": ["s", "f"], "formats": [HOLLOW, "u2"], "offsets": [0, 3], "itemsize": 14}
    ),
    "subarray": layout(a=("u1", 0), b=(("u2", (3,)), 3)),
    "subarrays of structures": np.dtype(
        {"names": ["a"], "formats": [(HOLLOW, (2, 2))], "offsets": [5], "itemsize": 60}
    ),
    "no bytes": layout(a=("S0", 4), b=(("u4", (0, 3)), 2), c=("u1", 3)),
    "nothing but no bytes": layout(a=("S0", 4)),
    "text and voids": layout(a=("S3", 1), b=("V2", 5), c=("U1", 8)),
    "big-endian": layout(a=(">u2", 1), b=("M8[s]", 4)),
    "records": np.dtype((np.record, RECORD[["x", "y"]])),
}


def moves(dtype, shape, axes, place, move, share=True):
    """Check what `move(x, axes, out)` leaves of all memory that `out`, made by `place`, lies in."""
    out_shape = tuple(shape[axis] for axis in axes)
    raw = random_raw(math.prod(shape) * dtype.itemsize, 1)
    expected = raw.copy()
    x = random_array(shape, dtype)
    # The fast path is for arrays that share their dtype object.
    other = dtype if share else pickle.loads(pickle.dumps(dtype))
    assert (other is dtype) == share
    out, wanted = (place(np.ndarray(out_shape, other, memory)) for memory in (raw, expected))
    wanted[...] = x.transpose(axes)
    before = bits(x)
    move(x, axes, out)
    assert raw.tobytes() == expected.tobytes()
    assert bits(x) == before


def transpose(x, axes, out):
    assert ttlg.transpose(x, axes, out=out) is out


def transpose_flat(x, axes, out):
    flat = out.reshape(-1)
    assert np.shares_memory(flat, out) or out.size * out.itemsize == 0
    ttlg.transpose(x.reshape(-1), axes, shape=x.shape, out=flat)


def copyto(x, axes, out):
    ttlg.copyto(out, x.transpose(axes))


def moveaxis(x, axes, out):
    assert ttlg.moveaxis(x, axes, range(x.ndim), out=out) is out


def rearrange(x, axes, out):
    pytest.importorskip("einops")
    letters = "abcdefgh"[: x.ndim]
    right = " ".join(letters[axis] for axis in axes)
    assert ttlg.rearrange(x, f"{' '.join(letters)} -> {right}", out=out) is out


def planned(x, axes, out):
    assert ttlg.plan(x.shape, axes, x.dtype)(x, out) is out


def planned_for(x, axes, out):
    ttlg.plan_for(x, axes, out=out)(x, out)


def planned_kernel(x, axes, out):
    ttlg.plan_for(x, axes, kernel="reference")(x, out)


def planned_to_learn(x, axes, out):
    ttlg.plan_for(x, axes, tune="learn")(x, out)


def dask_target(x, axes, out):
    pytest.importorskip("dask.array")
    from ttlg.dask import Target

    Target(out)[(slice(None),) * out.ndim] = x.transpose(axes)


ALL_DOORS = [
    transpose,
    transpose_flat,
    copyto,
    moveaxis,
    rearrange,
    planned,
    planned_for,
    planned_kernel,
    planned_to_learn,
    dask_target,
]
DOORS = pytest.mark.parametrize("move", ALL_DOORS)


def whole(array):
    return array


PLACES = {
    "whole": whole,
    "reversed": lambda array: array[::-1, :, ::-1],
    "Fortran order": lambda array: array.reshape(-1).reshape(array.shape, order="F"),
}


@DOORS
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_every_way_to_write(dtype, move):
    moves(dtype, SHAPE, AXES, whole, move)


@pytest.mark.parametrize("share", [False, True], ids=["equal dtypes", "one dtype"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_every_layout_of_the_output(dtype, place, share):
    for move in (transpose, copyto, planned):
        moves(dtype, SHAPE, AXES, place, move, share)


@pytest.mark.parametrize(("shape", "axes"), [((), ()), ((5,), (0,)), ((0, 3), (1, 0))])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_ranks_and_empty_arrays(dtype, shape, axes):
    moves(dtype, shape, axes, whole, transpose)


def test_all_layouts_of_three_fields_in_twelve_bytes():
    """6,544 layouts: fields of 1, 2 and 4 bytes at any offsets, overlapping ones among them."""
    fields = [(f"u{size}", at) for size in (1, 2, 4) for at in range(13 - size)]
    count = 0
    raw, given = random_raw(72, 1), random_raw(72)
    for number in (1, 2, 3):
        for chosen in itertools.combinations_with_replacement(fields, number):
            dtype = layout(**dict(zip("abc", chosen, strict=False)))
            expected, written = raw.copy(), raw.copy()
            x = given.view(dtype).reshape(2, 3)
            expected.view(dtype).reshape(3, 2)[...] = x.T
            ttlg.transpose(x, out=written.view(dtype).reshape(3, 2))
            assert written.tobytes() == expected.tobytes(), dtype
            count += 1
    assert count == 6544


def test_other_fields_of_records():
    records = random_array((4, 5), RECORD).copy()  # which owns its memory
    source = random_array((5, 4), RECORD, 1)
    expected = records.copy()
    expected[["x", "y"]] = source[["x", "y"]].T
    for _ in range(3):  # later calls find the plans in the cache
        ttlg.transpose(source[["x", "y"]], out=records[["x", "y"]])
        assert records.tobytes() == expected.tobytes()


def test_views_of_views_of_records():
    records = random_array((4, 5), RECORD).copy().view(np.recarray)
    mass = records["mass"].tobytes()
    out = records[["x", "y"]]
    for each in (out, out.view(np.ndarray), np.asarray(out)[...], out[::-1]):
        ttlg.transpose(random_array((5, 4), out.dtype, 3), out=each)
        assert records["mass"].tobytes() == mass
    # Of records whose dtype a structure inside them has, too.
    inner = RECORD[["x", "y"]]
    outer = np.dtype({"names": ["s", "m"], "formats": [inner, "f4"], "offsets": [0, 4]})
    records = random_array((4, 5), outer).copy()
    mass = records["m"].tobytes()
    ttlg.transpose(random_array((5, 4), inner), out=records["s"])
    assert records["m"].tobytes() == mass


def test_memory_of_files_and_buffers(tmp_path):
    dtype = RECORD[["x", "y"]]
    x = random_array((5, 4), dtype)
    file = np.memmap(tmp_path / "records", RECORD, "w+", shape=(4, 5))
    file.view("u1")[...] = 7
    columns = np.memmap(tmp_path / "records", dtype, "r+", shape=(4, 5))
    memory = bytearray(b"\7" * 240)
    for out in (columns, np.frombuffer(memory, dtype).reshape(4, 5), memoryview(columns)):
        ttlg.transpose(x, out=out)
        array = np.asarray(out)
        assert set(array.view("V12").view(RECORD)["mass"].tobytes()) == {7}
        assert (array == x.T).all()


def test_padding_of_new_arrays_moves():
    dtype = DTYPES["aligned"]
    x = random_array((4, 5), dtype)
    for out in (np.zeros((5, 4), dtype), np.zeros((10, 4), dtype)[5:], ttlg.transpose(x)):
        ttlg.transpose(x, out=out)
        assert bits(out) == bits(x.T)


def test_refusals_write_nothing():
    records = random_array((4, 5), RECORD).copy()
    before = records.tobytes()
    out = records[["x", "y"]]
    for x, words in (
        (np.zeros((4, 5), out.dtype), "has shape"),
        (np.zeros((5, 4), RECORD[["y", "x"]]), "has dtype"),
        (out[:, :4].reshape(4, 4), "has shape"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            ttlg.transpose(x, out=out)
    with pytest.raises(ValueError, match="overlaps x"):
        ttlg.transpose(out[:, :4], out=out[:, 1:])
    with pytest.raises(ValueError, match="threads must be"):
        ttlg.transpose(np.zeros((5, 4), out.dtype), out=out, threads=0)
    with pytest.raises(ValueError, match="this plan is for x"):
        ttlg.plan((5, 3), dtype=out.dtype)(np.zeros((5, 4), out.dtype), out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ttlg.transpose(np.zeros((5, 4), out.dtype), out=out)
    assert records.tobytes() == before


def test_records_that_hold_objects_are_refused():
    records = np.array([[(1, "one", 2), (3, "two", 4)]], [("a", "u4"), ("o", "O"), ("b", "u4")])
    before = records.tolist()
    out = records[["a", "b"]]
    with pytest.raises(TypeError, match="holds Python objects"):
        ttlg.copyto(out, np.zeros((1, 2), out.dtype))
    assert records.tolist() == before
