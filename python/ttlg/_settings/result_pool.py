"""How much memory of freed results waits for the next ones."""

import sys
import threading
from collections.abc import Callable

from ttlg import _core
from ttlg._arguments.sizes import parse_size, read_size
from ttlg._arguments.words import read_variable
from ttlg._machine.memory import room_for_waiting_results
from ttlg._typing import Size


def _default_result_pool() -> int | Callable[[], int]:
    """Read TTLG_RESULT_POOL, in bytes; by default what the memory that is free allows."""
    text = read_variable("TTLG_RESULT_POOL")
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
_setting = threading.Lock()  # so that every call comes back to the limit of the one before


def _set_pool(source: int | Callable[[], int]) -> int | Callable[[], int]:
    """Set the limit of the pool, and return what it was before."""
    global _pool_source
    with _setting:
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

    What has waited for a second goes back to the system, by a thread that lives only while
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
    ...     y = ttlg.transpose(x)  # two blocks are used alternately
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
