"""Settings of this process, threads and the planner cache, and what ttlg finds on this machine."""

import operator
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ttlg import _core


def _default_threads() -> int:
    """Read TTLG_NUM_THREADS; 0 leaves the choice to OpenMP."""
    text = os.environ.get("TTLG_NUM_THREADS")
    if text is None:
        return 0
    if not text.isdecimal() or not 1 <= int(text) <= _core.MAX_THREADS:
        raise ValueError(
            f"TTLG_NUM_THREADS={text!r} is not valid: set it to 1..{_core.MAX_THREADS} or unset it"
        )
    return int(text)


def set_num_threads(n: int | None) -> None:
    """Set how many threads ttlg may use in this process.

    Parameters
    ----------
    n : int or None
        From 1 to 1024. None goes back to the default: the environment variable
        ``TTLG_NUM_THREADS``, else OpenMP's number (``OMP_NUM_THREADS``, threadpoolctl).

    Raises
    ------
    ValueError
        `n` or ``TTLG_NUM_THREADS`` is out of range.
    """
    _core.set_num_threads(_default_threads() if n is None else _core.resolve_threads(n))


def get_num_threads() -> int:
    """Return how many threads ttlg may use.

    Returns
    -------
    int
        What `set_num_threads` set, else the environment variable ``TTLG_NUM_THREADS``, else
        OpenMP's number.
    """
    return _core.num_threads()


set_num_threads(None)


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


def cpu_model() -> str:
    """Name the processor as the system does, or its architecture where the system has no name."""
    # AArch64 has no such line.
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


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
            yield f"{label:28}{' '.join(value) or 'none'}"
        elif isinstance(value, list):
            yield f"{label:28}{len(value)}"
            for entry in value:
                yield from _lines(entry, depth + 1)
        else:
            text = {True: "yes", False: "no", "": "none"}.get(value, value)
            yield f"{label:28}{text}"


def show_config() -> Config:
    """Tell what this installation was built with and what it finds on this machine.

    The driver is asked again at every call.

    Returns
    -------
    Config
        A dictionary with the sections ``ttlg``, ``cpu`` and ``cuda`` that prints itself. Of the
        SIMD levels, ``simd_built`` are in this installation, ``simd_found`` those of them that
        this processor has, and ``simd_used`` is the last of those unless the environment variable
        ``TTLG_SIMD_LEVEL`` caps it.

    Raises
    ------
    ValueError
        ``TTLG_SIMD_LEVEL`` names no level of this installation.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.show_config()["cpu"]["openmp"]
    True
    """
    cpu = _core.build_config()
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
            **cpu,
        },
        cuda=_core.cuda_config(),
    )
