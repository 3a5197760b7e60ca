from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ttlg._typing import Axes, CpuKernel, CudaKernel

__version__: str
MAX_THREADS: int
# The names of all kernels, and the bytes of the words that they move.
CPU_KERNELS: tuple[str, ...]
CUDA_KERNELS: tuple[str, ...]
CPU_INPLACE_KERNELS: tuple[str, ...]
CUDA_INPLACE_KERNELS: tuple[str, ...]
WIDTHS: tuple[int, ...]
SCHEMES: tuple[str, ...]
SPARSE_ALGORITHMS: tuple[str, ...]

class TensorView:
    name: Final[str]
    shape: Final[tuple[int, ...]]
    byte_strides: Final[tuple[int, ...]]
    itemsize: Final[int]
    dtype: Final[str]
    device: Final[str]
    on_host: Final[bool]
    stream: Final[int]
    owner_stream: Final[int | None]
    readonly: Final[bool]
    unversioned: Final[bool]
    def freeze(self) -> None: ...
    def prepare_new_memory(self) -> None: ...
    def set_owner_stream(self, stream: int) -> None: ...
    data_ptr: Final[int]

class Request:
    def __init__(
        self,
        shape: Sequence[int],
        byte_strides: Sequence[int],
        itemsize: int,
        axes: Sequence[int],
        out_byte_strides: Sequence[int] | None = ...,
        inplace: bool = ...,
        out_alignment: int = ...,
    ) -> None: ...

class PlanBase:
    shape: Final[tuple[int, ...]]
    byte_strides: Final[tuple[int, ...]]
    axes: Final[tuple[int, ...]]
    itemsize: Final[int]
    inplace: Final[bool]
    out_alignment: Final[int]
    out_shape: Final[tuple[int, ...]]
    out_byte_strides: Final[tuple[int, ...] | None]
    out_strides: Final[tuple[int, ...]]
    extents: Final[tuple[int, ...]]
    read_backwards: Final[tuple[int, ...]]
    written_backwards: Final[tuple[int, ...]]
    perm: Final[tuple[int, ...]]
    request: Final[Request]
    def fits(self, x: TensorView, out: TensorView) -> bool: ...

# What the classes of plans have in common, none of which has a base class but PlanBase.
class _Plan(PlanBase):
    parameters: Final[dict[str, Any]]
    predicted_seconds: Final[float]
    measured: Final[list[tuple[Any, dict[str, Any], float]]]
    trials: Final[list[tuple[Any, dict[str, Any], float]]]
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

class CpuPlan(_Plan):
    kernel: Final[CpuKernel]
    machine: Final[CpuMachine | None]
    thread_limit: Final[int]
    def describe(self) -> dict[str, Any]: ...
    def shuffle_program(self) -> dict[str, Any] | None: ...
    def candidates(
        self, threads: int | None = None, all: bool = False
    ) -> list[tuple[CpuKernel, dict[str, Any], float]]: ...
    def kernel_reports(self) -> list[tuple[CpuKernel, str | None, float]]: ...
    def with_measured(self, timed: Sequence[tuple[CpuPlan, float]]) -> CpuPlan: ...
    def run(self, x: TensorView, out: TensorView) -> None: ...

class CpuTimeModel:
    def __init__(
        self,
        *,
        name: str,
        cached_bytes: int,
        coefficients: dict[str, float],
        low: float,
        high: float,
    ) -> None: ...
    name: Final[str]
    cached_bytes: Final[int]
    coefficients: Final[dict[str, float]]
    low: Final[float]
    high: Final[float]

class CpuMachine:
    def __init__(
        self,
        *,
        l1_cache_bytes: int,
        l2_cache_bytes: int,
        last_level_cache_bytes: int,
        vector_bytes: int,
        has_shuffle: bool,
        model: CpuTimeModel,
    ) -> None: ...
    l1_cache_bytes: Final[int]
    l2_cache_bytes: Final[int]
    last_level_cache_bytes: Final[int]
    vector_bytes: Final[int]
    has_shuffle: Final[bool]
    model: Final[CpuTimeModel]

class CudaError(RuntimeError): ...

class DeviceModel:
    def __init__(
        self,
        *,
        name: str,
        multiprocessors: int = ...,
        clock_hz: float = ...,
        memory_bytes_per_second: float = ...,
        l2_cache_bytes: int = ...,
        shared_bytes_per_multiprocessor: int = ...,
        threads_per_multiprocessor: int = ...,
        launch_seconds: float = ...,
        overlap: int = ...,
        costs: dict[str, float] = ...,
        coefficients: dict[str, dict[str, float]] = ...,
        regression_bytes: int = ...,
    ) -> None: ...
    name: Final[str]
    calibrated: Final[bool]
    def to_dict(self) -> dict[str, Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

class CudaPlan(_Plan):
    kernel: Final[CudaKernel]
    model: Final[DeviceModel]
    pointer_alignment: Final[int]
    time_source: Final[str]
    features: Final[dict[str, int]]
    def describe(self) -> dict[str, Any]: ...
    def candidates(
        self,
    ) -> list[tuple[CudaKernel, dict[str, Any], dict[str, int], float]]: ...
    def with_measured(self, timed: Sequence[tuple[CudaPlan, float]]) -> CudaPlan: ...
    def transactions(self) -> dict[str, int]: ...
    def terms(self) -> dict[str, float]: ...
    def run(self, x: TensorView, out: TensorView) -> None: ...

class CudaCall:
    out_shape: Final[tuple[int, ...]]
    def run(self, x: TensorView, out: TensorView) -> None: ...

def cuda_call_for(
    x: TensorView, axes: Axes | None, out: TensorView | None, model: DeviceModel
) -> CudaCall: ...

class Enumeration:
    def __init__(self, scheme: str, m: int, n: int, w: int, reversed: bool) -> None: ...
    count: Final[int]
    def decode(self, k: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def encode(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]: ...

class _InplacePlan(_Plan):
    kernel: Final[str]
    costs: Final[list[tuple[int, float]]]
    workspace_bytes: Final[int]
    def candidates(self) -> list[tuple[str, dict[str, Any], float, int]]: ...

class CudaInplacePlan(_InplacePlan):
    model: Final[DeviceModel]
    time_source: Final[str]
    def with_measured(self, timed: Sequence[tuple[CudaInplacePlan, float]]) -> CudaInplacePlan: ...
    def run(self, x: TensorView, workspace: TensorView | None) -> None: ...

def cuda_inplace_plan_for(
    x: TensorView,
    axes: Axes | None,
    workspace: int | None,
    model: DeviceModel,
    kernel: str | None = ...,
) -> CudaInplacePlan: ...
def cached_cuda_inplace_plan(
    request: Request, workspace: int | None, model: DeviceModel, kernel: str | None
) -> CudaInplacePlan: ...
def build_cuda_inplace_plan(
    request: Request,
    *,
    steps: Sequence[dict[str, Any]],
    model: DeviceModel,
    workspace_limit: int,
) -> CudaInplacePlan: ...
def cuda_inplace_cache_put(
    plan: CudaInplacePlan, workspace: int | None, kernel: str | None
) -> None: ...

class CudaMeasurement:
    @overload
    def __init__(self, plan: CudaPlan, device: int) -> None: ...
    @overload
    def __init__(self, plan: CudaInplacePlan, workspace_bytes: int, device: int) -> None: ...
    def seconds(self, plan: CudaPlan, calls: int) -> float: ...
    def inplace_seconds(self, plan: CudaInplacePlan, calls: int) -> float: ...

def view(array: Any, name: str) -> TensorView: ...
def view_on_stream(array: Any, name: str, stream: int, ordered: bool) -> TensorView: ...
def fields_to_write(view: TensorView) -> list[tuple[int, int]] | None: ...
def view_run(view: TensorView, begin: int, end: int) -> TensorView: ...
def synchronize(view: TensorView) -> None: ...
def normalize_axes(axes: Axes | None, shape: Sequence[int]) -> tuple[int, ...]: ...
def isas() -> tuple[str, ...]: ...
def isa_in_use() -> str: ...
def isa_flags(isa: str) -> str: ...
def generate(
    request: Request,
    isa: str,
    name: str,
    text: str,
    *,
    unroll: int = ...,
    reorder: bool = ...,
    vector_bytes: int = ...,
) -> dict[str, Any]: ...
def context_threads() -> ContextVar[int | None]: ...
def resolve_threads(threads: SupportsIndex | None) -> int: ...
def check_out(x: TensorView, axes: Sequence[int], out: TensorView) -> None: ...
def share_memory(x: TensorView, out: TensorView) -> bool: ...
def contiguous_byte_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]: ...

class CpuInplacePlan(_InplacePlan):
    machine: Final[CpuMachine | None]
    def run(self, x: TensorView) -> None: ...

def cpu_inplace_plan_for(
    x: TensorView,
    axes: Axes | None,
    threads: int | None,
    workspace: int | None,
    kernel: str | None = ...,
) -> CpuInplacePlan: ...
def cached_cpu_inplace_plan(
    request: Request,
    threads: int | None,
    workspace: int | None,
    kernel: str | None,
    machine: CpuMachine | None = ...,
) -> CpuInplacePlan: ...
def build_cpu_inplace_plan(
    request: Request,
    *,
    steps: Sequence[dict[str, Any]],
    threads: int,
    workspace_limit: int,
    machine: CpuMachine | None = ...,
) -> CpuInplacePlan: ...
def cached_cpu_plan(
    request: Request, threads: int | None, kernel: str | None, machine: CpuMachine | None = ...
) -> CpuPlan: ...
def cpu_plan_for(
    x: TensorView,
    axes: Axes | None,
    out: TensorView | None,
    threads: int | None,
    kernel: str | None = ...,
) -> CpuPlan: ...

class CpuCall:
    def __init__(self, plan: CpuPlan) -> None: ...
    out_shape: Final[tuple[int, ...]]
    def run(self, x: TensorView, out: TensorView) -> None: ...

class ElementMap:
    def __init__(
        self,
        from_type: str,
        to_type: str,
        *,
        swaps_bytes: bool = False,
        conjugates: bool = False,
        scales: bool = False,
        adds: bool = False,
        accumulates: bool = False,
        saturates: bool = True,
        axis: int = -1,
    ) -> None: ...
    computed_in: Final[str]
    is_identity: Final[bool]

class CpuTransform:
    out_shape: Final[tuple[int, ...]]
    plan: Final[CpuPlan]
    def run(self, x: TensorView, out: TensorView) -> None: ...

def cpu_transform_for(
    x: TensorView,
    axes: Axes | None,
    out: TensorView | None,
    map: ElementMap,
    scales: tuple[np.ndarray[Any, Any] | None, bool],
    offsets: tuple[np.ndarray[Any, Any] | None, bool],
    beta: tuple[np.ndarray[Any, Any] | None, bool],
    threads: int | None,
) -> CpuTransform: ...
def cpu_call_for(
    x: TensorView, axes: Axes | None, out: TensorView | None, threads: int | None
) -> CpuCall: ...
def run_cpu_calls(calls: Sequence[tuple[CpuCall, TensorView, TensorView]]) -> None: ...
def measured_plans() -> list[tuple[CpuPlan, int, float, float]]: ...
def cache_learned(
    plan: CpuPlan, threads: int, warm_seconds: float, fresh_seconds: float
) -> None: ...
def set_learning(learns: bool) -> bool: ...
def is_learning() -> bool: ...
def build_cpu_plan(
    request: Request,
    *,
    kernel: str,
    block: Sequence[int],
    loop_order: Sequence[int],
    staged: bool,
    streaming: bool,
    prefetch: int,
    threads: int,
    machine: CpuMachine | None = ...,
) -> CpuPlan: ...
def loop_orders(request: Request, block: Sequence[int]) -> list[tuple[int, ...]]: ...
def loop_cost(perm: Sequence[int], order: Sequence[int]) -> float: ...
def rank_loops(perm: Sequence[int]) -> tuple[int, ...]: ...
def device_model(device: int) -> DeviceModel: ...
def cuda_cost_names() -> list[str]: ...
def default_cuda_costs() -> list[float]: ...
def cached_cuda_plan(request: Request, model: DeviceModel, kernel: str | None) -> CudaPlan: ...
def cuda_plan_for(
    x: TensorView,
    axes: Axes | None,
    out: TensorView | None,
    model: DeviceModel,
    kernel: str | None = ...,
) -> CudaPlan: ...
def cuda_cache_put(plan: CudaPlan, kernel: str | None) -> None: ...
def build_cuda_plan(
    request: Request,
    *,
    pointer_alignment: int,
    model: DeviceModel,
    kernel: str,
    in_modes: int,
    out_modes: int,
    in_block: int,
    out_block: int,
    coarsened_mode: int,
    stages: int,
    band_width: int | None = None,
) -> CudaPlan: ...
def this_cpu_machine() -> CpuMachine: ...
def cpu_machine_with(model: CpuTimeModel) -> CpuMachine: ...
def cpu_time_model() -> CpuTimeModel: ...
def set_cpu_time_model(model: CpuTimeModel) -> None: ...
def cpu_time_factors() -> tuple[dict[str, float], int]: ...
def set_cpu_time_factors(factors: dict[str, float]) -> None: ...
def cpu_term_names() -> list[str]: ...
def count_cpu_terms(plan: CpuPlan, machine: CpuMachine, fresh: bool) -> dict[str, float]: ...
def predict_cpu_seconds(plan: CpuPlan, fresh: bool) -> float: ...
def planned_cpu_seconds(plan: CpuPlan, fresh: bool) -> float: ...
def cache_put(plan: CpuPlan, threads: int, kernel: str | None) -> None: ...
def cache_info() -> tuple[int, int, int, int]: ...
def cache_clear() -> None: ...
def cache_resize(capacity: int) -> None: ...
def transpose_ndarray(x: Any, axes: Any, out: Any, threads: Any, /) -> Any: ...
def transpose_tensor(
    x: Any, axes: Any, out: Any, threads: Any, hooks: tuple[Any, ...], /
) -> Any: ...
def predict_seconds(
    shape: Any,
    axes: Any,
    itemsize: int,
    threads: Any,
    model: DeviceModel | CpuMachine | None,
    fresh: bool,
    /,
) -> float | None: ...
def predict_many(
    problems: list[Any],
    itemsize: int,
    threads: Any,
    model: DeviceModel | CpuMachine | None,
    fresh: bool,
    /,
) -> NDArray[np.float64]: ...
def run_ndarray(plan: CpuPlan | CpuCall | CudaPlan, x: Any, out: Any, /) -> Any: ...
def new_ndarray(shape: Sequence[int], dtype: Any) -> Any: ...
def new_ndarray_alignment(shape: Sequence[int], itemsize: int) -> int: ...
def request_into_new_ndarray(
    shape: Sequence[int],
    byte_strides: Sequence[int],
    itemsize: int,
    axes: Sequence[int],
    map: ElementMap | None = ...,
) -> Request: ...
def set_result_pool(limit: int | Callable[[], int]) -> None: ...
def set_result_pool_wait(seconds: float) -> None: ...
def result_pool_info() -> tuple[int, int]: ...
def xla_ffi_transpose() -> Any: ...
def xla_ffi_transform() -> Any: ...
def sparse_transpose(
    modes: Sequence[NDArray[np.int32] | NDArray[np.int64] | None],
    row_pointers: NDArray[np.int32] | NDArray[np.int64] | None,
    values: NDArray[Any],
    extents: Sequence[int],
    perm: Sequence[int],
    wide: bool,
    compress: bool,
    algorithm: str,
    threads: int,
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]: ...
def sparse_predict(
    nnz: int,
    extents: Sequence[int],
    perm: Sequence[int],
    value_bytes: int,
    index_bytes: int,
    compressed_in: bool,
    compressed_out: bool,
    is_sorted: bool,
    algorithm: str,
    threads: int,
) -> float: ...
def sparse_cuda_workspace(
    nnz: int,
    extents: Sequence[int],
    perm: Sequence[int],
    value_bytes: int,
    index_bytes: int,
    is_sorted: bool,
    device: int,
) -> int: ...
def sparse_cuda_transpose(
    mode_pointers: Sequence[int],
    values_pointer: int,
    out_coords_pointer: int,
    out_values_pointer: int,
    nnz: int,
    extents: Sequence[int],
    perm: Sequence[int],
    value_bytes: int,
    index_bytes: int,
    is_sorted: bool,
    workspace_pointer: int,
    workspace_bytes: int,
    device: int,
    stream: int,
) -> None: ...
def choose_num_threads(threads: int) -> None: ...
def set_default_num_threads(threads: int) -> None: ...
def chosen_threads() -> int: ...
def thread_delays() -> tuple[float, float]: ...
def build_config() -> dict[str, Any]: ...
def cuda_config() -> dict[str, Any]: ...
