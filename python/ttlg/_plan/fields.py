"""What the JSON of a plan must hold, field by field, so that the core reads nothing else."""

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex

# Refuses a value that a field, whose name is given, cannot have.
Check = Callable[[str, Any], None]


def _refusal(name: str, what: str, value: object) -> ValueError:
    return ValueError(f"{name} must be {what}, not {reprlib.repr(value)}")


def _integer(bits: int, low: int | None = None) -> Check:
    """Check an integer that fits into `bits` bits, and is not below `low`."""
    least, most = -(2 ** (bits - 1)) if low is None else low, 2 ** (bits - 1) - 1
    what = f"an integer of {bits} bits" + ("" if low is None else f" from {low} up")

    def check(name: str, value: Any) -> None:
        # In JSON true and false are no numbers, though Python counts with them.
        is_integer = isinstance(value, SupportsIndex) and not isinstance(value, bool)
        if not is_integer or not least <= int(value) <= most:
            raise _refusal(name, what, value)

    return check


def _number(name: str, value: Any) -> None:
    if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > 1e300:
        raise _refusal(name, "a finite number", value)


def _seconds(name: str, value: Any) -> None:
    _number(name, value)
    if value <= 0:
        raise _refusal(name, "a positive number of seconds", value)


def _flag(name: str, value: Any) -> None:
    if type(value) is not bool:
        raise _refusal(name, "true or false", value)


def _text(name: str, value: Any) -> None:
    if type(value) is not str:
        raise _refusal(name, "text", value)


def check_object(name: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _refusal(name, "an object", value)


def _list_of(item: Check, what: str) -> Check:
    def check(name: str, value: Any) -> None:
        # What comes from memory instead of a file has tuples.
        if not isinstance(value, list | tuple):
            raise _refusal(name, f"a list of {what}", value)
        for number, each in enumerate(value):
            item(f"{name}[{number}]", each)

    return check


def _table_of(item: Check, what: str) -> Check:
    """Check an object whose names may be any."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _refusal(name, f"an object with {what}", value)
        for key, each in value.items():
            item(f"{name}.{key}", each)

    return check


def _record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Check an object with these names and no others."""
    checks = {**required, **(optional or {})}
    names = ", ".join(checks)

    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _refusal(name, f"an object with {names}", value)
        check_fields(value, required, optional, f"{name}.")
        for key in value.keys() - checks.keys():
            raise ValueError(f"{name} has no field {reprlib.repr(key)}; it has {names}")

    return check


def check_fields(
    values: Mapping[str, Any],
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    prefix: str = "",
) -> None:
    """Check the fields of an object that may have others; `prefix` begins their names."""
    for name, check in required.items():
        if name not in values:
            raise ValueError(f"{prefix}{name} is missing")
        check(f"{prefix}{name}", values[name])
    for name, check in (optional or {}).items():
        if name in values:
            check(f"{prefix}{name}", values[name])


_INT32 = _integer(32)
_INT64 = _integer(64)
_COUNT64 = _integer(64, 0)
_STRIDES = _list_of(_INT64, "integers")
_NUMBERS = _table_of(_number, "numbers")


def _strides_or_none(name: str, value: Any) -> None:
    if value is not None:
        _STRIDES(name, value)


REQUEST = {
    "shape": _list_of(_COUNT64, "integers"),
    "byte_strides": _STRIDES,
    "itemsize": _COUNT64,
    "axes": _list_of(_INT32, "integers"),
    "out_byte_strides": _strides_or_none,
}
# What older versions did not write.
REQUEST_OPTIONAL = {"inplace": _flag, "out_alignment": _integer(64, 1)}


def _prefetch(name: str, value: Any) -> None:
    if type(value) is not bool:  # as older versions wrote it
        _INT32(name, value)


CPU_PARAMETERS = _record(
    {
        "block": _list_of(_INT64, "integers"),
        "loop_order": _list_of(_INT32, "integers"),
        "staged": _flag,
        "streaming": _flag,
        "prefetch": _prefetch,
        "threads": _INT32,
    }
)
CUDA_PARAMETERS = _record(
    {
        "in_modes": _INT32,
        "out_modes": _INT32,
        "in_block": _INT64,
        "out_block": _INT64,
        "coarsened_mode": _INT32,
        "stages": _INT32,
    },
    {"band_width": _INT64},
)
_STEP = {
    "kernel": _text,
    "batch": _INT64,
    "rows": _INT64,
    "columns": _INT64,
    "element_bytes": _INT64,
    "width": _INT64,
}
CPU_INPLACE_PARAMETERS = _record(
    {
        "steps": _list_of(_record(_STEP), "steps"),
        "threads": _INT32,
        "workspace_limit": _COUNT64,
    }
)
CUDA_INPLACE_PARAMETERS = _record(
    {
        "steps": _list_of(_record({**_STEP, "between": _INT64}, {"threads": _INT32}), "steps"),
        "workspace_limit": _COUNT64,
    }
)


def _name_of_model(name: str, value: Any) -> None:
    _text(name, value)
    if value in ("", "cpu"):  # Such a plan would take arrays of the CPU for those of a GPU.
        raise _refusal(name, "the name of a GPU", value)


_MODEL = _record(
    {"name": _name_of_model},
    {
        "multiprocessors": _INT32,
        "clock_hz": _number,
        "memory_bytes_per_second": _number,
        "l2_cache_bytes": _INT64,
        "shared_bytes_per_multiprocessor": _INT64,
        "threads_per_multiprocessor": _INT32,
        "launch_seconds": _number,
        "overlap": _INT32,
        "costs": _NUMBERS,
        "coefficients": _table_of(_NUMBERS, "objects"),
        "regression_bytes": _INT64,
    },
)


def _device(name: str, value: Any) -> None:
    if value == "cpu":
        return
    if not isinstance(value, dict):
        raise _refusal(name, "'cpu' or an object that describes a GPU", value)
    _MODEL(name, value)


def _alignment(name: str, value: Any) -> None:
    if type(value) is not int or value not in (1, 2, 4, 8, 16):
        raise _refusal(name, "1, 2, 4, 8 or 16", value)


def _row(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise _refusal(name, "a list of a kernel, its parameters and seconds", value)
    kernel, _, seconds = value
    _text(f"{name}[0]", kernel)
    _seconds(f"{name}[2]", seconds)


MEASURED = _list_of(_row, "measurements")
PLAN = {
    "device": _device,
    "dtype": _text,
    "inplace": _flag,
    "kernel": _text,
    "parameters": check_object,
}
PLAN_OPTIONAL = {
    "given": _list_of(_text, "texts"),
    "measured": MEASURED,
    "model": _record(
        {
            "name": _text,
            "cached_bytes": _INT64,
            "coefficients": _NUMBERS,
            "low": _number,
            "high": _number,
        }
    ),
}
CUDA = {"alignment": _alignment}
