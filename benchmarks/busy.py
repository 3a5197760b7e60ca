"""Calls on all threads, which is the default, beside calls on one while others use the cores.

The contenders take turns in slices of 0.2 s, so that what the system does meanwhile meets all.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

import ttlg
from ttlg.benchmarks import command
from ttlg.benchmarks.contenders import Contender, numpy, torch
from ttlg.benchmarks.measure import Array, random_array, verify
from ttlg.benchmarks.panels import Panel, draw

SLICE_SECONDS = 0.2
# A call that takes this much longer than the median has waited for another process.
LONGER_SECONDS = 0.003


@dataclass(frozen=True)
class Case:
    """What is transposed."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str
    inplace: bool = False


CASES = (
    Case((32, 32), (1, 0), "float32"),
    Case((300, 300), (1, 0), "float32"),
    Case((8,) * 6, (5, 4, 3, 2, 1, 0), "float32"),
    Case((1000, 1000), (1, 0), "float64"),
    Case((16,) * 6, (5, 4, 3, 2, 1, 0), "float32"),
    Case((5000, 5000), (1, 0), "float32"),
    Case((300, 300), (1, 0), "float32", inplace=True),
    Case((1000, 1000), (1, 0), "float64", inplace=True),
    Case((16,) * 6, (5, 4, 3, 2, 1, 0), "float32", inplace=True),
    Case((3000, 4000), (1, 0), "float64", inplace=True),
)


def _inplace(x: Array, axes: tuple[int, ...]) -> Iterator[Contender]:
    def copied() -> Array:
        result = x.reshape([x.shape[axis] for axis in axes])
        result[...] = x.transpose(axes).copy()
        return result

    yield Contender("default", lambda: ttlg.transpose_inplace(x, axes), returns=True)
    yield Contender("one", lambda: ttlg.transpose_inplace(x, axes, threads=1), returns=True)
    yield Contender("numpy", copied, returns=True)


def contenders(case: Case) -> Iterator[Contender]:
    """Verify ttlg by default and on one thread, NumPy, and PyTorch where it is installed."""
    x = random_array(case.shape, case.dtype)
    expected = np.ascontiguousarray(x.transpose(case.axes))
    if case.inplace:
        moved = x.copy()
        for each in _inplace(moved, case.axes):
            verify(each, moved, expected, x)
            yield each
        return
    out = np.empty_like(expected)
    peers = (
        Contender("default", lambda: ttlg.transpose(x, case.axes, out=out)),
        Contender("one", lambda: ttlg.transpose(x, case.axes, out=out, threads=1)),
        numpy(x, out, case.axes, 1),
        torch(x, out, case.axes, ttlg.get_num_threads()),
    )
    for peer in peers:
        if peer is not None:
            verify(peer, out, expected)
            yield peer


@contextmanager
def others(count: int, nice: int) -> Iterator[None]:
    """Keep `count` cores busy with processes of niceness `nice`."""
    endless = ["nice", "-n", str(nice), sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(endless) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(case: Case, seconds: float) -> dict[str, list[float]]:
    """Call each contender for `seconds` in all; return the seconds of every call."""
    entrants = list(contenders(case))
    for entrant in entrants:
        entrant.call()
    taken: dict[str, list[float]] = {entrant.name: [] for entrant in entrants}
    for _ in range(max(1, round(seconds / SLICE_SECONDS))):
        for entrant in entrants:
            calls = taken[entrant.name]
            last = time.perf_counter()
            end = last + min(SLICE_SECONDS, seconds)
            while last < end:
                entrant.call()
                now = time.perf_counter()
                calls.append(now - last)
                last = now
    return taken


def longest_burst(calls: Sequence[float]) -> int:
    """Count the most calls in a row that waited for another process."""
    limit = float(np.median(calls)) + LONGER_SECONDS
    longest = here = 0
    for call in calls:
        here = here + 1 if call > limit else 0
        longest = max(longest, here)
    return longest


def summary(calls: Sequence[float]) -> dict[str, float]:
    """Reduce the seconds of all calls to what is reported, in microseconds."""
    mean = float(np.mean(calls))
    ninth, most = (float(np.percentile(calls, each)) for each in (90, 100))
    figures = {"mean": mean, "p90": ninth, "max": most}
    return {name: round(value * 1e6, 2) for name, value in figures.items()} | {
        "calls": len(calls),
        "longest_burst": longest_burst(calls),
    }


def line(case: Case, measured: dict[str, dict[str, float]]) -> str:
    """Write a result in a line."""
    default, one = measured["default"], measured["one"]
    ratios = ", ".join(f"{name} {default[name] / one[name]:.2f}" for name in ("mean", "p90"))
    means = ", ".join(f"{name} {each['mean']:.0f}" for name, each in measured.items())
    where = "in place" if case.inplace else "out="
    shape = "x".join(map(str, case.shape))
    return (
        f"{shape} {case.dtype} {where}: of one thread's {ratios}; mean us {means}; "
        f"longest burst {default['longest_burst']}"
    )


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the times of calls on all threads in times of those on one."""
    measured = [each["microseconds"] for each in record["results"]]
    values = {
        name: [each["default"][name] / each["one"][name] for each in measured]
        for name in ("mean", "p90")
    }
    labels = [
        f"{'x'.join(map(str, each['shape']))} {each['dtype']}{' in place' * each['inplace']}"
        for each in record["results"]
    ]
    return [Panel("calls beside busy processes", labels, values, "time in times of one thread's")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ttlg.benchmarks.busy", description=__doc__)
    add = parser.add_argument
    add("--busy", type=int, default=1, metavar="N", help="busy processes, by default 1")
    add("--nice", type=int, default=0, metavar="N", help="their niceness, by default 0")
    add("--seconds", type=float, default=1.6, metavar="S", help="of each contender, by default 1.6")
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all cases, print them, and write them as JSON."""
    args = command.parse(_parser(), argv)
    results: list[dict[str, Any]] = []
    with others(args.busy, args.nice):
        for case in tqdm(CASES, unit="case", disable=None):
            measured = {name: summary(calls) for name, calls in measure(case, args.seconds).items()}
            results.append(asdict(case) | {"microseconds": measured})
            tqdm.write(line(case, measured))
    record = command.write_record(args, results=results)
    if args.plot:
        draw(panels(record), args.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
