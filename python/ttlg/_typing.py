"""Types that the signatures of public functions share."""

from collections.abc import Hashable, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
    Union,
)

if TYPE_CHECKING:
    import array
    import ctypes
    import os

Axes: TypeAlias = Iterable[SupportsIndex]
OneOrMore: TypeAlias = SupportsIndex | Axes
NamedAxes: TypeAlias = Iterable[Hashable]  # numbers, names and an ellipsis, for xarray
Integers: TypeAlias = Iterable[SupportsIndex]  # of a shape, or strides
Size: TypeAlias = SupportsIndex | str  # bytes
CpuKernel: TypeAlias = Literal["copy", "tile", "shuffle", "strided_copy", "reference"]
CudaKernel: TypeAlias = Literal[
    "copy", "fvi_match_large", "fvi_match_small", "orthogonal_distinct", "orthogonal_arbitrary"
]
CudaDevice: TypeAlias = Literal[
    "cuda", "nvidia-h100", "nvidia-h100-80gb-hbm3", "nvidia-h200", "tesla-k40c"
]
Device: TypeAlias = Union[str, "os.PathLike[str]"]
InplaceKernel: TypeAlias = Literal["buffered", "square", "c2r", "r2c", "cells", "pieces"]
CudaInplaceKernel: TypeAlias = Literal[
    "square_v1b",
    "square_v1",
    "square_v1r",
    "square_v2",
    "square_ip",
    "square_sg",
    "square_tw",
    "runs",
    "cells",
    "skinny",
    "c2r",
    "r2c",
]
Kernel: TypeAlias = CpuKernel | CudaKernel | InplaceKernel | CudaInplaceKernel
Tune: TypeAlias = Literal["model", "learn", "measure"]


class Array(Protocol):
    """What every array has that ttlg takes: DLPack's export, of any signature."""

    @property
    def __dlpack__(self) -> Any: ...


class Named(Protocol):
    """What xarray's DataArray and Variable have: data, and a name for each axis."""

    @property
    def dims(self) -> tuple[Hashable, ...]: ...
    @property
    def data(self) -> Any: ...


class HasInterface(Protocol):
    """What NumPy views by the array interface."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


# array.array takes no parameters before Python 3.12, except in text.
Buffer: TypeAlias = Union[
    memoryview, bytearray, "array.array[Any]", "ctypes.Array[Any]", HasInterface
]

ArrayT = TypeVar("ArrayT", bound=Array)
MovedT = TypeVar("MovedT", bound=Array | Named)  # what comes back in its class
NamedT = TypeVar("NamedT", bound=Named)
OutT = TypeVar("OutT", bound=Array | Buffer)


# What overloads share with the function that they are of.


class CallOptions(TypedDict, total=False):
    """How a call that moves elements is carried out."""

    stream: Any
    threads: int | None


class NewOptions(CallOptions, total=False):
    """How a call is carried out whose result is a new array."""

    out: None


class ContractOptions(TypedDict, total=False):
    """How a contraction into a new array is carried out."""

    out: None
    optimize: Any
    threads: int | None


class LayoutOptions(TypedDict, total=False):
    """How the input lies in memory, and how many threads move it."""

    strides: Integers | None
    element_strides: Integers | None
    threads: int | None


class PlanOptions(LayoutOptions, total=False):
    """How a plan is chosen."""

    kernel: Kernel | None
    parameters: Mapping[str, Any] | None
    tune: Tune
    workspace: Size | None
