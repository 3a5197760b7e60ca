"""`ttlg.plan_for`: a plan for an array."""

from collections.abc import Mapping
from typing import Any

from ttlg import _core, _models
from ttlg._arguments.sizes import read_workspace
from ttlg._libraries import library_of
from ttlg._plan.given import choices_before, with_parameters
from ttlg._plan.plan import Plan
from ttlg._planning.choices import (
    check_choices,
    check_tune,
    make_plan,
    measure_inplace,
    measure_on_cpu,
    measure_on_gpu,
    planned_inplace,
)
from ttlg._typing import Array, Axes, Kernel, Size, Tune


def plan_for(
    x: Array,
    axes: Axes | None = None,
    *,
    out: Any = None,
    inplace: bool = False,
    threads: int | None = None,
    kernel: Kernel | None = None,
    parameters: Mapping[str, Any] | None = None,
    tune: Tune = "model",
    workspace: Size | None = None,
) -> Plan:
    """Plan the transposition of an array: the plan that ``ttlg.transpose(x, axes, out=out)`` uses.

    Shape, strides, dtype and device are those of `x`; nothing is moved.

    Parameters
    ----------
    x : array
        As for `transpose`. For a PyTorch tensor whose conjugate or negative bit is set the layout
        is that of ``x.resolve_conj().resolve_neg()``.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    out : array, optional
        As for `transpose`: plan for results that lie in memory as this one does. By default they
        are C-contiguous.
    inplace : bool
        Plan for ``ttlg.transpose_inplace(x, axes)`` instead; without `out`.
    threads, kernel, parameters, tune, workspace : optional
        As for `plan`.

    Returns
    -------
    Plan
        Callable on `x` and on every array of its layout.

    Raises
    ------
    TypeError, ValueError, BufferError, CudaError, MemoryError
        As for `transpose` and `plan`.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.zeros((64, 30))[::2, ::-1]
    >>> p = ttlg.plan_for(x, (1, 0))
    >>> p.shape, p.strides, p.dtype
    ((32, 30), (480, -8), 'float64')
    >>> p == ttlg.plan(x.shape, (1, 0), x.dtype, strides=x.strides)
    True
    >>> p(x).shape
    (30, 32)
    """
    check_choices(kernel, tune, inplace, workspace, parameters)
    if inplace:
        limit = read_workspace(workspace)
        return _plan_inplace_for(x, axes, out, threads, kernel, parameters, tune, limit)
    library = library_of(x)
    source = library.view_input(x, None)
    order = _core.normalize_axes(axes, source.shape)
    target = None if out is None else library_of(out).view_output(out, source, None)
    if target is not None:
        _core.check_out(source, order, target)
    most = library.threads_for(source, threads)
    if parameters:
        most = choices_before(
            parameters,
            on_host=source.on_host,
            inplace=False,
            kernel=kernel,
            threads=most,
            workspace=None,
        )["threads"]
    check_tune(tune, False, None if source.on_host else source.device)
    try:
        if not source.on_host:
            model = _models.model_of(source.device)
            cuda = _core.cuda_plan_for(source, order, target, model, kernel)
            if tune == "measure":
                cuda = measure_on_gpu(cuda, _number_of(source), kernel)
            if parameters:
                cuda = with_parameters(cuda, kernel, parameters)
            return make_plan(cuda, source.dtype, tune, parameters)
        core = _core.cpu_plan_for(source, order, target, most, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {source.shape} by axes {order}: {error}") from None
    core = measure_on_cpu(core, most, kernel) if tune == "measure" else core
    if parameters:
        core = with_parameters(core, kernel, parameters)
    return make_plan(core, source.dtype, tune, parameters)


def _plan_inplace_for(
    x: Array,
    axes: Axes | None,
    out: Any,
    threads: int | None,
    kernel: str | None,
    parameters: Mapping[str, Any] | None,
    tune: str,
    workspace: int | None,
) -> Plan:
    if out is not None:
        raise ValueError("out= and inplace=True contradict each other; pass one")
    library = library_of(x)
    view = library.view_inplace(x)
    most = library.threads_for(view, threads)
    core = planned_inplace(view, axes, most, workspace, kernel, parameters)
    check_tune(tune, True, None if view.on_host else view.device)
    if tune == "measure" and not isinstance(core, _core.CpuInplacePlan):
        core = measure_inplace(core, _number_of(view), workspace, kernel)
    return make_plan(core, view.dtype, tune, parameters)


def _number_of(view: _core.TensorView) -> int:
    return _models.device_number(view.device, "tune='measure'")
