"""PyTorch, CuPy and JAX arrays on the GPU: every dtype and layout, and what is refused."""

import numpy as np
import pytest

import ttlg

from ..python.arrays import bits, random_array
from .moves import contiguous, on_device

torch = pytest.importorskip("torch")

# fmt: off
TORCH_DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
    "float8_e8m0fnu",
]
# fmt: on
CUPY_DTYPES = ["?", "u1", "i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16"]


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def jax():
    library = pytest.importorskip("jax")
    try:
        library.devices("gpu")
    except RuntimeError as error:
        pytest.skip(f"JAX finds no GPU: {error}")
    return library


def torch_bits(x):
    return x.contiguous().flatten().view(torch.uint8).cpu().numpy().tobytes()


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_torch_dtypes(name):
    dtype = getattr(torch, name)
    array = random_array((9, 33, 20), f"V{dtype.itemsize}")
    raw = torch.from_numpy(array.reshape(-1).view(np.uint8)).cuda()
    x = raw.view(dtype).view(9, 33, 20)
    y = ttlg.transpose(x, (2, 0, 1))
    assert (type(y), y.dtype, y.device) == (torch.Tensor, dtype, x.device)
    assert y.is_contiguous()
    assert torch_bits(y) == bits(array.transpose(2, 0, 1))
    assert torch_bits(x) == bits(array)


def test_torch_gradients_and_tracing():
    x = torch.rand((3, 40, 50), device="cuda", requires_grad=True)
    result = ttlg.transpose(x, (2, 0, 1))
    assert torch.equal(result, x.permute(2, 0, 1))
    (result * result).sum().backward()
    assert torch.equal(x.grad, 2 * x)
    plain = x.detach()
    compiled = torch.compile(ttlg.transpose, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(plain, (2, 0, 1)), plain.permute(2, 0, 1))
    assert torch.equal(torch.func.vmap(ttlg.transpose)(plain), plain.mT)


def test_torch_counts_writes():
    kept = torch.zeros((40, 30), device="cuda")
    weight = torch.ones_like(kept, requires_grad=True)
    loss = (weight * kept).sum()
    ttlg.transpose(torch.ones((30, 40), device="cuda"), out=kept)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_jax_jit_leaves_the_work_to_jax(jax):
    x = jax.numpy.arange(12.0).reshape(3, 4)
    assert bool((jax.jit(ttlg.transpose)(x) == x.T).all())
    gradient = jax.grad(lambda x: (ttlg.transpose(x) ** 2).sum())(x)
    assert bool((gradient == 2 * x).all())


@pytest.mark.parametrize("dtype", CUPY_DTYPES)
def test_cupy_dtypes(cupy, dtype):
    array = np.random.default_rng(0).integers(0, 2, (9, 33, 20)).astype(dtype)
    x = cupy.asarray(array)
    y = ttlg.transpose(x, (1, 2, 0))
    assert (type(y), y.dtype) == (cupy.ndarray, array.dtype)
    assert y.flags.c_contiguous
    assert bits(cupy.asnumpy(y)) == bits(array.transpose(1, 2, 0))


def test_cupy_layouts(cupy):
    base = cupy.arange(24 * 30 * 36, dtype="f4").reshape(24, 30, 36)
    for x in (base[::-1], base[:, ::-2, ::-1], base.T, cupy.broadcast_to(base[:, :1], base.shape)):
        assert bool((ttlg.transpose(x) == x.T).all())
        buffer = cupy.full((x.shape[2], 2 * x.shape[1], x.shape[0]), -1, "f4")
        out = buffer[:, ::-2]
        assert ttlg.transpose(x, out=out) is out
        assert bool((out == x.T).all())
        assert bool((buffer[:, ::2] == -1).all())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint16", "complex64"])
def test_jax(jax, dtype):
    x = jax.numpy.arange(9 * 33 * 20).reshape(9, 33, 20).astype(dtype)
    y = ttlg.transpose(x, (2, 0, 1))
    assert isinstance(y, jax.Array)
    assert (y.shape, y.dtype, y.devices()) == ((20, 9, 33), x.dtype, x.devices())
    assert bits(np.asarray(y)) == bits(np.asarray(x).transpose(2, 0, 1))


def test_jax_follows_what_is_still_being_computed(jax):
    x = jax.jit(lambda a: (a @ a) * 0 + jax.numpy.arange(4096.0))(jax.numpy.ones((4096, 4096)))
    y = ttlg.transpose(x)
    z = y + 1  # JAX reads it at once, on streams of its own
    assert bool((z == x.T + 1).all())


def test_host_memory_said_to_be_the_devices_is_refused():
    raw, x = contiguous((64, 96), 4)
    pointer = raw.__array_interface__["data"][0]
    out = torch.zeros((96, 64), dtype=torch.uint32, device="cuda")
    with pytest.raises((ttlg.CudaError, BufferError, ValueError)):
        ttlg.transpose(on_device(x, raw, pointer), out=out)
    assert not bool(out.view(torch.uint8).any())  # PyTorch has no any() for uint32
    usable = torch.arange(12, device="cuda").view(3, 4)
    assert torch.equal(ttlg.transpose(usable), usable.t())


def test_device_that_is_not_there():
    with pytest.raises((ttlg.CudaError, ValueError)):
        ttlg.plan((3, 4), device=f"cuda:{torch.cuda.device_count()}")
