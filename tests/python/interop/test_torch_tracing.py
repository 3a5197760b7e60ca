"""Tensors that PyTorch traces, and subclasses: what was traced computes with new values."""

import sys

import pytest

import ttlg

torch = pytest.importorskip("torch", minversion="2.5")
from torch.fx.experimental.proxy_tensor import make_fx

import ttlg.torch

from .tensors import AXES, WARNINGS_OF_PYTORCH, check_equal, ours, own, random_tensor, weighted

pytestmark = WARNINGS_OF_PYTORCH


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


@pytest.mark.parametrize("axes", [{0, 1, 2}, frozenset((2, 0, 1)), {2: 0, 0: 0, 1: 0}])
def test_traced_axes_need_an_order(axes):
    x = random_tensor(2, 3, 4)
    with pytest.raises(Exception, match="must be a sequence"):
        torch.compile(lambda x: ttlg.transpose(x, axes), fullgraph=True, backend="aot_eager")(x)
    with pytest.raises(TypeError, match="must be a sequence"):
        make_fx(lambda x: ttlg.transpose(x, axes))(x)


# Inductor runs the C++ compiler each time.
COMPILATIONS = [
    *(("aot_eager", dynamic, order) for dynamic in (False, True) for order in "CF"),
    pytest.param("inductor", False, "F", marks=pytest.mark.slow),
    pytest.param("inductor", True, "C", marks=pytest.mark.slow),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("backend", "dynamic", "order"), COMPILATIONS)
def test_compiled_in_place(backend, dynamic, order):
    """The result, what is computed with it and the memory of x are those of the eager call."""

    def function(x, scale):
        x.add_(1)
        y = ttlg.transpose_inplace(x, AXES, threads=1, workspace="1M")
        y.mul_(scale)
        return y, y + 1

    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend=backend, dynamic=dynamic)
    for shape in ((2, 3, 4), (5, 6, 7)):
        x = random_tensor(*shape)
        x = x if order == "C" else x.permute(2, 1, 0).contiguous().permute(2, 1, 0)
        eager, traced = x.clone(), x.clone()
        version = traced._version
        expected = function(eager, 3)
        result = compiled(traced, 3)
        for given, wanted in zip(result, expected, strict=True):
            assert torch.equal(given, wanted)
            assert given.stride() == wanted.stride()
        assert result[0].data_ptr() == traced.data_ptr()
        assert torch.equal(traced, eager)
        assert traced._version > version


def test_compiled_in_place_refuses():
    def compiled(*arguments, **options):
        torch._dynamo.reset()
        function = lambda x: ttlg.transpose_inplace(x, *arguments, **options)
        return torch.compile(function, fullgraph=True, backend="aot_eager")

    x = random_tensor(4, 6)
    before = x.clone()
    with pytest.raises(Exception, match="does not fill its memory in C or Fortran order"):
        compiled()(x[:, ::2])
    with pytest.raises(Exception, match="appears twice"):
        compiled((0, 0))(x)
    with pytest.raises(Exception, match="requires grad, which a transposition in place cannot"):
        compiled()(x.clone().requires_grad_())
    assert torch.equal(x, before)


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
    done = run_python("""
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
    """)
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


@pytest.mark.parametrize(
    ("shape", "dtype", "device"),
    [((2, 3), "float32", "meta"), ((3, 2), "float64", "meta"), ((3, 2), "float32", "cpu")],
)
def test_out_of_another_layout_is_refused_where_traced(shape, dtype, device):
    x = torch.empty(2, 3, device="meta")
    with pytest.raises(ValueError, match=rf"out must have .*not .*torch\.{dtype} and {device}"):
        ttlg.transpose(x, out=torch.empty(shape, dtype=getattr(torch, dtype), device=device))


def test_out_is_refused_where_a_traced_tensor_is_differentiated():
    x = torch.empty(2, 3, device="meta", requires_grad=True)
    out = torch.empty(3, 2, device="meta")
    with pytest.raises(BufferError, match="x requires grad, which out cannot carry"):
        ttlg.transpose(x, out=out)
    with torch.no_grad():
        assert ttlg.transpose(x, out=out) is out


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
