"""Predicted times: how long a transposition takes, without one."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from ttlg import _core, _models
from ttlg._arguments.dtypes import itemsize_of, named_type
from ttlg._plan.plan import Plan
from ttlg._planning.choices import core_plan
from ttlg._typing import Axes, Device, Integers, LayoutOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray  # takes a millisecond to import
    from typing_extensions import Unpack

Output: TypeAlias = Literal["fresh", "warm"]


class Prediction(NamedTuple):
    """A predicted time and how far it may be off.

    Attributes
    ----------
    seconds : float
        The predicted time of a call in seconds.
    low, high : float
        Nine of ten measured times of the calls that the model was tested on, and that it had not
        been fitted to, lay between these, in seconds, where it predicted what it predicts here.
        NaN for a GPU, in place and with `out_dtype`, whose models do not tell.
    kernel : str
        The kernel that the planner chooses, as `Plan.kernel`.
    source : str
        The name of the model, ``"cpu-zen5"`` for one; ``"cpu-zen5, corrected by calls"`` where
        calls have taught the planner how long calls take (`set_learning`), so that the same
        question may have had another answer before. Under ``ttlg.learning(False)`` it never has.
        A GPU's model is followed by what the time follows from: ``"tesla-k40c, regression"`` for
        one, or ``"nvidia-h200, physical terms, uncalibrated"`` where no hardware has fitted them.
    """

    seconds: float
    low: float
    high: float
    kernel: str
    source: str


def _is_fresh(output: str) -> bool:
    if output not in ("fresh", "warm"):
        raise ValueError(f"unknown output {output!r}; choose one of 'fresh', 'warm'")
    return output == "fresh"


@overload
def predict_time(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    device: Device = "cpu",
    out_dtype: Any = None,
    inplace: bool = False,
    output: Output = "fresh",
    full: Literal[False] = False,
    **options: "Unpack[LayoutOptions]",
) -> float: ...
@overload
def predict_time(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    device: Device = "cpu",
    out_dtype: Any = None,
    inplace: bool = False,
    output: Output = "fresh",
    full: Literal[True],
    **options: "Unpack[LayoutOptions]",
) -> Prediction: ...
def predict_time(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    device: Device = "cpu",
    strides: Integers | None = None,
    element_strides: Integers | None = None,
    out_dtype: Any = None,
    inplace: bool = False,
    threads: int | None = None,
    output: Output = "fresh",
    full: bool = False,
) -> float | Prediction:
    """Predict how long `transpose` takes, without an array and without running anything.

    Parameters
    ----------
    shape : iterable of int
        Shape of the input, which may exceed the memory.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype or str
        As for `plan`.
    device, strides, element_strides : optional
        As for `plan`; a device model, such as ``"nvidia-h200"`` or a file, needs no GPU.
    out_dtype : dtype or str, optional
        How long `transform` takes that converts to this dtype, with a scale and an offset or
        without, on the CPU.
    inplace : bool
        As for `plan`: how long `transpose_inplace` takes.
    threads : int, optional
        As for `plan`.
    output : str
        ``"fresh"``: the call returns a new array, whose memory the system has to provide first.
        ``"warm"``: it writes to an ``out=`` that has been in use, or to memory of results freed
        before (`set_result_pool`). On a GPU both are the same, as libraries keep its memory for
        later arrays, and in place there is no other memory.
    full : bool
        Return a `Prediction` instead of the seconds alone.

    Returns
    -------
    float or Prediction
        Seconds; with ``full=True`` a named tuple ``(seconds, low, high, kernel, source)``.

    Raises
    ------
    TypeError, ValueError, CudaError
        As for `plan`, and ValueError for an unknown `output`, or for `out_dtype` with a GPU or in
        place; TypeError where `transform` takes no elements of `dtype` or `out_dtype`.

    See Also
    --------
    predict_times : The same for thousands of problems in one call.
    Plan.predicted_time : The same for a plan.

    Notes
    -----
    The time is that of the plan that `transpose` would use on as many threads: the function plans,
    keeps the plan in the planner cache, and asks the model by which the planner chose it. So a
    repeated question takes a microsecond or two, a new one as long as planning. `show_config` names
    the CPU's model. A GPU's time is that of physical terms, whose costs follow from data sheets where
    no hardware has fitted them, which is called uncalibrated; or that of a linear regression as
    TTLG's (section V, Table II) where the kernel has one and the tensor is of sizes that it was
    fitted to.

    While calls learn, as they do by default, what they take corrects the CPU's model for layouts
    that have no plan yet. Under ``ttlg.learning(False)`` predictions depend on the arguments and on
    the model alone.

    What else the machine does, and caches that hold the input already where it exceeds them or do
    not where it would fit, are not predicted.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.predict_time((64, 224, 224, 3), (0, 3, 1, 2), "uint8") < 1  # seconds
    True
    >>> shape = (10**6, 10**6)  # 4 TB
    >>> ttlg.predict_time(shape, threads=2) > 10 * ttlg.predict_time(shape, device="nvidia-h200")
    True
    >>> ttlg.predict_time((1000, 1000), device="nvidia-h200", full=True).kernel
    'orthogonal_distinct'

    Images to planes of another dtype:

    >>> ttlg.predict_time((64, 224, 224, 3), (0, 3, 1, 2), "uint8", out_dtype="float32") < 1
    True
    """
    fresh = _is_fresh(output)
    itemsize = itemsize_of(dtype)
    element_map = None
    if out_dtype is not None:
        element_map = _conversion(dtype, out_dtype, device, inplace)
    elif strides is None and element_strides is None and not inplace and not full:
        model = _models.model_for(device)
        seconds = _core.predict_seconds(shape, axes, itemsize, threads, model, fresh)
        if seconds is not None:
            return seconds
    core = core_plan(
        shape,
        axes,
        itemsize,
        strides=strides,
        element_strides=element_strides,
        device=device,
        inplace=inplace,
        threads=threads,
        element_map=element_map,
    )
    plan = Plan(core, "")
    source = (
        f"{plan.device}, {core.time_source}"
        if isinstance(core, _core.CudaPlan | _core.CudaInplacePlan)
        else _models.cpu_source(core.machine)
    )
    seconds, *bounds = plan._predict(fresh)
    low, high = bounds if element_map is None else (math.nan, math.nan)
    prediction = Prediction(seconds, low, high, plan.kernel, source)
    return prediction if full else prediction.seconds


def _conversion(dtype: Any, out_dtype: Any, device: Device, inplace: bool) -> _core.ElementMap:
    """Return the map of elements that are converted, scaled and added to."""
    if inplace:
        raise ValueError("out_dtype= is for calls into other memory: leave it or inplace= out")
    on_gpu = isinstance(_models.model_for(device), _core.DeviceModel)
    if on_gpu:
        raise ValueError(f"out_dtype= is for device 'cpu' so far, not {device!r}: leave it out")
    from_type, swaps = named_type(dtype)
    to_type, _ = named_type(out_dtype, "out_dtype=")
    return _core.ElementMap(from_type, to_type, swaps_bytes=swaps, scales=True, adds=True)


def predict_times(
    problems: Iterable[tuple[Integers, Axes | None]],
    dtype: Any = "float32",
    *,
    device: Device = "cpu",
    threads: int | None = None,
    output: Output = "fresh",
) -> "NDArray[np.float64]":
    """Predict how long each of many transpositions takes: `predict_time` for whole lists.

    Parameters
    ----------
    problems : iterable of (shape, axes)
        Shape of the input and axes as for `transpose`, such as what each step of a contraction
        brings into the order of a matrix product.
    dtype : dtype or str
        As for `predict_time`, of all problems.
    device, threads, output : optional
        As for `predict_time`.

    Returns
    -------
    ndarray
        Seconds in float64, one number for each problem.

    Raises
    ------
    TypeError, ValueError, CudaError
        As for `predict_time`; the message names the problem by its number in the list.

    Examples
    --------
    How much depends on the order that a tensor's axes are brought into?

    >>> import itertools, ttlg
    >>> orders = list(itertools.permutations(range(4)))
    >>> seconds = ttlg.predict_times([((40, 50, 60, 70), axes) for axes in orders], "float64")
    >>> seconds.shape, bool(seconds.max() > seconds.min())
    ((24,), True)
    """
    fresh = _is_fresh(output)
    listed = list(problems)
    model = _models.model_for(device)
    result = _core.predict_many(listed, itemsize_of(dtype), threads, model, fresh)
    for number in np.flatnonzero(np.isnan(result)).tolist():  # what is unusual or wrong
        shape, axes = _pair(number, listed[number])
        try:
            result[number] = predict_time(
                shape, axes, dtype, device=device, threads=threads, output=output
            )
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"problems[{number}]: {error}") from None
    return result


def _pair(number: int, problem: Any) -> tuple[Any, Any]:
    try:
        shape, axes = problem
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"problems[{number}] must be a pair of shape and axes, not {problem!r}"
        ) from None
    return shape, axes
