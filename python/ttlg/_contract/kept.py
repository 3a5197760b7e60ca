"""Planned contractions and their costs, kept for the next call."""

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ttlg._arguments.dtypes import itemsize_of
from ttlg._contract.contraction import Contraction
from ttlg._contract.costs import Costs
from ttlg._contract.equation import parse
from ttlg._contract.libraries import ANY, NUMPY, Products
from ttlg._contract.product_threads import numbers_of
from ttlg._contract.steps import Tensor
from ttlg._core import resolve_threads
from ttlg._model_files import device_key
from ttlg._settings.planner_cache import on_clear
from ttlg._typing import Device

# How many contractions are kept; the oldest are forgotten first.
_MAX_CONTRACTIONS = 4096
contractions: dict[Any, Contraction] = {}
_costs: dict[Any, Costs] = {}
# Held where `contractions` changes: it cannot be iterated over meanwhile.
_keeping = threading.Lock()


@on_clear
def _forget() -> None:
    with _keeping:
        contractions.clear()
    _costs.clear()


def costs_of(
    products: Products,
    dtype: Any,
    itemsize: int,
    threads: int | None,
    device: Device,
    flops: float | None,
) -> Costs:
    """Return costs, with what has been measured for them before."""
    key = (products, str(dtype), threads, numbers_of(threads), device_key(device), flops)
    costs = _costs.get(key)  # another thread may clear them at any time
    if costs is None:
        costs = Costs(products, dtype, itemsize, threads, device, flops)
        costs = _costs.setdefault(key, costs)
    return costs


def costs_for(dtype: str, device: Device, threads: int | None, flops: float | None) -> Costs:
    """Return the costs of contractions of NumPy, or of a GPU that need not be there."""
    on_host = device == "cpu"
    kind = np.dtype(dtype) if on_host else dtype
    products = NUMPY if on_host else ANY
    resolve_threads(threads)  # refuses what is no number of threads
    if flops is not None and not 0 < flops < math.inf:
        raise ValueError(f"flops must be a positive number of operations a second, not {flops!r}")
    return costs_of(products, kind, itemsize_of(dtype), threads, device, flops)


def keep(key: Any, contraction: Contraction) -> None:
    """Keep a contraction, and forget the oldest where there are too many."""
    with _keeping:
        while len(contractions) >= _MAX_CONTRACTIONS:
            del contractions[next(iter(contractions))]
        contractions[key] = contraction


def hashable(optimize: Any) -> Any:
    """Return what stands for an `optimize` argument in keys."""
    return str(optimize) if isinstance(optimize, list) else optimize


def planned_from(
    text: str,
    tensors: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    costs: Costs,
    optimize: Any,
    out: Any = None,
) -> Contraction:
    """Plan a contraction of tensors of these shapes and strides in bytes."""
    equation = parse(text, [shape for shape, _ in tensors])
    named = [Tensor(term, *each) for term, each in zip(equation.terms, tensors, strict=True)]
    return Contraction(equation, named, costs, optimize, out)
