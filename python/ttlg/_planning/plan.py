"""`ttlg.plan`: from a caller's arguments to a Plan."""

from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex, overload

from ttlg import _core, _models
from ttlg._arguments.dtypes import describe_dtype
from ttlg._arguments.layouts import read_byte_strides, read_extents
from ttlg._arguments.sizes import read_workspace
from ttlg._libraries import library_of
from ttlg._libraries.dlpack import inplace_plan_for
from ttlg._plan.candidates import Candidate, CudaCandidate
from ttlg._plan.json import AnyPlan
from ttlg._plan.plan import Plan
from ttlg._typing import (
    Array,
    Axes,
    CpuKernel,
    CudaDevice,
    CudaInplaceKernel,
    CudaKernel,
    InplaceKernel,
    Size,
)


@overload
def plan(
    shape: Iterable[SupportsIndex],
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    strides: Iterable[SupportsIndex] | None = None,
    element_strides: Iterable[SupportsIndex] | None = None,
    device: Literal["cpu"] = "cpu",
    inplace: bool = False,
    threads: int | None = None,
    kernel: CpuKernel | CudaKernel | InplaceKernel | CudaInplaceKernel | None = None,
    tune: Literal["model", "measure"] = "model",
    workspace: Size | None = None,
) -> Plan[Candidate]: ...
@overload
def plan(
    shape: Iterable[SupportsIndex],
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    strides: Iterable[SupportsIndex] | None = None,
    element_strides: Iterable[SupportsIndex] | None = None,
    device: CudaDevice,
    inplace: Literal[False] = False,
    threads: int | None = None,
    kernel: CpuKernel | CudaKernel | InplaceKernel | CudaInplaceKernel | None = None,
    tune: Literal["model", "measure"] = "model",
    workspace: Size | None = None,
) -> Plan[CudaCandidate]: ...
@overload
def plan(
    shape: Iterable[SupportsIndex],
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    strides: Iterable[SupportsIndex] | None = None,
    element_strides: Iterable[SupportsIndex] | None = None,
    device: str = "cpu",
    inplace: bool = False,
    threads: int | None = None,
    kernel: CpuKernel | CudaKernel | InplaceKernel | CudaInplaceKernel | None = None,
    tune: Literal["model", "measure"] = "model",
    workspace: Size | None = None,
) -> Plan: ...
def plan(
    shape: Iterable[SupportsIndex],
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    strides: Iterable[SupportsIndex] | None = None,
    element_strides: Iterable[SupportsIndex] | None = None,
    device: str = "cpu",
    inplace: bool = False,
    threads: int | None = None,
    kernel: CpuKernel | CudaKernel | InplaceKernel | CudaInplaceKernel | None = None,
    tune: Literal["model", "measure"] = "model",
    workspace: Size | None = None,
) -> Plan:
    """Plan a transposition for repeated use; `plan_for` takes an array.

    Parameters
    ----------
    shape : iterable of int
        Shape of the input.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype or str
        NumPy's, PyTorch's, JAX's or ml_dtypes' dtype or its name, such as ``"bfloat16"`` or
        ``"torch.float32"``. Only its size matters.
    strides : iterable of int, optional
        Strides of the input in bytes, as ``numpy.ndarray.strides`` gives them. C-contiguous by
        default. What can only be strides in elements is refused.
    element_strides : iterable of int, optional
        The same in elements, as ``torch.Tensor.stride()`` gives them; instead of `strides`.
    device : str
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"`` for a GPU of this machine, or the name of a device
        model that comes with ttlg, such as ``"nvidia-h200"`` or ``"tesla-k40c"``, for a plan that
        explains itself and predicts its time anywhere but runs on such a GPU alone.
    inplace : bool
        Plan for the result to take the memory of the input, as `transpose_inplace` does: calls of
        the plan return a view of that memory. The input is in C or Fortran order.
    threads : int, optional
        The most threads to use on the CPU; `get_num_threads` by default.
    kernel : str, optional
        Force a kernel instead of the planner's choice: on the CPU ``"copy"``, ``"tile"``,
        ``"shuffle"``, ``"strided_copy"`` or ``"reference"``; on a GPU ``"copy"``,
        ``"fvi_match_large"``, ``"fvi_match_small"``, ``"orthogonal_distinct"`` or
        ``"orthogonal_arbitrary"``; in place, for every step, on the CPU ``"buffered"``,
        ``"square"``, ``"c2r"``, ``"r2c"``, ``"cells"`` or ``"pieces"``, and on a GPU
        ``"square_v1b"``, ``"square_v1"``, ``"square_v1r"``, ``"square_v2"``, ``"square_ip"``,
        ``"square_sg"`` or ``"square_tw"`` for square matrices, ``"runs"`` for those of long
        elements, ``"cells"`` for any of long elements, ``"c2r"`` or ``"r2c"``.
    tune : str
        ``"model"`` trusts the planner. ``"measure"``, on the CPU, times its candidates (those of
        `kernel`, if that is given), each in turn on arrays of the real layout, and keeps the
        fastest in the planner cache, so that `transpose` of this layout on as many threads uses it
        from then on.
    workspace : int or str, optional
        The most bytes to use besides the array where `inplace` is True; as for `transpose_inplace`.

    Returns
    -------
    Plan
        Callable: ``plan(x, out=None, stream=None)``, in place ``plan(x)``.

    Raises
    ------
    TypeError
        An argument is not of the stated type, or the dtype holds Python objects.
    ValueError
        `axes` is no permutation, an extent is negative, strides do not fit `shape` or are given
        twice or in elements for bytes, `kernel` does not apply, `device` or `tune` is unknown,
        `threads` or ``tune="measure"`` is asked of a GPU, ``tune="measure"`` of a plan in place and `workspace` of another, or ``TTLG_CACHE_DIR`` is no directory to write to.
    CudaError
        `device` is a GPU that the driver does not find.
    MemoryError
        There is no room for the arrays that ``tune="measure"`` needs.

    Notes
    -----
    Every call with ``tune="measure"`` takes the memory of an input and an output and the time of a
    hundred transpositions or so; where that exceeds a second, a terminal shows a progress bar. If
    the environment variable ``TTLG_CACHE_DIR`` names a directory, which is made if it is missing,
    the winner is also kept there, and later calls on the same kind of machine find it without
    measuring.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> p = ttlg.plan((4, 5, 6), (2, 0, 1), "float64")
    >>> p.extents, p.perm
    ((6, 20), (1, 0))
    >>> p(np.zeros((4, 5, 6))).shape
    (6, 4, 5)

    The fastest of several ways, by measurement, for `transpose` to use from then on:

    >>> p = ttlg.plan((40, 50, 60), (2, 0, 1), "float64", tune="measure")
    >>> p.kernel in {each.kernel for each in p.candidates()}
    True

    What a GPU would do, without one:

    >>> p = ttlg.plan((16,) * 6, (3, 4, 5, 0, 1, 2), "float64", device="tesla-k40c")
    >>> p.schema, 1e-3 < p.predicted_time < 2e-3
    ('orthogonal_distinct', True)

    In the memory that the array has:

    >>> p = ttlg.plan((1000, 600), inplace=True)
    >>> p(np.zeros((1000, 600), "float32")).shape
    (600, 1000)
    """
    _check_choices(kernel, tune, inplace, workspace)
    name, itemsize = describe_dtype(dtype)
    core = core_plan(
        shape,
        axes,
        itemsize,
        strides=strides,
        element_strides=element_strides,
        device=device,
        inplace=inplace,
        threads=threads,
        kernel=kernel,
        tune=tune,
        workspace=read_workspace(workspace),
    )
    return Plan(core, name)


def core_plan(
    shape: Iterable[SupportsIndex],
    axes: Axes | None,
    itemsize: int,
    *,
    strides: Iterable[SupportsIndex] | None,
    element_strides: Iterable[SupportsIndex] | None,
    device: str,
    inplace: bool,
    threads: int | None,
    kernel: str | None = None,
    tune: str = "model",
    workspace: int = 0,
) -> AnyPlan:
    """Make what `plan` wraps, from the same arguments, or find it in the planner cache."""
    model = _models.model_for(device)
    extents = read_extents(shape)
    order = _core.normalize_axes(axes, extents)
    if model is not None:
        _refuse_on_gpu(device, threads, tune)
    count = _core.resolve_threads(threads)
    try:
        byte_strides = read_byte_strides(extents, itemsize, strides, element_strides)
        if inplace and model is not None:
            return _core.cached_cuda_inplace_plan(
                extents, byte_strides, itemsize, order, workspace, model, kernel
            )
        if inplace:
            return _core.cached_inplace_plan(
                extents, byte_strides, itemsize, order, count, workspace, kernel
            )
        alignment = 1 if model is not None else _core.new_ndarray_alignment(extents, itemsize)
        request = _core.Request(extents, byte_strides, itemsize, order, None, False, alignment)
        if model is not None:
            return _core.cached_cuda_plan(request, model, kernel)
        core = _core.cached_cpu_plan(request, count, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {extents} by axes {order}: {error}") from None
    return core if tune == "model" else _measured(core, count, kernel)


def plan_for(
    x: Array,
    axes: Axes | None = None,
    *,
    out: Any = None,
    inplace: bool = False,
    threads: int | None = None,
    kernel: CpuKernel | CudaKernel | InplaceKernel | CudaInplaceKernel | None = None,
    tune: Literal["model", "measure"] = "model",
    workspace: Size | None = None,
) -> Plan:
    """Plan the transposition of an array: the plan that ``ttlg.transpose(x, axes, out=out)`` uses.

    Shape, strides, dtype and device are those of `x`; nothing is moved.

    Parameters
    ----------
    x : array
        As for `transpose`.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    out : array, optional
        As for `transpose`: plan for results that lie in memory as this one does. By default they
        are C-contiguous.
    inplace : bool
        Plan for ``ttlg.transpose_inplace(x, axes)`` instead; without `out`.
    threads, kernel, tune, workspace : optional
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
    _check_choices(kernel, tune, inplace, workspace)
    if inplace:
        return _plan_inplace_for(x, axes, out, threads, kernel, read_workspace(workspace))
    library = library_of(x)
    source = library.view_input(x, None)
    order = _core.normalize_axes(axes, source.shape)
    target = None if out is None else library_of(out).view_output(out, source, None)
    if target is not None:
        _core.check_out(source, order, target)
    if not source.on_host:
        _refuse_on_gpu(source.device, threads, tune)
    count = _core.resolve_threads(library.threads_for(source, threads))
    try:
        if not source.on_host:
            model = _models.model_of(source.device)
            return Plan(_core.cuda_plan_for(source, order, target, model, kernel), source.dtype)
        core = _core.cpu_plan_for(source, order, target, count, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {source.shape} by axes {order}: {error}") from None
    return Plan(core if tune == "model" else _measured(core, count, kernel), source.dtype)


def _plan_inplace_for(
    x: Array,
    axes: Axes | None,
    out: Any,
    threads: int | None,
    kernel: str | None,
    workspace: int,
) -> Plan:
    if out is not None:
        raise ValueError("out= and inplace=True name two places for the result; pass one")
    library = library_of(x)
    view = library.view_inplace(x)
    most = library.threads_for(view, threads)
    return Plan(inplace_plan_for(view, axes, most, workspace, kernel), view.dtype)


def _measured(core: _core.CpuPlan, threads: int, kernel: str | None) -> _core.CpuPlan:
    from ttlg._tune import tune  # takes a millisecond to import, and only who measures needs it

    return tune(core, threads, kernel)


def _check_choices(kernel: str | None, tune: str, inplace: bool, workspace: Any) -> None:
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name, not {kernel!r}")
    if tune not in ("model", "measure"):
        raise ValueError(f"unknown tune {tune!r}; choose one of 'model', 'measure'")
    if inplace and tune == "measure":
        raise ValueError("plans in place are not measured: leave tune= or inplace= out")
    if workspace is not None and not inplace:
        raise ValueError("workspace= is for plans in place: pass inplace=True, or leave it out")


def _refuse_on_gpu(device: str, threads: int | None, tune: str) -> None:
    if threads is not None or tune != "model":
        raise ValueError(f"threads= and tune= are for device 'cpu', not {device!r}: leave them out")
