"""PyTorch tensors on the CPU: every dtype and layout, and what is refused."""

import math

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array, random_raw

torch = pytest.importorskip("torch")

EVERY_DTYPE = sorted({str(x) for x in vars(torch).values() if isinstance(x, torch.dtype)})
QUANTIZED = {"torch.qint8", "torch.qint32", "torch.quint8", "torch.quint4x2", "torch.quint2x4"}
OF_BITS = {f"torch.bits{name}" for name in ("8", "16", "1x8", "2x4", "4x2")}


def random_tensor(shape, dtype):
    """Return a tensor of random bytes, and the same bytes as a NumPy array to compare with."""
    raw = torch.from_numpy(random_raw(math.prod(shape) * dtype.itemsize))
    return raw.view(dtype).reshape(shape), random_array(shape, f"V{dtype.itemsize}")


def tensor_bits(x):
    return x.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def check_result(result, expected, dtype):
    assert type(result) is torch.Tensor
    assert result.dtype == dtype
    assert result.device.type == "cpu"
    assert result.shape == expected.shape
    assert result.is_contiguous()
    assert not result.requires_grad
    assert tensor_bits(result) == bits(expected)


def calls_that_read(x):
    """List the functions that look at the elements of `x`, of two axes and not in C order."""
    plan = ttlg.plan(x.shape, dtype=x.dtype)
    out = np.zeros(x.shape[::-1], f"V{x.dtype.itemsize}")
    return [
        ttlg.transpose,
        lambda x: ttlg.swapaxes(x, 0, 1),
        lambda x: ttlg.transpose(x, out=out),
        ttlg.transpose_inplace,
        ttlg.ascontiguousarray,
        lambda x: ttlg.asorder(x, "C", inplace=True),
        ttlg.plan_for,
        plan,
        lambda x: plan(x, out),
        lambda x: ttlg.rearrange(x, "a b -> b a"),
    ]


@pytest.mark.parametrize("name", sorted(OF_BITS & set(EVERY_DTYPE)))
def test_raw_bits_are_refused_with_what_to_pass(name):
    dtype = getattr(torch, name.removeprefix("torch."))
    word = f"torch.uint{8 * dtype.itemsize}"
    raw, array = random_tensor((3, 5), getattr(torch, word.removeprefix("torch.")))
    x = raw.view(dtype)
    message = rf"has dtype {name}, .* pass x\.view\({word}\), and view the result as {name} again$"
    for call in calls_that_read(x):
        with pytest.raises(TypeError, match=f"^x {message}"):
            call(x.t())
    check_result(ttlg.transpose(x.view(raw.dtype)).view(dtype), array.T, dtype)
    with pytest.raises(TypeError, match=f"^out has dtype {name}"):
        ttlg.transpose(raw, out=torch.empty(5, 3, dtype=dtype))
    with pytest.raises(TypeError, match=f"^dst has dtype {name}"):
        ttlg.copyto(x, raw)
    assert torch.equal(x.view(raw.dtype), raw)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_every_quantized_dtype_is_named():
    for name in QUANTIZED & set(EVERY_DTYPE):
        x = torch.empty((2, 3), dtype=getattr(torch, name.removeprefix("torch.")))
        with pytest.raises(TypeError, match=rf"^x is quantized \(dtype {name}\)"):
            ttlg.transpose(x)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.parametrize("name", ["torch.qint8", "torch.quint8", "torch.qint32"])
@pytest.mark.parametrize("scheme", ["tensor", "channel"])
def test_quantized_tensors_are_refused_with_what_to_pass(name, scheme):
    word = {"torch.qint8": torch.int8, "torch.quint8": torch.uint8, "torch.qint32": torch.int32}[
        name
    ]
    before = torch.arange(15, dtype=word).reshape(3, 5)
    # Quantizing itself does not run on every processor.
    if scheme == "tensor":
        x = torch._make_per_tensor_quantized_tensor(before, 0.5, 3)
        assert torch.equal(x.permute(1, 0).contiguous().int_repr(), before.T)  # as advised
    else:
        scales, zeros = torch.full((3,), 0.5), torch.zeros(3, dtype=torch.int64)
        x = torch._make_per_channel_quantized_tensor(before, scales, zeros, 0)
    assert str(x.dtype) == name
    message = (
        rf"^x is quantized \(dtype {name}\), .*; pass x\.int_repr\(\), or call .*contiguous\(\)$"
    )
    for call in calls_that_read(x):
        with pytest.raises(TypeError, match=message):
            call(x)
    with pytest.raises(TypeError, match=message):
        ttlg.asfortranarray(x)
    assert torch.equal(ttlg.transpose(x.int_repr()), before.T)
    with pytest.raises(TypeError, match=r"^out is quantized"):
        ttlg.transpose(before.T, out=x)
    assert torch.equal(x.int_repr(), before)


def test_default_dtype_and_device_do_not_matter():
    x, array = random_tensor((4, 6), torch.float32)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            check_result(ttlg.transpose(x), array.T, torch.float32)
    finally:
        torch.set_default_dtype(torch.float32)


def test_parameters_are_tensors_while_no_graph_is_kept():
    x = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    with torch.no_grad():
        expected = x.T.clone()
        assert torch.equal(ttlg.plan_for(x)(x), expected)
        ttlg.transpose(expected.numpy() + 1, out=x)
        expected += 1
        assert torch.equal(ttlg.transpose_inplace(x), expected)


def test_out_that_requires_grad():
    out = torch.zeros(3, 2, requires_grad=True)
    with pytest.raises(BufferError, match=r"^out requires grad"):
        ttlg.transpose(torch.ones(2, 3), out=out)
    assert not out.detach().any()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
def test_sparse(layout):
    x = torch.eye(3).to_sparse(layout=getattr(torch, layout))
    refusal = rf"x has the layout torch\.{layout}, .*ttlg\.sparse\.transpose\(x, .*x\.to_dense\(\)$"
    for call in (ttlg.transpose, ttlg.ascontiguousarray):
        with pytest.raises(BufferError, match=refusal):
            call(x)
    with pytest.raises(BufferError, match=r"out has the layout .*; pass another out"):
        ttlg.transpose(torch.eye(3), out=x)
    assert torch.equal(ttlg.transpose(x.to_dense()), torch.eye(3))
    assert torch.equal(ttlg.sparse.transpose(x, (1, 0)).to_dense(), torch.eye(3))
