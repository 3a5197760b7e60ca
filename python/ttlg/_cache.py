"""The planner cache."""

import functools
import operator
from typing import Any

from ttlg import _core
from ttlg._config import resolve_threads

_DEFAULT_CACHE_SIZE = 4096

# lru_cache is the planner cache: thread-safe, and a hit costs a tuple hash. Its key is the argument
# tuple of _core.make_plan, which is everything that decides a plan.
make_plan = functools.lru_cache(_DEFAULT_CACHE_SIZE)(_core.make_plan)


def plan_for(
    x: _core.TensorView,
    axes: tuple[int, ...],
    out_byte_strides: tuple[int, ...] | None,
    threads: int | None,
) -> _core.Plan:
    """Look the plan for these layouts up in the cache, or make it."""
    return make_plan(
        x.shape, x.byte_strides, x.itemsize, axes, out_byte_strides, resolve_threads(threads), None
    )


def cache_info() -> Any:
    """Report on the planner cache.

    Returns
    -------
    named tuple
        ``hits``, ``misses``, ``maxsize``, ``currsize``, counted in plans.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.cache_clear()
    >>> for _ in range(3):
    ...     y = ttlg.transpose(np.zeros((4, 5)))
    >>> ttlg.cache_info().hits, ttlg.cache_info().misses
    (2, 1)
    """
    return make_plan.cache_info()


def cache_clear() -> None:
    """Forget all cached plans and reset the counts."""
    make_plan.cache_clear()


def cache_resize(n: int) -> None:
    """Let the planner cache hold `n` plans; 0 turns it off. The plans it holds are forgotten.

    Parameters
    ----------
    n : int
        Number of plans, at least 0. The default is 4096; a plan takes a kilobyte or two.

    Raises
    ------
    ValueError
        `n` is negative.
    """
    global make_plan
    size = operator.index(n)
    if size < 0:
        raise ValueError(f"the planner cache cannot hold {size} plans; pass 0 to turn it off")
    make_plan = functools.lru_cache(size)(_core.make_plan)
