"""Permute the axes of tensors, fast, for NumPy, PyTorch, CuPy and JAX.

``ttlg.transpose(x, axes)`` copies ``x`` into a new array whose axes are permuted, moving every
element bit for bit. ``ttlg.plan`` prepares one transposition for repeated use and explains how it
will be done.
"""

from sys import modules as _modules

from ttlg import schemes
from ttlg._api import permute_dims, transpose
from ttlg._calibrate import calibrate, reset_calibration
from ttlg._candidates import Candidate, CudaCandidate
from ttlg._config import (
    CacheInfo,
    Config,
    ResultPoolLimit,
    cache_clear,
    cache_info,
    cache_resize,
    get_num_threads,
    set_num_threads,
    set_result_pool,
    show_config,
    threads,
)
from ttlg._copies import ascontiguousarray, asfortranarray, asorder, copyto
from ttlg._core import CudaError, __version__
from ttlg._include import get_include
from ttlg._inplace import transpose_inplace
from ttlg._moveaxis import moveaxis, swapaxes
from ttlg._plan import Plan
from ttlg._planning import plan, plan_for
from ttlg._predict import Prediction, predict_time, predict_times
from ttlg._rearrange import rearrange
from ttlg._structures import StructureOfArrays, aos_to_soa, soa_to_aos
from ttlg._transpose_file import transpose_file
from ttlg._typing import CpuKernel, CudaKernel, InplaceKernel

__all__ = [
    "CacheInfo",
    "Candidate",
    "Config",
    "CpuKernel",
    "CudaCandidate",
    "CudaError",
    "CudaKernel",
    "InplaceKernel",
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
    "copyto",
    "get_include",
    "get_num_threads",
    "moveaxis",
    "permute_dims",
    "plan",
    "plan_for",
    "predict_time",
    "predict_times",
    "rearrange",
    "reset_calibration",
    "schemes",
    "set_num_threads",
    "set_result_pool",
    "show_config",
    "soa_to_aos",
    "swapaxes",
    "threads",
    "transpose",
    "transpose_file",
    "transpose_inplace",
]

# Limits that others set with it hold for ttlg too. From 3.2 on it takes other libraries.
if hasattr(_modules.get("threadpoolctl"), "register"):
    from ttlg import threadpools as threadpools
