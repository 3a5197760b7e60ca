"""Tensors that PyTorch differentiates, transforms or traces: results equal to PyTorch's own."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import ttlg

torch = pytest.importorskip("torch", minversion="2.5")
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

import ttlg.torch

AXES = (2, -3, 1)

# PyTorch warns of its own use of what it deprecates, and of what it calls a prototype.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.* is deprecated"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype"),
]


def random_tensor(*shape, **options):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.manual_seed(0), **options)


def own(x):
    return x.permute(AXES).contiguous()


def ours(x):
    return ttlg.transpose(x, AXES)


def check_equal(result, expected):
    assert torch.equal(result, expected)
    assert result.is_contiguous()


def weighted(function):
    """Make a function of one number that depends on where every element goes."""
    return lambda x: (function(x) ** 3 * torch.arange(x.numel()).reshape(function(x).shape)).sum()


def test_backward():
    x = random_tensor(2, 3, 4, requires_grad=True)
    result = ours(x)
    check_equal(result, own(x))
    assert result.requires_grad
    weighted(ours)(x).backward()
    check_equal(x.grad, torch.autograd.grad(weighted(own)(x), x)[0])


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


def test_parameter_and_linear_layer():
    layer = torch.nn.Linear(3, 5)
    x = random_tensor(4, 3).float()
    (x @ ttlg.transpose(layer.weight)).sum().backward()
    check_equal(layer.weight.grad, x.sum(0).expand(5, 3).contiguous())


@pytest.mark.parametrize("axes", [None, (0, 1, 2), (1, 2, 0), (-1, 0, 1)])
def test_gradcheck(axes):
    def function(x):
        return ttlg.transpose(x, axes)

    x = random_tensor(2, 3, 4, requires_grad=True)
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


def test_forward_mode_keeps_the_tangent():
    x, tangent = random_tensor(2, 3, 4), random_tensor(2, 3, 4).cos()
    with forward_ad.dual_level():
        result = forward_ad.unpack_dual(ours(forward_ad.make_dual(x, tangent)))
        check_equal(result.primal, own(x))
        check_equal(result.tangent, own(tangent))


TRACERS = {
    "make_fx": lambda f, *x: make_fx(f)(*x),
    "make_fx of fake tensors": lambda f, *x: make_fx(f, tracing_mode="fake")(*x),
    "make_fx of symbols": lambda f, *x: make_fx(f, tracing_mode="symbolic")(*x),
    "torch.jit.trace": lambda f, *x: torch.jit.trace(f, x),
    "torch.fx.symbolic_trace": lambda f, *x: torch.fx.symbolic_trace(f),
    "torch.compile": lambda f, *x: torch.compile(f, fullgraph=True, backend="aot_eager"),
    "torch.compile of symbols": lambda f, *x: torch.compile(
        f, fullgraph=True, backend="aot_eager", dynamic=True
    ),
}


@pytest.fixture(params=TRACERS)
def trace(request):
    torch._dynamo.reset()
    return TRACERS[request.param]


def test_traced_functions_compute_with_new_values(trace):
    x = random_tensor(2, 3, 4)
    traced = trace(lambda x: ttlg.transpose(x, AXES) + 1, x)
    for value in (x, x.cos()):
        assert torch.equal(traced(value), own(value) + 1)


def test_traced_functions_write_to_out(trace, request):
    if "symbolic_trace" in request.node.name:
        pytest.skip("its proxies know nothing of their rank and memory")
    x = random_tensor(2, 3, 4)
    out = torch.zeros(4, 2, 3, dtype=torch.float64)
    traced = trace(lambda x, out: ttlg.transpose(x, AXES, out=out) * 2, x, out)
    for value in (x, x.cos()):
        assert torch.equal(traced(value, out), own(value) * 2)
        assert torch.equal(out, own(value))


class Model(torch.nn.Module):
    def forward(self, x):
        return ttlg.transpose(x, AXES).cos()


def test_export():
    x = random_tensor(2, 3, 4)
    program = torch.export.export(Model(), (x,))
    assert "torch.ops.ttlg.transpose.default" in program.graph_module.code
    assert torch.equal(program.module()(x.cos()), own(x.cos()).cos())


def test_compile_runs_without_a_warning_in_a_fresh_process(run_python):
    """Also where the first tensor that ttlg sees is one that Dynamo traces."""
    script = """
        import warnings
        import torch, ttlg
        compiled = torch.compile(
            lambda x: ttlg.transpose(x) + 1, fullgraph=True, backend="aot_eager"
        )
        x = torch.rand(3, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                assert torch.equal(compiled(x), x.T + 1)
    """
    done = run_python(script)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_compile_with_gradients():
    torch._dynamo.reset()
    x = random_tensor(2, 3, 4, requires_grad=True)
    compiled = torch.compile(weighted(ours), fullgraph=True, backend="aot_eager")
    compiled(x).backward()
    check_equal(x.grad, torch.autograd.grad(weighted(own)(x), x)[0])
    gradient = torch.compile(torch.func.grad(weighted(ours)), fullgraph=True, backend="aot_eager")
    assert torch.equal(gradient(x.detach()), x.grad)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compile_by_the_default_backend():
    torch._dynamo.reset()
    x = random_tensor(2, 3, 4)
    assert torch.equal(torch.compile(ours, fullgraph=True)(x), own(x))


def test_meta_and_fake_tensors():
    for requires_grad in (False, True):
        meta = torch.empty(2, 3, 4, device="meta", requires_grad=requires_grad)
        result = ours(meta)
        assert (result.device.type, result.shape) == ("meta", (4, 2, 3))
        assert result.is_contiguous()
    modes = pytest.importorskip("torch._subclasses.fake_tensor")
    with modes.FakeTensorMode() as mode:
        fake = mode.from_tensor(random_tensor(2, 3, 4))
        inside = ours(fake)
    for result in (inside, ours(fake)):
        assert type(result) is modes.FakeTensor
        assert result.shape == (4, 2, 3)


class Tagged(torch.Tensor):
    """A subclass by ``__torch_function__``, as PyTorch's users write them."""


class Logged(torch.Tensor):
    """A subclass by ``__torch_dispatch__`` that has no memory of its own."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, operator, types, arguments=(), keywords=None):
        inner = [each.inner if isinstance(each, cls) else each for each in arguments]
        return cls(operator(*inner, **(keywords or {})))


@pytest.mark.parametrize("cls", [Tagged, Logged])
def test_subclasses_keep_their_class(cls):
    x = random_tensor(2, 3, 4)
    special = x.as_subclass(Tagged) if cls is Tagged else Logged(x)
    result = ours(special)
    assert type(result) is cls
    plain = result.as_subclass(torch.Tensor) if cls is Tagged else result.inner
    check_equal(plain, own(x))
    with pytest.raises(BufferError, match=rf"x is a .*{cls.__name__}, .*; pass x\.as_subclass"):
        ttlg.plan(x.shape, AXES, x.dtype)(special)


def stale_value(write):
    """Write to what autograd has kept for the gradient."""
    kept = torch.zeros(4, 2, 3, dtype=torch.float64)
    weight = random_tensor(4, 2, 3, requires_grad=True)
    loss = (weight * kept).sum()
    write(kept)
    loss.backward()


@pytest.mark.parametrize("kind", ["transpose", "from NumPy", "plan", "plan from NumPy", "operator"])
def test_writes_are_counted(kind):
    x = random_tensor(2, 3, 4)
    plan = ttlg.plan(x.shape, AXES, x.dtype)
    write = {
        "transpose": lambda out: ttlg.transpose(x, AXES, out=out),
        "from NumPy": lambda out: ttlg.transpose(x.numpy(), AXES, out=out),
        "plan": lambda out: plan(x, out),
        "plan from NumPy": lambda out: plan(x.numpy(), out),
        "operator": lambda out: torch.ops.ttlg.transpose_into(x, AXES, out),
    }[kind]
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


@pytest.mark.parametrize(
    ("axes", "error", "match"),
    [
        ((0, 0, 1), ValueError, "axis 0 appears twice"),
        ((0, 1), ValueError, "name each of the 3 axes once"),
        ((0, 1, 3), ValueError, "axis 3 is out of range"),
        ("abc", TypeError, "sequence of 3 integers"),
        ((0.0, 1, 2), TypeError, "0.0 is not an axis number"),
    ],
)
def test_errors_are_those_of_plain_tensors(axes, error, match):
    for transform in (lambda f: f, lambda f: lambda x: torch.func.vmap(f)(x[None])):
        with pytest.raises(error, match=match):
            transform(lambda x: ttlg.transpose(x, axes))(random_tensor(2, 3, 4, requires_grad=True))


def test_streams_are_pytorch_s_own():
    with pytest.raises(ValueError, match=r"stream= .*torch\.cuda\.stream"):
        ttlg.transpose(random_tensor(2, 3, requires_grad=True), stream=1)


def test_out_of_another_layout_is_refused_where_traced():
    x = torch.empty(2, 3, device="meta")
    with pytest.raises(ValueError, match=r"out must have shape \(3, 2\).*not \(2, 3\)"):
        ttlg.transpose(x, out=torch.empty(2, 3, device="meta"))


def test_the_operator_by_its_own_name():
    x = random_tensor(2, 3, 4)
    for axes in (AXES, None):
        expected = ttlg.transpose(x, axes)
        check_equal(ttlg.torch.transpose(x, axes, threads=1), expected)
    check_equal(torch.ops.ttlg.transpose(x, AXES), own(x))


def test_an_old_pytorch_is_told(monkeypatch):
    monkeypatch.delattr(torch.library, "register_vmap")
    monkeypatch.delitem(sys.modules, "ttlg._libraries.torch_operator")
    monkeypatch.delattr(ttlg._libraries, "torch_operator")
    with pytest.raises(BufferError, match=r"needs PyTorch 2\.5 or newer.*x\.detach\(\)"):
        ours(random_tensor(2, 3, 4, requires_grad=True))
    check_equal(ours(random_tensor(2, 3, 4)), own(random_tensor(2, 3, 4)))


def test_ttlg_does_not_import_pytorch():
    script = "import sys, ttlg; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_numpy_arrays_know_nothing_of_all_this():
    x = np.arange(24.0).reshape(2, 3, 4)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(ttlg.transpose(x, AXES), x.transpose(AXES))
