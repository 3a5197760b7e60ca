"""The kinds of arrays that ttlg reads or makes, one object each, for what all have in common."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ..arrays import random_array
from .producer import READ_ONLY, Producer, exchanging

# DLPack's codes for what NumPy itself does not have.
EXTENSION_CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
NUMPY_DTYPES = ("bool", "uint8", "int32", "float16", "float32", "float64", "complex64")
DTYPES = (*NUMPY_DTYPES, *EXTENSION_CODES)
WIDE = ("float64", "int64", "uint64", "complex128")
JAX_DTYPES = (
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16"),
    *("float32", "complex64", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
    *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)


def random_of(shape, name, seed=0):
    """Return an ndarray of random bytes whose dtype is NumPy's or one of ml_dtypes."""
    if name == "bool":  # the other bytes are no bools to JAX
        return random_array(shape, "u1", seed) % 2 == 1
    if name not in np.sctypeDict:
        name = getattr(pytest.importorskip("ml_dtypes"), name, None)
    return random_array(shape, name, seed) if name else pytest.skip("needs a newer ml_dtypes")


@dataclass(frozen=True)
class Kind:
    """How arrays are made of ndarrays, and read as ndarrays with the same bits."""

    make: Callable[[np.ndarray, str], Any]  # from elements of the right size, and a dtype's name
    read: Callable[[Any], np.ndarray] = np.asarray
    dtypes: tuple[str, ...] = NUMPY_DTYPES
    random: Callable[..., np.ndarray] = random_of
    result: type | None = None  # of what is new, where that is not the type of x
    allocates: bool = True
    borrows: bool = True  # what is made shares the memory of the ndarray
    writable: bool = True
    refuses_writes: bool = False  # to what is made of a read-only ndarray
    plans: bool = True
    orders: bool = True  # there is an order of axes to choose, and elements move in place
    call: Callable[[Callable, Any], Any] = lambda function, x: function(x)


def torch_array(array, name):
    torch = pytest.importorskip("torch")
    word = {1: "i1", 2: "i2", 4: "i4", 8: "i8", 16: "c16"}[array.itemsize]
    return torch.from_numpy(array.view(word)).view(getattr(torch, name))


def read_torch(x):
    import torch

    words = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return x.view(words.get(x.dtype.itemsize, x.dtype)).numpy()


def random_for_torch(shape, name, seed=0):
    dtype = getattr(pytest.importorskip("torch"), name)
    return random_array(shape, f"V{dtype.itemsize}", seed)


def torch_dtypes():
    if importlib.util.find_spec("torch") is None:
        return DTYPES
    import torch

    names = (name for name, value in vars(torch).items() if isinstance(value, torch.dtype))
    names = {str(getattr(torch, name)).removeprefix("torch.") for name in names}
    return tuple(sorted(x for x in names if not x.startswith(("qint", "quint", "bits"))))


def jax_array(array, _name):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return jax.device_put(array)


def call_compiled(function, x):
    """Call a function as a program of JAX, whose transpositions must be ttlg's."""
    import jax

    with jax.enable_x64(x.dtype.name in WIDE):
        program = jax.jit(function).lower(x).compile()
        if x.size > max(x.shape, default=1):
            assert 'custom_call_target="ttlg_transpose"' in program.as_text().partition("ENTRY")[2]
        return program(x)


PRODUCED = []  # must not go before what borrows from it, which the traceback of an error holds


def produced(array, name, make=Producer):
    """Return a producer that tells the dtype and whether the memory is read-only."""
    fields = {"flags": 0 if array.flags.writeable else READ_ONLY}
    if name in EXTENSION_CODES:
        array = array.view(f"u{array.itemsize}")
        fields["dtype"] = EXTENSION_CODES[name], 8 * array.itemsize, 1
    PRODUCED.append(make(array, **fields))
    return PRODUCED[-1]


class Namespace:
    """The part of an array API namespace that allocates, and that views."""

    allocated = 0

    @classmethod
    def empty(cls, shape, *, dtype=None, device=None):
        assert device == "host"
        cls.allocated += 1
        return Array(np.full(shape, 0xA5, f"u{dtype.itemsize}").view(dtype))

    @staticmethod
    def flip(x, /, *, axis=None):
        return Array(np.flip(x.array, axis))

    @staticmethod
    def permute_dims(x, /, axes):
        return Array(np.transpose(x.array, axes))


class Array:
    """An array of a library that ttlg has never heard of: the standard and DLPack are enough."""

    device = "host"

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __array_namespace__(self, *, api_version=None):
        return Namespace

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class WithInterface:
    """Has NumPy's array interface, and nothing else."""

    def __init__(self, values):
        self.values = values
        self.__array_interface__ = values.__array_interface__


def data_array(array, _name):
    xarray = pytest.importorskip("xarray")
    return xarray.DataArray(array, dims=[f"axis {axis}" for axis in range(array.ndim)])


def of_buffer(make, **fields):
    """Return a kind that NumPy itself views, so that results are ndarrays."""
    return Kind(lambda array, _: make(array), result=np.ndarray, **fields)


EXCHANGING = exchanging()
COPIED = {"borrows": False}
NEVER_WRITTEN = {"writable": False, "orders": False, **COPIED}
UNKNOWN = {"orders": False, "refuses_writes": True}
EVERY_JAX_DTYPE = (*JAX_DTYPES, *WIDE)
KINDS = {
    "numpy": Kind(lambda array, _: array, dtypes=DTYPES, refuses_writes=True),
    "torch": Kind(torch_array, read_torch, torch_dtypes(), random_for_torch),
    "jax": Kind(jax_array, dtypes=EVERY_JAX_DTYPE, refuses_writes=True, **NEVER_WRITTEN),
    "jax.jit": Kind(
        jax_array, dtypes=EVERY_JAX_DTYPE, plans=False, call=call_compiled, **NEVER_WRITTEN
    ),
    "xarray": Kind(data_array, lambda x: x.data, plans=False, **NEVER_WRITTEN),
    "namespace": Kind(lambda array, _: Array(array), lambda x: x.array, **UNKNOWN),
    "memoryview": of_buffer(memoryview, refuses_writes=True),
    "memoryview of a transpose": of_buffer(lambda x: memoryview(np.array(x, order="F")), **COPIED),
    "interface": of_buffer(WithInterface, refuses_writes=True),
    "strided interface": of_buffer(lambda x: WithInterface(np.stack([x, x], -1)[..., 0]), **COPIED),
    "ctypes": of_buffer(
        lambda x: np.ctypeslib.as_ctypes(np.array(x, order="C")),
        **{"dtypes": ("bool", "uint8", "int32", "float32", "float64"), **COPIED},
    ),
    "producer": Kind(produced, lambda x: x.array, DTYPES, allocates=False, **UNKNOWN),
    "exchanging": Kind(
        lambda array, name: produced(array, name, EXCHANGING),
        *(lambda x: x.array, DTYPES),
        **{"allocates": False, **UNKNOWN},
    ),
}


def kinds(fits=lambda kind: True, name="kind"):
    """Return the mark of a test of every kind that fits."""
    found = {key: kind for key, kind in KINDS.items() if fits(kind)}
    return pytest.mark.parametrize(name, found.values(), ids=found)
