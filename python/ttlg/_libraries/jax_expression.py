"""What `ttlg.transform` computes, by JAX's own operations, for programs that cannot call ttlg."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ttlg._arguments.dtypes import is_complex

_PARTS = {"complex64": "float32", "complex128": "float64"}


def express(
    x: Any,
    params: dict[str, Any],
    computed_in: str,
    scales: Any,
    offsets: Any,
    scales_are_complex: bool,
) -> Any:
    """Permute and convert `x` by the parameters of the primitive, with JAX's 64-bit types enabled.

    Complex numbers are computed part by part in the type `computed_in`, which scales and offsets
    have, along their first axis and in pairs where complex numbers stay complex.
    """
    axes, dtype = params["axes"], params["dtype"]
    x = jax.lax.transpose(x, axes)
    parts = [x]
    if jnp.iscomplexobj(x):
        parts = [x.real, -x.imag if params["conj"] else x.imag][: 2 if is_complex(dtype) else 1]
    parts = [part.astype(computed_in) for part in parts]
    place = len(axes) if params["axis"] is None else axes.index(params["axis"])
    extents = [-1 if each == place else 1 for each in range(len(axes))]
    if scales is not None:
        parts = _multiply(parts, _parts_of(scales, len(parts), extents), scales_are_complex)
    if offsets is not None:
        added = _parts_of(offsets, len(parts), extents)
        parts = [part + offset for part, offset in zip(parts, added, strict=True)]
    results = [_convert(part, _PARTS.get(dtype, dtype), params["saturate"]) for part in parts]
    if not is_complex(dtype):
        return results[0]
    return jax.lax.complex(
        results[0], results[1] if len(results) > 1 else jnp.zeros_like(results[0])
    )


def _parts_of(values: Any, count: int, extents: list[int]) -> list[Any]:
    """Bring the numbers for each part of an element to where they broadcast to the result."""
    return [part.reshape(extents) for part in values.reshape(-1, count).T]


def _multiply(parts: list[Any], scales: list[Any], are_complex: bool) -> list[Any]:
    if not are_complex:
        return [part * scales[0] for part in parts]
    (real, imaginary), (a, b) = parts, scales
    return [real * a - imaginary * b, real * b + imaginary * a]


def _convert(y: Any, dtype: str, saturate: bool) -> Any:
    """Convert what was computed to a type that is not complex."""
    if dtype == "bool":
        return y != 0
    target = jnp.dtype(dtype)
    if not jnp.issubdtype(target, np.integer):
        return y.astype(target)
    if jnp.issubdtype(y.dtype, np.floating):
        y = jnp.where(jnp.isnan(y), 0, jnp.rint(y))
        if not saturate:
            # Also to those that are too long, so that the lowest bits of the others are kept.
            y = jnp.where((y >= -(2.0**63)) & (y < 2.0**63), y, 0).astype(np.int64)
    if saturate:
        limits = np.iinfo(target)
        y = jnp.clip(y, limits.min, limits.max)
    return y.astype(target)
