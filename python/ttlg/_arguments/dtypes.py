"""What callers name the dtype of an array that is not there yet."""

import ast
import functools
import re
import sys
from typing import Any

import numpy as np

from ttlg._arguments.words import did_you_mean


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
            "name, such as 'float32', 'bfloat16' or 'torch.float32'" + _hint(dtype)
        )
    if resolved.hasobject:
        raise TypeError(f"dtype {resolved} holds Python objects; ttlg moves fixed-size elements")
    name = resolved.name if resolved.isnative and resolved.names is None else str(resolved)
    return name, resolved.itemsize


def numpy_dtype(name: str) -> "np.dtype[Any]":
    """Return NumPy's dtype of this name, or that of ml_dtypes."""
    resolved = _resolve(name)
    if resolved is None:
        raise TypeError(f"NumPy has no dtype {name}; install ml_dtypes, or pass another dtype=")
    return resolved


# What transform takes and makes.
_ELEMENT_TYPES = frozenset(
    [
        "bool",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "uint32",
        "int32",
        "int64",
        "float8_e4m3fn",
        "float8_e5m2",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)


@functools.lru_cache
def element_type(dtype: "str | np.dtype[Any]", name: str) -> tuple[str, bool]:
    """Return the type of elements of that dtype, and whether their bytes are in the other order.

    `dtype` is NumPy's or a name, and `name` what messages call the array or argument.
    """
    kind, swaps = str(dtype), False
    if not isinstance(dtype, str) or kind.startswith((">", "<")):
        resolved = np.dtype(dtype)
        swaps = not resolved.isnative
        kind = resolved.name if resolved.names is None else kind
    if kind in _ELEMENT_TYPES:
        return kind, swaps
    advice = "view it as int64" if kind == "uint64" else "convert it before"
    raise TypeError(
        f"{name} has dtype {kind}, which ttlg.transform does not convert: {advice}, or call "
        f"ttlg.transpose, which moves elements of any dtype; it converts "
        + ", ".join(sorted(_ELEMENT_TYPES))
    )


def named_type(dtype: Any, name: str = "dtype=") -> tuple[str, bool]:
    """Return what `element_type` does of what callers name a dtype."""
    return element_type(describe_dtype(dtype)[0], name)


def is_complex(element_type: str) -> bool:
    """Whether elements of that type are complex numbers."""
    return element_type.startswith("complex")


def _hint(dtype: Any) -> str:
    """Guess which dtype a misspelt name was for."""
    if not isinstance(dtype, str):
        return ""
    numbers = {np.dtype(code).name for code in np.typecodes["All"] if code not in "OSUVMm"}
    return did_you_mean(dtype.removeprefix("torch."), [*sorted(numbers), "bfloat16"])


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


# Names that NumPy writes and does not read, and those of PyTorch and DLPack that it does not know.
_OTHER_NAME = re.compile(
    r"(record|void|str|bytes|bool|q?u?int|b?float|complex|opaque|bits)(\d*)(_[a-z][a-z0-9]*?)?"
    r"(_?x(\d+))?|code\d+(x\d+)?"
)


def is_dtype_name(name: str, itemsize: int) -> bool:
    """Return whether a plan for elements of `itemsize` bytes may have this name of its dtype.

    Those are the names of `describe_dtype`, and what arrays of other libraries say through DLPack.
    """
    resolved = _resolve(_read_fields(name) if name.startswith(("[", "{", "(")) else name)
    if resolved is not None:
        # NumPy's names of bytes and text without a size stand for any.
        is_any = resolved.itemsize == 0 and resolved.names is None
        return (resolved.itemsize == itemsize or is_any) and not resolved.hasobject
    match = _OTHER_NAME.fullmatch(name)
    if match is None:
        return False
    if match[1] is None:  # a type that DLPack has a number for, and no size
        return True
    bits = int(match[2] or (8 if match[1] == "bool" else 0)) * int(match[5] or 1)
    return -(-bits // 8) == itemsize


def _read_fields(text: str) -> Any:
    """Read what NumPy writes of a dtype with fields; None where that is none."""
    if text.startswith("(numpy.record, "):
        text = text.removeprefix("(numpy.record, ")[:-1]
    try:
        return ast.literal_eval(_QuotedNames().visit(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError):
        return None


class _QuotedNames(ast.NodeTransformer):
    """Turns names into strings: dtypes of other libraries stand in NumPy's texts without quotes."""

    def visit_Name(self, node: ast.Name) -> ast.Constant:
        return ast.Constant(node.id)
