"""Plans with parameters that a caller gives."""

from collections.abc import Iterator, Mapping
from typing import Any, SupportsIndex, TypeVar

from ttlg import _core
from ttlg._plan.json import AnyPlan, builder_of

Given = Mapping[str, Any]
CoreT = TypeVar("CoreT", bound=AnyPlan)

# Parameters of steps in place that may be given for all of them at once.
_OF_EVERY_STEP = ("width", "threads")


def check_given(parameters: Any) -> None:
    """Refuse what has not the form of a plan's parameters; TypeError."""
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters must be a dict as Plan.parameters is, not {parameters!r}")
    steps = parameters.get("steps", ())
    if not isinstance(steps, list | tuple) or not all(isinstance(step, Mapping) for step in steps):
        raise TypeError(f"steps must be a list of dicts as Plan.parameters has it, not {steps!r}")


def choices_before(
    given: Given,
    *,
    on_host: bool,
    inplace: bool,
    kernel: str | None,
    threads: int | None,
    workspace: int | None,
) -> dict[str, Any]:
    """Return ``kernel``, ``threads`` and ``workspace`` for the planner's choice before `given` ones.

    ValueError where threads or the workspace are given twice.
    """
    if on_host and "threads" in given:
        _refuse_twice("threads", threads, "threads")
        threads = given["threads"]
    limit = given.get("workspace_limit")
    if inplace and limit is not None:
        _refuse_twice("workspace", workspace, "workspace_limit")
        is_size = isinstance(limit, SupportsIndex) and 0 < int(limit) < 1 << 63
        workspace = int(limit) if is_size else None  # the limit of plans that move nothing is 0
    # In place, "c2r + cells" is the name of steps of several kernels, and "none" that of no steps.
    names_steps = inplace and kernel is not None and (" + " in kernel or kernel == "none")
    return {
        "kernel": None if names_steps else kernel,
        "threads": threads,
        "workspace": workspace,
    }


def _refuse_twice(argument: str, value: object, name: str) -> None:
    if value is not None:
        raise ValueError(
            f"{argument}={value!r} and the parameter {name!r} contradict each other; pass one"
        )


def with_parameters(core: CoreT, kernel: str | None, given: Given) -> CoreT:
    """Return the plan with parameters for the request of `core`, which is the planner's choice.

    What is not given is that of the planner's candidates: they are built with the given values in
    place of their own, those of `kernel` unless that is None, and the one of the least predicted
    time is taken. ValueError where none can be built.
    """
    asked = (
        f"cannot plan shape {core.shape} by axes {core.axes} with kernel "
        f"{kernel or core.kernel!r} and parameters {dict(given)}"
    )
    unknown = _unknown(core, given)
    if unknown:
        raise ValueError(f"{asked}: {unknown}")
    plans, obstacle = _build(core, kernel, given)
    if not plans:
        raise ValueError(f"{asked}: {obstacle}")
    return min(plans, key=lambda plan: plan.predicted_seconds)


def _unknown(core: AnyPlan, given: Given) -> str | None:
    """Say which parameter a plan does not have, and which it has; None where there is no such."""
    own = core.parameters
    of_steps = [*own["steps"][0]] if own.get("steps") else []
    names = [*own, *(name for name in _OF_EVERY_STEP if name in of_steps and name not in own)]
    for name in given:
        if name not in names:
            return f"unknown parameter {name!r}; kernel {core.kernel!r} has {', '.join(names)}"
    for step in given.get("steps", ()):
        for name in step:
            if name not in of_steps:
                return f"unknown parameter {name!r} of a step; steps have {', '.join(of_steps)}"
    return None


def _build(core: CoreT, kernel: str | None, given: Given) -> tuple[list[CoreT], str | None]:
    """Build all plans with given parameters, and say why the first one of them cannot be built."""
    build_one = builder_of(core)
    plans: list[CoreT] = []
    obstacle = None
    built = set()
    for name, parameters in _ways(core, kernel, given):
        way = repr((name, parameters))
        if way in built:
            continue
        built.add(way)
        try:
            plan: Any = build_one(name, parameters)
        except ValueError as error:
            obstacle = obstacle or str(error)
        else:
            if _is_of(plan.kernel, kernel):
                plans.append(plan)
            else:
                obstacle = obstacle or f"the kernel of these steps is {plan.kernel!r}"
    return plans, obstacle


def _is_of(name: str, kernel: str | None) -> bool:
    """Return whether a plan's kernel is one that was asked for, in place that of every step."""
    return kernel in (None, name) or {*name.split(" + ")} == {kernel}


def _ways(core: AnyPlan, kernel: str | None, given: Given) -> Iterator[tuple[str, dict[str, Any]]]:
    """List kernels and parameters to build plans from, the planner's choice first."""
    ways = [(core.kernel, core.parameters)]
    if not _is_complete(core, kernel, given):
        listed: list[Any] = core.candidates()
        ways += [(name, own) for name, own, *_ in listed if _is_of(name, kernel)]
    for name, own in ways:
        for parameters in _put_into(core, name, own, given):
            yield name, parameters


def _is_complete(core: AnyPlan, kernel: str | None, given: Given) -> bool:
    """Return whether nothing that takes part in the choice of a plan is left to choose."""
    if not core.inplace:
        return kernel is not None and core.parameters.keys() <= given.keys()
    steps = core.parameters["steps"]
    return "steps" in given and all(
        step.keys() <= own.keys() for own in given["steps"] for step in steps
    )


def _put_into(
    core: AnyPlan, name: str, own: dict[str, Any], given: Given
) -> Iterator[dict[str, Any]]:
    """Put given parameters in place of a candidate's own, and choose again what follows from them."""
    merged = {**own, **given}
    if core.inplace:
        yield _put_into_steps(own, given)
    elif isinstance(core, _core.CudaPlan):
        if "band_width" not in given:
            merged.pop("band_width", None)  # for that which the planner chooses for this slice
        yield merged
    elif "block" in given and "loop_order" not in given and name not in ("copy", "reference"):
        for order in _core.loop_orders(core.request, merged["block"]):
            yield {**merged, "loop_order": order}
    else:
        yield merged


def _put_into_steps(own: dict[str, Any], given: Given) -> dict[str, Any]:
    """Do so in place: names of steps that a plan has not itself are for each of them."""
    steps = given.get("steps", own["steps"])
    if len(steps) == len(own["steps"]):
        steps = [{**old, **new} for old, new in zip(own["steps"], steps, strict=True)]
    shared = {name: value for name, value in given.items() if name not in own}
    others = {name: value for name, value in given.items() if name in own}
    return {**own, **others, "steps": [{**step, **shared} for step in steps]}
