"""``python -m ttlg.benchmarks.dask_store``: one ``.npy`` file into another, by Dask.

Each store runs in a process of its own, which may be held to an amount of memory by a control group
(version 1 of Linux's, as root); its page cache counts. Every run begins with the source out of the
page cache, and ends when the result is on the disk.
"""

import argparse
import importlib
import multiprocessing
import os
import shutil
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ttlg.benchmarks import command
from ttlg.benchmarks.panels import Panel, draw
from ttlg.benchmarks.tables import grouped

_GROUPS = Path("/sys/fs/cgroup/memory")
_PERIOD = 8388593  # elements; prime, so that no extent lines up with it
_SAMPLES = 2000


@dataclass(frozen=True)
class Files:
    """What is stored where, and the chunks of the source."""

    source: Path
    result: Path
    axes: tuple[int, ...]
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """One measurement; memory in bytes. `group_peak` includes the page cache (None: no limit)."""

    method: str
    seconds: float
    group_peak: int | None
    anonymous_peak: int
    checksum: int


def _store(files: Files, wrap: Callable[[Any], Any]) -> None:
    import dask.array as da

    def read(block_info: Any = None) -> Any:
        bounds = block_info[None]["array-location"]
        return np.load(files.source, mmap_mode="r")[tuple(slice(*each) for each in bounds)]

    source = np.load(files.source, mmap_mode="r")
    shape = tuple(source.shape[axis] for axis in files.axes)
    result = np.lib.format.open_memmap(files.result, "w+", source.dtype, shape)
    # Not from_array, which copies a memmap into memory.
    chunks = da.core.normalize_chunks(files.chunks, source.shape)
    meta = np.empty((0,) * source.ndim, source.dtype)
    x = da.map_blocks(read, chunks=chunks, dtype=source.dtype, meta=meta)
    da.store(x.transpose(files.axes), wrap(result), lock=False, scheduler="threads")


def _ttlg(files: Files) -> None:
    from ttlg.dask import Target

    _store(files, Target)


def _dask(files: Files) -> None:
    _store(files, lambda result: result)


def _copy(files: Files) -> None:
    shutil.copyfile(files.source, files.result)


METHODS = {"copy": _copy, "ttlg": _ttlg, "dask": _dask}


def _synchronize(path: Path, *, forget: bool = False) -> None:
    """Wait until a file is on the disk, and drop it from the page cache on request."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        if forget:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _anonymous() -> int:
    """Return how much memory this process has that is no file's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) << 10


@contextmanager
def _watched() -> Iterator[list[int]]:
    """Sample `_anonymous` all the while; the list's only item is the largest."""
    peak = [_anonymous()]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], _anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def _measure(method: str, files: Files, group: Path | None) -> tuple[float, int]:
    """Run a method in this process, as a member of `group`."""
    if group:
        (group / "cgroup.procs").write_text(str(os.getpid()))
    importlib.import_module("ttlg.dask")
    with _watched() as peak:
        begin = time.perf_counter()
        METHODS[method](files)
        _synchronize(files.result)
        return time.perf_counter() - begin, peak[0]


@contextmanager
def _limited(limit: int | None) -> Iterator[Path | None]:
    """Make a control group of at most `limit` bytes."""
    if limit is None:
        yield None
        return
    group = _GROUPS / f"ttlg-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield group
    finally:
        group.rmdir()


def _checksum(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 24):
            total = zlib.crc32(piece, total)
    return total


def _check_samples(files: Files) -> None:
    """Compare elements everywhere in the result with the source."""
    source = np.load(files.source, mmap_mode="r").transpose(files.axes)
    result = np.load(files.result, mmap_mode="r")
    random = np.random.default_rng(0)
    where = tuple(random.integers(0, extent, _SAMPLES) for extent in source.shape)
    if result.shape != source.shape or (result[where] != source[where]).any():
        raise SystemExit(f"{files.result} is wrong")


def run(method: str, files: Files, limit: int | None) -> Run:
    """Measure one of `METHODS` in a new process; check what it wrote and remove it.

    The process has `limit` bytes of memory, page cache included. The seconds end when the result is
    on the disk.
    """
    _synchronize(files.source, forget=True)
    try:
        with _limited(limit) as group:
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                seconds, peak = pool.submit(_measure, method, files, group).result()
            group_peak = int((group / "memory.max_usage_in_bytes").read_text()) if group else None
        if method != "copy":
            _check_samples(files)
        return Run(method, seconds, group_peak, peak, _checksum(files.result))
    finally:
        files.result.unlink(missing_ok=True)


def write_source(path: Path, shape: Sequence[int]) -> None:
    """Write a float32 array of pseudo-random numbers from 1 to 2, quickly."""
    array = np.lib.format.open_memmap(path, "w+", np.dtype("f4"), tuple(shape))
    header, count = array.offset, array.size
    del array
    base = np.random.default_rng(0).integers(0, 1 << 23, _PERIOD, np.uint32)
    with path.open("r+b") as file:
        file.seek(header)
        for first in range(0, count, _PERIOD):
            # Mantissas that change from one period to the next.
            bits = (base + np.uint32(first // _PERIOD)) % np.uint32(1 << 23)
            (bits | np.uint32(127 << 23))[: count - first].tofile(file)


def _line(each: Run, copies: Sequence[Run], size: int) -> str:
    copy = min(copy.seconds for copy in copies)
    group = f", {each.group_peak / 1e9:.2f} GB with page cache" if each.group_peak else ""
    return (
        f"{each.method:5} {each.seconds:7.2f} s  {2 * size / each.seconds / 1e9:5.2f} GB/s read and "
        f"written, {copy / each.seconds:4.0%} of the copy; {each.anonymous_peak / 1e6:.0f} MB{group}"
    )


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw what each run took: seconds, and memory that is no file's."""
    methods = grouped(record["runs"], lambda each: each["method"])
    labels = [f"run {number + 1}" for number in range(max(map(len, methods.values())))]
    seconds = {name: [each["seconds"] for each in runs] for name, runs in methods.items()}
    peaks = {
        name: [each["anonymous_peak"] / 1e6 for each in runs] for name, runs in methods.items()
    }
    return [Panel("time", labels, seconds, "seconds"), Panel("memory", labels, peaks, "MB")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttlg.benchmarks.dask_store",
        description="Measure stores of a transposed Dask array, file to file.",
    )
    add = parser.add_argument
    add("--folder", type=Path, required=True, help="where to write two files of the array's size")
    add("--shape", type=int, nargs="+", default=(1600, 1024, 1024, 3), help="of float32")
    add("--axes", type=int, nargs="+", default=(0, 3, 1, 2), help="as numpy.transpose takes them")
    add("--chunks", type=int, nargs="+", default=(8, 1024, 1024, 3), help="of the source")
    add("--limit", type=int, metavar="GB", help="memory of the process, page cache included")
    add("--repeats", type=int, default=1, help="runs of each method, interleaved")
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark, and return the exit status: 1 if results of the two methods differ."""
    args = command.parse(_parser(), argv)
    source, result = args.folder / "source.npy", args.folder / "result.npy"
    files = Files(source, result, tuple(args.axes), tuple(args.chunks))
    limit = args.limit and args.limit * 10**9
    runs = []
    try:
        write_source(files.source, args.shape)
        for _ in range(args.repeats):
            for method in METHODS:
                runs.append(run(method, files, limit))
                copies = [each for each in runs if each.method == "copy"]
                print(_line(runs[-1], copies, files.source.stat().st_size), flush=True)
    finally:
        files.source.unlink(missing_ok=True)
    case = {name: getattr(args, name) for name in ("shape", "axes", "chunks")}
    case |= {"dtype": "float32", "limit": limit}
    record = command.write_record(args, ("dask",), case=case, runs=[asdict(each) for each in runs])
    if args.plot:
        draw(panels(record), args.plot)
    stored = {each.checksum for each in runs if each.method != "copy"}
    return 0 if len(stored) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
