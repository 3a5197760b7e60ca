"""Tensors of PyTorch on the CPU: results and gradients are those of torch.einsum."""

import numpy as np
import pytest

import ttlg
from ttlg._contract import libraries

from .equations import NAMED, named_operands, random_values

torch = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "complex64", "complex128", "float16", "bfloat16", "int64"]
EQUATIONS = [
    ("ab,bc->ca", (7, 8), (8, 9)),
    ("ab,cb", (7, 8), (9, 8)),
    ("aab,bc->ca", (7, 7, 8), (8, 9)),
    ("abx,bc->ca", (7, 8, 3), (8, 9)),
    ("lab,lbc->cla", (5, 7, 8), (5, 8, 9)),
    ("lab,lbc->lac", (1, 7, 8), (5, 8, 9)),
    ("...ab,...bc->...ac", (2, 1, 7, 8), (3, 8, 9)),
    ("ab,ab->ab", (7, 8), (7, 8)),
    ("ab,cd->dabc", (2, 3), (4, 5)),
    ("ab,ab->", (7, 8), (7, 8)),
    ("ab->ba", (7, 8)),
    ("aab->b", (7, 7, 8)),
    ("ab,bc,cd->da", (7, 8), (8, 9), (9, 6)),
    ("abc,bcd,be->ae", (7, 3, 4), (3, 4, 5), (3, 6)),
    ("ab,bc->ac", (7, 0), (0, 9)),
    ("ab,bc->ac", (0, 7), (7, 9)),
]


def tensors(shapes, dtype):
    kind = dtype if dtype.startswith("complex") else "float64"
    arrays = [random_values(shape, kind, seed) for seed, shape in enumerate(shapes)]
    return [torch.from_numpy(x).to(getattr(torch, dtype)) for x in arrays]


def check(result, expected):
    assert isinstance(result, torch.Tensor)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert torch.equal(result.resolve_conj(), expected.resolve_conj())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("problem", EQUATIONS, ids=lambda each: f"{each[0]} {each[1]}")
def test_results(problem, dtype):
    equation, *shapes = problem
    operands = tensors(shapes, dtype)
    for _ in range(2):
        check(ttlg.einsum(equation, *operands), torch.einsum(equation, *operands))


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("equation", NAMED.values(), ids=NAMED)
def test_larger_ones(equation, dtype):
    operands = [torch.from_numpy(x) for x in named_operands(equation, dtype)]
    expected = torch.from_numpy(np.asarray(np.einsum(equation, *(x.numpy() for x in operands))))
    for learns in (True, False):
        with ttlg.learning(learns):
            for _ in range(5):
                check(ttlg.einsum(equation, *operands), expected)
    turned = [
        x.permute(*range(x.ndim)[::-1]).contiguous().permute(*range(x.ndim)[::-1]) for x in operands
    ]
    check(ttlg.einsum(equation, *turned), expected)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2, 1:9],
        lambda x: x.t()[3:11, 2:10],
        lambda x: x[0].expand(20, 20)[:8, :8],
        lambda x: x[3].as_strided((8, 8), (1, 1)),
        lambda x: x.flip(0),
        lambda x: x.t().conj(),
        lambda x: x.conj()[:, :9],
        lambda x: x.conj()[::2, ::2],
        lambda x: torch.view_as_complex(torch.view_as_real(x)[:8, 2:12]).conj(),
        lambda x: torch.view_as_real(x).neg()[..., 0],
        lambda x: x.imag,
        lambda x: x.conj().imag,
    ],
)
def test_views(view):
    x, y = tensors([(20, 20), (20, 20)], "complex128")
    a, b = view(x), view(y)
    for equation in ("ab,cb->ac", "ab,ab->ab", "ab,cb->ca", "ab->ba", "ab,cd->cabd", "ab->"):
        operands = (a, b) if "," in equation else (a,)
        for _ in range(2):
            check(ttlg.einsum(equation, *operands), torch.einsum(equation, *operands))
    check(ttlg.tensordot(a, b, ((1,), (1,))), torch.tensordot(a, b, ([1], [1])))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "problem",
    [
        *(each for each in EQUATIONS if 0 not in each[1]),
        ("abcd,dbea->ec", (11, 12, 13, 14), (14, 12, 15, 11)),  # moved, and by any way
        ("abcd,be->aecd", (11, 12, 13, 14), (12, 15)),
        ("abl,bcl->acl", (21, 22, 23), (22, 25, 23)),
    ],
    ids=lambda each: f"{each[0]} {each[1]}",
)
def test_gradients(problem, dtype):
    equation, *shapes = problem
    gradients = []
    with ttlg.learning(True):
        for function in (torch.einsum, ttlg.einsum, ttlg.einsum, ttlg.einsum):
            operands = [x.requires_grad_() for x in tensors(shapes, dtype)]
            result = function(equation, *operands)
            assert result.requires_grad
            weights = torch.arange(result.numel(), dtype=torch.float64).reshape(result.shape) % 7
            (result.real * weights).sum().backward()
            gradients.append([x.grad for x in operands])
    for others in gradients[1:]:
        for grad, expected in zip(others, gradients[0], strict=True):
            check(grad, expected)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("equation", ["abcd,dbea->ec", "abl,bcl->acl"])
def test_transposed_operands_in_the_result_pool(monkeypatch, spy, equation, dtype):
    monkeypatch.setattr(libraries, "_POOLED_TENSOR_BYTES", 0)
    extents = dict(zip("abcdel", range(11, 17), strict=True))
    terms = equation.partition("->")[0].split(",")
    operands = tensors([[extents[label] for label in term] for term in terms], dtype)
    expected = torch.einsum(equation, *operands)
    pooled = spy(libraries._core, "new_ndarray", lambda array, *shape: array.nbytes)
    for _ in range(3):
        check(ttlg.einsum(equation, *operands), expected)
    assert pooled
    assert set(pooled) <= {x.numel() * x.element_size() for x in operands}
    if operands[0].is_floating_point():
        del pooled[:]
        operands[0].requires_grad_()
        assert ttlg.einsum(equation, *operands).requires_grad
        assert len(pooled) <= 1  # that of the other operand


def test_gradients_of_one_operand_and_of_second_order():
    x, y = tensors([(7, 8), (8, 9)], "float64")
    x.requires_grad_()
    (first,) = torch.autograd.grad(
        ttlg.einsum("ab,bc->ca", x, y).pow(3).sum(), x, create_graph=True
    )
    (second,) = torch.autograd.grad(first.pow(2).sum(), x)
    (expected,) = torch.autograd.grad((x @ y).pow(3).sum(), x, create_graph=True)
    check(first.detach(), expected.detach())
    check(second, torch.autograd.grad(expected.pow(2).sum(), x)[0])
    assert y.grad is None


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("axes", [0, 1, 2, (0, 2), ((1, 0), (0, 1)), ([-1], [0])])
def test_tensordot(axes, dtype):
    x, y = tensors([(3, 4), (4, 3, 3)], dtype)
    if axes == 1:
        y = y.reshape(4, 9)
    if axes == 2:
        y = tensors([(3, 4, 5)], dtype)[0]
    expected = torch.tensordot(x, y, ([0], [2]) if axes == (0, 2) else axes)
    for _ in range(2):
        check(ttlg.tensordot(x, y, axes), expected)


def test_a_planned_contraction_is_of_numpy_and_einsum_of_either():
    x, y = tensors([(40, 50), (50, 60)], "float64")
    a, b = x.numpy(), y.numpy()
    for _ in range(2):  # one plan for each library
        check(ttlg.einsum("ab,bc->ac", x, y), x @ y)
        assert isinstance(ttlg.einsum("ab,bc->ac", a, b), np.ndarray)


@pytest.mark.parametrize(
    "function", [lambda *x: ttlg.einsum("ab,bc->ac", *x), lambda *x: ttlg.tensordot(*x, 1)]
)
def test_libraries_are_not_mixed(function):
    x, y = tensors([(4, 5), (5, 6)], "float64")
    for operands in [(x, y.numpy()), (x.numpy(), y), (x, y.tolist()), (x.tolist(), y)]:
        with pytest.raises(TypeError, match=r"several libraries .*torch.Tensor"):
            function(*operands)


def test_dtypes_are_not_mixed():
    x, y = tensors([(4, 5), (5, 6)], "float64")
    for _ in range(2):
        with pytest.raises(RuntimeError):
            ttlg.einsum("ab,bc->ac", x, y.float())
    check(ttlg.einsum("ab,bc->ac", x, y), x @ y)
