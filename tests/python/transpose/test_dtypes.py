"""Any fixed-size element moves bit for bit; what holds references is refused."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

NESTED = np.dtype([("id", "u1"), ("pair", [("x", ">f8"), ("y", "<i2")]), ("rgb", "u1", (3,))])
PACKED = np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<u2")])
ALIGNED = np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<u2")], align=True)

DTYPES = [
    *("?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"),
    *("<f2", "<f4", "<f8", np.longdouble, "<c8", "<c16", np.clongdouble),
    *(">i2", ">u4", ">f2", ">f8", ">c16"),
    *("M8[ns]", "M8[25s]", ">M8[D]", "M8", "m8[us]", "m8"),
    *("S1", "S5", "U3", ">U2", "V1", "V7", "V100"),
    *(NESTED, PACKED, ALIGNED),
]


def name_of(dtype):
    return np.dtype(dtype).str if np.dtype(dtype).names is None else f"{np.dtype(dtype).itemsize}"


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
@pytest.mark.parametrize("axes", [(2, 1, 0), (1, 0, 2), (0, 1, 2)])
def test_numpy_dtypes(dtype, axes):
    x = random_array((5, 18, 35), dtype)
    expected = x.transpose(axes)
    y = ttlg.transpose(x, axes)
    assert y.dtype == x.dtype
    assert y.dtype.str == x.dtype.str
    assert bits(y) == bits(expected)
    out = np.empty(expected.shape[::-1], dtype).T
    assert ttlg.transpose(x, axes, out=out) is out
    assert bits(out) == bits(expected)
    assert bits(ttlg.plan(x.shape, axes, x.dtype)(x)) == bits(expected)


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "int4"]
)
def test_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = random_array((5, 18, 35), getattr(ml_dtypes, name))
    y = ttlg.transpose(x, (2, 0, 1))
    assert y.dtype == x.dtype
    assert bits(y) == bits(x.transpose(2, 0, 1))
    plan = ttlg.plan(x.shape, (2, 0, 1), name)
    assert plan.dtype == name
    assert bits(plan(x)) == bits(y)
    with pytest.raises(TypeError, match=rf"out has dtype u?int\d+, but x has {name};"):
        ttlg.transpose(x, out=np.empty(x.shape[::-1], f"u{x.itemsize}"))


@pytest.mark.parametrize("dtype", ["V0", "S0", "U0", []], ids=["V0", "S0", "U0", "no fields"])
def test_elements_of_no_bytes(dtype):
    # np.zeros(shape, "S0") makes one-byte strings; the field of a structure keeps its size.
    x = np.zeros((2, 3), [("nothing", dtype), ("byte", "u1")])["nothing"]
    assert x.itemsize == 0
    y = ttlg.transpose(x)
    assert y.shape == (3, 2)
    assert y.dtype == x.dtype


@pytest.mark.parametrize(
    ("dtype", "shown"),
    [(object, "object"), ([("a", "i4"), ("b", "O")], "('b', 'O')"), ([("a", "O", 2)], "'O'")],
)
def test_objects_are_refused(dtype, shown):
    x = np.zeros((2, 3), dtype)
    with pytest.raises(TypeError, match=r"x has dtype .*objects.*astype") as caught:
        ttlg.transpose(x)
    assert shown in str(caught.value)
    with pytest.raises(TypeError, match="objects"):
        ttlg.transpose(np.zeros((3, 2)), out=x)
    with pytest.raises(TypeError, match="objects"):
        ttlg.plan((2, 3), dtype=dtype)


def test_variable_width_strings_are_refused():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("this NumPy has no StringDType")
    x = np.array([["a", "bc"]], np.dtypes.StringDType())
    with pytest.raises(TypeError, match="StringDType"):
        ttlg.transpose(x)


def test_other_dtypes_are_refused_even_of_the_same_size():
    x = random_array((3, 4), "<i4")
    for other in (">i4", "<u4", "<f4", "V4", "S4", "U1", [("a", "<i4")], "<f8", "u1"):
        out = np.zeros((4, 3), other)
        with pytest.raises(
            TypeError, match=r"out has dtype .*, but x has int32; ttlg moves bits .*pass out of"
        ):
            ttlg.transpose(x, out=out)
        assert bits(out) == bytes(out.nbytes)
    with pytest.raises(TypeError, match="converts nothing"):
        ttlg.transpose(x.view("m8[s]"), out=np.empty((2, 3), "m8[ms]"))


def test_dtypes_that_numpy_holds_equal_are_equal():
    spelled = {"names": ["a", "b", "c"], "formats": ["u1", "<f8", "<u2"], "offsets": [0, 8, 16]}
    x = random_array((3, 4), ALIGNED)
    out = np.zeros((4, 3), {**spelled, "itemsize": 24})
    assert bits(ttlg.transpose(x, out=out)) == bits(x.T)
    records = random_array((3, 4), PACKED).view(np.recarray)
    out = np.zeros((4, 3), PACKED)
    assert bits(ttlg.transpose(records, out=out)) == bits(records.T)


def test_memmap(tmp_path):
    path = tmp_path / "x.bin"
    x = np.memmap(path, "<f4", "w+", offset=3, shape=(7, 11))
    x[...] = random_array((7, 11), "<f4")
    read_only = np.memmap(path, "<f4", "r", offset=3, shape=(7, 11))
    y = ttlg.transpose(read_only)
    assert type(y) is np.ndarray
    assert bits(y) == bits(x.T)
    out = np.memmap(tmp_path / "y.bin", "<f4", "w+", shape=(11, 7))
    assert ttlg.transpose(x, out=out) is out
    out.flush()
    assert (tmp_path / "y.bin").read_bytes() == bits(x.T)
    with pytest.raises(ValueError, match="read-only"):
        ttlg.transpose(np.empty((11, 7), "<f4"), out=read_only)


def test_masked_arrays_are_refused():
    x = np.ma.array(np.arange(6.0).reshape(2, 3), mask=True)
    with pytest.raises(TypeError, match=r"x is a masked array.*x\.filled\(\)"):
        ttlg.transpose(x)
    with pytest.raises(TypeError, match="out is a masked array"):
        ttlg.transpose(x.data, out=np.ma.zeros((3, 2)))
