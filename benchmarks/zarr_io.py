"""Reads and writes of Zarr arrays with `ttlg.zarr` and without: ``python -m ttlg.benchmarks.zarr_io``.

Each array is written and read as a whole, by Zarr, by Zarr with ttlg, and by Zarr once more, in turn
and in a new random order each time; the second series of Zarr alone shows the noise.
"""

import argparse
import contextlib
import itertools
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from tqdm import tqdm
from zarr.storage import LocalStore, MemoryStore

import ttlg.zarr
from ttlg._arguments.words import count_of
from ttlg.benchmarks import command
from ttlg.benchmarks.panels import Panel, draw

CONTENDERS = ("zarr", "ttlg", "zarr again")
# How the axes lie in the stored chunks and in the result: "format 3, chunks transposed by (2, 1, 0)".
ORDERS: dict[str, dict[str, Any]] = {
    "C": {},
    "F": {"transpose": (2, 1, 0)},
    "(1, 2, 0)": {"transpose": (1, 2, 0)},
    "(1, 0, 2)": {"transpose": (1, 0, 2)},
    "result F": {"config": {"order": "F"}},
    "format 2, F": {"zarr_format": 2, "order": "F"},
}
# Cases in which the elements come to lie in another order when they are read.
REORDERED = ("F", "(1, 2, 0)", "result F")
DTYPES = ("u1", "u2", "f4", "f8")
_LIBRARIES = ("zarr", "numcodecs")
_MIN_ARRAY_MB = 32
# Writes take long; this many are timed after the first.
_WRITES = 2


@dataclass(frozen=True)
class Case:
    """An array of 2 x 2 x 2 chunks or more, in a store."""

    order: str
    dtype: str
    compressed: bool
    chunk_mb: int
    data: str = "field"
    store: str = "memory"

    @property
    def chunks(self) -> tuple[int, int, int]:
        """The shape of a chunk, nearly a cube."""
        extent = round((self.chunk_mb * 1e6 / np.dtype(self.dtype).itemsize) ** (1 / 3))
        return extent, extent, extent

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the array, of at least 32 MB and two chunks."""
        counts = [1, 1, 1]
        for axis in itertools.cycle(range(3)):
            if counts != [1, 1, 1] and np.prod(counts) * self.chunk_mb >= _MIN_ARRAY_MB:
                break
            counts[axis] *= 2
        first, second, third = (
            count * extent for count, extent in zip(counts, self.chunks, strict=True)
        )
        return first, second, third

    def create(self, store: LocalStore | MemoryStore, **given: Any) -> zarr.Array[Any]:
        """Create the array, empty."""
        options = {"shape": self.shape} | ORDERS[self.order] | given
        if order := options.pop("transpose", None):
            options["filters"] = [{"name": "transpose", "configuration": {"order": order}}]
        return zarr.create_array(
            store,
            chunks=self.chunks,
            dtype=self.dtype,
            compressors="auto" if self.compressed else None,
            **options,
        )


def cases(quick: bool) -> list[Case]:
    """List what is measured: one chunk size for all data, the others for some."""
    if quick:
        return [Case("F", dtype, True, 1) for dtype in DTYPES]
    both = (True, False)
    main = itertools.starmap(Case, itertools.product(ORDERS, DTYPES, both, (8,)))
    sizes = itertools.starmap(Case, itertools.product(REORDERED[:2], ("u2", "f4"), both, (1, 64)))
    incompressible = itertools.product(REORDERED[:2], DTYPES, (True,), (8,), ("noise",))
    noise = itertools.starmap(Case, incompressible)
    disk = [Case("F", dtype, True, 8, store="local") for dtype in ("u2", "f4")]
    return [*main, *sizes, *noise, *disk]


def values(data: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Make an array: ``noise`` does not compress; ``field`` is a wave with noise, in few digits."""
    generator = np.random.default_rng(0)
    count = int(np.prod(shape))
    if data == "noise":
        return np.frombuffer(generator.bytes(count * np.dtype(dtype).itemsize), dtype).reshape(
            shape
        )
    x = 100 + 60 * np.sin(np.arange(count) / 5000) + generator.normal(0, 2, count)
    return np.round(x, 1).astype(dtype).reshape(shape)


@contextlib.contextmanager
def store_of(kind: str) -> Iterator[LocalStore | MemoryStore]:
    """Make a store that is gone afterwards."""
    if kind == "memory":
        yield MemoryStore()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield LocalStore(folder)


def settings(contender: str) -> AbstractContextManager[None]:
    """Switch ttlg on for the contender that has it."""
    return ttlg.zarr.enabled() if contender == "ttlg" else contextlib.nullcontext()


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _verify(name: str, array: zarr.Array[Any], x: np.ndarray[Any, Any]) -> None:
    if np.asarray(array[...]).tobytes() != x.tobytes():
        raise RuntimeError(f"{name} read other elements of {array}")


def measure(case: Case, repeats: int) -> dict[str, dict[str, float]]:
    """Return the median seconds of a write and of a read for each contender, after a first round."""
    x = values(case.data, case.dtype, case.shape)
    samples: dict[str, dict[str, list[float]]] = {"write": {}, "read": {}}
    with contextlib.ExitStack() as stack:
        arrays = {}
        for name in CONTENDERS:
            with settings(name):
                arrays[name] = case.create(stack.enter_context(store_of(case.store)))
        for round_ in range(repeats + 1):
            for name in random.sample(CONTENDERS, len(CONTENDERS)):
                array = arrays[name]
                with settings(name):
                    if round_ <= _WRITES:
                        write = _seconds(lambda array=array: array.__setitem__(..., x))
                        samples["write"].setdefault(name, []).append(write)
                    read = _seconds(lambda array=array: array[...])
                    samples["read"].setdefault(name, []).append(read)
                    if round_ == 0:
                        _verify(name, array, x)
    return {
        what: {name: statistics.median(times[1:]) for name, times in each.items()}
        for what, each in samples.items()
    }


def measure_large(folder: Path) -> dict[str, dict[str, float]]:
    """Write and read 4 GB of float32 in a folder, slab after slab: seconds of all slabs."""
    case = Case("F", "f4", True, 8, store="local")
    rows = case.chunks[0]
    slab = values(case.data, case.dtype, (rows, 8 * rows, 8 * rows))
    seconds = {what: dict.fromkeys(CONTENDERS, 0.0) for what in ("write", "read")}
    with contextlib.ExitStack() as stack:
        arrays = {}
        for name in CONTENDERS:
            store = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
            with settings(name):
                arrays[name] = case.create(LocalStore(store), shape=(8 * rows,) * 3)
        for first in tqdm(range(0, 8 * rows, rows), unit="slab", disable=None):
            part = slice(first, first + rows)
            for name in random.sample(CONTENDERS, len(CONTENDERS)):
                array = arrays[name]
                with settings(name):
                    write = _seconds(lambda array=array, part=part: array.__setitem__(part, slab))
                    reads = [_seconds(lambda array=array, part=part: array[part]) for _ in range(3)]
                seconds["write"][name] += write
                seconds["read"][name] += statistics.median(reads)
    return seconds


def speed_up(seconds: dict[str, float], name: str = "ttlg") -> float:
    """Return how many times faster than the first series of Zarr alone a contender is."""
    return seconds["zarr"] / seconds[name]


def line(case: Case, seconds: dict[str, dict[str, float]]) -> str:
    """Write a result in a line."""
    described = (
        f"{case.order}, {case.dtype}, {case.data}, {'zstd' if case.compressed else 'raw'}, "
        f"chunks of {case.chunk_mb} MB, {case.store}"
    )
    parts = (
        f"{what} {each['zarr'] * 1e3:.1f} ms, ttlg {speed_up(each):.2f}x, "
        f"again {speed_up(each, 'zarr again'):.2f}x"
        for what, each in seconds.items()
    )
    return f"{described}: {'; '.join(parts)}"


def table(results: Sequence[tuple[Case, dict[str, dict[str, float]]]]) -> str:
    """Write the median and the least speed-up of each order, with compression and without."""
    groups = defaultdict(list)
    for case, seconds in results:
        key = (case.order, "zstd" if case.compressed else "raw", case.data)
        groups[key].append(seconds)
        if case.order in REORDERED:
            groups[("all reordered", *key[1:])].append(seconds)
    lines = []
    for (order, compression, data), found in groups.items():
        cells = []
        for what, name in itertools.product(("read", "write"), CONTENDERS[1:]):
            ratios = [speed_up(seconds[what], name) for seconds in found]
            cells.append(f"{what} {name} {statistics.median(ratios):.2f} (least {min(ratios):.2f})")
        title = f"{order}, {compression}, {data}, {count_of(len(found), 'case')}"
        lines.append(f"{title}: {'; '.join(cells)}")
    return "\n".join(lines)


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the speed with ttlg, and that of Zarr again, by Zarr's: a panel for writes and for reads."""
    large = (
        [{"order": "4 GB", "dtype": "f4", "seconds": record["large"]}] if "large" in record else []
    )
    results = large or record["results"]
    labels = [f"{each['order']}, {each['dtype']}" for each in results]
    return [
        Panel(
            what,
            labels,
            {
                name: [speed_up(each["seconds"][what], name) for each in results]
                for name in CONTENDERS[1:]
            },
            "times the speed of Zarr alone",
        )
        for what in ("write", "read")
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ttlg.benchmarks.zarr_io", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four cases of 32 MB")
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="reads timed, by default 5"
    )
    parser.add_argument(
        "--large", type=Path, metavar="FOLDER", help="one array of 4 GB instead, in a folder"
    )
    command.add_json(parser)
    command.add_plot(parser)
    return parser


def _measure_all(chosen: Sequence[Case], repeats: int) -> list[dict[str, Any]]:
    """Measure the cases, and print each result and the table."""
    results = []
    for case in tqdm(chosen, unit="case", disable=None):
        seconds = measure(case, repeats)
        results.append((case, seconds))
        tqdm.write(line(case, seconds))
    print("\n" + table(results))
    return [asdict(case) | {"seconds": seconds} for case, seconds in results]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all cases, print them, and write them as JSON."""
    args = command.parse(_parser(), argv)
    if args.large:
        large = measure_large(args.large)
        for what, each in large.items():
            print(what, ", ".join(f"{name} {time:.2f} s" for name, time in each.items()))
        record = command.write_record(args, _LIBRARIES, large=large)
    else:
        results = _measure_all(cases(args.quick), args.repeats)
        record = command.write_record(args, _LIBRARIES, results=results)
    if args.plot:
        draw(panels(record), args.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
