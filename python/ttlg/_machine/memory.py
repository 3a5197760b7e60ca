"""How much memory this process may still take, of the machine, its container and its limits."""

import functools
import os
import resource
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ttlg._machine import cgroups

# What may wait: this part of what is free,
_SHARE = 8
# or of the memory of a Dask worker, which pauses and restarts by what it sees in use,
_SHARE_OF_WORKER = 32
# but at most this.
_MAX = 2 << 30


def _read_number(path: str) -> int | None:
    """Read a file of one number; None where there is no file, or no limit."""
    text = cgroups.read(path).strip()
    return int(text) if text.isdecimal() else None  # "max" is no limit


def of_machine() -> int:
    """Return the bytes of memory that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _available_on_machine() -> int:
    """Ask Linux how much can be taken without swapping."""
    for line in cgroups.read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return of_machine()


@functools.cache
def _cgroup_files() -> list[tuple[str, str]]:
    """Find the files of limit and use of every control group that this process is in."""
    found = []
    for version, folder in cgroups.folders("memory"):
        names = (
            ("memory.max", "memory.current")
            if version == 2
            else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        )
        limit, use = (os.path.join(folder, name) for name in names)
        if os.path.exists(limit):
            found.append((limit, use))
    return found


def _available_in_cgroups() -> Iterator[int]:
    for limit_file, use_file in _cgroup_files():
        limit, use = _read_number(limit_file), _read_number(use_file)
        # Version 1 has a number beyond all memory for no limit.
        if limit is not None and use is not None and limit < 1 << 60:
            # The use counts files that are cached, which go before anything is refused.
            yield max(limit - use, limit // 4)


def _available_within_limits() -> Iterator[int]:
    """Compare the address space and the data that are in use with the limits of the process."""
    limits = [resource.getrlimit(each)[0] for each in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    if limits == [resource.RLIM_INFINITY] * 2:
        return
    pages = cgroups.read("/proc/self/statm").split()
    if not pages:
        return
    for limit, used in zip(limits, (pages[0], pages[5]), strict=True):
        if limit != resource.RLIM_INFINITY:
            yield max(limit - int(used) * resource.getpagesize(), 0)


def _limits_of_dask_workers() -> list[int]:
    """Return the memory limit of each of Dask's workers in this process, where there are any."""
    module: Any = sys.modules.get("distributed.worker")
    workers = getattr(getattr(module, "Worker", None), "_instances", ())
    try:
        managers = [getattr(worker, "memory_manager", None) for worker in workers]
    except RuntimeError:  # another thread adds a worker
        return [0]
    limits = (getattr(manager, "memory_limit", None) for manager in managers)
    return [limit for limit in limits if limit is not None and limit > 0]


def room_for_waiting_results() -> int:
    """Return the bytes that freed results may hold for a second."""
    everywhere = (*_available_in_cgroups(), *_available_within_limits())
    return _share((_available_on_machine(), *everywhere), _limits_of_dask_workers())


def _share(available: Iterable[int], worker_limits: Iterable[int]) -> int:
    """Give results their share of the scarcest memory, and of a Dask worker's."""
    shares = [limit // _SHARE_OF_WORKER for limit in worker_limits]
    return min(_MAX, min(available) // _SHARE, *shares)
