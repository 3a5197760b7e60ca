"""JAX arrays on the CPU: immutable, so results are written before JAX takes them over."""

import numpy as np
import pytest

import ttlg
from ttlg import _libraries

from ..arrays import bits
from .kinds import random_of

jax = pytest.importorskip("jax")
jnp = jax.numpy


def random_jax(shape, dtype):
    """Return a JAX array of random bytes, and the same bytes as a NumPy array."""
    array = random_of(shape, dtype)
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


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "float8_e5m2", "float32", "complex64"])
def test_result_is_taken_over_without_a_copy(dtype):
    x, _ = random_jax((30, 40), dtype)
    library = _libraries.library_of(x)
    source = library.view_input(x, None)
    buffer = library.empty(x, source, (40, 30))
    result = library.wrap_result(x, source, buffer)
    assert result.unsafe_buffer_pointer() == buffer.ctypes.data


def test_deleted_array():
    x = jnp.ones((2, 3))
    x.delete()
    with pytest.raises((ValueError, RuntimeError), match="deleted"):
        ttlg.transpose(x)


# Layouts of repeated calls get a compiled program

CALLS = 13  # enough for a program, and for calls of it


@pytest.fixture
def direct_calls(spy):
    """List the calls that are made without a program."""
    operator = pytest.importorskip("ttlg._libraries.jax_operator")
    operator._choices.cache_clear()
    return spy(operator._MEMORY, "move_to_new", lambda _, x, *arguments: x)


def test_a_program_is_compiled_for_the_layout_of_repeated_calls(direct_calls):
    x, array = random_jax((5, 3, 7), "float32")
    for _ in range(CALLS):
        check_result(ttlg.transpose(x, (2, 0, 1)), x, array.transpose(2, 0, 1))
    assert len(direct_calls) == 10
    other, array = random_jax((5, 3, 7), "int32")
    check_result(ttlg.transpose(other, (2, 0, 1)), other, array.transpose(2, 0, 1))
    assert len(direct_calls) == 11


def test_calls_without_a_program_leave_threads_to_the_device(spy):
    operator = pytest.importorskip("ttlg._libraries.jax_operator")
    operator._choices.cache_clear()
    asked = spy(operator._MEMORY, "move_to_new", lambda *given: given[-1])
    x, _ = random_jax((5, 3, 7), "float32")
    ttlg.transpose(x)
    ttlg.transpose(x, threads=2)
    assert asked == [None, 2]  # a GPU takes no number


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
def test_64_bit_dtypes_survive_the_switch_to_32_bits(direct_calls, dtype):
    with jax.enable_x64(True):
        x, array = random_jax((4, 6), dtype)
        check_result(ttlg.transpose(x), x, array.T)
    for _ in range(CALLS):
        check_result(ttlg.transpose(x), x, array.T)
    assert len(direct_calls) < CALLS


@pytest.mark.parametrize("axes", [None, (2, 1, 0), (-1, 1, 0), [2, 1, 0], np.array([2, 1, 0])])
def test_axes_of_many_kinds_by_a_program(direct_calls, axes):
    x, array = random_jax((5, 3, 7), "uint8")
    for _ in range(CALLS):
        check_result(ttlg.transpose(x, axes), x, array.T)
    check_result(ttlg.transpose(x, iter([2, 1, 0])), x, array.T)
    assert len(direct_calls) < CALLS


def test_wrong_arguments_once_there_is_a_program(direct_calls):
    x, _ = random_jax((4, 6), "float32")
    for _ in range(CALLS):
        ttlg.transpose(x, (1, 0))
    for axes in [(1.0, 0.0), (1, 1), (1,), "10", (np.ones(1), 0), ([1], 0), (None, 0)]:
        with pytest.raises((TypeError, ValueError)) as by_numpy:
            ttlg.transpose(np.ones((4, 6)), axes)
        with pytest.raises(by_numpy.type) as by_jax:
            ttlg.transpose(x, axes)
        assert str(by_jax.value) == str(by_numpy.value)
    with pytest.raises(ValueError, match="threads must be from 1"):
        ttlg.transpose(x, (1, 0), threads=0)
    with pytest.raises(ValueError, match="stream= is for arrays on a CUDA device"):
        ttlg.transpose(x, (1, 0), stream=1)
    x.delete()
    with pytest.raises(ValueError, match="x has been deleted or donated"):
        ttlg.transpose(x, (1, 0))


def test_large_arrays_are_moved_without_a_program(direct_calls):
    x, array = random_jax((300, 20, 400), "float32")
    for _ in range(CALLS):
        check_result(ttlg.transpose(x, (2, 0, 1), threads=2), x, array.transpose(2, 0, 1))
    assert len(direct_calls) == CALLS


def test_threads_of_a_program(direct_calls):
    x, _ = random_jax((300, 20, 100), "uint8")
    for _ in range(CALLS):
        ttlg.transpose(x, threads=3)
    assert len(direct_calls) < CALLS
    ttlg.cache_clear()
    with ttlg.threads(1):
        ttlg.transpose(x).block_until_ready()
    ttlg.plan(x.shape, None, x.dtype, threads=1)
    assert ttlg.cache_info()[:2] == (1, 1)


def test_a_result_is_committed_to_its_device_as_x_is(direct_calls):
    compiled = jax.jit(lambda x: x + 1)
    for x in (jnp.ones((3, 3)), jax.device_put(jnp.ones((3, 3)), jax.devices()[0])):
        compiled(x)
        programs = compiled._cache_size()
        for _ in range(CALLS):
            result = ttlg.transpose(x)
            assert result.committed == x.committed
            compiled(result)
        assert compiled._cache_size() == programs
    assert len(direct_calls) < CALLS * 2


def test_nothing_is_compiled_where_jax_must_not(direct_calls):
    x, array = random_jax((5, 3, 7), "float32")
    with jax.disable_jit():
        for _ in range(CALLS):
            check_result(ttlg.transpose(x), x, array.T)
    assert len(direct_calls) == CALLS
