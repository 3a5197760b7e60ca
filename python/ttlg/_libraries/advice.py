"""What to pass instead of an object that is no array, without importing where it comes from."""

from typing import Any, NoReturn

# What messages call the arguments that are written to.
OUTPUTS = ("out", "dst")

_LOAD = "pass {x}[...], which reads all of it, or a part of it"
# By the package and the name of a class, or "" for every class of it.
_ADVICE = {
    ("dask", "Array"): "call ttlg.dask.transpose({x}, axes), which stays lazy, or pass "
    "{x}.compute(), which loads all of it",
    ("dask", ""): "pass {x}.compute()",
    ("scipy", ""): "call ttlg.sparse.transpose({x}, axes), or pass {x}.toarray() if that fits into "
    "memory",
    ("cupyx", ""): "call ttlg.sparse.transpose({x}, axes), which takes COO, or pass {x}.toarray()",
    ("sparse", ""): "call ttlg.sparse.transpose({x}, axes), or pass {x}.todense() if that fits "
    "into memory",
    ("pandas", ""): "pass {x}.to_numpy()",
    ("polars", ""): "pass {x}.to_numpy()",
    ("h5py", ""): _LOAD,
    ("zarr", ""): _LOAD + "; with ttlg.zarr.enable() Zarr moves what it reads by ttlg",
    ("tensorflow", ""): "pass {x}.numpy()",
}
# What makes one array of several, by the package of these.
_STACKS = {"torch": "torch.stack", "jaxlib": "jax.numpy.stack", "cupy": "cupy.stack"}
_NESTED = (list, tuple, int, float, complex, str, bytes, bytearray, memoryview)


def type_name(x: Any) -> str:
    """Name the type of `x` with its module."""
    return f"{type(x).__module__}.{type(x).__qualname__}"


def refuse_if_no_array(x: Any, name: str) -> None:
    """Refuse what has no ``__dlpack__``, with what to pass instead."""
    if not hasattr(x, "__dlpack__"):
        refuse_type(x, name)


def refuse_without_reshape(x: Any, name: str) -> None:
    """Refuse what is no array, and arrays that cannot change their shape themselves."""
    if not hasattr(x, "reshape"):
        refuse_if_no_array(x, name)
        raise TypeError(
            f"{name} must be an array with a reshape of its own, not {type(x).__qualname__}"
        )


def refuse_type(x: Any, name: str) -> NoReturn:
    """Refuse `x`, which messages call `name`, for its type."""
    if name in OUTPUTS:
        hint = "pass a writable array of NumPy, PyTorch or CuPy"
    elif known := _known(x):
        hint = known.format(x=name)
    elif isinstance(x, list | tuple) and hasattr(next(iter(x), None), "shape"):
        package = type(x[0]).__module__.partition(".")[0]
        hint = (
            f"stack its arrays first, as {_STACKS.get(package, 'numpy.stack')}({name}) does, or "
            "call ttlg.rearrange, which stacks the arrays of a list"
        )
    elif isinstance(x, _NESTED) or hasattr(x, "__array__"):
        hint = f"make one with numpy.asarray({name})"
    else:
        hint = "pass one"
    raise TypeError(
        f"{name} must be an array (NumPy, PyTorch, JAX, CuPy or anything with __dlpack__), not "
        f"{type_name(x)}; {hint}"
    )


def _known(x: Any) -> str | None:
    """Find the advice for the class of `x` or one that it is derived from."""
    for cls in type(x).__mro__:
        package = cls.__module__.partition(".")[0]
        known = _ADVICE.get((package, cls.__name__)) or _ADVICE.get((package, ""))
        if known:
            return known
    return None


def refuse_tensor(name: str, what: str, method: str) -> NoReturn:
    """Refuse a tensor of PyTorch that another one, which `method` of it gives, may stand for."""
    hint = f"another {name}, such as a fresh tensor" if name in OUTPUTS else f"{name}{method}"
    raise BufferError(f"{name} {what}; pass {hint}")
