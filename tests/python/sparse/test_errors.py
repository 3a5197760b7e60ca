"""What is refused, and what the messages say."""

import sys
import types

import numpy as np
import pytest

from ttlg import sparse

COORDS = np.array([[0, 1, 2], [1, 0, 3]])
VALUES = np.array([1.0, 2.0, 3.0])


def refused(error, match, coords=COORDS, values=VALUES, shape=(3, 4), axes=None, **options):
    with pytest.raises(error, match=match):
        sparse.transpose((coords, values, shape), axes, **options)


@pytest.mark.parametrize("algorithm", sparse.algorithms)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("wrong", [-1, 4, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_out_of_range(algorithm, dtype, wrong, position):
    coords = COORDS.astype(dtype)
    coords[1, position] = wrong
    refused(ValueError, f"{wrong}.*", coords, algorithm=algorithm)
    with pytest.raises(ValueError, match=f"{position}") as caught:
        sparse.transpose((coords, VALUES, (3, 4)), (0, 1), algorithm=algorithm)
    assert str(wrong) in str(caught.value)
    assert "4" in str(caught.value)


def test_coordinates_for_an_extent_of_zero():
    refused(ValueError, "0", np.zeros((2, 1), int), [1.0], (0, 4))


def test_lengths_that_differ():
    refused(ValueError, "2.*3|3.*2", [[0, 1, 2], [1, 0]])
    refused(ValueError, "2.*3|3.*2", values=VALUES[:2])
    refused(ValueError, r"coords has 2 modes, but shape \(3, 4, 5\) has 3", shape=(3, 4, 5))
    refused(ValueError, r"coords has 2 modes, but shape \(3,\) has 1", shape=(3,))
    refused(ValueError, "values has 3 elements", np.empty((0, 2), int), shape=())


def test_arrays_of_other_dtypes_and_ranks():
    refused(TypeError, r"coords\[0\] must hold integers, not float64", COORDS * 1.0)
    refused(TypeError, r"coords\[1\] must hold integers, not bool", [[0, 1, 2], VALUES > 1])
    refused(TypeError, r"coords\[0\] must hold integers, not float64", np.empty((2, 0)), [])
    refused(ValueError, r"coords must be of shape \(modes, nonzeros\), not \(3,\)", COORDS[0])
    refused(ValueError, r"coords\[0\] must have one dimension", [COORDS, COORDS])
    refused(TypeError, "coords must be an array .* not builtins.dict", {0: [1]})
    refused(TypeError, "values of dtype object holds Python objects", values=VALUES.astype(object))
    refused(TypeError, "values is a masked array", values=np.ma.masked_array(VALUES))
    refused(ValueError, "values must have one value for each nonzero", values=1.0)
    huge = np.array([[2**63, 1, 2], [0, 1, 2]], np.uint64)
    refused(ValueError, r"coords\[0\] holds 9223372036854775808, which exceeds", huge)


def test_shapes():
    refused(ValueError, r"shape \(3, -4\) has a negative extent", shape=(3, -4))
    refused(TypeError, "shape must be a sequence of integers", shape=(3, 4.0))
    refused(TypeError, "shape must be a sequence of integers", shape=3)
    refused(ValueError, "exceeds the 64-bit range", shape=(3, 2**63))
    with pytest.raises(ValueError, match=r"\(coords, values, shape\), and not have 2 entries"):
        sparse.transpose((COORDS, VALUES))


@pytest.mark.parametrize(
    ("axes", "error", "match"),
    [
        ((0,), ValueError, r"axes \(0,\) do not fit shape \(3, 4\): name each of the 2 axes once"),
        ((0, 2), ValueError, "axis 2 is out of range -2..1"),
        ((0, 0), ValueError, "axis 0 appears twice"),
        ((0, 1.0), TypeError, "1.0 is not an axis number"),
        ({0, 1}, TypeError, "must be a sequence of 2 integers, not a set"),
        (1, TypeError, "must be a sequence of 2 integers"),
    ],
)
def test_axes(axes, error, match):
    refused(error, match, axes=axes)


def test_formats():
    known = "for a tuple .* choose one of 'csf', 'raw'"
    refused(ValueError, f"unknown format 'csr' {known}", format="csr")
    refused(TypeError, "format must be a name, not 3", format=3)


def test_dense_arrays_belong_elsewhere():
    for x in (np.zeros((2, 3)), np.float64(3), np.ma.zeros(3)):
        with pytest.raises(TypeError, match=r"dense: call ttlg.transpose\(A, axes\)"):
            sparse.transpose(x)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"A is a torch.Tensor, which is dense"):
        sparse.transpose(torch.zeros(2, 3))


@pytest.mark.parametrize("x", [None, 3, "text", [COORDS, VALUES, (3, 4)], {}])
def test_other_objects(x):
    with pytest.raises(TypeError, match=f"A must be a sparse array .* not .*{type(x).__name__}"):
        sparse.transpose(x)


def test_a_library_that_is_not_moved():
    module = "jax.experimental.sparse.bcoo"
    stand_in = type("Matrix", (), {"__module__": module, "__array__": None, "shape": (2, 2)})
    with pytest.raises(TypeError, match=f"A is a {module}.Matrix; .*JAX's own"):
        sparse.transpose(stand_in())


def test_libraries_are_not_imported(run_python):
    out = run_python("""
        import sys
        import numpy as np
        from ttlg import sparse
        sparse.transpose(([[0], [1]], [3], (2, 2)))
        try:
            sparse.transpose(np.zeros(3))
        except TypeError:
            pass
        print([name for name in ("scipy", "sparse", "torch") if name in sys.modules])
    """).stdout
    assert out == "[]\n"


def test_modules_of_the_same_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "sparse", types.ModuleType("sparse"))  # not pydata's
    with pytest.raises(TypeError, match="A must be a sparse array"):
        sparse.transpose(3)
