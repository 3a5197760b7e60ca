"""What cannot take a result is refused in the caller's words, before anything is computed."""

import re

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import ttlg
from ttlg._contract import libraries, ways

from .equations import check, random_values

X, Y = random_values((40, 50), "float64"), random_values((50, 60), "float64", 1)
SHAPE = (40, 60)


@pytest.fixture
def _no_work(monkeypatch):
    """Let whatever is computed fail."""

    def compiled(self, costs):
        def work(*args):
            raise AssertionError("it was computed")

        return work

    def einsum(self, equation, *operands):
        raise AssertionError("it was computed")

    monkeypatch.setattr(ways.Way, "compiled", compiled)
    for products in (libraries.Products, libraries.NumPyProducts):
        monkeypatch.setattr(products, "einsum", einsum)


def refused(error, match, out, operands=(X, Y), equation="ab,bc->ac"):
    """Look at the words of all ways to pass `out`."""
    calls = [lambda: ttlg.einsum(equation, *operands, out=out)]
    if equation == "ab,bc->ac":
        calls.append(lambda: ttlg.tensordot(*operands, 1, out=out))
        if isinstance(operands[0], np.ndarray) and operands[0].dtype == np.float64:
            planned = ttlg.contraction(equation, *(x.shape for x in operands))
            calls.append(lambda: planned(*operands, out=out))
    before = out.copy() if isinstance(out, np.ndarray) else None
    for call in calls * 2:
        with pytest.raises(error, match=match) as caught:
            call()
        assert re.search(r"\bout\b", str(caught.value))
        assert not re.search(r"\b(dst|src)\b", str(caught.value))
    if before is not None:
        np.testing.assert_array_equal(out, before)


READ_ONLY = np.full(SHAPE, 77.0)
READ_ONLY.flags.writeable = False
# Each with what the message says.
ARRAYS = {
    "float32": (TypeError, "float32.*float64", np.full(SHAPE, 77, "f4")),
    "complex128": (TypeError, "complex128.*float64", np.full(SHAPE, 77, "c16")),
    "int64": (TypeError, "int64.*float64", np.full(SHAPE, 77, "i8")),
    "other byte order": (TypeError, ">f8.*float64", np.full(SHAPE, 77, ">f8")),
    "objects": (TypeError, "object", np.full(SHAPE, 77, object)),
    "structure": (TypeError, "dtype", np.zeros(SHAPE, [("re", "f8")])),
    "masked": (TypeError, "masked", np.ma.zeros(SHAPE)),
    "read-only": (ValueError, "read-only", READ_ONLY),
    "broadcast": (ValueError, "read-only", np.broadcast_to(77.0, SHAPE)),
    "same place": (ValueError, "several elements", as_strided(np.zeros(60), SHAPE, (0, 8))),
    "windows": (ValueError, "several elements", as_strided(np.zeros(99), SHAPE, (8, 8))),
}


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_numpy(name):
    refused(*ARRAYS[name])


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("shape", [(60, 40), (40, 60, 1), (40,), (), (1, 40, 60), (40, 61), (1, 1)])
def test_wrong_shapes_are_named(shape):
    out = np.full(shape, 77.0)
    refused(ValueError, f"shape.*{re.escape(str(shape))}.*{re.escape(str(SHAPE))}", out)


@pytest.mark.parametrize("out", [[0.0], 3.0, "text"])
def test_what_is_no_array(out):
    with pytest.raises(TypeError, match="out"):
        ttlg.einsum("ab,bc->ac", X, Y, out=out)


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bool"])
@pytest.mark.parametrize("equation", ["ab,bc->ac", "ab,bc,cd->ad", "ab->ab", "ab->ba"])
def test_wider_dtypes_are_refused_in_any_equation(equation, dtype):
    operands = [random_values((9, 9), dtype) for _ in equation.split(",")]
    refused(TypeError, f"float64.*{dtype}", np.full((9, 9), 77.0), operands, equation)


OVERLAPS = {
    "operand itself": lambda x: x,
    "its transpose": lambda x: x.T,
    "backwards": lambda x: x[::-1, ::-1],
    "in another shape": lambda x: x.reshape(-1).reshape(x.shape[::-1]).T,
}


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("extent", [3, 70])
@pytest.mark.parametrize("view", OVERLAPS)
@pytest.mark.parametrize(
    "equation", ["ab,bc->ac", "ba,bc->ac", "ab,ab->ab", "ab,bc,cd->ad", "ab->ba"]
)
def test_an_operand_as_out(equation, view, extent):
    for number in range(equation.count(",") + 1):
        operands = [
            random_values((extent, extent), "float64", n) for n in range(equation.count(",") + 1)
        ]
        out = OVERLAPS[view](operands[number])
        refused(ValueError, f"shares memory with operand {number}", out, operands, equation)


@pytest.mark.usefixtures("_no_work")
def test_a_part_of_an_operand_as_out():
    memory = random_values((200, 200), "float64")
    for operand, out in [
        (memory[:40, :40], memory[30:70, 30:70]),
        (memory[::2, ::2][:40, :40], memory[:80:2, :40]),
        (memory[:40, :40], memory[39:79, 39:79]),
    ]:
        refused(ValueError, "shares memory with operand 1", out, (np.ones((40, 40)), operand))


def test_neighbours_of_operands_are_no_overlap():
    memory = random_values((80, 80), "float64")
    for operand, out in [
        (memory[::2, ::2], memory[1::2, ::2]),
        (memory[:, ::2][:40], memory[:40, 1::2]),
        (memory[:40, :40], memory[40:, 40:]),
    ]:
        expected = operand @ operand
        assert ttlg.einsum("ab,bc->ac", operand, operand, out=out) is out
        check(out, expected)


def test_fields_of_structures():
    structures = np.zeros(SHAPE, [("weight", "f4"), ("value", "f8"), ("note", "S3")])
    structures["note"] = b"abc"
    out = structures["value"]
    assert ttlg.einsum("ab,bc->ac", X, Y, out=out) is out
    check(out, X @ Y)
    assert (structures["note"] == b"abc").all()
    assert not structures["weight"].any()


def test_buffers_and_subclasses():
    for out in (memoryview(np.zeros(SHAPE)), np.zeros(SHAPE).view(np.recarray)):
        assert ttlg.einsum("ab,bc->ac", X, Y, out=out) is out
        check(np.asarray(out), X @ Y)


@pytest.mark.usefixtures("_no_work")
def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    x, y = torch.from_numpy(X.copy()), torch.from_numpy(Y.copy())
    square = (x[:, :40], x[:40, :40])

    def zeros(**options):
        return torch.zeros(SHAPE, **{"dtype": torch.float64, **options})

    for error, match, out, operands in [
        (TypeError, "float32.*float64", zeros(dtype=torch.float32), (x, y)),
        (TypeError, "complex128.*float64", zeros(dtype=torch.complex128), (x, y)),
        (BufferError, "requires grad", zeros(requires_grad=True), (x, y)),
        (BufferError, "meta", zeros(device="meta"), (x, y)),
        (ValueError, "several elements", zeros()[:, :1].expand(SHAPE), (x, y)),
        (ValueError, "shape", torch.zeros(60, 40, dtype=torch.float64), (x, y)),
        (ValueError, "shares memory with operand 0", x[:, :40], square),
        (ValueError, "shares memory with operand 0", x.numpy()[:, :40], square),
        (TypeError, "float32.*float64", np.zeros(SHAPE, "f4"), (x, y)),
        (TypeError, "float32.*float64", zeros(dtype=torch.float32), (X, Y)),
    ]:
        refused(error, match, out, operands)
    with pytest.raises(BufferError, match="operand 1 requires grad"):
        ttlg.einsum("ab,bc->ac", x, y.requires_grad_(), out=zeros())


def test_tensors_of_pytorch_that_take_the_result():
    torch = pytest.importorskip("torch")
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    for operands in ((x, y), (X, Y)):
        for out in (
            torch.zeros(SHAPE, dtype=torch.float64),
            torch.zeros(SHAPE[::-1], dtype=torch.float64).T,
            torch.zeros(40, 120, dtype=torch.float64)[:, ::2],
            np.zeros(SHAPE),
        ):
            assert ttlg.einsum("ab,bc->ac", *operands, out=out) is out
            check(np.asarray(out), X @ Y)
    with torch.no_grad():
        out = torch.zeros(SHAPE, dtype=torch.float64, requires_grad=True)
        assert ttlg.einsum("ab,bc->ac", x, y, out=out) is out


@pytest.mark.usefixtures("_no_work")
def test_arrays_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    x, y = jnp.asarray(X, "float32"), jnp.asarray(Y, "float32")
    refused(ValueError, "read-only", jnp.zeros(SHAPE, "float32"), (x, y))
    refused(TypeError, "float64.*float32", np.zeros(SHAPE), (x, y))
    refused(TypeError, "float32.*float64", jnp.zeros(SHAPE, "float32"), (X, Y))
