"""JAX arrays on the CPU: immutable, so results are written before JAX takes them over."""

import numpy as np
import pytest

import ttlg
from ttlg import _libraries

from ..arrays import bits, random_array

jax = pytest.importorskip("jax")
jnp = jax.numpy

# fmt: off
DTYPES = [
    "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32",
    "complex64", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
]
# fmt: on


def random_jax(shape, dtype):
    """Return a JAX array of random bytes, and the same bytes as a NumPy array."""
    array = random_array(shape, np.dtype(getattr(jnp, dtype)))
    if array.dtype == bool:
        array = array.view(np.uint8) % 2 == 1
    return jax.device_put(array), array


def check_same(got, expected):
    """Compare pytrees of arrays bit for bit."""
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert x.shape == y.shape
        assert x.dtype == y.dtype
        assert bits(np.asarray(x)) == bits(np.asarray(y))


def check_result(result, x, expected):
    assert isinstance(result, jax.Array)
    assert result.dtype == x.dtype
    assert result.device == x.device
    assert result.shape == expected.shape
    assert bits(np.asarray(result)) == bits(expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    if not hasattr(jnp, dtype):
        pytest.skip(f"this JAX has no {dtype}")
    x, array = random_jax((5, 3, 7), dtype)
    check_result(ttlg.transpose(x, (2, 0, 1)), x, array.transpose(2, 0, 1))
    check_result(ttlg.permute_dims(x, (1, 0, 2)), x, array.transpose(1, 0, 2))
    assert bits(np.asarray(x)) == bits(array)


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
def test_64_bit_dtypes_survive_the_switch_to_32_bits(dtype):
    with jax.enable_x64(True):
        x, array = random_jax((4, 6), dtype)
        check_result(ttlg.transpose(x), x, array.T)
    check_result(ttlg.transpose(x), x, array.T)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0), (2, 0, 3), (1, 5, 1), (1, 1, 1, 1)])
def test_empty_and_unit_axes(shape):
    x, array = random_jax(shape, "float32")
    check_result(ttlg.transpose(x), x, array.T)


def test_large():
    x, array = random_jax((300, 20, 400), "float32")
    check_result(ttlg.transpose(x, (2, 0, 1), threads=2), x, array.transpose(2, 0, 1))


def test_plan():
    x, array = random_jax((4, 5, 6), "bfloat16")
    check_result(ttlg.plan(x.shape, (2, 0, 1), x.dtype)(x), x, array.transpose(2, 0, 1))


def test_result_works_in_jax():
    x = jnp.arange(12.0).reshape(3, 4)
    result = ttlg.transpose(x)
    assert float(jax.jit(lambda y: (y @ x).sum())(result)) == float((x.T @ x).sum())


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "float8_e5m2", "float32", "complex64"])
def test_result_is_taken_over_without_a_copy(dtype):
    x, _ = random_jax((30, 40), dtype)
    library = _libraries.library_of(x)
    source = library.view_input(x, None)
    buffer = library.empty(x, source, (40, 30))
    result = library.deliver(x, source, buffer)
    assert result.unsafe_buffer_pointer() == buffer.ctypes.data


def test_out_is_refused_because_jax_arrays_do_not_change():
    x = jnp.arange(6.0).reshape(2, 3)
    out = jnp.zeros((3, 2))
    with pytest.raises(ValueError, match=r"out .*read-only; pass a writable array"):
        ttlg.transpose(x, out=out)
    with pytest.raises(ValueError, match=r"out .*read-only"):
        ttlg.plan((2, 3))(np.ones((2, 3), "f4"), out)
    assert not out.any()


def test_deleted_array():
    x = jnp.ones((2, 3))
    x.delete()
    with pytest.raises((ValueError, RuntimeError), match="deleted"):
        ttlg.transpose(x)


def test_several_devices(run_python):
    script = """
        import jax, numpy as np, ttlg
        array = np.arange(16, dtype=np.float32).reshape(4, 4)
        second = jax.device_put(array, jax.devices()[1])
        result = ttlg.transpose(second)
        assert result.device == jax.devices()[1]
        assert (np.asarray(result) == array.T).all()
        mesh = jax.make_mesh((2,), ("rows",))
        rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
        try:
            ttlg.transpose(jax.device_put(array, rows))
        except BufferError as error:
            print(error)
    """
    done = run_python(script, XLA_FLAGS="--xla_force_host_platform_device_count=2")
    assert done.returncode == 0, done.stderr
    assert "shard" in done.stdout
