"""JAX's compiled programs on the CPU: they call ttlg's engine, in any thread, process or device."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

jax = pytest.importorskip("jax")
jnp = jax.numpy

from .jax_arrays import AXES, by_jax, by_ttlg, floats
from .test_jax import check_same, random_jax

# As they are called, compiled, and one by one.
TRANSFORMS = [lambda f: f, jax.jit, jax.vmap]


def program_of(function, *arguments):
    """Return the operations of the compiled program, as text."""
    return jax.jit(function).lower(*arguments).compile().as_text().partition("ENTRY")[2]


@pytest.mark.parametrize("dtype", ["int2", "int4", "uint4", "float4_e2m1fn"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_elements_of_less_than_a_byte_are_left_to_jax(transform, dtype):
    if not hasattr(jnp, dtype):
        pytest.skip(f"this JAX has no {dtype}")
    x = jnp.arange(24).reshape(2, 3, 4).astype(dtype)
    result = transform(ttlg.transpose)(x)
    assert result.dtype == dtype
    check_same(result.astype("f4"), transform(jnp.transpose)(x).astype("f4"))
    assert "ttlg_transpose" not in program_of(ttlg.transpose, x)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_random_keys_are_left_to_jax(transform):
    keys = jax.random.split(jax.random.key(0), (2, 3, 4))
    result, expected = (transform(f)(keys) for f in (ttlg.transpose, jnp.transpose))
    check_same(jax.random.key_data(result), jax.random.key_data(expected))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads(threads):
    x, array = random_jax((300, 20, 400), "float32")
    compiled = jax.jit(lambda x: ttlg.transpose(x, AXES, threads=threads))
    ttlg.cache_clear()
    assert bits(np.asarray(compiled(x))) == bits(array.transpose(AXES))
    # The program used the plan for this number.
    assert ttlg.cache_info().misses == 1
    ttlg.plan(x.shape, AXES, x.dtype, threads=threads)
    assert ttlg.cache_info().misses == 1


def test_the_default_number_of_threads_is_the_one_when_it_runs():
    compiled = jax.jit(by_ttlg)
    x = floats((30, 40, 50))
    for threads in (1, 3):
        ttlg.set_num_threads(threads)
        ttlg.cache_clear()
        compiled(x).block_until_ready()
        ttlg.plan(x.shape, AXES, x.dtype, threads=threads)
        assert ttlg.cache_info()[:2] == (1, 1)


def test_many_threads_call_one_function():
    compiled = jax.jit(by_ttlg)
    arrays = [random_array((60, 70, 80), "f4", seed=n) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            for x, y in zip(arrays, pool.map(compiled, arrays), strict=True):
                assert bits(np.asarray(y)) == bits(x.transpose(AXES))


def test_donated_argument():
    expected = by_jax(floats((8, 8, 8)))
    # A donated buffer may be given to the result, which must not be written while it is read.
    compiled = jax.jit(lambda x: by_ttlg(x) + 0, donate_argnums=0)
    x = floats((8, 8, 8))
    check_same(compiled(x), expected)
    assert x.is_deleted()
    check_same(jax.jit(by_ttlg, donate_argnums=0)(floats((8, 8, 8))), expected)


def test_a_concrete_array_inside_a_traced_function():
    constant = floats()
    check_same(jax.jit(lambda y: by_ttlg(constant) * y)(2.0), by_jax(constant) * 2)


def test_export_needs_no_ttlg_where_it_runs():
    x = floats((3, 4, 5))
    symbols = jax.export.symbolic_shape("a, b, 5")
    for shape in (x.shape, symbols):
        exported = jax.export.export(jax.jit(by_ttlg))(jax.ShapeDtypeStruct(shape, x.dtype))
        assert "stablehlo.transpose" in exported.mlir_module()
        assert "@ttlg" not in exported.mlir_module()
        check_same(exported.call(x), by_jax(x))


def test_programs_for_a_gpu_use_xla():
    lowered = jax.jit(by_ttlg).trace(floats()).lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.transpose" in lowered
    assert "@ttlg" not in lowered


def test_several_devices(run_python):
    script = """
        import jax, numpy as np, ttlg
        from jax.sharding import NamedSharding, PartitionSpec as P

        array = np.arange(96, dtype=np.float32).reshape(16, 6)
        first, second = jax.devices()
        elsewhere, here = jax.device_put(array, second), jax.numpy.asarray(array)
        for _ in range(13):  # of which the last ones are programs
            result = ttlg.transpose(elsewhere)
            assert result.device == second
            assert (np.asarray(result) == array.T).all()
            # JAX itself would move an array that is not committed to the default device.
            with jax.default_device(second):
                assert not here.committed
                assert ttlg.transpose(here).device == first
            assert ttlg.transpose(here).device == first

        mesh = jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
        for spec in (P(), P("rows")):
            x = jax.device_put(array, NamedSharding(mesh, spec))
            result = ttlg.transpose(x)
            assert result.sharding.is_equivalent_to(NamedSharding(mesh, P(None, *spec)), 2)
            assert (np.asarray(result) == array.T).all()
        compiled = jax.jit(ttlg.transpose)
        result = compiled(x)
        assert (np.asarray(result) == array.T).all()
        # No device needed another's rows.
        assert result.sharding.spec == P(None, "rows")
        assert "all-gather" not in compiled.lower(x).compile().as_text()
        assert (np.asarray(jax.vmap(ttlg.transpose)(x)) == array).all()

        shards = jax.shard_map(ttlg.transpose, mesh=mesh, in_specs=P("rows"), out_specs=P(None, "rows"))
        assert (np.asarray(jax.jit(shards)(x)) == array.T).all()

        result = compiled(elsewhere)
        assert result.device == second
        assert (np.asarray(result) == array.T).all()
        text = compiled.lower(elsewhere).compile().as_text()
        assert "ttlg_transpose" in text.partition("ENTRY")[2]

        mesh = jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Explicit,))
        with jax.set_mesh(mesh):
            x = jax.device_put(array, NamedSharding(mesh, P("rows")))
            assert jax.typeof(compiled(x)).sharding.spec == P(None, "rows")
            assert (np.asarray(compiled(x)) == array.T).all()
    """
    run_python(script, XLA_FLAGS="--xla_force_host_platform_device_count=2")


@pytest.mark.usefixtures("plain_malloc")
def test_fork_while_programs_run(run_python):
    # Programs look plans up without the GIL, here all the time. JAX itself cannot be used in a
    # forked child.
    done = run_python("""
        import os, threading, warnings
        from concurrent.futures import ThreadPoolExecutor
        import jax, numpy as np, ttlg

        warnings.simplefilter("ignore")
        x = np.random.default_rng(0).integers(0, 256, (5, 5), np.uint8)
        many = jax.jit(lambda x: jax.lax.fori_loop(0, 10**5, lambda _, y: ttlg.transpose(y), x))
        stop = threading.Event()
        def keep_going():
            while not stop.is_set():
                assert (np.asarray(many(x)) == x).all()
        with ThreadPoolExecutor(1) as pool:
            worker = pool.submit(keep_going)
            codes = set()
            for _ in range(100):
                child = os.fork()
                if child == 0:
                    os._exit(0 if np.array_equal(ttlg.transpose(x), x.T) else 1)
                codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            stop.set()
            worker.result()
        print(codes)
    """)
    assert done.stdout == "{0}\n", done.stderr


def test_jax_is_imported_by_the_caller_alone(run_python):
    run_python("""
        import sys
        import numpy as np, ttlg
        ttlg.transpose(np.ones((2, 3)))
        assert "jax" not in sys.modules
        import jax
        ttlg.transpose(np.ones((2, 3)))
        assert "ttlg._libraries.jax_operator" not in sys.modules
        ttlg.transpose(jax.numpy.ones((2, 3)))
        assert "ttlg._libraries.jax_operator" in sys.modules
    """)
