"""The transposition as a primitive of JAX: what it means to each transformation, and eager calls.

Imported only where the caller has an array of JAX, because it imports JAX.
"""

import functools
import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ttlg import _core
from ttlg._libraries.jax_memory import JaxMemory, is_default
from ttlg._typing import Axes

_MEMORY = JaxMemory()
_NAME = "ttlg_transpose"
# Compiling takes the time of a hundred or more direct calls, so a program is made only for layouts
# that keep coming.
_DIRECT_CALLS = 10
# From this size on, the time that a program saves does not show.
_MIN_DIRECT_BYTES = 1 << 20

transpose_p = Primitive(_NAME)


def transpose(x: Any, axes: tuple[int, ...], threads: int | None) -> Any:
    """Apply the primitive to `x`: `axes` name each axis once, from 0; `threads` are the CPU's."""
    return transpose_p.bind(x, axes=axes, threads=threads)


def transpose_array(x: Any, axes: Axes | None, threads: int | None) -> Any:
    """Transpose `x`, which nothing traces, by a compiled program where that takes less time."""
    order = _integers(axes, x.shape)
    most = _core.resolve_threads(threads)
    try:
        default_device = jax.config.jax_default_device
        order, choices = _choices(x.shape, x.dtype, x.sharding, default_device, order)
        if next(choices):
            return _program(x, order, most)
    except RuntimeError:
        if not x.is_deleted():
            raise
    return _MEMORY.move_to_new(x, order, None, threads)  # which says so if x is deleted


def _integers(axes: Axes | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Turn `axes` into integers that may be a key, negative or wrong ones among them."""
    if axes.__class__ is tuple:
        try:
            return tuple(map(operator.index, axes))
        except TypeError:
            pass
    return _core.normalize_axes(axes, shape)


@functools.lru_cache(maxsize=4096)
def _choices(
    shape: tuple[int, ...], dtype: Any, sharding: Any, default_device: Any, axes: tuple[int, ...]
) -> tuple[tuple[int, ...], Iterator[bool]]:
    """Say, for one call after another with an array of this layout, whether to run a program.

    The axes, from 0, come with it: always the same object, which JAX finds sooner than an equal
    one. `default_device`, JAX's setting, only tells layouts apart.
    """
    order = _core.normalize_axes(axes, shape)
    if not _has_whole_bytes(dtype) or len(sharding.device_set) > 1:
        return order, itertools.repeat(True)
    (device,) = sharding.device_set
    is_small = math.prod(shape) * dtype.itemsize < _MIN_DIRECT_BYTES
    if not (is_small and device.platform == "cpu" and is_default(device)):
        return order, itertools.repeat(False)
    return order, itertools.chain(itertools.repeat(False, _DIRECT_CALLS), itertools.repeat(True))


_program = jax.jit(transpose, static_argnums=(1, 2))


def _run(x: Any, *, axes: tuple[int, ...], threads: int | None) -> Any:
    x = jax.numpy.asarray(x)  # an array of NumPy stays one where nothing is compiled
    if not _has_whole_bytes(x.dtype) or len(x.devices()) > 1:
        return _leave_to_jax(x, axes=axes, threads=threads)
    return _MEMORY.move_to_new(x, axes, None, threads)


def _infer(x: Any, *, axes: tuple[int, ...], threads: int | None) -> Any:
    # Sharding, weak types and the mesh axes of shard_map go the way of JAX's own transpose.
    return jax.lax.transpose_p.abstract_eval(x, permutation=axes)


def _transpose_back(
    cotangent: Any, x: Any, *, axes: tuple[int, ...], threads: int | None
) -> list[Any]:
    inverse = tuple(np.argsort(axes).tolist())
    return [transpose(cotangent, inverse, threads)]


def _batch(
    arguments: tuple[Any], batch_axes: tuple[int], *, axes: tuple[int, ...], threads: int | None
) -> tuple[Any, int]:
    """Bring the batch axis to the front and leave the other axes to their permutation."""
    (x,), (batch_axis,) = arguments, batch_axes
    others = (axis if axis < batch_axis else axis + 1 for axis in axes)
    return transpose(x, (batch_axis, *others), threads), 0


def _leave_to_jax(x: Any, *, axes: tuple[int, ...], threads: int | None) -> Any:
    return jax.lax.transpose(x, axes)


def _lower_for_cpu(
    context: mlir.LoweringRuleContext, x: Any, *, axes: tuple[int, ...], threads: int | None
) -> Any:
    """Call ttlg's engine from the compiled program, or leave the work to XLA where it must be.

    That is for elements that are no whole bytes, and where programs cannot call ttlg.
    """
    if _has_whole_bytes(context.avals_in[0].dtype) and may_call_ttlg(context):
        lower = jax.ffi.ffi_lowering(_NAME)
        return lower(context, x, axes=np.array(axes, np.int64), threads=np.int64(threads or 0))
    return _lower_without_ttlg(context, x, axes=axes, threads=threads)


def may_call_ttlg(context: mlir.LoweringRuleContext) -> bool:
    """Return whether a program for the CPU may call ttlg's engine.

    It must not where it is for several devices, as XLA partitions it without communication only if
    it knows the operation, nor where it is exported, as it may run where ttlg is not.
    """
    module = context.module_context
    is_for_one = getattr(module.axis_context, "num_devices", None) == 1
    return is_for_one and not module.lowering_parameters.for_export


def _has_whole_bytes(dtype: Any) -> bool:
    # Extended dtypes, such as those of random keys, are lowered with axes of their own.
    if jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        return False
    if jax.dtypes.issubdtype(dtype, np.integer):
        return bool(jax.numpy.iinfo(dtype).bits >= 8)
    return not jax.dtypes.issubdtype(dtype, np.floating) or jax.numpy.finfo(dtype).bits >= 8


_lower_without_ttlg = mlir.lower_fun(_leave_to_jax, multiple_results=False)

transpose_p.def_impl(_run)
transpose_p.def_effectful_abstract_eval(_infer)
ad.deflinear2(transpose_p, _transpose_back)
batching.primitive_batchers[transpose_p] = _batch
mlir.register_lowering(transpose_p, _lower_without_ttlg)
mlir.register_lowering(transpose_p, _lower_for_cpu, platform="cpu")
jax.ffi.register_ffi_target(_NAME, _core.xla_ffi_transpose(), platform="cpu")
