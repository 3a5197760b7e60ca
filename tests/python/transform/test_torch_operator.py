"""ttlg.transform of tensors that PyTorch differentiates or traces, beside PyTorch's own lines."""

import numpy as np
import pytest

import ttlg
import ttlg.images

torch = pytest.importorskip("torch", minversion="2.5")
from torch.fx.experimental.proxy_tensor import make_fx

import ttlg.torch

# PyTorch warns of its own use of what it deprecates, and of what it calls a prototype.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.* is deprecated"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype"),
]

SHAPE, AXES = (2, 3, 4), (-1, 0, 1)
REAL, COMPLEX = torch.float64, torch.complex128
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def random_tensor(*shape, dtype=REAL, **options):
    return torch.rand(*shape, dtype=dtype, generator=torch.manual_seed(0), **options)


def check_close(result, expected):
    """Compare, but for the last bits, which PyTorch's products of complex numbers do not share."""
    torch.testing.assert_close(result, expected, rtol=1e-14, atol=1e-14)


def vectors(axis, dtype=REAL):
    numbers = random_tensor(2, SHAPE[axis], dtype=dtype) + 1
    return {"scale": numbers[0], "offset": numbers[1].real, "axis": axis}


def own(x, dtype=None, scale=None, offset=None, conj=False, axis=0):
    """Compute by PyTorch what the operator does; complex numbers become real by their real parts."""
    column = [-1 if place == axis % x.ndim else 1 for place in range(x.ndim)]
    y = x.conj() if conj else x
    y = y if scale is None else y * (scale.reshape(column) if scale.ndim else scale)
    y = y if offset is None else y + (offset.reshape(column) if offset.ndim else offset)
    y = y.real if y.is_complex() and dtype is not None and not dtype.is_complex else y
    return y.to(dtype or x.dtype).permute(AXES).contiguous()


def ours(x, **options):
    return ttlg.transform(x, AXES, **options)


def along_1(x):
    return ours(x, scale=[1.5, -2, 3], offset=np.array([1, 2, 0.1]), axis=1)


def own_along_1(x):
    numbers = torch.tensor([[1.5, -2, 3], [1, 2, 0.1]], dtype=REAL)
    return own(x, scale=numbers[0], offset=numbers[1], axis=1)


@pytest.mark.parametrize("conj", [False, True])
@pytest.mark.parametrize("result", [REAL, COMPLEX])
@pytest.mark.parametrize("source", [REAL, COMPLEX])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_derivatives(source, result, axis, conj):
    are_pairs = source == result == COMPLEX
    options = {"dtype": result, "conj": conj, **vectors(axis, COMPLEX if are_pairs else REAL)}
    x = random_tensor(*SHAPE, dtype=source, requires_grad=True)
    value = ours(x, **options)
    expected = own(x, **{**options, "conj": conj and are_pairs})
    check_close(value, expected)
    given = random_tensor(*value.shape, dtype=result)
    check_close(*(torch.autograd.grad(each, x, given)[0] for each in (value, expected)))
    function = lambda x: ours(x, **options)
    checks = {"check_forward_ad": True, "check_batched_grad": axis == 1}
    assert torch.autograd.gradcheck(function, x, fast_mode=True, **checks)
    square = lambda x: function(x) ** 2
    assert torch.autograd.gradgradcheck(square, x, fast_mode=True, check_fwd_over_rev=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_gradients_are_converted_back(name):
    x = random_tensor(*SHAPE, dtype=torch.float32, requires_grad=True)
    result = ours(x, dtype=name, scale=0.5)
    result.backward(torch.full_like(result, 3))
    assert result.dtype == getattr(torch, name)
    assert torch.equal(x.grad, torch.full(SHAPE, 1.5))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.func.grad(lambda x: (f(x) ** 3).sum()),
        lambda f: torch.func.hessian(lambda x: (f(x) ** 3).sum()),
        lambda f: torch.func.jacfwd(f),
        lambda f: torch.func.jacrev(f),
        lambda f: lambda x: torch.func.jvp(f, (x,), (x.cos(),))[1],
        lambda f: lambda x: torch.func.vjp(f, x)[1](own(x).cos())[0],
        lambda f: lambda x: torch.func.vmap(lambda y: torch.func.jvp(f, (y,), (y,))[1])(x[None]),
        lambda f: lambda x: torch.func.vmap(torch.func.grad(lambda y: (f(y) ** 2).sum()))(x[None]),
    ],
    ids=["grad", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap-jvp", "vmap-grad"],
)
def test_transforms(transform):
    x = random_tensor(*SHAPE)
    check_close(transform(along_1)(x), transform(own_along_1)(x))


def test_forward_mode():
    x = random_tensor(*SHAPE)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x.cos())
        tangent = torch.autograd.forward_ad.unpack_dual(along_1(dual)).tangent
    assert torch.equal(tangent, own(x.cos(), scale=torch.tensor([1.5, -2, 3]), axis=1))


@pytest.mark.parametrize("dtype", [torch.uint8, REAL])
@pytest.mark.parametrize("in_dim", [0, 1, 2, -1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vmap(in_dim, axis, dtype):
    batch = (random_tensor(5, *SHAPE) * 255).to(dtype).movedim(0, in_dim)
    options = {"dtype": REAL, **vectors(axis)}
    result = torch.func.vmap(lambda x: ours(x, **options), in_dim)(batch)
    assert torch.equal(result, torch.func.vmap(lambda x: own(x, **options), in_dim)(batch))


TRACERS = {
    "make_fx": lambda f, x: make_fx(f)(x),
    "make_fx of symbols": lambda f, x: make_fx(f, tracing_mode="symbolic")(x),
    "torch.jit.trace": lambda f, x: torch.jit.trace(f, (x,)),
    "torch.fx.symbolic_trace": lambda f, x: torch.fx.symbolic_trace(f),
    "torch.compile": lambda f, x: torch.compile(f, fullgraph=True, backend="aot_eager"),
    "torch.compile of symbols": lambda f, x: torch.compile(
        f, fullgraph=True, backend="aot_eager", dynamic=True
    ),
}


@pytest.fixture(params=TRACERS)
def trace(request):
    torch._dynamo.reset()
    return TRACERS[request.param]


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager")


def test_traced_functions_compute_with_new_values(trace):
    x = random_tensor(*SHAPE)
    traced = trace(lambda x: along_1(x) + 1, x)
    for value in (x, x.cos()):
        assert torch.equal(traced(value), own_along_1(value) + 1)


def test_compiled_gradients():
    x = random_tensor(*SHAPE, requires_grad=True)
    compiled(lambda x: (along_1(x) ** 2).sum())(x).backward()
    expected = torch.autograd.grad((own_along_1(x) ** 2).sum(), x)[0]
    check_close(x.grad, expected)


class Model(torch.nn.Module):
    """Has its scale as a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.5, -2, 3]))

    def forward(self, x):
        return ours(x, scale=self.scale, axis=1)


@pytest.mark.parametrize("strict", [False, True])
def test_export(strict):
    x = random_tensor(*SHAPE)
    program = torch.export.export(Model(), (x,), strict=strict)
    assert "torch.ops.ttlg.transform.default" in program.graph_module.code
    assert torch.equal(program.module()(x.cos()), Model()(x.cos()))


def test_meta_and_fake_tensors():
    modes = pytest.importorskip("torch._subclasses.fake_tensor")
    options = {"dtype": "bfloat16", "scale": [1, 2, 3], "axis": 1}
    with modes.FakeTensorMode() as mode:
        fake = mode.from_tensor(random_tensor(*SHAPE))
        inside = ours(fake, **options)
    meta = ours(torch.empty(SHAPE, device="meta"), **options)
    for result in (inside, ours(fake, **options), meta):
        assert (result.shape, result.dtype) == ((4, 2, 3), torch.bfloat16)
    assert type(inside) is modes.FakeTensor
    assert meta.is_meta


def test_opcheck():
    scale = torch.tensor([1.5, -2, 3])
    for dtype, kind in ((REAL, torch.float32), (torch.uint8, REAL)):
        x = random_tensor(*SHAPE).to(dtype).requires_grad_(dtype is REAL)
        arguments = (x, list(AXES), kind, scale, None, False, -2)
        torch.library.opcheck(torch.ops.ttlg.transform.default, arguments)


def test_integers_have_no_derivatives():
    x = random_tensor(*SHAPE, requires_grad=True)
    for result in (ours(x, dtype="uint8", scale=255), ours(x, dtype=torch.bool)):
        assert not result.requires_grad
    function = lambda x: ours(x, dtype="uint8", scale=255)
    value, tangent = torch.func.jvp(function, (x.detach(),), (torch.ones(SHAPE, dtype=REAL),))
    assert value.any()
    assert not tangent.any()


def test_gradients_of_planes_and_pixels():
    images = random_tensor(2, 4, 5, 3, requires_grad=True)
    planes = ttlg.images.to_planes(images, MEAN, STD, REAL)
    back = ttlg.images.to_pixels(planes, MEAN, STD, REAL)
    gradient = torch.autograd.grad(back.sum(), images, retain_graph=True)[0]
    torch.testing.assert_close(gradient, torch.ones_like(images))
    gradient = torch.autograd.grad(planes.sum(), images)[0]
    torch.testing.assert_close(gradient, (1 / torch.tensor(STD, dtype=REAL)).expand(2, 4, 5, 3))


@pytest.mark.parametrize("how", [compiled, torch.func.vmap], ids=["compile", "vmap"])
def test_traced_planes_and_pixels(how):
    images = (random_tensor(2, 4, 5, 3) * 255).to(torch.uint8)
    to_planes = lambda x: ttlg.images.to_planes(x, MEAN, np.array(STD), channels=(2, 1, 0))
    to_pixels = lambda x: ttlg.images.to_pixels(x, MEAN, STD, channels=(2, 1, 0))
    planes = how(to_planes)(images)
    assert torch.equal(planes, to_planes(images))
    assert torch.equal(how(to_pixels)(planes), to_pixels(planes))


def test_compiled_planes_of_several_images():
    images = (random_tensor(2, 4, 5, 3) * 255).to(torch.uint8)
    together = lambda *each: ttlg.images.to_planes(each, MEAN, STD, "float16")
    assert torch.equal(compiled(together)(*images), together(*images))


def test_constants_keep_their_precision():
    x = random_tensor(*SHAPE, requires_grad=True)
    for scale in (0.1, np.array([0.1, 0.2, 0.3])[::-1], np.array([0.1, 1, 2], ">f8")):
        expected = ttlg.transform(x.detach().numpy(), AXES, scale=scale, axis=1)
        assert np.array_equal(ours(x, scale=scale, axis=1).detach().numpy(), expected)
    bfloat16 = torch.tensor([0.1, 1, 2], dtype=torch.bfloat16)
    assert torch.equal(ours(x, scale=bfloat16, axis=1), own(x, scale=bfloat16, axis=1))


VARIABLE = {
    "grad": lambda f, s: f(s.requires_grad_()),
    "func.grad": lambda f, s: torch.func.grad(lambda s: f(s).sum())(s),
    "jvp": lambda f, s: torch.func.jvp(f, (s,), (s,)),
    "vmap": lambda f, s: torch.func.vmap(f)(s[None]),
    "compile": lambda f, s: compiled(f)(s.requires_grad_()),
}


@pytest.mark.parametrize("name", ["scale", "offset"])
@pytest.mark.parametrize("way", VARIABLE)
def test_refuses_variable_constants(way, name):
    for x in (random_tensor(*SHAPE), random_tensor(*SHAPE, requires_grad=True)):
        error = Exception if way == "compile" else BufferError
        with pytest.raises(error, match=r"multiply or add by PyTorch instead, or pass .*detach"):
            VARIABLE[way](lambda s, x=x: ours(x, **{name: s}, axis=0), torch.ones(2))


def test_parameters_are_constants_where_nothing_is_differentiated():
    x, scale = random_tensor(*SHAPE), torch.nn.Parameter(torch.tensor([1.0, 2]))
    with torch.no_grad():
        expected = own(x, scale=scale, axis=0)
        assert torch.equal(ours(x, scale=scale, axis=0), expected)
        assert torch.equal(ttlg.torch.transform(x, AXES, scale=scale, axis=0), expected)


def test_refuses():
    x = random_tensor(*SHAPE, requires_grad=True)
    out = torch.zeros(4, 2, 3, dtype=REAL)
    with pytest.raises(BufferError, match=r"leave out= away, or pass .*x\.detach\(\)"):
        ours(x, out=out, scale=2)
    with pytest.raises(Exception, match="leave out= away"):
        compiled(lambda x: ours(x, out=out, scale=2))(x.detach())
    with pytest.raises(ValueError, match=r"torch\.cuda\.stream"):
        ours(x, scale=2, stream=1)
    meta = torch.empty(SHAPE, device="meta")
    for options in ({"scale": [1, 2]}, {"offset": [1, 2], "axis": 1}, {"scale": [[1, 2]]}):
        with pytest.raises(ValueError, match="pass a number, or by axis="):
            ours(meta, **options)
    with pytest.raises(ValueError, match="axis 3 is out of range"):
        ours(meta, scale=[1, 2], axis=3)
    for options in ({"dtype": "uint64"}, {"dtype": "nonsense"}):
        with pytest.raises(TypeError):
            ours(meta, **options)
    with pytest.raises(BufferError, match="nested"):
        ttlg.transform(torch.nested.nested_tensor([torch.ones(3, 4)] * 2), scale=2)
