"""Permute the axes of tensors, fast, for NumPy, PyTorch, CuPy and JAX.

``ttlg.transpose(x, axes)`` copies ``x`` into a new array whose axes are permuted, moving every
element bit for bit. ``ttlg.plan`` prepares one transposition for repeated use and explains how it
will be done. ``ttlg.sparse.transpose(A, axes)`` takes sparse tensors, and ``ttlg.einsum`` contracts.
"""

# The private modules in layers, each of which imports from those before it alone: _typing;
# _arguments and _machine; _models; _settings; _libraries, the arrays of each library; _plan, plans
# as values; _tune and _learned; _planning; _functions; _files. sparse and _contract stand on
# _functions and have layers of their own. The modules for other libraries and the command line use
# all of them.

import sys as _sys
from importlib import import_module as _import_module
from os import environ as _environ
from os import register_at_fork as _register_at_fork
from threading import RLock as _RLock
from typing import TYPE_CHECKING
from typing import Any as _Any

from ttlg._core import CudaError, __version__
from ttlg._functions.copies import ascontiguousarray, asfortranarray, asorder, copyto
from ttlg._functions.flips import flip, rot90
from ttlg._functions.inplace import transform_inplace, transpose_inplace
from ttlg._functions.moveaxis import moveaxis, movedim, swapaxes
from ttlg._functions.rearrange import rearrange
from ttlg._functions.structures import StructureOfArrays, aos_to_soa, soa_to_aos
from ttlg._functions.transform import transform
from ttlg._functions.transpose import permute, permute_dims, transpose
from ttlg._settings.learning import learning, set_learning
from ttlg._settings.planner_cache import CacheInfo, cache_clear, cache_info, cache_resize
from ttlg._settings.result_pool import ResultPoolLimit, set_result_pool
from ttlg._settings.threads import get_num_threads, set_num_threads, threads
from ttlg._typing import CpuKernel, CudaInplaceKernel, CudaKernel, InplaceKernel

if TYPE_CHECKING:
    from ttlg import cotengra as cotengra
    from ttlg import dask as dask
    from ttlg import images as images
    from ttlg import opt_einsum as opt_einsum
    from ttlg import schemes as schemes
    from ttlg import sparse as sparse
    from ttlg import threadpools as threadpools
    from ttlg import torch as torch
    from ttlg import zarr as zarr
    from ttlg._calibrate import calibrate, reset_calibration
    from ttlg._contract.contraction import Contraction, Estimate
    from ttlg._contract.functions import einsum, tensordot
    from ttlg._contract.planning import contraction, predict_contraction
    from ttlg._files.transpose_file import transpose_file
    from ttlg._include import get_include
    from ttlg._plan.candidates import Candidate, CudaCandidate
    from ttlg._plan.plan import Plan
    from ttlg._planning.generate import generate
    from ttlg._planning.loop_order import LoopOrder, loop_order
    from ttlg._planning.plan import plan
    from ttlg._planning.plan_for import plan_for
    from ttlg._planning.predict import Prediction, predict_time, predict_times
    from ttlg._settings.config import Config, show_config

# What is imported when it is first asked for, so that `import ttlg` stays short: the imports above,
# for type checkers, as they are at run time.
_LAZY = {
    "Candidate": "_plan.candidates",
    "Config": "_settings.config",
    "Contraction": "_contract.contraction",
    "CudaCandidate": "_plan.candidates",
    "Estimate": "_contract.contraction",
    "LoopOrder": "_planning.loop_order",
    "Plan": "_plan.plan",
    "Prediction": "_planning.predict",
    "calibrate": "_calibrate",
    "contraction": "_contract.planning",
    "einsum": "_contract.functions",
    "generate": "_planning.generate",
    "get_include": "_include",
    "loop_order": "_planning.loop_order",
    "plan": "_planning.plan",
    "plan_for": "_planning.plan_for",
    "predict_contraction": "_contract.planning",
    "predict_time": "_planning.predict",
    "predict_times": "_planning.predict",
    "reset_calibration": "_calibrate",
    "show_config": "_settings.config",
    "tensordot": "_contract.functions",
    "transpose_file": "_files.transpose_file",
}
_LAZY_MODULES = ("images", "schemes", "sparse")
# Modules for other libraries: for which, and what pip installs it by. No `import *` imports them.
_FOR_LIBRARIES = {
    "cotengra": ("cotengra", "cotengra"),
    "dask": ("dask", "'ttlg[dask]'"),
    "opt_einsum": ("opt_einsum", "opt_einsum"),
    "threadpools": ("threadpoolctl", "threadpoolctl"),
    "torch": ("torch", "torch"),
    "zarr": ("zarr", "'ttlg[zarr]'"),
}

__all__ = [
    "CacheInfo",
    "Candidate",
    "Config",
    "Contraction",
    "CpuKernel",
    "CudaCandidate",
    "CudaError",
    "CudaInplaceKernel",
    "CudaKernel",
    "Estimate",
    "InplaceKernel",
    "LoopOrder",
    "Plan",
    "Prediction",
    "ResultPoolLimit",
    "StructureOfArrays",
    "__version__",
    "aos_to_soa",
    "ascontiguousarray",
    "asfortranarray",
    "asorder",
    "cache_clear",
    "cache_info",
    "cache_resize",
    "calibrate",
    "contraction",
    "copyto",
    "einsum",
    "flip",
    "generate",
    "get_include",
    "get_num_threads",
    "images",
    "learning",
    "loop_order",
    "moveaxis",
    "movedim",
    "permute",
    "permute_dims",
    "plan",
    "plan_for",
    "predict_contraction",
    "predict_time",
    "predict_times",
    "rearrange",
    "reset_calibration",
    "rot90",
    "schemes",
    "set_learning",
    "set_num_threads",
    "set_result_pool",
    "show_config",
    "soa_to_aos",
    "sparse",
    "swapaxes",
    "tensordot",
    "threads",
    "transform",
    "transform_inplace",
    "transpose",
    "transpose_file",
    "transpose_inplace",
]

# Around a fork too: a child waits for ever for a module that another thread has begun to import.
_importing = _RLock()
_register_at_fork(
    before=_importing.acquire,
    after_in_parent=_importing.release,
    after_in_child=_importing.release,
)

if not TYPE_CHECKING:  # which would take every name for one of these

    def __getattr__(name: str) -> _Any:
        """Import what `import ttlg` has left out.

        A library that is missing is an AttributeError, as PEP 562 asks for, so that `hasattr`,
        `inspect` and `help` go on; ``import ttlg.dask`` raises ModuleNotFoundError.
        """
        if name in _LAZY:
            with _importing:
                value = getattr(_import_module(f"ttlg.{_LAZY[name]}"), name)
            globals()[name] = value
            return value
        if name in _LAZY_MODULES:
            with _importing:
                return _import_module(f"ttlg.{name}")
        if name not in _FOR_LIBRARIES:
            raise AttributeError(f"module 'ttlg' has no attribute {name!r}")
        library, package = _FOR_LIBRARIES[name]
        try:
            return _import_module(f"ttlg.{name}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != library:
                raise
            raise AttributeError(f"ttlg.{name} needs {library}: pip install {package}") from error


def __dir__() -> list[str]:
    """List what is there, and what is imported when it is asked for, of libraries that are."""
    from importlib.util import find_spec

    found = {name for name, (library, _) in _FOR_LIBRARIES.items() if find_spec(library)}
    return sorted({*globals(), *_LAZY, *_LAZY_MODULES, *found} - {"TYPE_CHECKING"})


# Elsewhere nothing is kept, and what reads and writes plans takes milliseconds to import.
if _environ.get("TTLG_CACHE_DIR"):
    from ttlg._learned import keep_between_processes as _keep_learned_plans

    _keep_learned_plans()

# Limits that others set with it hold for ttlg too. From 3.2 on it takes other libraries.
if hasattr(_sys.modules.get("threadpoolctl"), "register"):
    from ttlg import threadpools as threadpools
