"""Casts that `transform` does as NumPy's assignment, but for the lower bits of a NaN."""

import functools
from typing import Any

import numpy as np

from ttlg._functions.transform import transform


@functools.lru_cache
def _agrees(source: "np.dtype[Any]", target: "np.dtype[Any]") -> bool:
    """Whether both round once, and integers wrap around.

    NumPy cuts off the fractions of what becomes an integer, and `transform` rounds them; int64 is
    rounded to float64 before it becomes a shorter number.
    """
    if not target.isnative or max(map(_part_bytes, (source, target))) > 8:
        return False
    kinds = source.kind + target.kind
    if "u8" in (source.str[1:], target.str[1:]) or any(kind not in "biufc" for kind in kinds):
        return False
    if target.kind in "fc":
        is_exact = source.kind in "fc" or source.itemsize < 8
        return is_exact and kinds != "cf"
    return source.kind in "biu"


def _part_bytes(dtype: "np.dtype[Any]") -> int:
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def cast_into(target: Any, source: Any, threads: int | None) -> bool:
    """Assign `source` to `target`, arrays of NumPy of one shape; return whether that was done.

    Where it was not, NumPy's assignment is what gives the right elements, or refuses.
    """
    if not (_agrees(source.dtype, target.dtype) and target.flags.writeable):
        return False
    if np.may_share_memory(target, source):
        return False
    transform(source, range(source.ndim), saturate=False, out=target, threads=threads)
    return True
