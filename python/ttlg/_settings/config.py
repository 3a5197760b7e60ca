"""What ttlg was built with and finds on this machine."""

import os
import platform
from collections.abc import Iterator
from typing import Any

from ttlg import _core, _models
from ttlg._machine.processor import cpu_model
from ttlg._settings.threads import get_num_threads


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
    """Report what this installation was built with and what it finds on this machine.

    The driver is asked again at every call.

    Returns
    -------
    Config
        A dictionary with the sections ``ttlg``, ``cpu`` and ``cuda`` that prints itself. Of the
        SIMD levels, ``simd_built`` are in this installation, ``simd_found`` those of them that this
        processor has, and ``simd_used`` is the last of those unless the environment variable
        ``TTLG_SIMD_LEVEL`` caps it. ``prefetch_into`` is the cache into which kernels prefetch, by
        the processor's family. ``thread_start_us`` and ``thread_wakeup_us`` are how many
        microseconds a second thread takes to begin its part of a call, where it watches for calls
        and where it sleeps: measured once, None for one thread. ``learning`` says whether
        calls try plans (`set_learning`), ``time_model`` is what the planner knows of this CPU and
        why that was chosen, with the factors that calls have corrected it by, and ``models`` are
        the GPUs that plans and predictions can be made for without one.

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
            "learning": _core.is_learning(),
            "time_model": _models.cpu_model_in_use(),
        },
        cuda=_core.cuda_config() | {"models": _models.listed()},
    )
