"""Plans as JSON."""

import json
from typing import Any

from ttlg import _core

Parts = tuple[_core.CpuPlan | _core.CudaPlan, str, _core.DeviceModel | None]


def write(core: _core.CpuPlan | _core.CudaPlan, dtype: str, model: _core.DeviceModel | None) -> str:
    """Write what `read` rebuilds a plan from."""
    record: dict[str, Any] = {
        "ttlg": _core.__version__,
        "device": "cpu" if model is None else model.to_dict(),
        "shape": core.shape,
        "byte_strides": core.byte_strides,
        "axes": core.axes,
        "dtype": dtype,
        "itemsize": core.itemsize,
        "out_byte_strides": core.out_byte_strides,
        "inplace": core.inplace,
        "kernel": core.kernel,
        "parameters": core.parameters,
    }
    if isinstance(core, _core.CudaPlan):
        record["alignment"] = core.alignment
    return json.dumps(record)


def read(text: str) -> Parts:
    """Return core, dtype and device model of the plan that was written."""
    try:
        data = json.loads(text)
        request = (
            tuple(data["shape"]),
            tuple(data["byte_strides"]),
            data["itemsize"],
            tuple(data["axes"]),
            data["out_byte_strides"],
        )
        chosen = {"inplace": data["inplace"], "kernel": data["kernel"], **data["parameters"]}
        if data["device"] == "cpu":
            return _core.build_cpu_plan(*request, **chosen), data["dtype"], None
        model = _core.DeviceModel(**data["device"])
        core = _core.build_cuda_plan(*request, alignment=data["alignment"], model=model, **chosen)
        return core, data["dtype"], model
    except json.JSONDecodeError as error:
        raise ValueError(f"not the JSON of a ttlg plan: {error}") from error
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the JSON of a ttlg plan: {error!r}") from error
