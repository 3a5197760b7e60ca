"""Tensors that PyTorch differentiates and transforms: derivatives equal to its own."""

import pytest

import ttlg

torch = pytest.importorskip("torch", minversion="2.5")
import ttlg.torch

from .tensors import AXES, WARNINGS_OF_PYTORCH, check_equal, ours, own, random_tensor, weighted

pytestmark = WARNINGS_OF_PYTORCH


def test_no_grad_mode_keeps_no_graph():
    x = random_tensor(2, 3, 4, requires_grad=True)
    with torch.no_grad():
        result = ours(x)
        out = torch.empty_like(result)
        ttlg.transpose(x, AXES, out=out)
        ttlg.plan(x.shape, AXES, x.dtype)(x, out)
    assert not result.requires_grad
    check_equal(result, own(x).detach())
    check_equal(out, result)


@pytest.mark.parametrize("axes", [None, (0, 1, 2), (1, 2, 0), (-1, 0, 1)])
def test_gradcheck(axes):
    def function(x):
        return ttlg.transpose(x, axes)

    x = random_tensor(2, 3, 4, requires_grad=True)
    check_equal(function(x), x.permute(axes or (2, 1, 0)).contiguous())
    assert torch.autograd.gradcheck(
        function, x, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True
    )
    assert torch.autograd.gradgradcheck(lambda x: function(x) ** 2, x, check_fwd_over_rev=True)


def test_gradcheck_of_lazy_conjugates():
    x = torch.rand(2, 3, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ttlg.transpose(x.conj()), x, check_forward_ad=True)


def test_lazy_conjugates_and_negatives_are_resolved():
    x = torch.rand(2, 3, dtype=torch.complex64)
    for lazy in (x.conj(), x.conj().imag):
        expected = lazy.clone().T.contiguous()
        check_equal(ttlg.torch.transpose(lazy), expected)
        out = torch.zeros_like(expected)
        torch.ops.ttlg.transpose_into(lazy, (1, 0), out)
        check_equal(out, expected)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_opcheck(requires_grad):
    x = random_tensor(2, 3, 4, requires_grad=requires_grad)
    stepped = x.detach()[:, ::2].requires_grad_(requires_grad)
    for arguments in [(x, list(AXES)), (x, [0, 1, 2], 1), (stepped, [1, 0, 2])]:
        torch.library.opcheck(torch.ops.ttlg.transpose.default, arguments)
    out = torch.zeros(4, 2, 3, dtype=torch.float64)
    torch.library.opcheck(torch.ops.ttlg.transpose_into.default, (x.detach(), list(AXES), out))


@pytest.mark.parametrize("in_dim", [0, 1, -1])
@pytest.mark.parametrize("out_dim", [0, 2, -1])
def test_vmap(in_dim, out_dim):
    x = random_tensor(2, 3, 4, 5)
    result = torch.func.vmap(ours, in_dim, out_dim)(x)
    assert torch.equal(result, torch.func.vmap(own, in_dim, out_dim)(x))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.func.grad(weighted(f)),
        lambda f: torch.func.hessian(weighted(f)),
        lambda f: torch.func.jacfwd(f),
        lambda f: torch.func.jacrev(f),
        lambda f: lambda x: torch.func.jvp(f, (x,), (x.cos(),))[1],
        lambda f: lambda x: torch.func.vjp(f, x)[1](own(x).cos())[0],
        lambda f: torch.func.vmap(torch.func.vmap(lambda x: f(x[None, None])[:, 0, 0])),
        lambda f: torch.func.functionalize(f),
        lambda f: lambda x: torch.func.vmap(torch.func.grad(weighted(f)))(x[None].cos()),
        lambda f: lambda x: torch.func.vmap(lambda y: torch.func.jvp(f, (y,), (y,))[1])(x[None]),
    ],
    ids=[
        "grad",
        "hessian",
        "jacfwd",
        "jacrev",
        "jvp",
        "vjp",
        "vmaps",
        "functionalize",
        "vmap-grad",
        "vmap-jvp",
    ],
)
def test_transforms(transform):
    x = random_tensor(2, 3, 4)
    assert torch.equal(transform(ours)(x), transform(own)(x))


def stale_value(write):
    """Write to what autograd has kept for the gradient."""
    kept = torch.zeros(4, 2, 3, dtype=torch.float64)
    weight = random_tensor(4, 2, 3, requires_grad=True)
    loss = (weight * kept).sum()
    write(kept)
    loss.backward()


def test_writes_are_counted():
    x = random_tensor(2, 3, 4)
    plan = ttlg.plan(x.shape, AXES, x.dtype)
    for write in (
        lambda out: ttlg.transpose(x, AXES, out=out),
        lambda out: ttlg.transpose(x.numpy(), AXES, out=out),
        lambda out: ttlg.copyto(out, x[0, :, 0].numpy()),
        lambda out: plan(x, out),
        lambda out: plan(x.numpy(), out),
        lambda out: torch.ops.ttlg.transpose_into(x, AXES, out),
    ):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            stale_value(write)


def test_writes_to_inference_tensors():
    x = random_tensor(2, 3)
    with torch.inference_mode():
        out = torch.zeros(3, 2, dtype=torch.float64)
        ttlg.transpose(x, out=out)
        assert torch.equal(out, x.T)


SPECIAL = {
    "grad": lambda call: call(random_tensor(2, 3, 4, requires_grad=True)),
    "vmap": lambda call: torch.func.vmap(call)(random_tensor(2, 2, 3, 4)),
    "jvp": lambda call: torch.func.jvp(call, (random_tensor(2, 3, 4),) * 1, (torch.ones(2, 3, 4),)),
    "nested": lambda call: call(torch.nested.nested_tensor([torch.ones(3, 4)] * 2)),
    "jagged": lambda call: call(
        torch.nested.nested_tensor([torch.ones(3, 4)] * 2, layout=torch.jagged)
    ),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_plans_and_out_refuse(name):
    out = torch.zeros(4, 2, 3, dtype=torch.float64)
    plan = ttlg.plan((2, 3, 4), AXES, "float64")
    for call in (
        lambda x: ttlg.transpose(x, AXES, out=out),
        lambda x: plan(x),
        lambda x: plan(x, out),
    ):
        with pytest.raises(BufferError, match=r"^x (requires grad|is (a nested|a meta)).*"):
            SPECIAL[name](call)
    assert not out.any()


@pytest.mark.parametrize("name", ["nested", "jagged"])
def test_nested_tensors(name):
    with pytest.raises(BufferError, match=r"x is a nested tensor.*x\.unbind\(\)"):
        SPECIAL[name](ours)


@pytest.mark.parametrize("axes", [(0, 0, 1), (0, 1), "abc", (0.0, 1, 2)])
def test_errors_are_those_of_plain_tensors(axes):
    with pytest.raises((TypeError, ValueError)) as expected:
        ttlg.transpose(random_tensor(2, 3, 4), axes)
    for transform in (lambda f: f, lambda f: lambda x: torch.func.vmap(f)(x[None])):
        with pytest.raises(expected.type) as told:
            transform(lambda x: ttlg.transpose(x, axes))(random_tensor(2, 3, 4, requires_grad=True))
        assert str(told.value) == str(expected.value)


def test_streams_are_pytorch_s_own():
    with pytest.raises(ValueError, match=r"stream= .*torch\.cuda\.stream"):
        ttlg.transpose(random_tensor(2, 3, requires_grad=True), stream=1)
