"""The cache of plans."""

import operator
import sys
from collections.abc import Callable
from typing import NamedTuple

from ttlg import _core


class CacheInfo(NamedTuple):
    """What `cache_info` reports, counted in plans."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


def cache_info() -> CacheInfo:
    """Report on the planner cache.

    Returns
    -------
    named tuple
        ``hits``, ``misses``, ``maxsize``, ``currsize``, counted in plans; ``maxsize`` is the room
        for plans of the CPU and for those of GPUs each.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.cache_clear()
    >>> for _ in range(3):
    ...     y = ttlg.transpose(np.zeros((4, 5)))
    >>> ttlg.cache_info().hits, ttlg.cache_info().misses
    (2, 1)
    """
    return CacheInfo(*_core.cache_info())


_also_cleared: list[Callable[[], None]] = []


def on_clear(forget: Callable[[], None]) -> Callable[[], None]:
    """Let `cache_clear` call a function."""
    _also_cleared.append(forget)
    return forget


def cache_clear() -> None:
    """Forget all cached plans, those of contractions too, and reset the counts."""
    _core.cache_clear()
    for forget in _also_cleared:
        forget()


def cache_resize(n: int) -> None:
    """Let the planner cache hold `n` plans; 0 turns it off. The plans it holds are forgotten.

    Plans for the CPU and plans for GPUs are counted together but have room for `n` each.

    Parameters
    ----------
    n : int
        Number of plans, at least 0. The default is 4096; a plan takes a kilobyte or two.

    Raises
    ------
    ValueError
        `n` is negative or beyond 64 bits.
    """
    size = operator.index(n)
    if not 0 <= size <= sys.maxsize:
        raise ValueError(f"the planner cache cannot hold {size} plans; pass 0 to turn it off")
    _core.cache_resize(size)
