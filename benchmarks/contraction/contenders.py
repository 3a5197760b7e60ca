"""How each library contracts two tensors, and on how many threads."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

import ttlg
from ttlg.benchmarks.contenders import Array, Contender, optional
from ttlg.benchmarks.contraction.case import ContractionCase

# Distributions whose versions belong to a result, besides those of transpositions.
LIBRARIES = ("opt_einsum", "pytblis", "threadpoolctl")
PEERS = ("numpy", "torch", "opt_einsum", "pytblis")


def operands(case: ContractionCase) -> list[Array]:
    """Fill both operands with numbers from -1 to 1."""
    generator = np.random.default_rng(0)
    arrays = [generator.random(shape, case.dtype) for shape in case.shapes]  # type: ignore[call-overload]
    for array in arrays:
        array *= 2
        array -= 1
    return arrays


def contenders(case: ContractionCase, arrays: Sequence[Array]) -> Iterator[Contender]:
    """List ttlg, NumPy and the peers that are installed.

    Each returns a new tensor, which may be a view with permuted axes, as all but pytblis do.
    """
    equation = case.equation
    yield Contender("ttlg", lambda: ttlg.einsum(equation, *arrays), returns=True)
    yield Contender("numpy", lambda: np.einsum(equation, *arrays, optimize=True), returns=True)
    torch = optional("torch")
    if torch is not None:
        tensors = [torch.from_numpy(array) for array in arrays]
        yield Contender("torch", lambda: torch.einsum(equation, *tensors), returns=True)
    for name, function in (("opt_einsum", "contract"), ("pytblis", "einsum")):
        library = optional(name)
        if library is not None:
            contract = getattr(library, function)
            yield Contender(name, lambda call=contract: call(equation, *arrays), returns=True)  # type: ignore[misc]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let all libraries use so many threads.

    NumPy's products, which ttlg and opt_einsum use as well, are limited by threadpoolctl; without it
    they use as many as their environment variables say.
    """
    with ExitStack() as stack:
        stack.enter_context(ttlg.threads(count))
        for name in ("torch", "pytblis"):
            library = optional(name)
            if library is not None and hasattr(library, "set_num_threads"):
                stack.callback(library.set_num_threads, library.get_num_threads())
                library.set_num_threads(count)
        pools = optional("threadpoolctl")
        if pools is not None:
            stack.enter_context(pools.threadpool_limits(count, user_api="blas"))
        yield


def products() -> list[dict[str, Any]] | None:
    """Describe the libraries of matrix products that the peers load, or None without threadpoolctl."""
    pools = optional("threadpoolctl")
    if pools is None:
        return None
    for name in PEERS:
        optional(name)
    names = ("internal_api", "version", "architecture", "threading_layer")
    found = [pool for pool in pools.threadpool_info() if pool["user_api"] == "blas"]
    return [{name: pool[name] for name in names if name in pool} for pool in found]
