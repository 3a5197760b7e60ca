"""Plans as JSON."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from ttlg import _core
from ttlg._arguments.dtypes import is_dtype_name
from ttlg._arguments.words import count_of
from ttlg._plan import fields

AnyPlan = _core.CpuPlan | _core.CudaPlan | _core.CpuInplacePlan | _core.CudaInplacePlan
PlanT = TypeVar("PlanT", _core.CpuPlan, _core.CudaPlan, _core.CudaInplacePlan)
NamedT = TypeVar("NamedT", bound=AnyPlan)
# Kernels with parameters, and the seconds of a call by each.
Measured = Sequence[tuple[str, dict[str, Any], float]]


def write(core: AnyPlan, dtype: str, device: str | dict[str, Any], own: dict[str, Any]) -> str:
    """Write a plan, its dtype's name, its device and what plans of its kind alone have."""
    record: dict[str, Any] = {
        "ttlg": _core.__version__,
        "device": device,
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
        **own,
    }
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
    kernel, parameters, measured = data["kernel"], data["parameters"], data.get("measured", [])
    if data["device"] == "cpu":
        machine = (
            _core.cpu_machine_with(_core.CpuTimeModel(**data["model"])) if "model" in data else None
        )
        if data["inplace"]:
            return _build_named(cpu_inplace_builder(request, machine), kernel, parameters)
        build_one = partial(build, request, machine=machine)
        return build_with_measured(build_one, kernel, parameters, measured)
    model = _core.DeviceModel(**data["device"])
    if data["inplace"]:
        build_in_place = cuda_inplace_builder(request, model)
        return build_with_measured(build_in_place, kernel, parameters, measured)
    fields.check_fields(data, fields.CUDA)
    build_other = cuda_builder(request, model, data["alignment"])
    return build_with_measured(build_other, kernel, parameters, measured)


def model_record(core: _core.CpuPlan | _core.CpuInplacePlan) -> dict[str, Any]:
    """Return the time model of a plan for the CPU that was made by another one than that in use."""
    if core.machine is None:
        return {}
    names = ("name", "cached_bytes", "coefficients", "low", "high")
    return {"model": {name: getattr(core.machine.model, name) for name in names}}


def request_record(core: _core.PlanBase) -> dict[str, Any]:
    """Return the request of a plan that is not in place, as JSON gives it back."""
    out = core.out_byte_strides
    return {
        "shape": list(core.shape),
        "byte_strides": list(core.byte_strides),
        "axes": list(core.axes),
        "itemsize": core.itemsize,
        "out_byte_strides": None if out is None else list(out),
        "out_alignment": core.out_alignment,
    }


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


def build_measured(
    request: _core.Request,
    kernel: str,
    parameters: dict[str, Any],
    measured: Measured,
) -> _core.CpuPlan:
    """Build a plan that knows what was measured for it; ValueError if one of them is no plan."""
    return build_with_measured(partial(build, request), kernel, parameters, measured)


def build_with_measured(
    build_one: Callable[[str, dict[str, Any]], PlanT],
    kernel: str,
    parameters: dict[str, Any],
    measured: Measured,
) -> PlanT:
    """Do so for every device, by what makes a plan of a kernel and parameters."""
    fields.MEASURED("measured", measured)
    plan = _build_named(build_one, kernel, parameters)
    try:
        timed = [(_build_named(build_one, name, each), time) for name, each, time in measured]
    except ValueError as error:
        raise ValueError(f"measured: {error}") from None
    return plan.with_measured(timed)


def _build_named(
    build_one: Callable[[str, dict[str, Any]], NamedT], kernel: str, parameters: dict[str, Any]
) -> NamedT:
    """Build a plan, and refuse one of another kernel: in place, the steps say which it is."""
    try:
        plan = build_one(kernel, parameters)
    except OverflowError as error:
        raise ValueError(f"shape, itemsize or strides are too large: {error}") from None
    if plan.kernel != kernel:
        raise ValueError(f"kernel is {kernel!r}, but the steps are those of {plan.kernel!r}")
    return plan


def cuda_builder(
    request: _core.Request, model: _core.DeviceModel, alignment: int
) -> Callable[[str, dict[str, Any]], _core.CudaPlan]:
    """Return what makes plans of a kernel and parameters for pointers of this alignment."""

    def build_one(kernel: str, parameters: dict[str, Any]) -> _core.CudaPlan:
        fields.CUDA_PARAMETERS("parameters", parameters)
        return _core.build_cuda_plan(
            request, pointer_alignment=alignment, model=model, kernel=kernel, **parameters
        )

    return build_one


def cuda_inplace_builder(
    request: _core.Request, model: _core.DeviceModel
) -> Callable[[str, dict[str, Any]], _core.CudaInplacePlan]:
    """Return the same for plans in place, whose parameters name their kernels."""

    def build_one(_: str, parameters: dict[str, Any]) -> _core.CudaInplacePlan:
        fields.CUDA_INPLACE_PARAMETERS("parameters", parameters)
        return _core.build_cuda_inplace_plan(request, model=model, **parameters)

    return build_one


def cpu_inplace_builder(
    request: _core.Request, machine: _core.CpuMachine | None
) -> Callable[[str, dict[str, Any]], _core.CpuInplacePlan]:
    """Return the same for the CPU, by the time model of a machine, or None for that in use."""

    def build_one(_: str, parameters: dict[str, Any]) -> _core.CpuInplacePlan:
        fields.CPU_INPLACE_PARAMETERS("parameters", parameters)
        return _core.build_cpu_inplace_plan(request, machine=machine, **parameters)

    return build_one


def builder(core: AnyPlan, request: _core.Request) -> Callable[[str, dict[str, Any]], AnyPlan]:
    """Return what makes plans of a kernel and parameters for the device of another plan."""
    if isinstance(core, _core.CpuPlan):
        return partial(build, request, machine=core.machine)
    if isinstance(core, _core.CpuInplacePlan):
        return cpu_inplace_builder(request, core.machine)
    if isinstance(core, _core.CudaPlan):
        return cuda_builder(request, core.model, core.pointer_alignment)
    return cuda_inplace_builder(request, core.model)


def build(
    request: _core.Request,
    kernel: str,
    parameters: dict[str, Any],
    machine: _core.CpuMachine | None = None,
) -> _core.CpuPlan:
    """Build a plan from parameters of any version.

    Up to 0.1, ``prefetch`` was true or false, for one block ahead or none, and ``streaming`` meant
    ``staged`` too for runs of less than 1 KiB.
    """
    fields.CPU_PARAMETERS("parameters", parameters)
    if isinstance(parameters["prefetch"], bool) and parameters["streaming"]:
        stored = _core.build_cpu_plan(request, kernel=kernel, **parameters | {"streaming": False})
        staged = parameters["staged"] or (kernel != "copy" and stored.element_bytes < 1024)
        parameters = parameters | {"staged": staged}
    return _core.build_cpu_plan(request, kernel=kernel, machine=machine, **parameters)
