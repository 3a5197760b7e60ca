"""One library's array into another's: the bits arrive, and dtypes must be the same."""

import itertools

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array
from .producer import Producer

# DLPack's codes for what NumPy itself does not have.
EXTENSION_CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
DTYPES = ["bool", "uint8", "int32", "float16", "float32", "float64", "complex64", *EXTENSION_CODES]


def numpy_dtype(name):
    if name in EXTENSION_CODES:
        return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    return np.dtype(name)


def as_numpy(array):
    return array


def as_torch(array):
    torch = pytest.importorskip("torch")
    if array.dtype.name not in EXTENSION_CODES:
        return torch.from_numpy(array)
    borrowed = torch.from_numpy(array.view(f"u{array.itemsize}"))
    return borrowed.view(getattr(torch, array.dtype.name))


def as_producer(array):
    if array.dtype.name not in EXTENSION_CODES:
        return Producer(array)
    code = EXTENSION_CODES[array.dtype.name]
    return Producer(array.view(f"u{array.itemsize}"), dtype=(code, 8 * array.itemsize, 1))


def as_jax(array):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return jax.device_put(array)


WRITABLE = [as_numpy, as_torch, as_producer]


def random_of(shape, name, seed=0):
    if name == "bool":  # the other bytes are no bools to JAX
        return random_array(shape, "u1", seed) % 2 == 1
    return random_array(shape, numpy_dtype(name), seed)


@pytest.mark.parametrize("into", WRITABLE)
@pytest.mark.parametrize("of", [*WRITABLE, as_jax])
@pytest.mark.parametrize("name", DTYPES)
def test_any_library_into_any_other(of, into, name):
    array = random_of((5, 3, 7), name)
    written = np.zeros((7, 5, 3), array.dtype)
    out = into(written)
    assert ttlg.transpose(of(array), (2, 0, 1), out=out) is out
    assert bits(written) == bits(array.transpose(2, 0, 1))


@pytest.mark.parametrize("into", WRITABLE)
@pytest.mark.parametrize("of", [*WRITABLE, as_jax])
@pytest.mark.parametrize(
    ("name", "other"),
    [
        *itertools.permutations(["float16", "bfloat16"]),
        *itertools.permutations(["float8_e4m3fn", "float8_e5m2"]),
        *itertools.permutations(["bool", "uint8"]),
        *itertools.permutations(["int32", "float32"]),
    ],
)
def test_other_dtypes_of_the_same_size_are_refused(of, into, name, other):
    x = of(random_of((4, 6), name))
    written = random_of((6, 4), other, seed=1)
    before = bits(written)
    with pytest.raises(TypeError, match=f"out has dtype {other}, but x has {name}"):
        ttlg.transpose(x, out=into(written))
    assert bits(written) == before


@pytest.mark.parametrize("into", WRITABLE)
@pytest.mark.parametrize("of", WRITABLE)
def test_overlap_is_seen_across_libraries(of, into):
    array = np.arange(36, dtype=np.int32).reshape(6, 6)
    with pytest.raises(ValueError, match="overlaps"):
        ttlg.transpose(of(array), out=into(array))
    with pytest.raises(ValueError, match="overlaps"):
        ttlg.transpose(of(array[:3, :2]), out=into(array[1:3, 1:4]))
    assert np.array_equal(array, np.arange(36).reshape(6, 6))
    # Neighbours in one buffer that share no element.
    ttlg.transpose(of(array[:3, :3]), out=into(array[3:, 3:]))
    assert np.array_equal(array[3:, 3:], array[:3, :3].T)
