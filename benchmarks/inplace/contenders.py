"""How each library, and each way of calling ttlg, permutes an array in its memory."""

import contextlib
import functools
import importlib.metadata
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import ttlg
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import Array, Axes, Contender, optional
from ttlg.benchmarks.inplace import libraries
from ttlg.benchmarks.inplace.libraries import LeftOutError

FORCED = ("c2r", "r2c")
PEERS = ("openblas", "fftw-estimate", "fftw-measure", "fastremap", "numpy-back", "ttlg-back")

_FASTREMAP_RANK = 4
_FLOATS = ("float32", "float64")


def openblas(x: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """``cblas_?imatcopy``, for matrices."""
    if axes != (1, 0) or x.dtype not in _FLOATS:
        raise LeftOutError("OpenBLAS transposes matrices of floats only")
    yield Contender("openblas", libraries.openblas().imatcopy(x, threads))


def fftw(x: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """FFTW's transform of rank 0, with the plan that it estimates and the one that it measures."""
    if x.dtype not in _FLOATS:
        raise LeftOutError("FFTW moves floats only")
    library = libraries.fftw(x.dtype.name)
    yield Contender("fftw-estimate", library.plan(x, axes, threads, libraries.FFTW_ESTIMATE))
    yield Contender("fftw-measure", library.plan(x, axes, threads, libraries.FFTW_MEASURE))


def _load_fastremap() -> ModuleType:
    library = optional("fastremap")
    if library is None:
        raise LeftOutError("fastremap is not installed")
    return library


def fastremap(x: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """Let fastremap go, on its one thread, from C to Fortran order, which reverses the axes."""
    library = _load_fastremap()
    if axes != tuple(reversed(range(x.ndim))) or x.ndim > _FASTREMAP_RANK:
        raise LeftOutError("fastremap reverses up to four axes only")
    yield Contender("fastremap", lambda: library.asfortranarray(x))


def back(x: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """NumPy and ttlg out of place, into an array that exists, and from there back."""
    permuted = np.empty(tuple(x.shape[axis] for axis in axes), x.dtype)
    source, target = permuted.reshape(-1), x.reshape(-1)
    plan = ttlg.plan(x.shape, axes, x.dtype, threads=threads)
    copy = ttlg.plan(source.shape, (0,), x.dtype, threads=threads)

    def numpy_back() -> None:
        np.copyto(permuted, x.transpose(axes))
        np.copyto(target, source)

    def ttlg_back() -> None:
        plan(x, permuted)
        copy(source, target)

    yield Contender("numpy-back", numpy_back)
    yield Contender("ttlg-back", ttlg_back)


def _forced_plan(shape: tuple[int, ...], dtype: str, kernel: Any, threads: int) -> Any:
    try:
        return ttlg.plan(shape, (1, 0), dtype, inplace=True, kernel=kernel, threads=threads)
    except ValueError as error:
        raise LeftOutError(str(error)) from None


def forced(x: Array, axes: Axes, threads: int) -> Iterator[Contender]:
    """Force one kernel of ttlg, whatever the planner would choose."""
    for name in FORCED:
        plan = _forced_plan(x.shape, x.dtype.name, name, threads)
        yield Contender(name, functools.partial(plan, x))


_LIBRARIES = (openblas, fftw, fastremap, back)
_OTHERS = {"inplace-landscape": (forced,), "inplace-random": (forced, *_LIBRARIES)}


def contenders(case: Case, memory: Array, threads: int) -> Iterator[Contender]:
    """List everything that permutes in place: ttlg, and what there is to compare it with.

    `memory` is C-contiguous and has the case's bytes. A call takes whatever it holds for an array
    of the case's shape and permutes it there, so it can be called any number of times. All but
    NumPy and fastremap use `threads` threads.
    """
    x = memory.reshape(case.shape)
    yield Contender("ttlg", lambda: ttlg.transpose_inplace(x, case.axes, threads=threads))
    for make in _OTHERS.get(case.suite, _LIBRARIES):
        with contextlib.suppress(LeftOutError):
            yield from make(x, case.axes, threads)


def _forced_version() -> str:
    for name in FORCED:
        _forced_plan((2, 3), "float64", name, 1)
    return f"ttlg {ttlg.__version__}"


_VERSIONS: dict[str, Callable[[], str]] = {
    "OpenBLAS": lambda: libraries.openblas().version,
    "FFTW float64": lambda: libraries.fftw("float64").version,
    "FFTW float32": lambda: libraries.fftw("float32").version,
    "fastremap": lambda: importlib.metadata.version(_load_fastremap().__name__),
    "forced kernels": _forced_version,
}


def describe() -> dict[str, str]:
    """Return the version of each peer, or why it is left out."""
    found = {}
    for name, version in _VERSIONS.items():
        try:
            found[name] = version()
        except LeftOutError as error:
            found[name] = f"left out: {error}"
    return found
