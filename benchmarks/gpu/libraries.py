"""Libraries that transpose on a GPU and take part where they are there: cuTENSOR, cuTT and TTC.

cuTENSOR is called through the Python package nvmath-python. cuTT, and the functions that TTC has
generated, are shared libraries that the environment variables ``TTLG_CUTT`` and ``TTLG_TTC`` name.
All raise LeftOutError where they take no part, and take C-contiguous tensors at addresses.
"""

import ctypes
import functools
import math
import os
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch

from ttlg.benchmarks.case import axes_of
from ttlg.benchmarks.contenders import optional
from ttlg.benchmarks.inplace.libraries import LeftOutError

Axes = tuple[int, ...]
# Permutes what is at the first address to the second.
Permute = Callable[[int, int], None]

_ALIGNMENT = 256  # of the tensors, in bytes
_INT_VALUES = 1 << 31  # cuTT and TTC count in 32 bits


def _stream() -> int:
    """Return PyTorch's current stream, whose events tell the time."""
    return int(torch.cuda.current_stream().cuda_stream)


@functools.cache
def _cutensor() -> tuple[ModuleType, int]:
    """Return cuTENSOR's bindings, and a handle."""
    bindings = optional("nvmath.bindings.cutensor")
    if bindings is None:
        raise LeftOutError("cuTENSOR is called through nvmath-python, which is not installed")
    try:
        return bindings, bindings.create()
    except RuntimeError as error:
        raise LeftOutError(f"cuTENSOR cannot be loaded: {error}") from None


def cutensor(x: torch.Tensor, axes: Axes) -> Permute:
    """Plan a permutation of tensors like `x` by cuTENSOR, which multiplies by 1."""
    library, handle = _cutensor()
    compute = library.ComputeDesc
    # cudaDataType_t, the type of the factor, and the precision of the product.
    types: dict[torch.dtype, tuple[int, Any, Callable[[], int]]] = {
        torch.float32: (0, np.float32, compute.COMPUTE_32F),
        torch.float64: (1, np.float64, compute.COMPUTE_64F),
        torch.complex128: (5, np.complex128, compute.COMPUTE_64F),
    }
    if x.dtype not in types:
        raise LeftOutError(f"cuTENSOR permutes no {x.dtype}")
    kind, scalar, precision = types[x.dtype]

    def described(shape: Sequence[int]) -> int:
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        made = library.create_tensor_descriptor
        return int(made(handle, len(shape), shape, strides, kind, _ALIGNMENT))

    tensors = [described(list(x.shape)), described([x.shape[axis] for axis in axes])]
    identity = int(library.Operator.OP_IDENTITY)
    modes = list(range(len(axes)))
    operation = library.create_permutation(
        handle, tensors[0], modes, identity, tensors[1], list(axes), precision()
    )
    plan = library.create_plan(handle, operation, 0, 0)
    one = np.ones(1, scalar)

    def permute(source: int, target: int) -> None:
        library.permute(handle, plan, one.ctypes.data, source, target, _stream())

    def release() -> None:
        library.destroy_plan(plan)
        library.destroy_operation_descriptor(operation)
        for tensor in tensors:
            library.destroy_tensor_descriptor(tensor)

    weakref.finalize(permute, release)
    return permute


@functools.cache
def _load(path: str) -> ctypes.CDLL:
    return ctypes.CDLL(path)


def _named(variable: str) -> ctypes.CDLL:
    """Load the library that an environment variable names."""
    path = os.environ.get(variable)
    if not path:
        raise LeftOutError(f"the environment variable {variable} names no library")
    return _load(path)


def _column_major(x: torch.Tensor, axes: Axes) -> tuple[list[int], list[int]]:
    """Return extents and permutation as cuTT and TTC take them, the fastest mode first."""
    if x.numel() >= _INT_VALUES:
        raise LeftOutError("it counts elements in 32 bits")
    return list(reversed(x.shape)), list(axes_of(axes))


def _ints(values: Sequence[int]) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * len(values))(*values)


# The names of C++, as cutt.h declares cuttPlan, cuttPlanMeasure, cuttExecute and cuttDestroy.
_CUTT_PLAN = "_Z8cuttPlanPjiPiS0_mP11CUstream_st"
_CUTT_PLAN_MEASURE = "_Z15cuttPlanMeasurePjiPiS0_mP11CUstream_stPvS3_"
_CUTT_EXECUTE = "_Z11cuttExecutejPvS_"
_CUTT_DESTROY = "_Z11cuttDestroyj"


def cutt(x: torch.Tensor, axes: Axes, measured: bool = False) -> Permute:
    """Plan a permutation of tensors like `x` by cuTT, on this stream.

    The plan is that of its heuristics, or with `measured` the fastest one, which takes a second
    tensor.
    """
    library = _named("TTLG_CUTT")
    if x.itemsize not in (4, 8):
        raise LeftOutError("cuTT moves elements of 4 and 8 bytes")
    extents, perm = _column_major(x, axes)
    handle = ctypes.c_uint()
    problem = (ctypes.c_int(len(perm)), _ints(extents), _ints(perm), ctypes.c_size_t(x.itemsize))
    arguments = (ctypes.byref(handle), *problem, ctypes.c_void_p(_stream()))
    if measured:
        y = torch.empty_like(x)
        tensors = (ctypes.c_void_p(each.data_ptr()) for each in (x, y))
        status = library[_CUTT_PLAN_MEASURE](*arguments, *tensors)
    else:
        status = library[_CUTT_PLAN](*arguments)
    if status:
        raise RuntimeError(f"cuTT returned {status} for a plan")
    execute = library[_CUTT_EXECUTE]

    def permute(source: int, target: int) -> None:
        if status := execute(handle, ctypes.c_void_p(source), ctypes.c_void_p(target)):
            raise RuntimeError(f"cuttExecute returned {status}")

    weakref.finalize(permute, library[_CUTT_DESTROY], handle)
    return permute


def ttc(x: torch.Tensor, axes: Axes) -> Permute:
    """Return the function that TTC has generated for tensors like `x`, which multiplies by 1.

    It allocates, launches on the default stream, waits and frees, and ends the process where CUDA
    reports an error.
    """
    library = _named("TTLG_TTC")
    types = {torch.float32: ("s", ctypes.c_float), torch.float64: ("d", ctypes.c_double)}
    if x.dtype not in types:
        raise LeftOutError("TTC's functions for float32 and float64 take part alone")
    letter, scalar = types[x.dtype]
    extents, perm = _column_major(x, axes)
    shape = "x".join(map(str, extents))
    name = f"{letter}CuTranspose_{''.join(map(str, perm))}_{shape}_bz"
    try:
        function = library[name]
    except AttributeError:
        raise LeftOutError("the library of TTC's functions has none for this case") from None
    function.restype = None
    before, after = _ints(extents), _ints([extents[mode] for mode in perm])

    def permute(source: int, target: int) -> None:
        pointers = ctypes.c_void_p(source), ctypes.c_void_p(target)
        function(*pointers, scalar(1), before, before, after)

    return permute
