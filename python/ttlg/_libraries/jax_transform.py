"""The conversion of elements while axes are permuted, as a primitive of JAX.

Imported only where JAX traces an array that is to be converted, because it imports JAX.
"""

from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ttlg import _core
from ttlg._arguments.axes import read_axis
from ttlg._arguments.dtypes import element_type, is_complex, named_type
from ttlg._arguments.values import read_values, repeated
from ttlg._libraries import jax_operator
from ttlg._libraries.dlpack import known_extents
from ttlg._libraries.jax_expression import express
from ttlg._libraries.jax_memory import JaxMemory
from ttlg._typing import Axes

_MEMORY = JaxMemory()
_NAME = "ttlg_transform"

transform_p = Primitive(_NAME)


class Constant:
    """The numbers of `scale` or `offset`, as a parameter that JAX compares and hashes."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = np.array(numbers)  # a copy, because the program is to keep them
        self._key = (self.numbers.dtype.str, self.numbers.shape, self.numbers.tobytes())

    def __eq__(self, other: object) -> bool:
        """Whether the numbers are the same to the bit."""
        return isinstance(other, Constant) and self._key == other._key

    def __hash__(self) -> int:
        """Hash the numbers."""
        return hash(self._key)

    def __repr__(self) -> str:
        """Write the numbers on one line, and not all of very many, for what JAX prints."""
        return np.array2string(self.numbers, max_line_width=10**6, threshold=8)


def transform_traced(
    x: Any,
    axes: Axes | None,
    *,
    dtype: Any,
    scale: Any,
    offset: Any,
    conj: bool,
    axis: int | None,
    saturate: bool,
    threads: int | None,
) -> Any:
    """Add the conversion of `x` to the program that JAX is tracing; arguments are the callers'."""
    source = element_type(str(x.dtype), "x")[0]
    target = source if dtype is None else named_type(dtype)[0]
    given = {"scale": scale, "offset": offset}
    shape = tuple(known_extents(x.shape))
    along = None if axis is None else read_axis("axis", axis, len(shape))
    varies = any(_is_vector(name, value) for name, value in given.items())
    params = {
        "axes": _core.normalize_axes(axes, shape),
        "dtype": target,
        **{name: None if value is None else Constant(value) for name, value in given.items()},
        "conj": bool(conj) and is_complex(source) and is_complex(target),
        "axis": along if varies else None,
        "saturate": bool(saturate),
        "threads": None if threads is None else _core.resolve_threads(threads),
    }
    _values(_map(source, params), source, shape, params)  # which refuses what is wrong with them
    return _bind(x, params)


def _is_vector(name: str, value: Any) -> bool:
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{name} is being traced by JAX, but must be of constants, by which nothing is "
            f"differentiated; pass NumPy's numbers, or {_INSTEAD[name]} x or the result by jax.numpy"
        )
    return np.ndim(value) > 0


_INSTEAD = {"scale": "multiply", "offset": "add to"}


def _bind(x: Any, params: dict[str, Any]) -> Any:
    """Apply the primitive, or that of the transposition where elements stay as they are."""
    if _map(str(x.dtype), params).is_identity:
        return jax_operator.transpose(x, params["axes"], params["threads"])
    return transform_p.bind(x, **params)


def _map(source: str, params: dict[str, Any]) -> _core.ElementMap:
    return _core.ElementMap(
        source,
        params["dtype"],
        conjugates=params["conj"],
        scales=params["scale"] is not None,
        adds=params["offset"] is not None,
        saturates=params["saturate"],
        axis=-1 if params["axis"] is None else params["axis"],
    )


def _values(
    element_map: _core.ElementMap, source: str, shape: tuple[int, ...], params: dict[str, Any]
) -> tuple[Any, Any, bool]:
    """Return scales and offsets as the engine takes them, and whether the scales are complex.

    Each has a number for every index of the axis along which one of them varies.
    """
    are_pairs = is_complex(source) and is_complex(params["dtype"])
    axis = params["axis"]
    result = []
    for name in ("scale", "offset"):
        numbers = None if params[name] is None else params[name].numbers
        values = read_values(name, numbers, element_map.computed_in, are_pairs, shape, axis)
        result.append(values if axis is None else repeated(values, shape[axis]))
    return result[0][0], result[1][0], result[0][1]


def _run(x: Any, **params: Any) -> Any:
    x = jax.numpy.asarray(x)  # an array of NumPy stays one where nothing is compiled
    if len(x.devices()) > 1 or x.device.platform != "cpu":
        return _leave_to_jax(x, **params)
    element_map = _map(str(x.dtype), params)
    scales, offsets, are_complex = _values(element_map, str(x.dtype), x.shape, params)
    values = ((scales, are_complex), (offsets, False), (None, False))
    source = _MEMORY.view_input(x, None)
    call = _core.cpu_transform_for(
        source, params["axes"], None, element_map, *values, params["threads"]
    )
    return _MEMORY.run_into_new(call, x, source, params["dtype"])


def _infer(x: Any, *, axes: tuple[int, ...], dtype: str, **_: Any) -> Any:
    # Sharding and the mesh axes of shard_map go the way of JAX's own transpose.
    result, effects = jax.lax.transpose_p.abstract_eval(x, permutation=axes)
    return result.update(dtype=jax.numpy.dtype(dtype), weak_type=False), effects


def _differentiate(primals: tuple[Any], tangents: tuple[Any], **params: Any) -> tuple[Any, Any]:
    """Apply the linear part to the tangent; integers have none."""
    (x,), (tangent,) = primals, tangents
    result = _bind(x, params)
    if isinstance(tangent, ad.Zero) or not jax.dtypes.issubdtype(result.dtype, np.inexact):
        return result, ad.Zero(jax.typeof(result).to_tangent_aval())
    return result, _bind(tangent, params | {"offset": None})


def _transform_back(cotangent: Any, x: Any, **params: Any) -> list[Any]:
    """Transpose the linear part, without conjugation, as JAX does it: it differentiates by x."""
    axes, axis, scale = params["axes"], params["axis"], params["scale"]
    if params["conj"] and scale is not None:
        # The conjugate is taken of the product then, and the engine takes that of the elements.
        scale = Constant(scale.numbers.conj())
    back = {
        "axes": tuple(np.argsort(axes).tolist()),
        "axis": None if axis is None else axes.index(axis),
        "dtype": str(x.aval.dtype),
        "scale": scale,
        "offset": None,
    }
    return [_bind(cotangent, params | back)]


def _batch(arguments: tuple[Any], batch_axes: tuple[int], **params: Any) -> tuple[Any, int]:
    """Bring the batch axis to the front and leave the other axes to their permutation."""
    (x,), (batch_axis,) = arguments, batch_axes
    axes, axis = params["axes"], params["axis"]
    shifted = [each if each < batch_axis else each + 1 for each in range(len(axes))]
    batched = {
        "axes": (batch_axis, *(shifted[each] for each in axes)),
        "axis": None if axis is None else shifted[axis],
    }
    return _bind(x, params | batched), 0


def _leave_to_jax(x: Any, **params: Any) -> Any:
    source = str(x.dtype)
    element_map = _map(source, params)
    values = _values(element_map, source, tuple(known_extents(x.shape)), params)
    # Also in JAX's 32-bit mode elements may have 64 bits, and some are computed in these.
    with jax.enable_x64(True):
        return express(x, params, element_map.computed_in, *values)


_lower_expression = mlir.lower_fun(_leave_to_jax, multiple_results=False)


def _lower_without_ttlg(context: mlir.LoweringRuleContext, x: Any, **params: Any) -> Any:
    with jax.enable_x64(True):  # for the constants as well
        return _lower_expression(context, x, **params)


def _lower_for_cpu(context: mlir.LoweringRuleContext, x: Any, **params: Any) -> Any:
    """Call ttlg's engine from the compiled program, or leave the work to XLA where it must be."""
    if not jax_operator.may_call_ttlg(context):
        return _lower_without_ttlg(context, x, **params)
    (seen,) = context.avals_in
    source = str(seen.dtype)
    *given, are_complex = _values(_map(source, params), source, seen.shape, params)
    values = [each for each in given if each is not None]
    arguments = [jax.core.ShapedArray(each.shape, each.dtype) for each in values]
    flags = {
        "conjugates": params["conj"],
        "scales": params["scale"] is not None,
        "adds": params["offset"] is not None,
        "saturates": params["saturate"],
        "scales_are_complex": are_complex,
        "axis": -1 if params["axis"] is None else params["axis"],
        "threads": params["threads"] or 0,
    }
    return jax.ffi.ffi_lowering(_NAME)(
        context.replace(avals_in=[seen, *arguments]),
        *(x, *map(mlir.ir_constant, values)),
        axes=np.array(params["axes"], np.int64),
        **{name: np.int64(value) for name, value in flags.items()},
    )


transform_p.def_impl(_run)
transform_p.def_effectful_abstract_eval(_infer)
ad.deflinear2(transform_p, _transform_back)
ad.primitive_jvps[transform_p] = _differentiate  # as the primitive is not linear but affine
batching.primitive_batchers[transform_p] = _batch
mlir.register_lowering(transform_p, _lower_without_ttlg)
mlir.register_lowering(transform_p, _lower_for_cpu, platform="cpu")
jax.ffi.register_ffi_target(_NAME, _core.xla_ffi_transform(), platform="cpu")
