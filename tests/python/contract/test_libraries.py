"""Arrays of JAX, and contractions by other libraries that call ttlg."""

import numpy as np
import pytest

import ttlg
from ttlg._contract import functions

from .equations import NAMED, check, random_values

EQUATIONS = [
    ("ab,bc->ca", (7, 8), (8, 9)),
    ("aab,bc->ca", (7, 7, 8), (8, 9)),
    ("lab,lbc->lac", (1, 7, 8), (5, 8, 9)),
    ("...ab,...bc->...ac", (2, 1, 7, 8), (3, 8, 9)),
    ("ab,ab->ab", (7, 8), (7, 8)),
    ("ab,ab->", (7, 8), (7, 8)),
    ("aba->b", (7, 8, 7)),
    ("ab,bc,cd->da", (7, 8), (8, 9), (9, 6)),
    ("ab,bc->ac", (7, 0), (0, 9)),
]


def operands_of(shapes, dtype):
    return [random_values(shape, dtype, seed) for seed, shape in enumerate(shapes)]


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "bfloat16"])
@pytest.mark.parametrize("problem", EQUATIONS, ids=lambda each: f"{each[0]} {each[1]}")
def test_jax(jax, problem, dtype):
    equation, *shapes = problem
    arrays = operands_of(shapes, "complex64" if dtype == "complex64" else "float32")
    operands = [jax.numpy.asarray(x).astype(dtype) for x in arrays]
    expected = np.einsum(equation, *arrays)
    compiled = jax.jit(lambda *x: ttlg.einsum(equation, *x))
    for function in (lambda *x: ttlg.einsum(equation, *x), compiled):
        for _ in range(2):
            result = function(*operands)
            assert isinstance(result, jax.Array)
            assert result.dtype == dtype
            np.testing.assert_array_equal(np.asarray(result).astype(expected.dtype), expected)


def test_jax_gradients_tensordot_and_batches(jax):
    x, y = map(jax.numpy.asarray, operands_of([(7, 8), (8, 9)], "float32"))
    slope = jax.grad(lambda a: (ttlg.einsum("ab,bc->ca", a, y) ** 2).sum())(x)
    np.testing.assert_array_equal(slope, jax.grad(lambda a: ((a @ y) ** 2).sum())(x))
    for axes in (1, ((1,), (0,)), (-1, 0)):
        check(np.asarray(ttlg.tensordot(x, y, axes)), np.tensordot(x, y, axes))
    rows = jax.vmap(lambda a: ttlg.einsum("b,bc->c", a, y))(x)
    check(np.asarray(rows), np.asarray(x @ y))


def test_jax_is_not_mixed_with_others(jax):
    x, y = operands_of([(4, 5), (5, 6)], "float32")
    for operands in [(jax.numpy.asarray(x), y), (x, jax.numpy.asarray(y))]:
        with pytest.raises(TypeError, match="several libraries"):
            ttlg.einsum("ab,bc->ac", *operands)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("cls", [np.matrix, np.recarray])
def test_subclasses_are_taken_as_arrays(cls):
    x, y = operands_of([(40, 50), (50, 60)], "float64")
    result = ttlg.einsum("ab,bc->ac", x.view(cls), y)
    assert type(result) is np.ndarray
    check(result, x @ y)


def test_buffers():
    x, y = operands_of([(4, 5), (5, 6)], "float64")
    check(ttlg.einsum("ab,bc->ac", memoryview(x), memoryview(y)), x @ y)
    check(ttlg.einsum("ab,bc->ac", memoryview(x), y), x @ y)


def test_other_objects_are_refused():
    x = np.ones((4, 5))
    for other in (object(), {1: 2}, "text", None):
        with pytest.raises((TypeError, ValueError)):
            ttlg.einsum("ab,bc->ac", x, other)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
@pytest.mark.parametrize(
    "equation",
    [
        *NAMED.values(),
        "ab,bc,cd->da",
        "abc,cd,dbe->ae",
        "ab,ac,ad->abcd",
        "ab,ab,ab->",
        "aab,bc,cd->d",
    ],
)
def test_opt_einsum_contracts_by_ttlg(spy, equation, dtype):
    opt_einsum = pytest.importorskip("opt_einsum")
    sizes = {label: 4 + number for number, label in enumerate(sorted(set(equation) - set(",->")))}
    terms = equation.split("->")[0].split(",")
    operands = operands_of([[sizes[label] for label in term] for term in terms], dtype)
    # Not of ttlg.einsum itself, which opt_einsum keeps for later.
    contracted = spy(functions, "_contract", lambda result, equation, *rest: equation)
    expected = np.einsum(equation, *operands)
    for optimize in ("auto", "greedy", False):
        result = opt_einsum.contract(equation, *operands, backend="ttlg", optimize=optimize)
        check(np.asarray(result), np.asarray(expected))
    assert contracted


def test_expressions_of_opt_einsum():
    opt_einsum = pytest.importorskip("opt_einsum")
    shapes = [(28, 29), (29, 30), (30, 31)]
    operands = operands_of(shapes, "float64")
    expression = opt_einsum.contract_expression("ab,bc,cd->da", *shapes)
    for _ in range(2):
        result = expression(*operands, backend="ttlg")
        check(result, np.einsum("ab,bc,cd->da", *operands))
