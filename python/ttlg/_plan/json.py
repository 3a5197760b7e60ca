"""Plans as JSON."""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ttlg import _core
from ttlg._arguments.dtypes import is_dtype_name
from ttlg._arguments.words import count_of
from ttlg._plan import fields

AnyPlan = _core.CpuPlan | _core.CudaPlan | _core.CpuInplacePlan | _core.CudaInplacePlan
PlanT = TypeVar("PlanT", bound=AnyPlan)
# What makes plans of a kernel and parameters.
Build = Callable[[str, dict[str, Any]], PlanT]
# Kernels with parameters, and the seconds of a call by each.
Measured = Sequence[tuple[str, dict[str, Any], float]]


def model_of(core: AnyPlan) -> _core.DeviceModel | None:
    """Return the GPU that a plan is for, or None for the CPU."""
    return core.model if isinstance(core, _core.CudaPlan | _core.CudaInplacePlan) else None


def write(core: AnyPlan, dtype: str, given: tuple[str, ...]) -> str:
    """Write a plan, its dtype's name and the names of the parameters that a caller gave."""
    model = model_of(core)
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
        "out_alignment": core.out_alignment,
        "kernel": core.kernel,
        "parameters": core.parameters,
    }
    if isinstance(core, _core.CudaPlan):
        record["alignment"] = core.pointer_alignment
    if core.measured:
        record["measured"] = core.measured
    # The time model of a plan that was made by another one than that in use.
    if isinstance(core, _core.CpuPlan | _core.CpuInplacePlan) and core.machine is not None:
        names = ("name", "cached_bytes", "coefficients", "low", "high")
        record["model"] = {name: getattr(core.machine.model, name) for name in names}
    if given:
        record["given"] = given
    return json.dumps(record)


def read(text: str) -> tuple[AnyPlan, str, tuple[str, ...]]:
    """Rebuild what `write` wrote: a plan, its dtype's name and the parameters that were given."""
    try:
        data = json.loads(text)
        fields.check_object("it", data)
        return _read_plan(data), data["dtype"], tuple(data.get("given", ()))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not the JSON of a ttlg plan: {error}") from error


def _read_plan(data: dict[str, Any]) -> AnyPlan:
    request = read_request(data)
    fields.check_fields(data, fields.PLAN, fields.PLAN_OPTIONAL)
    name, itemsize = data["dtype"], data["itemsize"]
    if not is_dtype_name(name, itemsize):
        raise ValueError(
            f"dtype must name one of {count_of(itemsize, 'byte')}, as itemsize says, not {name!r}"
        )
    measured, inplace = data.get("measured", []), data["inplace"]
    device: dict[str, Any]
    if data["device"] != "cpu":
        device = {"model": _core.DeviceModel(**data["device"])}
        if not inplace:
            fields.check_fields(data, fields.CUDA)
            device["pointer_alignment"] = data["alignment"]
    else:
        device = {"machine": None}
        if "model" in data:
            device["machine"] = _core.cpu_machine_with(_core.CpuTimeModel(**data["model"]))
        measured = [] if inplace else measured  # which is for other plans
    build: Build[AnyPlan] = builder(request, inplace=inplace, **device)
    return build_with_measured(build, data["kernel"], data["parameters"], measured)


def request_record(core: _core.PlanBase) -> dict[str, Any]:
    """Return the request of a plan that is not in place, as JSON gives it back."""
    values = {name: getattr(core, name) for name in (*fields.REQUEST, "out_alignment")}
    return {name: [*value] if isinstance(value, tuple) else value for name, value in values.items()}


def read_request(data: dict[str, Any]) -> _core.Request:
    """Rebuild a request, in place or not, from what has its fields."""
    fields.check_fields(data, fields.REQUEST, fields.REQUEST_OPTIONAL)
    rank = len(data["shape"])
    for name in ("byte_strides", "axes", "out_byte_strides"):
        if data[name] is not None and len(data[name]) != rank:
            entries = count_of(rank, "entry")
            raise ValueError(f"{name} must have {entries}, as shape has, not {data[name]}")
    return _core.Request(
        data["shape"],
        data["byte_strides"],
        data["itemsize"],
        data["axes"],
        data["out_byte_strides"],
        data.get("inplace", False),
        data.get("out_alignment", 1),
    )


def build_with_measured(
    build: Build[PlanT], kernel: str, parameters: dict[str, Any], measured: Measured
) -> PlanT:
    """Build a plan that knows what was measured for it; ValueError if one of them is no plan."""
    fields.MEASURED("measured", measured)
    plan: Any = _build_named(build, kernel, parameters)
    try:
        timed = [(_build_named(build, name, each), time) for name, each, time in measured]
    except ValueError as error:
        raise ValueError(f"measured: {error}") from None
    result: PlanT = plan.with_measured(timed) if timed else plan
    return result


def _build_named(build: Build[PlanT], kernel: str, parameters: dict[str, Any]) -> PlanT:
    """Build a plan, and refuse one of another kernel: in place, the steps say which it is."""
    try:
        plan = build(kernel, parameters)
    except OverflowError as error:
        raise ValueError(f"shape, itemsize or strides are too large: {error}") from None
    if plan.kernel != kernel:
        raise ValueError(f"kernel is {kernel!r}, but the steps are those of {plan.kernel!r}")
    return plan


def build_cpu_plan(
    request: _core.Request, kernel: str, machine: _core.CpuMachine | None = None, **parameters: Any
) -> _core.CpuPlan:
    """Build a plan from parameters of any version.

    Up to 0.1, ``prefetch`` was true or false, for one block ahead or none, and ``streaming`` meant
    ``staged`` too for runs of less than 1 KiB.
    """
    if isinstance(parameters["prefetch"], bool) and parameters["streaming"]:
        stored = _core.build_cpu_plan(request, kernel=kernel, **parameters | {"streaming": False})
        short = kernel != "copy" and stored.describe()["element_bytes"] < 1024
        parameters["staged"] = parameters["staged"] or short
    return _core.build_cpu_plan(request, kernel=kernel, machine=machine, **parameters)


def builder(request: _core.Request, *, inplace: bool, **device: Any) -> Build[Any]:
    """Return what makes plans of a kernel and parameters, which it checks, for a device.

    That is a ``model`` of a GPU, with ``pointer_alignment`` unless in place, or a ``machine`` with
    another time model than that in use, or None.
    """
    on_gpu = "model" in device
    if inplace:
        check = fields.CUDA_INPLACE_PARAMETERS if on_gpu else fields.CPU_INPLACE_PARAMETERS
        make: Any = _core.build_cuda_inplace_plan if on_gpu else _core.build_cpu_inplace_plan
    else:
        check = fields.CUDA_PARAMETERS if on_gpu else fields.CPU_PARAMETERS
        make = _core.build_cuda_plan if on_gpu else build_cpu_plan

    def build(kernel: str, parameters: dict[str, Any]) -> Any:
        check("parameters", parameters)
        named = {} if inplace else {"kernel": kernel}  # in place, each step names its own
        return make(request, **device, **named, **parameters)

    return build


def builder_of(core: PlanT) -> Build[PlanT]:
    """Return what makes plans for the request and the device of another one."""
    device: dict[str, Any]
    if isinstance(core, _core.CpuPlan | _core.CpuInplacePlan):
        device = {"machine": core.machine}
    else:
        device = {"model": core.model}
    if isinstance(core, _core.CudaPlan):
        device["pointer_alignment"] = core.pointer_alignment
    return builder(core.request, inplace=core.inplace, **device)
