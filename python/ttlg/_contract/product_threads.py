"""How many threads multiply: the number of the library, unless one is chosen for ttlg."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ttlg import _core

# A number that is not below this limits no library.
_CPUS = os.cpu_count() or 1


class Pool(NamedTuple):
    """The threads of a library: how many it uses, and how that is changed."""

    get: Callable[[], int]
    set: Callable[[int], Any]


def limit_of(threads: int | None) -> int:
    """Return the most threads that products may use for this `threads=`; 0 for the library's own."""
    number = threads or _core.chosen_threads()
    return number if number < _CPUS else 0


def numbers_of(threads: int | None) -> tuple[int, int]:
    """Return how many threads transpose and multiply, which tells plans and costs apart."""
    return _core.resolve_threads(threads), limit_of(threads)


def blas_pools() -> list[Pool]:
    """Return the pools of the BLAS libraries of this process; none without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [Pool(each.get_num_threads, each.set_num_threads) for each in found]


class Limiter:
    """Limits pools, which belong to the process, while calls run.

    Where several calls run at once, the least of their limits holds for all. After the last one the
    numbers are as before the first.
    """

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools
        self._lock = threading.Lock()
        self._limits: list[int] = []
        self._before: list[int] = []

    @contextmanager
    def at_most(self, limit: int) -> Iterator[None]:
        """Limit the pools in a block; 0 stands for no limit."""
        if not limit or not self._pools:
            yield
            return
        with self._lock:
            if not self._limits:
                self._before = [pool.get() for pool in self._pools]
            self._limits.append(limit)
            self._apply()
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(limit)
                self._apply()

    def _apply(self) -> None:
        for pool, before in zip(self._pools, self._before, strict=True):
            pool.set(min([before, *self._limits]))
