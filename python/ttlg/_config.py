"""Settings of this process, threads, planner cache and result pool, and what ttlg finds on this machine."""

import operator
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ttlg import _core, _models, _threads
from ttlg._machine import cpu_model
from ttlg._memory import room_for_waiting_results
from ttlg._sizes import parse_size, read_size
from ttlg._typing import Size


def set_num_threads(n: int | None) -> None:
    """Set how many threads ttlg may use in this process.

    Parameters
    ----------
    n : int or None
        From 1 to 1024. None goes back to the default: the environment variable
        ``TTLG_NUM_THREADS``, and where that is unset or empty, what the notes say.

    Raises
    ------
    TypeError
        `n` is no integer.
    ValueError
        `n` or ``TTLG_NUM_THREADS`` is out of range.

    See Also
    --------
    threads : The same for the calls of one block.

    Notes
    -----
    Where nothing is chosen ttlg uses ``OMP_NUM_THREADS``, of a list the first number. Without that
    it uses the processors that this process may run on, by its affinity mask, and no more than its
    control groups (``cpu.max``), such as those of a container, give it time on, rounded up. Tensors
    of PyTorch are then transposed by ``torch.get_num_threads()`` threads at most.
    """
    if n is None:
        _core.set_default_num_threads(_threads.default())
        _core.choose_num_threads(_threads.chosen_by_environment())
    else:
        _core.choose_num_threads(_core.resolve_threads(n))


def get_num_threads() -> int:
    """Return how many threads ttlg may use here.

    Returns
    -------
    int
        The number of the enclosing `threads` block, else what `set_num_threads` set, else the
        environment variable ``TTLG_NUM_THREADS``, else the default that `set_num_threads`
        describes.
    """
    return _core.resolve_threads(None)


@contextmanager
def threads(n: int | None) -> Iterator[None]:
    """Let the calls in a ``with`` block, or in a decorated function, use so many threads at most.

    Parameters
    ----------
    n : int or None
        From 1 to 1024. None stands for the number of the process: the one that `set_num_threads`
        set, or the default.

    Returns
    -------
    context manager
        After the block, whatever happens in it, the setting is as it was before.

    Raises
    ------
    TypeError
        `n` is no integer.
    ValueError
        `n` is out of range.

    Notes
    -----
    The setting belongs to the block's context (`contextvars`), as NumPy's ``errstate`` does: other
    threads and other asyncio tasks keep their own, and neither the threads of a pool nor new
    threads see it, unless they run in a copy of the context, as with ``asyncio.to_thread``. To
    limit all of them use `set_num_threads`. An argument ``threads=`` overrides both.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> with ttlg.threads(1):
    ...     y = ttlg.transpose(np.zeros((1000, 1000)))
    ...     ttlg.get_num_threads()
    1
    """
    variable = _core.context_threads()
    token = variable.set(None if n is None else _core.resolve_threads(n))
    try:
        yield
    finally:
        variable.reset(token)


set_num_threads(None)


def _default_result_pool() -> int | Callable[[], int]:
    """Read TTLG_RESULT_POOL, in bytes; by default what the memory that is free allows."""
    text = os.environ.get("TTLG_RESULT_POOL")
    if not text:
        return room_for_waiting_results
    try:
        return _pool_limit(parse_size(text))
    except ValueError:
        raise ValueError(
            f"TTLG_RESULT_POOL must be a size such as 256M, 0 to turn the pool off, not {text!r}; "
            "unset it for the default"
        ) from None


def _pool_limit(size: int) -> int:
    if not 0 <= size <= sys.maxsize:
        raise ValueError(f"the result pool cannot hold {size} bytes; pass 0 to turn it off")
    return size


class ResultPoolLimit(int):
    """The limit in bytes that `set_result_pool` has set: a number, and a context manager.

    At the end of a ``with`` statement the limit is again what it was before the call.
    """

    _before: "int | Callable[[], int]"

    def __enter__(self) -> int:
        return self

    def __exit__(self, *exception: object) -> None:
        _set_pool(self._before)


# What was set last: a limit, or what gives one from time to time.
_pool_source: int | Callable[[], int] = 0


def _set_pool(source: int | Callable[[], int]) -> int | Callable[[], int]:
    """Set the limit of the pool, and return what it was before."""
    global _pool_source
    _core.set_result_pool(source)
    before, _pool_source = _pool_source, source
    return before


def set_result_pool(bytes: Size | None) -> ResultPoolLimit:
    """Set how much memory of freed results ttlg may keep for the next ones in this process.

    Parameters
    ----------
    bytes : int, str or None
        Bytes that may wait to be used again, at least 0, or a size such as ``"1.5G"``: K, M, G and
        T, or KiB and so on, are powers of 1024, and KB, MB, GB and TB of 1000. What waits beyond
        that is freed now. 0 turns the pool off: the memory of every result is freed with it. None
        goes back to the default: the environment variable ``TTLG_RESULT_POOL``, and where that is
        unset or empty, 2 GiB, but at most an eighth of the memory that is free, of the machine and
        within the limits of the container and the process, and a thirty-second of a Dask worker's.

    Returns
    -------
    ResultPoolLimit
        The limit that is set now, as an int. It is a context manager too: the limit holds from the
        call on, as without ``with``, and at the end of the block the one before it comes back, for
        all threads of the process.

    Raises
    ------
    TypeError
        `bytes` is neither an integer nor text.
    ValueError
        `bytes` or ``TTLG_RESULT_POOL`` is negative, beyond 64 bits or no size.

    See Also
    --------
    show_config : Shows the limit, and what waits at that moment.

    Notes
    -----
    Memory of large arrays that NumPy frees goes back to the system at once, and the system clears
    every page of the next one, which takes as long as the transposition. New NumPy results of
    4 MiB and more therefore come from blocks that earlier ones have left, where one is of the
    right size or up to a quarter larger. They are arrays like any other: they own their memory,
    and it is freed with their last view, whichever thread or process that is in. So do JAX's,
    where nothing is compiled.

    What nobody has used for a second goes back to the system, by a thread that lives only while
    something waits. Until then it still counts in what tools show as the resident memory of the
    process, though it is marked ``MADV_FREE`` (madvise(2)): Linux takes its pages when memory is
    short, before it swaps or kills, also for the limit of a container. The default follows the
    memory that is free, at most a second late, and so that what waits never makes a Dask worker
    pause, it leaves little there. A result takes up to 2 MiB more than its bytes, as its memory
    begins and ends at huge pages; where the system gives none, marking and writing again take
    time too, and three quarters of the gain remain. `fork` frees what waits, so that no child
    holds a copy.

    A program that has chosen a data allocation policy of its own (NEP 49) keeps it. PyTorch
    allocates its results itself, as tensors in other memory could not be resized; ttlg asks for
    huge pages there, which takes most of the time that clearing pages costs.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.set_result_pool(0)  # gives back what waits
    0
    >>> ttlg.set_result_pool("256M")
    268435456
    >>> x = np.zeros((2000, 2000))
    >>> for _ in range(3):
    ...     y = ttlg.transpose(x)  # two blocks take turns
    >>> ttlg.show_config()["cpu"]["result_pool_waiting_bytes"]
    33554432
    >>> with ttlg.set_result_pool(0) as limit:
    ...     ttlg.show_config()["cpu"]["result_pool_waiting_bytes"], limit
    (0, 0)
    >>> ttlg.show_config()["cpu"]["result_pool_limit_bytes"]
    268435456
    >>> default = ttlg.set_result_pool(None)
    """
    source = _default_result_pool() if bytes is None else _pool_limit(read_size("bytes", bytes))
    before = _set_pool(source)
    limit = ResultPoolLimit(_core.result_pool_info()[0])
    limit._before = before
    return limit


set_result_pool(None)


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


def cache_clear() -> None:
    """Forget all cached plans and reset the counts."""
    _core.cache_clear()


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


class Config(dict[str, Any]):
    """A nested dictionary that prints itself as an indented list."""

    def __repr__(self) -> str:
        return "\n".join(_lines(self, 0))


def _lines(section: dict[str, Any], depth: int) -> Iterator[str]:
    for key, value in section.items():
        label = "  " * depth + key.replace("_", " ")
        if isinstance(value, dict):
            yield label
            yield from _lines(value, depth + 1)
        elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            yield f"{label:30}{' '.join(value) or 'none'}"
        elif isinstance(value, list):
            yield f"{label:30}{len(value)}"
            for entry in value:
                yield from _lines(entry, depth + 1)
        elif isinstance(value, bool):
            yield f"{label:30}{'yes' if value else 'no'}"
        else:
            yield f"{label:30}{value if value not in ('', None) else 'none'}"


def _thread_delays() -> dict[str, float | None]:
    delays = _core.thread_delays() if get_num_threads() > 1 else (0, 0)
    names = ("thread_start_us", "thread_wakeup_us")
    return {n: round(1e6 * t, 1) if t else None for n, t in zip(names, delays, strict=True)}


def show_config() -> Config:
    """Tell what this installation was built with and what it finds on this machine.

    The driver is asked again at every call.

    Returns
    -------
    Config
        A dictionary with the sections ``ttlg``, ``cpu`` and ``cuda`` that prints itself. Of the
        SIMD levels, ``simd_built`` are in this installation, ``simd_found`` those of them that
        this processor has, and ``simd_used`` is the last of those unless the environment variable
        ``TTLG_SIMD_LEVEL`` caps it. ``thread_start_us`` and
        ``thread_wakeup_us`` are how many microseconds a second thread takes to begin its part of a
        call, where it watches for calls and where it sleeps: measured once, None for one thread. ``time_model`` is what the planner knows of this CPU and why
        that was chosen, ``models`` are the GPUs that plans and predictions can be made for without
        one.

    Raises
    ------
    ValueError
        ``TTLG_SIMD_LEVEL`` names no level of this installation.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.show_config()["cpu"]["threads"] >= 1
    True
    """
    cpu = _core.build_config()
    pool_limit, pool_waiting = _core.result_pool_info()
    return Config(
        ttlg={
            "version": _core.__version__,
            "compiler": cpu.pop("compiler"),
            "build_type": cpu.pop("build_type"),
            "python": platform.python_version(),
        },
        cpu={
            "machine": platform.machine(),
            "model": cpu_model(),
            "cores": os.cpu_count() or 1,
            "threads": get_num_threads(),
            **_thread_delays(),
            **cpu,
            "result_pool_limit_bytes": pool_limit,
            "result_pool_waiting_bytes": pool_waiting,
            "time_model": _models.cpu_model_in_use(),
        },
        cuda=_core.cuda_config() | {"models": _models.listed()},
    )
