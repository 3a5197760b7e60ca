"""Time models in files: the shipped ones, those that `calibrate` keeps, and a caller's own."""

import functools
import json
import os
from typing import Any

from ttlg import _core
from ttlg._machine.processor import machine_key
from ttlg._typing import Device

# What a model's file says to its reader alone.
_ABOUT = ("source", "match", "errors", "fitted", "regressions")


def values(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what of them a model is made from."""
    return {name: value for name, value in fields.items() if name not in _ABOUT}


def is_model_file(device: Any) -> bool:
    """Return whether a `device=` argument names a file."""
    return isinstance(device, os.PathLike) or (isinstance(device, str) and device.endswith(".json"))


def model_from_file(device: Device) -> _core.DeviceModel | _core.CpuMachine:
    """Read the model in a file: of a GPU, or of a CPU as this machine with that model.

    A file that has not changed is read once; ValueError, with the file's name, for one that is
    missing or holds no model.
    """
    return _read(*file_version(device))


def device_key(device: Device) -> Any:
    """Return what stands for a `device=` argument in keys: of a file as it is now."""
    return file_version(device) if is_model_file(device) else device


def file_version(device: Device) -> tuple[str, int, int, int]:
    """Return what tells a file from others, and from what it was before."""
    path = os.fspath(device)
    try:
        facts = os.stat(path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"cannot read the model in file {path!r}: {why}") from None
    return path, facts.st_ino, facts.st_mtime_ns, facts.st_size


@functools.lru_cache(64)
def _read(path: str, *version: int) -> _core.DeviceModel | _core.CpuMachine:
    try:
        with open(path, encoding="utf-8") as file:
            fields = values(_of_this_machine(json.load(file)))
        if "cached_bytes" not in fields:
            _check_fields(fields, _core.DeviceModel(name="").to_dict(), ("name",))
            return _core.DeviceModel(**fields)
        own = _core.cpu_time_model()
        names = ("name", "cached_bytes", "coefficients", "low", "high")
        _check_fields(fields, {name: getattr(own, name) for name in names}, names)
        return _core.cpu_machine_with(_core.CpuTimeModel(**fields))
    except (OSError, RecursionError, TypeError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"file {path!r} holds no time model: {why}") from None


def _of_this_machine(data: Any) -> dict[str, Any]:
    """Return a model's fields; of the models that `calibrate` has kept, those for this machine.

    Where there is one alone, that is it, so that another machine's file can be asked.
    """
    if isinstance(data, list):
        entries = [each for each in data if isinstance(each, dict) and "model" in each]
        own = [each for each in entries if each.get("key") == machine_key()] or entries
        if len(own) != 1:
            raise ValueError(f"it holds {len(own)} models, none of which is for this machine")
        data = own[0]["model"]
    if not isinstance(data, dict):
        raise ValueError("it must be an object with a model's fields")  # noqa: TRY004
    return data


def _check_fields(fields: dict[str, Any], known: dict[str, Any], needed: tuple[str, ...]) -> None:
    """Refuse fields that are missing, unknown or of another type than those of a known model."""
    for name in needed:
        if name not in fields:
            raise ValueError(f"field {name!r} is missing")
    for name, value in fields.items():
        if name not in known:
            raise ValueError(f"field {name!r} is unknown; a model has {', '.join(known)}")
        kind = type(known[name])
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits or isinstance(value, bool) or not _holds_numbers(value):
            raise ValueError(f"field {name!r} must be {_KINDS[kind]}, not {value!r}")


_KINDS = {
    str: "text",
    int: "an integer",
    float: "a number",
    dict: "an object of numbers by name, for 'coefficients' of a GPU by kernel",
}


def _holds_numbers(value: Any) -> bool:
    """Return whether an object holds numbers, or objects that do; true of what is no object."""
    if not isinstance(value, dict):
        return True
    return all(
        _holds_numbers(each)
        if isinstance(each, dict)
        else isinstance(each, int | float) and not isinstance(each, bool)
        for each in value.values()
    )
