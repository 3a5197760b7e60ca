"""Shapes and strides."""

import itertools
import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, SupportsIndex

from ttlg import _core


def read_integers(name: str, values: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Read a shape or strides: integers that fit in 64 bits."""
    try:
        if isinstance(values, AbstractSet | Mapping):
            raise TypeError  # no order of its own
        result = tuple(map(operator.index, values))
    except TypeError:
        raise TypeError(f"{name} must be a sequence of integers, not {values!r}") from None
    if result and not -(2**63) <= min(result) <= max(result) < 2**63:
        raise ValueError(f"{name} {result} exceeds the 64-bit range")
    return result


def read_extents(shape: Any, advice: str = "") -> tuple[int, ...]:
    """Read a shape, which may be an array of integers in one dimension.

    `advice` says what else to do with an array that has been passed for its shape.
    """
    if hasattr(shape, "shape") and (len(shape.shape) != 1 or "int" not in str(shape.dtype)):
        raise TypeError(
            f"shape must be a sequence of integers, not an array of shape {tuple(shape.shape)}; "
            "pass array.shape" + advice
        )
    extents = read_integers("shape", shape)
    if min(extents, default=0) < 0:
        raise ValueError(f"shape {extents} has a negative extent")
    return extents


def _are_of_elements(extents: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Return whether strides are in elements: as bytes they would make neighbours overlap."""
    if itemsize == 1 or (1 not in strides and -1 not in strides) or 0 in extents:
        return False
    modes = sorted(
        (abs(step), extent)
        for extent, step in zip(extents, strides, strict=True)
        if extent > 1 and step
    )
    return bool(modes and modes[0][0] == 1) and all(
        step * extent <= outer for (step, extent), (outer, _) in itertools.pairwise(modes)
    )


def read_byte_strides(
    extents: tuple[int, ...],
    itemsize: int,
    strides: Iterable[SupportsIndex] | None,
    element_strides: Iterable[SupportsIndex] | None,
) -> tuple[int, ...]:
    """Read the strides of the input, given in bytes or in elements or neither."""
    if strides is not None and element_strides is not None:
        raise ValueError("strides= and element_strides= say the same in two units; pass one")
    if strides is not None:
        steps = _strides("strides", "bytes", strides, extents)
        if _are_of_elements(extents, steps, itemsize):
            raise ValueError(
                f"strides {steps} look like strides in elements, as in bytes the elements of "
                f"{itemsize} bytes would overlap; pass these as element_strides=, or strides= in "
                "bytes"
            )
        return steps
    if element_strides is not None:
        steps = _strides("element_strides", "elements", element_strides, extents)
        return read_integers("element_strides", [step * itemsize for step in steps])
    return _core.contiguous_byte_strides(extents, itemsize)


def _strides(
    name: str, unit: str, strides: Iterable[SupportsIndex], extents: tuple[int, ...]
) -> tuple[int, ...]:
    steps = read_integers(name, strides)
    if len(steps) != len(extents):
        raise ValueError(f"{name} {steps} do not fit shape {extents}: give one per axis, in {unit}")
    return steps
