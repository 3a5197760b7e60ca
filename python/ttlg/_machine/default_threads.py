"""How many threads ttlg uses unless told otherwise."""

import os
from contextlib import suppress

from ttlg import _core
from ttlg._arguments.words import read_variable
from ttlg._machine import cgroups


def chosen_by_environment() -> int:
    """Read TTLG_NUM_THREADS; 0 where it is unset or empty."""
    text = read_variable("TTLG_NUM_THREADS")
    if not text:
        return 0
    try:
        return _core.resolve_threads(int(text))
    except ValueError:
        raise ValueError(
            f"TTLG_NUM_THREADS must be from 1 to {_core.MAX_THREADS}, not {text!r}; unset it for "
            "the default"
        ) from None


def default() -> int:
    """Return OMP_NUM_THREADS, else the processors and the CPU time that this process may use."""
    with suppress(ValueError):  # as OpenMP does
        # Of a list, the outermost level.
        by_openmp = int(os.environ.get("OMP_NUM_THREADS", "").split(",")[0])
        if by_openmp > 0:
            return min(by_openmp, _core.MAX_THREADS)
    return max(1, min(_usable_processors(), *_quotas(), _core.MAX_THREADS))


def _usable_processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _quotas() -> list[int]:
    """Return how many processors' time each control group allows, rounded up."""
    quotas = []
    for version, folder in cgroups.folders("cpu"):
        if version == 2:
            limit = cgroups.read(os.path.join(folder, "cpu.max")).split()
        else:
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            limit = [cgroups.read(os.path.join(folder, name)).strip() for name in names]
        # "max" or -1 is no limit.
        if len(limit) == 2 and all(map(str.isdecimal, limit)) and int(limit[1]) > 0:
            quotas.append(max(1, -(-int(limit[0]) // int(limit[1]))))
    return quotas
