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

from sys import modules as _modules

from ttlg import schemes, sparse
from ttlg._calibrate import calibrate, reset_calibration
from ttlg._contract.contraction import Contraction, Estimate
from ttlg._contract.functions import einsum, tensordot
from ttlg._contract.planning import contraction, predict_contraction
from ttlg._core import CudaError, __version__
from ttlg._files.transpose_file import transpose_file
from ttlg._functions.copies import ascontiguousarray, asfortranarray, asorder, copyto
from ttlg._functions.flips import flip, rot90
from ttlg._functions.inplace import transpose_inplace
from ttlg._functions.moveaxis import moveaxis, movedim, swapaxes
from ttlg._functions.rearrange import rearrange
from ttlg._functions.structures import StructureOfArrays, aos_to_soa, soa_to_aos
from ttlg._functions.transpose import permute, permute_dims, transpose
from ttlg._include import get_include
from ttlg._learned import keep_between_processes as _keep_learned_plans
from ttlg._plan.candidates import Candidate, CudaCandidate
from ttlg._plan.plan import Plan
from ttlg._planning.generate import generate
from ttlg._planning.loop_order import LoopOrder, loop_order
from ttlg._planning.plan import plan
from ttlg._planning.plan_for import plan_for
from ttlg._planning.predict import Prediction, predict_time, predict_times
from ttlg._settings.config import Config, show_config
from ttlg._settings.learning import learning, set_learning
from ttlg._settings.planner_cache import CacheInfo, cache_clear, cache_info, cache_resize
from ttlg._settings.result_pool import ResultPoolLimit, set_result_pool
from ttlg._settings.threads import get_num_threads, set_num_threads, threads
from ttlg._typing import CpuKernel, CudaInplaceKernel, CudaKernel, InplaceKernel

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
    "transpose",
    "transpose_file",
    "transpose_inplace",
]

_keep_learned_plans()

# Limits that others set with it hold for ttlg too. From 3.2 on it takes other libraries.
if hasattr(_modules.get("threadpoolctl"), "register"):
    from ttlg import threadpools as threadpools
