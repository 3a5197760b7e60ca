"""The order of axes and of fields in memory: NumPy's elements in other places."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array


def test_asorder_refuses():
    with pytest.raises(ValueError, match="unknown order 'K'"):
        ttlg.asorder(np.ones((2, 3)), "K")
    with pytest.raises(ValueError, match="does not fill its memory"):
        ttlg.asorder(np.ones((2, 6))[:, ::2], "F", inplace=True)
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="no order of its axes"):
        ttlg.asorder(jax.numpy.ones((2, 3)), "F")


STRUCTURES = [
    [("a", "<f8")],
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4")],
    [("real", "<f4"), ("count", "<i4"), ("pair", "<i2", (2,)), ("bytes", "S4")],
    [("p", [("q", "u1"), ("r", "u1")]), ("s", "<u2")],
    {"names": ["late", "early"], "formats": ["<i8", "<f8"], "offsets": [8, 0]},
    [(f"f{k}", "V12") for k in range(67)],
]


@pytest.mark.parametrize("dtype", STRUCTURES, ids=lambda dtype: str(len(np.dtype(dtype))))
@pytest.mark.parametrize("shape", [(1000,), (40, 50), (), (0,)])
def test_fields_of_structures(dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    x = random_array((count * dtype.itemsize,), "u1").view(dtype).reshape(shape)
    expected = x.copy()
    fields = ttlg.aos_to_soa(x)
    assert list(fields) == list(dtype.names)
    assert len(fields) == len(dtype.names)
    assert (fields.shape, fields.dtype) == (shape, dtype)
    for name in dtype.names:
        assert fields[name].dtype == expected[name].dtype
        assert fields[name].flags.c_contiguous
        assert bits(fields[name]) == bits(expected[name])
        assert count == 0 or np.shares_memory(fields[name], x)
    back = ttlg.soa_to_aos(fields)
    assert back.dtype == dtype
    assert bits(back) == bits(expected)
    assert count == 0 or np.shares_memory(back, x)


def test_matrices():
    for shape in [(5000, 3), (3, 5000), (700, 31)]:
        x = random_array(shape, "<f8")
        expected = x.copy()
        fields = ttlg.aos_to_soa(x)
        assert bits(fields) == bits(expected.T)
        assert bits(ttlg.soa_to_aos(fields)) == bits(expected)
    torch = pytest.importorskip("torch")
    x = torch.arange(600).reshape(200, 3)
    assert torch.equal(ttlg.aos_to_soa(x.clone()), x.t())


def overlapping(*offsets):
    """Make a dtype of fields of 4 bytes, which would fill the structures if they lay side by side."""
    count = len(offsets)
    return {
        "names": list("abcdef"[:count]),
        "formats": ["<f4"] * count,
        "offsets": offsets,
        "itemsize": 4 * count,
    }


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (np.ones(5, [("a", "<f4"), ("b", "<f8")]), ValueError, "not of one size"),
        (np.ones(5, overlapping(0, 2, 8)), ValueError, "not of one size"),
        (np.ones(5, overlapping(0, 0, 8)), ValueError, "not of one size"),
        (np.ones((2, 3), "<f4, <f4", order="F"), ValueError, "not in C order"),
        (np.ones(5, {"names": ["a"], "formats": ["<f4"], "itemsize": 8}), ValueError, "gaps"),
        (np.zeros(5, np.dtype([])), ValueError, "not of one size"),
        (np.ones(10, [("a", "<f4"), ("b", "<f4")])[::2], ValueError, "not in C order"),
        (np.ones(5, [("a", "O"), ("b", "O")]), TypeError, "objects"),
        (np.ones(5), ValueError, r"shape \(structures, fields\)"),
        (np.ones((2, 3, 4)), ValueError, r"shape \(structures, fields\)"),
        ([[1, 2]], TypeError, "list"),
    ],
)
def test_aos_to_soa_refuses(x, error, message):
    before = x.tobytes() if isinstance(x, np.ndarray) and not x.dtype.hasobject else None
    with pytest.raises(error, match=message):
        ttlg.aos_to_soa(x)
    assert before is None or x.tobytes() == before


def test_structures_that_cannot_be_written_to():
    x = np.ones(5, [("a", "<f4"), ("b", "<f4")])
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        ttlg.aos_to_soa(x)
