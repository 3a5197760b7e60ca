"""Numbers by which elements are computed."""

import functools
from typing import Any

import numpy as np


def read_values(
    name: str,
    value: Any,
    computed_in: str,
    are_pairs: bool,
    shape: tuple[int, ...],
    axis: int | None,
) -> tuple[Any, bool]:
    """Read a number, or one for every index of `axis`, of an array of that shape.

    Returns them in the type that elements are computed in, along the first axis of an array, as
    pairs where these are complex, or None where there are none; and whether they are complex
    themselves. `name` is what messages call them.
    """
    if value is None:
        return None, False
    if value.__class__ is float and value != 0 and not are_pairs:  # no key tells 0 from -0
        return _numbers_of(value, computed_in), False
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "biufc" and numbers.dtype.name != "bfloat16":
        raise TypeError(f"{name} must be a number or an array of numbers, not {value!r}")
    is_complex = numbers.dtype.kind == "c"
    if is_complex and not are_pairs:
        raise TypeError(
            f"{name} is complex, but x and the result are not both; pass {name}.real, or complex "
            "arrays"
        )
    if numbers.ndim == 0:
        numbers = numbers.reshape(1)
    else:
        _check_vector(name, numbers, shape, axis)
    if are_pairs:
        imaginary = numbers.imag if is_complex or name == "offset" else numbers.real
        numbers = np.stack([numbers.real, imaginary], axis=-1)
    return np.ascontiguousarray(numbers, computed_in), is_complex


def repeated(values: tuple[Any, bool], count: int) -> tuple[Any, bool]:
    """Repeat what `read_values` returned for every index of an axis, where there is one alone."""
    numbers, is_complex = values
    if numbers is not None and len(numbers) != count:
        numbers = np.repeat(numbers, count, axis=0)
    return numbers, is_complex


@functools.lru_cache
def _numbers_of(value: float, computed_in: str) -> Any:
    numbers = np.full(1, value, computed_in)
    numbers.flags.writeable = False
    return numbers


def _check_vector(name: str, numbers: Any, shape: tuple[int, ...], axis: int | None) -> None:
    if name == "beta" or numbers.ndim > 1:
        raise ValueError(
            f"{name} must be a number{'' if name == 'beta' else ' or one-dimensional'}, not of "
            f"shape {numbers.shape}"
        )
    if axis is None:
        raise ValueError(
            f"{name} has {numbers.size} numbers: say by axis= along which axis of x, of shape "
            f"{shape}, they belong"
        )
    if numbers.size != shape[axis]:
        raise ValueError(
            f"{name} has {numbers.size} numbers, but x of shape {shape} has {shape[axis]} indices "
            f"along axis {axis}"
        )
