"""C libraries that transpose in place, called through ctypes."""

import ctypes
import ctypes.util
import functools
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ttlg.benchmarks.contenders import Array, Axes

FFTW_ESTIMATE = 1 << 6
FFTW_MEASURE = 0
# FFTW measures plans until all have been tried; those of a gigabyte would take minutes.
_PLANNING_SECONDS = 20.0
_CBLAS_ROW_MAJOR = 101
_CBLAS_TRANSPOSED = 112
_OPENBLAS_NAMES = (
    ("", "", ctypes.c_int),
    ("", "64_", ctypes.c_int64),
    ("scipy_", "", ctypes.c_int),
    ("scipy_", "64_", ctypes.c_int64),
)


class LeftOutError(Exception):
    """Why a contender takes no part."""


@functools.cache
def find(*names: str) -> str | None:
    """Find the first of some shared libraries that is installed, named without lib and .so."""
    return next(filter(None, map(ctypes.util.find_library, names)), None)


def find_in_numpy() -> str | None:
    """Find the OpenBLAS that NumPy's wheel brings along."""
    found = Path(np.__file__).parents[1].glob("numpy.libs/*openblas*.so*")
    return next(map(str, sorted(found)), None)


def _physical_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class OpenBlas:
    """The library, what its names begin and end with, and the type of its sizes."""

    library: ctypes.CDLL
    prefix: str
    suffix: str
    size: type[ctypes.c_int] | type[ctypes.c_int64]

    def _function(self, name: str) -> Any:
        return self.library[f"{self.prefix}{name}{self.suffix}"]

    @property
    def version(self) -> str:
        """What it says of itself."""
        config = self._function("openblas_get_config")
        config.restype = ctypes.c_char_p
        return str(config().decode())

    def imatcopy(self, x: Array, threads: int) -> Callable[[], None]:
        """Return a call that transposes `x`, a matrix; sets the library's threads.

        Raises
        ------
        LeftOutError
            The library would end the process: it allocates the square of the rows for a matrix of
            more rows than columns, and exits where it cannot.
        """
        if max(x.shape[0] ** 2, x.size) * x.itemsize > _physical_bytes() // 2:
            raise LeftOutError("OpenBLAS would allocate too much")
        self._function("openblas_set_num_threads")(ctypes.c_int(threads))
        letter, scalar = ("s", ctypes.c_float) if x.itemsize == 4 else ("d", ctypes.c_double)
        function = self._function(f"cblas_{letter}imatcopy")
        function.restype = None
        rows, columns = (self.size(extent) for extent in x.shape)
        layout = ctypes.c_int(_CBLAS_ROW_MAJOR), ctypes.c_int(_CBLAS_TRANSPOSED)

        def transpose() -> None:
            data = ctypes.c_void_p(x.ctypes.data)
            function(*layout, rows, columns, scalar(1), data, columns, rows)

        return transpose


@functools.cache
def openblas() -> OpenBlas:
    """Load OpenBLAS, the system's or NumPy's, or raise LeftOutError."""
    path = find("openblas") or find_in_numpy()
    if path is None:
        raise LeftOutError("no libopenblas found")
    library = ctypes.CDLL(path)
    for prefix, suffix, size in _OPENBLAS_NAMES:
        if hasattr(library, f"{prefix}cblas_dimatcopy{suffix}"):
            return OpenBlas(library, prefix, suffix, size)
    raise LeftOutError(f"{path} has no imatcopy")


class _Dimension(ctypes.Structure):
    """fftw_iodim64: an extent, and the elements from one to the next before and after."""

    _fields_ = (
        ("n", ctypes.c_ssize_t),
        ("before", ctypes.c_ssize_t),
        ("after", ctypes.c_ssize_t),
    )


def _dimensions(x: Array, axes: Axes) -> ctypes.Array[_Dimension]:
    """List the axes of `x`, C-contiguous, with their strides before and after."""
    after = [0] * x.ndim
    stride = 1
    for axis in reversed(axes):
        after[axis] = stride
        stride *= x.shape[axis]
    before = [each // x.itemsize for each in x.strides]
    return (_Dimension * x.ndim)(*map(_Dimension, x.shape, before, after))


class FftwPlan:
    """A plan of FFTW's, destroyed with this object."""

    def __init__(self, library: "Fftw", pointer: int, x: Array) -> None:
        """Take the ownership of a plan for the memory of `x`."""
        self._execute = library.function("execute")
        self._pointer = ctypes.c_void_p(pointer)
        self._memory = x
        weakref.finalize(self, library.function("destroy_plan"), self._pointer)

    def __call__(self) -> None:
        """Permute the array that the plan was made for."""
        self._execute(self._pointer)


@dataclass(frozen=True)
class Fftw:
    """The library for one type of elements, its threads, and what its names begin with."""

    library: ctypes.CDLL
    threading: ctypes.CDLL
    prefix: str

    def function(self, name: str) -> Any:
        """Return one of the library's functions, named without the prefix."""
        return self.library[f"{self.prefix}_{name}"]

    @property
    def version(self) -> str:
        """What it says of itself."""
        text = ctypes.c_char.in_dll(self.library, f"{self.prefix}_version")
        return ctypes.string_at(ctypes.addressof(text)).decode()

    def plan(self, x: Array, axes: Axes, threads: int, flags: int) -> FftwPlan:
        """Plan the permutation of a C-contiguous array in its memory, which may be overwritten.

        Raises
        ------
        LeftOutError
            FFTW has no way to do it in place.
        """
        self.threading[f"{self.prefix}_plan_with_nthreads"](ctypes.c_int(threads))
        self.function("set_timelimit")(ctypes.c_double(_PLANNING_SECONDS))
        # Plans that were measured would be taken for estimated ones.
        self.function("forget_wisdom")()
        make = self.function("plan_guru64_r2r")
        make.restype = ctypes.c_void_p
        data = ctypes.c_void_p(x.ctypes.data)
        rank = ctypes.c_int(x.ndim)
        flag = ctypes.c_uint(flags)
        pointer = make(ctypes.c_int(0), None, rank, _dimensions(x, axes), data, data, None, flag)
        if pointer is None:
            raise LeftOutError("FFTW has no plan for this permutation in place")
        return FftwPlan(self, pointer, x)


@functools.cache
def fftw(dtype: str) -> Fftw:
    """Load FFTW with its threads, for ``float32`` or ``float64``, or raise LeftOutError."""
    name = "fftw3f" if dtype == "float32" else "fftw3"
    path, threads = find(name), find(f"{name}_threads", f"{name}_omp")
    if path is None or threads is None:
        raise LeftOutError(f"no lib{name} with threads found")
    found = Fftw(ctypes.CDLL(path), ctypes.CDLL(threads), name.replace("3", ""))
    found.threading[f"{found.prefix}_init_threads"]()
    return found
