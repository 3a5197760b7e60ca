"""How much else this machine does, which a calibration would take for its own."""

import functools
import math
import os
import time
import timeit
from dataclasses import dataclass

import numpy as np

from ttlg import _core
from ttlg._arguments.words import count_of
from ttlg._machine import memory

_SECONDS = 1.0
# Large enough that a copy outlasts the start of its threads.
_BYTES_PER_THREAD, _MAX_BYTES = 8 << 20, 256 << 20
# On 2 cores of a Zen 3 copies vary by 0.1 to 0.2 where nothing else runs, and by 0.2 to 40 beside
# one or two programs that are always busy, which keep a third of the cores busy or more.
_MAX_SPREAD = 0.5
_MAX_BUSY_SHARE = 0.25


@dataclass(frozen=True)
class Noise:
    """What else a machine does.

    Attributes
    ----------
    spread : float
        By how much the 90th percentile of the seconds of a copy exceeds their median: 0.5 is half.
    busy_cores : float
        How many of the cores other programs kept busy; NaN where the system does not say.
    cores : int
        How many this process may use.
    """

    spread: float
    busy_cores: float
    cores: int

    def objections(self) -> list[str]:
        """Say why times would tell more of other programs than of the machine; nothing if not."""
        if self.spread > _MAX_SPREAD or self.busy_cores > _MAX_BUSY_SHARE * self.cores:
            busy = f"this machine is too busy to calibrate on ({self})"
            return [f"{busy}: stop other programs, or calibrate later"]
        return []

    def __str__(self) -> str:
        """Write both numbers."""
        varied = f"the time of a copy varies by {self.spread:.0%}"
        if math.isnan(self.busy_cores):
            return varied
        return f"{varied}, other programs keep {self.busy_cores:.1f} of {count_of(self.cores, 'core')} busy"


class OtherPrograms:
    """Watches the cores that this process may use from now on."""

    def __init__(self, stat: str = "/proc/stat") -> None:
        self._stat = stat
        self._since = time.monotonic(), _seconds_of_others(stat)

    def busy_cores(self) -> float:
        """Return how many cores other programs kept busy; NaN where the system does not say."""
        seconds = _seconds_of_others(self._stat) - self._since[1]
        return max(seconds, 0.0) / max(time.monotonic() - self._since[0], 1e-9)


def _seconds_of_others(stat: str) -> float:
    """Return the seconds that the cores have worked, or were taken away, less those of this process.

    They count from some time in the past; NaN where the system does not say.
    """
    own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    ticks = 0
    try:
        with open(stat, encoding="ascii") as lines:
            for line in lines:
                name, *counts = line.split()
                if name in own:
                    # user, nice, system, idle, iowait, irq, softirq, steal; guests count as users
                    ticks += sum(int(counts[column]) for column in (0, 1, 2, 5, 6, 7))
    except (OSError, ValueError, IndexError):
        return math.nan
    return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()


def measure_noise() -> Noise:
    """Copy an array on all threads for a second, and see how much the times differ."""
    threads = _core.resolve_threads(None)
    source = np.ones(
        min(threads * _BYTES_PER_THREAD, _MAX_BYTES, memory.of_machine() // 16), np.uint8
    )
    target = np.ones_like(source)
    plan = _core.cached_cpu_plan(_core.Request(source.shape, (1,), 1, (0,)), threads, "copy")
    timer = timeit.Timer(functools.partial(_core.run_ndarray, plan, source, target))
    others = OtherPrograms()
    samples: list[float] = []
    end = time.monotonic() + _SECONDS
    while not samples or time.monotonic() < end:
        samples.append(timer.timeit(1))
    median, most = np.quantile(samples, (0.5, 0.9))
    return Noise(float(most / median - 1), others.busy_cores(), len(os.sched_getaffinity(0)))
