"""`ttlg.plan`: a plan for a layout."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from ttlg._arguments.dtypes import describe_dtype
from ttlg._arguments.layouts import read_extents
from ttlg._arguments.sizes import read_workspace
from ttlg._core import DeviceModel
from ttlg._models import model_for
from ttlg._plan.candidates import Candidate, CudaCandidate
from ttlg._plan.given import choices_before, with_parameters
from ttlg._plan.plan import Plan
from ttlg._planning.choices import check_choices, core_plan, make_plan
from ttlg._typing import Axes, CudaDevice, Device, Integers, Kernel, PlanOptions, Size, Tune

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def plan(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    device: Literal["cpu"] = "cpu",
    inplace: bool = False,
    **options: "Unpack[PlanOptions]",
) -> Plan[Candidate]: ...
@overload
def plan(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    device: CudaDevice,
    inplace: Literal[False] = False,
    **options: "Unpack[PlanOptions]",
) -> Plan[CudaCandidate]: ...
@overload
def plan(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    device: Device = "cpu",
    inplace: bool = False,
    **options: "Unpack[PlanOptions]",
) -> Plan: ...
def plan(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    strides: Integers | None = None,
    element_strides: Integers | None = None,
    device: Device = "cpu",
    inplace: bool = False,
    threads: int | None = None,
    kernel: Kernel | None = None,
    parameters: Mapping[str, Any] | None = None,
    tune: Tune = "model",
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
    device : str or path
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"`` for a GPU of this machine, or the name of a device
        model that comes with ttlg, such as ``"nvidia-h200"`` or ``"tesla-k40c"``, for a plan that
        explains itself and predicts its time anywhere but runs on such a GPU alone. A path, or text
        that ends in ``".json"``, is that of a file that holds such a model, or one of a CPU, as
        those in ``ttlg/models`` and the one in which `calibrate` keeps its models.
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
        elements, ``"cells"`` for any of long elements, ``"skinny"`` for 2 to 31 rows or columns,
        ``"c2r"`` or ``"r2c"``.
    parameters : dict, optional
        Some or all of `Plan.parameters`, to have these instead of the planner's, which chooses the
        rest for the least predicted time. In place ``"steps"`` holds a dict for each step, with
        some or all of its parameters, and ``"width"``, on a GPU also ``"threads"``, stands for that
        of every step. `Plan.kernel` and `Plan.parameters` together make an equal plan again. The
        planner cache does not keep plans with parameters.
    tune : str
        ``"model"`` trusts the planner. ``"learn"``, on the CPU, lets calls of the plan try others
        and keep the fastest, as those of `transpose` do unless `set_learning` says not to: such a
        plan changes, and tells of itself what was true of its last call. ``"measure"`` times its
        candidates (those of `kernel`, if that is given) on arrays of the real layout, and keeps the
        fastest in the planner cache, so that `transpose` of this layout on as many threads uses it
        from then on. On a GPU of this machine, whose events take the times, ``"measure"`` also
        tries bands of other widths for ``"orthogonal_distinct"``, and in place bands, regions and
        thread blocks of other sizes for the square kernels and ``"runs"``; in place on the CPU
        there is nothing to measure.
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
        twice or in elements for bytes, `kernel` does not apply, no plan can have the `parameters`
        (the message says which values it can have), `device` or `tune` is unknown, a model's file
        is missing or holds none, `threads` or ``tune="learn"`` is asked of a GPU, ``tune="measure"`` of the name of a device
        model or in place on the CPU, ``tune="learn"`` in place or with a `kernel`, either
        with `parameters`, `workspace` of a plan that is not in place, or ``TTLG_CACHE_DIR`` is no
        directory to write to.
    CudaError
        `device` is a GPU that the driver does not find.
    MemoryError
        There is no room for the arrays that ``tune="measure"`` needs.

    Notes
    -----
    Every call with ``tune="measure"`` takes the memory of an input and an output and the time of a
    hundred transpositions or so; where that exceeds a second, a terminal shows a progress bar. If
    the environment variable ``TTLG_CACHE_DIR`` names a directory, which is made if it is missing,
    the winner is also kept there, and later calls on the same kind of machine, or of GPU, find it
    without measuring.

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

    In blocks of one's own choice, for which the planner chooses the rest:

    >>> p = ttlg.plan((300, 400), kernel="tile", parameters={"block": (16, 100)}, threads=1)
    >>> p.parameters["block"], p.parameters["threads"]
    ((16, 100), 1)

    In the memory that the array has:

    >>> p = ttlg.plan((1000, 600), inplace=True)
    >>> p(np.zeros((1000, 600), "float32")).shape
    (600, 1000)
    """
    check_choices(kernel, tune, inplace, workspace, parameters)
    name, itemsize = describe_dtype(dtype)
    choices: dict[str, Any] = {
        "kernel": kernel,
        "threads": threads,
        "workspace": read_workspace(workspace),
    }
    if parameters:
        on_host = not isinstance(model_for(device), DeviceModel)
        choices = choices_before(parameters, on_host=on_host, inplace=inplace, **choices)
    core = core_plan(
        read_extents(shape, ", or call ttlg.plan_for(array, axes)"),
        axes,
        itemsize,
        strides=strides,
        element_strides=element_strides,
        device=device,
        inplace=inplace,
        tune=tune,
        **choices,
    )
    if parameters:
        core = with_parameters(core, kernel, parameters)
    return make_plan(core, name, tune, parameters)
