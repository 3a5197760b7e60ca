"""Time models: what the planner knows of a GPU and of this machine's CPU."""

import functools
import json
import os
import re
import warnings
from typing import TYPE_CHECKING, Any

from ttlg import _core
from ttlg._arguments.words import did_you_mean
from ttlg._machine.cache_file import TuneFile
from ttlg._machine.processor import machine_facts, machine_key
from ttlg._model_files import is_model_file, model_from_file, values
from ttlg._typing import Device

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER = os.path.join(os.path.dirname(__file__), "models")
_SHORT_NAMES = {"nvidia-h100": "nvidia-h100-80gb-hbm3"}


def _read(name: str) -> dict[str, Any]:
    """Read the file of a shipped model."""
    with open(os.path.join(_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        fields: dict[str, Any] = json.load(file)
    return fields


def _shipped_names() -> list[str]:
    files = (os.path.splitext(file) for file in sorted(os.listdir(_FOLDER)))
    return [name for name, extension in files if extension == ".json"]


# GPUs.


@functools.cache
def shipped() -> list[str]:
    """Name the models of GPUs that come with the package."""
    return [name for name in _shipped_names() if not name.startswith("cpu-")]


@functools.cache
def load(name: str) -> _core.DeviceModel:
    """Read a shipped model of a GPU."""
    return _core.DeviceModel(**values(_read(name)))


def listed() -> list[str]:
    """Name the same, those marked that no hardware has fitted."""
    return [name if load(name).calibrated else f"{name} (uncalibrated)" for name in shipped()]


@functools.cache
def model_of(device: str) -> _core.DeviceModel:
    """Return the model of a CUDA device in this machine, such as ``"cuda:0"``.

    A shipped model of the device's name wins over what the driver tells, so that a plan is the same
    with the device at hand and without it.
    """
    asked = _core.device_model(int(device.removeprefix("cuda:")))
    return load(asked.name) if asked.name in shipped() else asked


def device_number(device: Device, asked: str) -> int:
    """Return the number of a CUDA device in this machine; ValueError for a model."""
    if device == "cuda":
        return 0
    if not isinstance(device, str) or not re.fullmatch(r"cuda:\d{1,4}", device):
        raise ValueError(f"{asked} needs a GPU of this machine, 'cuda' or 'cuda:1', not {device!r}")
    return int(device.removeprefix("cuda:"))


def model_for(device: Device) -> _core.DeviceModel | _core.CpuMachine | None:
    """Read a `device=` argument: None for the CPU, else the model to plan for.

    A CPU's model in a file comes with this machine, the rest of which it is taken to describe.
    """
    if device == "cpu":
        return None
    if is_model_file(device):
        return model_from_file(device)
    if not isinstance(device, str):
        raise TypeError(f"device must be a name or the path of a model's file, not {device!r}")
    if device == "cuda":
        return model_of("cuda:0")
    if re.fullmatch(r"cuda:\d{1,4}", device):
        return model_of(device)
    names = shipped()
    name = _SHORT_NAMES.get(device, device)
    if name in names:
        return load(name)
    found = [f"cuda:{number}" for number in range(len(_core.cuda_config()["devices"]))]
    choices = ", ".join(map(repr, ["cpu", *found, *names]))
    hint = did_you_mean(device, ["cpu", *found, *names])
    raise ValueError(
        f"cannot plan for device {device!r}; choose one of {choices}, or the path of a model's "
        f"file, which ends in '.json'{hint}"
    )


# The CPU.

_WHY_GENERIC = "no shipped model is for this CPU"
# Why the model in use is that one, for `show_config`.
_chosen = _WHY_GENERIC
# Nine of ten measured times by those that a model predicts: one beyond this knows nothing of its
# machine, such as one that was fitted while other programs ran.
_MIN_LOW, _MAX_HIGH = 0.2, 5.0


@functools.cache
def _generic() -> _core.CpuTimeModel:
    """Return the model for every CPU, compiled in; to be called before another one is installed."""
    return _core.cpu_time_model()


def cpu_model_in_use() -> dict[str, Any]:
    """Return the ``name`` of the CPU's time model, why it was ``chosen``, and its corrections.

    That is by how many layouts whose calls have settled, and the factors by which costs differ.
    """
    model: dict[str, Any] = {"name": _core.cpu_time_model().name, "chosen": _chosen}
    factors, trials = _core.cpu_time_factors()
    if _core.is_learning() and (trials or any(factor != 1 for factor in factors.values())):
        model["corrected_by_layouts"] = trials
        model["factors"] = {name: round(factor, 2) for name, factor in factors.items()}
    return model


def cpu_source(machine: _core.CpuMachine | None = None) -> str:
    """Name the source of the CPU's predicted times, by default those of the model in use."""
    if machine is not None:
        return machine.model.name
    model = cpu_model_in_use()
    return f"{model['name']}, corrected by calls" if "factors" in model else model["name"]


def install_cpu_model(fields: Any, why: str = "calibrated in this process") -> None:
    """Plan with this model from now on, in this process, and forget the plans of the one before.

    TypeError or ValueError where `fields` are not what a model's file holds, or where the model
    predicts nothing; the one in use stays. `why` it was chosen is for `show_config`.
    """
    model = cpu_model(fields)
    _check_narrow(model)
    _use(model, why)


def is_narrow(low: float, high: float) -> bool:
    """Return whether a model with these quantiles of measured by predicted time may be used."""
    return low >= _MIN_LOW and high <= _MAX_HIGH


def too_wide(low: float, high: float) -> str:
    """Say why one may not."""
    return (
        f"90 % of measured times are {low:.3g} to {high:.3g} of those predicted, and no model "
        f"beyond {_MIN_LOW:g} to {_MAX_HIGH:g} is used"
    )


def save_cpu_model(fields: dict[str, Any]) -> "Path":
    """Keep a model for later processes on machines such as this one, and return its file.

    The file lies in the cache directory, and the model of every kind of machine is an entry of its
    own there. TypeError or ValueError as for `install_cpu_model`, and ValueError where the cache
    directory cannot be written to.
    """
    from pathlib import Path  # takes milliseconds, and only who saves needs it

    _check_narrow(cpu_model(fields))
    file = saved_models()
    file.check_writable()
    file.save(machine_key(), {"model": fields})
    return Path(file.path)


def remove_cpu_model() -> "Path | None":
    """Remove the model that is kept for this machine, and plan by the shipped one from now on.

    Return the file that held it, None where there was none; ValueError where the cache directory
    cannot be written to.
    """
    from pathlib import Path

    file = saved_models()
    removed = file.remove(machine_key())
    _install_shipped(machine_facts())
    return Path(file.path) if removed else None


def saved_models() -> TuneFile:
    """Return the file in ``TTLG_CACHE_DIR``, or else in the user's cache directory.

    That follows the XDG Base Directory Specification; platformdirs, which knows other systems too,
    would take longer to import than everything that a model takes.
    """
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = os.environ.get("TTLG_CACHE_DIR") or os.path.join(user, "ttlg")
    return TuneFile(directory, "ttlg-cpu-models.json")


def cpu_model(fields: Any) -> _core.CpuTimeModel:
    """Make a model of what its file holds; TypeError or ValueError where that is none."""
    if not isinstance(fields, dict):
        raise TypeError(f"a model must be a dictionary, not {fields!r}")
    return _core.CpuTimeModel(**values(fields))


def _check_narrow(model: _core.CpuTimeModel) -> None:
    if not is_narrow(model.low, model.high):
        raise ValueError(too_wide(model.low, model.high))


def _use(model: _core.CpuTimeModel, why: str) -> None:
    global _chosen
    _core.set_cpu_time_model(model)
    _chosen = why


def _install_saved(key: dict[str, Any]) -> bool:
    """Install the model that was calibrated on such a machine, if there is a sound one."""
    file = saved_models()
    try:
        for entry in file.entries():
            if entry["key"] == key:
                install_cpu_model(entry.get("model"), f"calibrated on this machine, in {file.path}")
                return True
    except (TypeError, ValueError) as error:
        why = str(error).partition("\n")[0]  # the others list what pybind11 would have taken
        warnings.warn(
            f"the CPU's time model in {file.path!r} is ignored: {why}; write a new one with "
            "'python -m ttlg calibrate', or remove it with 'python -m ttlg calibrate --reset'",
            stacklevel=2,
        )
    return False


def _install_shipped(facts: dict[str, Any]) -> None:
    """Install the shipped model that asks for most of what is true of this machine.

    Where there is none, that is the one for every CPU.
    """
    files = [_read(name) for name in _shipped_names() if name.startswith("cpu-")]
    fitting = [each for each in files if each["match"].items() <= facts.items()]
    if fitting:
        best = max(fitting, key=lambda each: len(each["match"]))
        matched = ", ".join(f"{name} {value}" for name, value in best["match"].items())
        install_cpu_model(best, f"shipped for {matched}")
    else:
        _use(_generic(), _WHY_GENERIC)


def install_default_cpu_model() -> None:
    """Install the model that was calibrated on this machine, else the shipped one for it."""
    try:
        key, facts = machine_key(), machine_facts()
        _generic()
    except ValueError:  # an unknown TTLG_SIMD_LEVEL, which is reported at the first use
        return
    if not _install_saved(key):
        _install_shipped(facts)


install_default_cpu_model()
