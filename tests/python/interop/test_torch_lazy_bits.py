"""Tensors whose conjugate or negative bit is set are read as the values that they stand for."""

import itertools

import numpy as np
import pytest

import ttlg

torch = pytest.importorskip("torch")

SHAPE = (2, 3, 4)
AXES = list(itertools.permutations(range(3)))


def values(dtype=torch.complex64):
    parts = torch.arange(48.0, dtype=torch.float64).reshape(*SHAPE, 2) - 20
    return torch.view_as_complex(parts).to(dtype)


LAZY = {
    "conj": lambda z: z.conj(),
    "neg": lambda z: z.conj().imag,
    "permuted": lambda z: z.conj().permute(2, 0, 1),
    "stepped": lambda z: z.conj()[:, ::2, ::3],
    "expanded": lambda z: z.conj()[:, :1].expand(-1, 3, -1),
    "negative and stepped": lambda z: z.conj().imag[1:, :, ::2],
    "empty": lambda z: z.conj()[:, :0],
    "window": lambda z: z.conj().imag[:, 1:],
}


def is_lazy(x):
    return x.is_conj() or x.is_neg()


def check(result, expected):
    """Compare a tensor without lazy bits with one that PyTorch has resolved."""
    assert torch.equal(result, expected)
    assert not is_lazy(result)
    assert result.is_contiguous()


@pytest.fixture(params=LAZY)
def lazy(request):
    x = LAZY[request.param](values())
    assert is_lazy(x)
    return x


def resolved(x):
    return x.resolve_conj().resolve_neg()


@pytest.mark.parametrize("axes", AXES)
def test_every_function_reads_what_pytorch_reads(lazy, axes):
    before = resolved(lazy).clone()
    expected = resolved(lazy.permute(axes).contiguous())
    check(ttlg.transpose(lazy, axes), expected)
    check(ttlg.transpose(lazy, axes, threads=1), expected)
    check(ttlg.permute_dims(lazy, axes), expected)
    check(ttlg.moveaxis(lazy, axes, (0, 1, 2)), expected)
    plan = ttlg.plan_for(lazy, axes)
    check(plan(lazy), expected)
    check(ttlg.plan(lazy.shape, axes, lazy.dtype)(resolved(lazy).contiguous().clone()), expected)
    out = torch.zeros_like(expected)
    check(ttlg.transpose(lazy, axes, out=out), expected)
    array = np.zeros(expected.shape, expected.numpy().dtype)
    assert ttlg.transpose(lazy, axes, out=array) is array
    assert (array == expected.numpy()).all()
    check(plan(lazy, out.zero_()), expected)
    for laid_out in (
        ttlg.ascontiguousarray(lazy.permute(axes)),
        ttlg.asfortranarray(lazy.permute(axes[::-1])).permute(2, 1, 0),
    ):
        assert laid_out.is_contiguous()
        assert torch.equal(laid_out, expected)
    moved = torch.zeros_like(expected).permute([axes.index(axis) for axis in range(3)])
    ttlg.copyto(moved, lazy)
    assert torch.equal(moved, before)
    assert torch.equal(resolved(lazy), before)


def test_an_array_in_the_wanted_order_is_returned_as_it_is():
    x = values().conj()
    assert ttlg.ascontiguousarray(x) is x
    assert x.contiguous() is x  # as PyTorch does


def test_rearranged(lazy):
    pytest.importorskip("einops", minversion="0.7")
    check(ttlg.rearrange(lazy, "a b c -> c (a b)"), resolved(lazy).permute(2, 0, 1).flatten(1))
    check(ttlg.rearrange(lazy, "a b c -> a b c"), resolved(lazy).contiguous())
    stacked = torch.stack([resolved(lazy)] * 2)
    check(ttlg.rearrange([lazy] * 2, "n a b c -> c b a n"), stacked.permute(3, 2, 1, 0))
    check(ttlg.rearrange([lazy] * 2, "n a b c -> n a b c"), stacked)
    flat = lazy.reshape(-1)
    straight = resolved(lazy).reshape(lazy.shape).permute(2, 1, 0).reshape(-1)
    check(ttlg.transpose(flat, shape=lazy.shape), straight)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
@pytest.mark.parametrize("dtype", [torch.complex32, torch.complex64, torch.complex128])
@pytest.mark.parametrize("name", LAZY)
def test_every_complex_dtype(dtype, name):
    x = LAZY[name](values(dtype))
    expected = resolved(x.permute(2, 1, 0)).contiguous()
    result = ttlg.transpose(x)
    assert result.dtype == expected.dtype
    assert torch.equal(result.flatten().view(torch.uint8), expected.flatten().view(torch.uint8))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients(lazy, mode):
    with mode():
        check(ttlg.transpose(lazy.detach().requires_grad_()), resolved(lazy).permute(2, 1, 0))


@pytest.mark.parametrize("axes", AXES)
def test_in_place_elements_move_and_bits_stay(axes):
    for dtype in (torch.complex64, torch.complex128):
        z = values(dtype)
        x = z.conj()
        expected = resolved(x).permute(axes)
        version = x._version
        result = ttlg.transpose_inplace(x, axes)
        assert result.is_conj()
        assert torch.equal(result, expected)
        assert result.data_ptr() == x.data_ptr() == z.data_ptr()
        assert torch.equal(z.view(expected.shape).conj(), expected)
        assert x._version > version
        x = values(dtype).conj()
        plan = ttlg.plan_for(x, axes, inplace=True)
        assert torch.equal(plan(x), expected)


def test_in_place_with_the_negative_bit():
    memory = torch.arange(24.0)
    x = torch._neg_view(memory).view(SHAPE)
    expected = resolved(x).permute(2, 0, 1)
    result = ttlg.transpose_inplace(x, (2, 0, 1))
    assert result.is_neg()
    assert torch.equal(result, expected)
    assert torch.equal(memory, -expected.flatten())


def test_orders_in_place():
    x = values().conj()
    expected = resolved(x)
    result = ttlg.asorder(x, "F", inplace=True)
    assert result.is_conj()
    assert torch.equal(result, expected)
    assert result.stride() == (1, 2, 6)


def lazy_output(name):
    zeros = torch.zeros(4, 3, 2, dtype=torch.complex64).conj()
    return zeros if name == "conjugate" else zeros.imag


@pytest.mark.parametrize("bit", ["conjugate", "negative"])
def test_outputs_are_refused(bit):
    out = lazy_output(bit)
    x = torch.ones(2, 3, 4, dtype=out.dtype)
    message = rf"has its {bit} bit set, and .* a fresh tensor instead, .*\.copy_\(\.\.\.\)$"
    plan = ttlg.plan_for(x)
    for call in (
        lambda x: ttlg.transpose(x, out=out),
        lambda x: plan(x, out),
        lambda x: ttlg.plan_for(x, out=out),
        lambda x: ttlg.moveaxis(x, (0, 1, 2), (2, 1, 0), out=out),
        lambda x: ttlg.einsum("abc->cba", x, out=out),
    ):
        for each in (x, x.numpy()):
            with pytest.raises(BufferError, match="^(out|dst) " + message):
                call(each)
    with pytest.raises(BufferError, match=rf"^dst {message}"):
        ttlg.copyto(out, x.permute(2, 1, 0))
    assert not resolved(out).any()


@pytest.mark.slow
def test_compiled():
    pytest.importorskip("torch", minversion="2.5")

    def compiled(function):
        return torch.compile(function, fullgraph=True, backend="aot_eager")

    transposed = compiled(lambda x, out: ttlg.transpose(x, out=out))
    for bit in ("conjugate", "negative"):
        x = values().conj() if bit == "conjugate" else values().conj().imag
        out = torch.zeros(4, 3, 2, dtype=x.dtype)
        transposed(x, out)
        check(out, resolved(x).permute(2, 1, 0))
        refused = lazy_output(bit)
        with pytest.raises(Exception, match=f"out has its {bit} bit set"):
            transposed(torch.ones(2, 3, 4, dtype=x.dtype), refused)
        assert not resolved(refused).any()
    x = values().conj()
    with pytest.raises(Exception, match=r"x has its conjugate or negative bit set, which torch\."):
        compiled(ttlg.transpose_inplace)(x)
    assert torch.equal(x, values().conj())
