"""What callers name the dtype of an array that is not there yet."""

import functools
import sys
from typing import Any

import numpy as np


def describe_dtype(dtype: Any) -> tuple[str, int]:
    """Name and bytes of one element, for the dtypes of NumPy, PyTorch, JAX and ml_dtypes."""
    wanted = dtype
    if isinstance(dtype, str) and dtype.startswith("torch."):
        wanted = _torch_dtype(dtype.removeprefix("torch."))
    if type(wanted).__module__ == "torch" and type(wanted).__name__ == "dtype":
        return str(wanted).removeprefix("torch."), wanted.itemsize
    resolved = _resolve(wanted)
    if resolved is None:
        raise TypeError(
            f"{dtype!r} is no dtype; pass one of NumPy's, PyTorch's, JAX's or ml_dtypes', or its "
            "name, such as 'float32', 'bfloat16' or 'torch.float32'"
        )
    if resolved.hasobject:
        raise TypeError(f"dtype {resolved} holds Python objects; ttlg moves fixed-size elements")
    name = resolved.name if resolved.isnative and resolved.names is None else str(resolved)
    return name, resolved.itemsize


def itemsize_of(dtype: Any) -> int:
    """Bytes of one element, at once for a dtype that has been asked about before."""
    try:
        return _known_itemsize(dtype)
    except TypeError:  # no dtype, or one that cannot be hashed, such as a list of fields
        pass
    return describe_dtype(dtype)[1]


@functools.lru_cache
def _known_itemsize(dtype: Any) -> int:
    return describe_dtype(dtype)[1]


def _torch_dtype(name: str) -> Any:
    """Return PyTorch's dtype of this name, without PyTorch NumPy's or ml_dtypes', or None."""
    if "torch" in sys.modules:
        return getattr(sys.modules["torch"], name, None)
    resolved = _resolve(name)
    # NumPy has other dtypes by some names that are short in PyTorch, such as float.
    return resolved if resolved is not None and resolved.name == name else None


def _resolve(dtype: Any) -> "np.dtype[Any] | None":
    """Return NumPy's dtype, which includes ml_dtypes', or None."""
    if dtype is None:  # NumPy's default, float64
        return None
    resolved: np.dtype[Any]
    try:
        resolved = np.dtype(dtype)
    except (TypeError, ValueError):
        try:
            import ml_dtypes

            resolved = np.dtype(getattr(ml_dtypes, dtype))
        except (ImportError, AttributeError, TypeError, ValueError):
            return None
    return resolved
