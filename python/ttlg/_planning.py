"""`ttlg.plan`: from a caller's arguments to a Plan."""

import operator
from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex

import numpy as np

from ttlg import _core, _models, _tune
from ttlg._plan import Plan
from ttlg._typing import Axes, CpuKernel, CudaKernel


def _describe_dtype(dtype: Any) -> tuple[str, int]:
    """Name and bytes of one element, for NumPy's dtypes and names and PyTorch's dtypes."""
    if type(dtype).__module__ == "torch":
        return str(dtype).removeprefix("torch."), dtype.itemsize
    try:
        resolved = np.dtype(dtype)
    except TypeError:
        try:
            import ml_dtypes

            resolved = np.dtype(getattr(ml_dtypes, dtype))
        except (ImportError, AttributeError, TypeError):
            raise TypeError(
                f"{dtype!r} is no dtype; pass one of NumPy's, PyTorch's or ml_dtypes', or its name"
            ) from None
    if resolved.hasobject:
        raise TypeError(f"dtype {resolved} holds Python objects; ttlg moves fixed-size elements")
    name = resolved.name if resolved.isnative and resolved.names is None else str(resolved)
    return name, resolved.itemsize


def _integers(name: str, values: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Read a shape or strides: integers that fit in 64 bits."""
    try:
        result = tuple(map(operator.index, values))
    except TypeError:
        raise TypeError(f"{name} must be a sequence of integers, not {values!r}") from None
    if any(not -(2**63) <= value < 2**63 for value in result):
        raise ValueError(f"{name} {result} exceeds the 64-bit range")
    return result


def plan(
    shape: Iterable[SupportsIndex],
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    strides: Iterable[SupportsIndex] | None = None,
    device: str = "cpu",
    inplace: bool = False,
    threads: int | None = None,
    kernel: CpuKernel | CudaKernel | None = None,
    tune: Literal["model", "measure"] = "model",
) -> Plan:
    """Plan a transposition for repeated use.

    Parameters
    ----------
    shape : iterable of int
        Shape of the input.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype or str
        NumPy's, PyTorch's or ml_dtypes' dtype or name. Only its size matters.
    strides : iterable of int, optional
        Strides of the input in bytes, as ``numpy.ndarray.strides`` gives them. C-contiguous by
        default.
    device : str
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"`` for a GPU of this machine, or the name of a device
        model that comes with ttlg, such as ``"tesla-k40c"``, for a plan that explains itself and
        predicts its time anywhere but runs on such a GPU alone.
    inplace : bool
        Plan for the result to take the memory of the input. No kernel does that so far, so True is
        refused.
    threads : int, optional
        The most threads to use on the CPU; `get_num_threads()` by default.
    kernel : str, optional
        Force a kernel instead of the planner's choice: on the CPU ``"copy"``, ``"tile"``,
        ``"shuffle"``, ``"strided_copy"`` or ``"reference"``; on a GPU ``"copy"``,
        ``"fvi_match_large"``, ``"fvi_match_small"``, ``"orthogonal_distinct"`` or
        ``"orthogonal_arbitrary"``.
    tune : str
        ``"model"`` trusts the planner. ``"measure"``, on the CPU, times its candidates (those of
        `kernel`, if that is given), each in turn on arrays of the real layout, and keeps the
        fastest in the planner cache, so that `transpose` of this layout on as many threads uses it
        from then on.

    Returns
    -------
    Plan
        Callable: ``plan(x, out=None, stream=None)``.

    Raises
    ------
    TypeError
        An argument is not of the stated type, or the dtype holds Python objects.
    ValueError
        `axes` is no permutation, an extent is negative, `strides` does not fit `shape`, `kernel`
        does not apply, `inplace` is True, `device` or `tune` is unknown, `threads` or
        ``tune="measure"`` is asked of a GPU, or ``TTLG_CACHE_DIR`` is no directory to write to.
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
    >>> p.kernel, p.extents, p.perm
    ('tile', (6, 20), (1, 0))
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
    """
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name, not {kernel!r}")
    if not isinstance(device, str):
        raise TypeError(f"device must be a name, not {device!r}")
    if tune not in ("model", "measure"):
        raise ValueError(f"unknown tune {tune!r}; choose one of 'model', 'measure'")
    name, itemsize = _describe_dtype(dtype)
    extents = _integers("shape", shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"shape {extents} has a negative extent")
    order = _core.normalize_axes(axes, extents)
    byte_strides = None if strides is None else _integers("strides", strides)
    if byte_strides is not None and len(byte_strides) != len(extents):
        raise ValueError(
            f"strides {byte_strides} do not fit shape {extents}: give one per axis, in bytes"
        )
    model = _models.model_for(device)
    if model is not None and (threads is not None or tune != "model"):
        raise ValueError(f"threads= and tune= are for device 'cpu', not {device!r}: leave them out")
    count = _core.resolve_threads(threads)
    try:
        if byte_strides is None:
            byte_strides = _core.contiguous_byte_strides(extents, itemsize)
        request = _core.Request(extents, byte_strides, itemsize, order, None, inplace)
        if model is not None:
            return Plan(_core.cached_cuda_plan(request, model, kernel), name, model)
        core = _core.cached_cpu_plan(request, count, kernel)
    except ValueError as error:
        raise ValueError(f"cannot plan shape {extents} by axes {order}: {error}") from None
    if tune == "measure":
        core = _tune.tune(core, count, kernel)
    return Plan(core, name)
