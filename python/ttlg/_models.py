"""Device models: what the planner knows of a GPU, from a file or from the driver."""

import functools
import json
import re
from pathlib import Path

from ttlg import _core

_FOLDER = Path(__file__).with_name("models")


def shipped() -> list[str]:
    """Name the models that come with the package."""
    return sorted(file.stem for file in _FOLDER.glob("*.json"))


@functools.cache
def load(name: str) -> _core.DeviceModel:
    """Read a shipped model."""
    fields = json.loads((_FOLDER / f"{name}.json").read_text())
    del fields["source"]  # for the reader
    return _core.DeviceModel(**fields)


@functools.cache
def model_of(device: str) -> _core.DeviceModel:
    """Return the model of a CUDA device in this machine, such as ``"cuda:0"``.

    A shipped model of the device's name wins over what the driver tells, as it has been fitted.
    """
    asked = _core.device_model(int(device.removeprefix("cuda:")))
    return load(asked.name) if asked.name in shipped() else asked


def model_for(device: str) -> _core.DeviceModel | None:
    """Read a `device=` argument: None for the CPU, else the model to plan for."""
    if device == "cpu":
        return None
    if device == "cuda":
        return model_of("cuda:0")
    if re.fullmatch(r"cuda:\d{1,4}", device):
        return model_of(device)
    names = shipped()
    if device in names:
        return load(device)
    found = [f"cuda:{number}" for number in range(len(_core.cuda_config()["devices"]))]
    choices = ", ".join(map(repr, ["cpu", *found, *names]))
    raise ValueError(f"cannot plan for device {device!r}; choose one of {choices}")
