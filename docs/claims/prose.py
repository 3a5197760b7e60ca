"""Sentences of the pages whose numbers are those of committed records."""

import itertools
import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import measured

from ttlg.benchmarks.loops.report import read_row
from ttlg.benchmarks.measure import Result

from .records import body, timed

_SUITES = {
    "skinny": "arrays of structures",
    "matrices": "matrices",
    "layouts": "batches of images",
    "ttc57": "cases of TTC-57",
    "sixd-sample": "tensors of rank 6",
}
_RATES = {"TTC-57 float64": ("ttc57", "float64"), "float32": ("ttc57", "float32")}
_RATES |= {"uint16": ("ttc57", "uint16"), "uint8": ("ttc57", "uint8")}
_RATES |= {"16^6 float32": ("sixd-16", "float32"), "NHWC float32": ("layouts", "float32")}


def sentences() -> dict[str, list[str]]:
    """List by page, from the root of the repository, what it has to say."""
    calls = _small_calls()
    return {
        "README.md": [
            "on 64 elements a call takes {} of NumPy's time on the Zen 5, {} on the Zen 3, and for "
            "tensors {} times PyTorch's".format(*calls),
            *_losses_together(),
            f"off by {_models('held_out', 'mean')} per cent in the mean on machines that a model",
        ],
        "docs/worth-it.md": [
            "takes {} of NumPy's time on a Zen 5, {} on a Zen 3 ({} and {} microseconds); one on a tensor "
            "takes {} times as long as PyTorch's own".format(
                *calls[:2], *_microseconds(), calls[2]
            ),
            *_losses(),
        ],
        "docs/performance.md": [
            *_losses(),
            *_losses(2),
            "takes {} of NumPy's time on the Zen 5, and {} on the Zen 3".format(*calls),
            _in_caches(),
            _new_results(),
            _orders(),
            _inplace(),
            _scipy_between_runs(),
        ],
        "docs/limits.md": [
            f"off by {_models('held_out', 'median')} per cent in the median over plans",
            f"up to {_models('regret', 'median').split()[-1]} per cent slower than the fastest in the",
            f"median, and {_models('regret', 'mean')} in the mean",
            _slowest(),
        ],
        "docs/howto/contractions.md": [_networks()],
        "docs/howto/zarr.md": [_zarr()],
        "docs/howto/autograd.md": [_jax()],
        "docs/papers/comet.md": [_loops()],
        "docs/structures.md": [_structures()],
        "docs/hardware.md": [_shares(), _gpu_predictions()],
    }


def _between(values: Iterable[float], digits: int = 2) -> str:
    """Write the least and the most of some values."""
    ordered = sorted(values)
    return f"{ordered[0]:.{digits}f} to {ordered[-1]:.{digits}f}"


def _on_64_elements() -> list[list[Result]]:
    """List the calls of the Zen 5 and of the Zen 3, on one and two threads."""
    records = (measured.load(f"{machine}-call").results for machine in ("zen5", "zen3"))
    return [[each for each in own if each.case.bytes == 64 * 4] for own in records]


def _small_calls() -> list[str]:
    """Write what these calls take, by NumPy's on both machines and by PyTorch's."""
    small = _on_64_elements()
    by_numpy = [_between(1 / each.speed_up("numpy") for each in own) for own in small]
    by_torch = [each.seconds["ttlg-torch"] / each.seconds["torch"] for each in small[1]]
    return [*by_numpy, _between(by_torch, 1)]


def _microseconds() -> list[str]:
    return [_between((1e6 * each.seconds["ttlg"] for each in own), 1) for own in _on_64_elements()]


def _by_suite(machine: str, threads: int) -> dict[str, list[float]]:
    """List how many times NumPy's speed ttlg has in each suite of large arrays, by what it has."""
    return {
        title: [
            each.speed_up("numpy")
            for each in measured.on_threads(measured.load(f"{machine}-{suite}"), threads)
        ]
        for suite, title in _SUITES.items()
    }


def _most(ratios: Iterable[float]) -> str:
    return f"up to {1 / min(ratios):.1f} times"


def _losses(threads: int = 1) -> list[str]:
    """Write in how many cases of each suite NumPy was ahead on the Zen 3, and by how much at most."""
    suites = _by_suite("zen3", threads)
    behind = {title: sum(each < 1 for each in own) for title, own in suites.items()}
    lost = [f"{count} of {len(suites[title])} {title}" for title, count in behind.items() if count]
    if len(lost) > 1:
        lost[-1] = f"and {lost[-1]}"
    return [", ".join(lost), _most(itertools.chain(*suites.values()))]


def _losses_together() -> list[str]:
    """Write the same of all suites on one thread of both machines."""
    zen3, zen5 = ([*itertools.chain(*_by_suite(each, 1).values())] for each in ("zen3", "zen5"))
    none = "on the Zen 5 in none" if min(zen5) > 1 else "on the Zen 5 in some"
    return [f"{sum(each < 1 for each in zen3)} of {len(zen3)} cases", _most(zen3), none]


def _in_caches() -> str:
    cubes, shapes = (
        [each.speed_up("numpy") for each in measured.on_threads(measured.load(stem), 1)]
        for stem in ("zen5-cubes", "zen5-gentt")
    )
    return (
        f"The medians are {statistics.median(cubes):.1f} and {statistics.median(shapes):.1f}, the least "
        f"{min(cubes):.2f} and {min(shapes):.1f}: in {sum(each < 1 for each in cubes)} of the "
        f"{len(cubes)} permutations of cubes NumPy is ahead"
    )


def _new_results() -> str:
    found = {
        each.threads: each.speed_up("numpy")
        for each in measured.load("zen5-call").results
        if each.case.shape == (5000, 5000)
    }
    return (
        f"matrices of 100 MB were transposed at {found[1]:.1f} times NumPy's speed on one thread of "
        f"the Zen 5 and {found[2]:.1f} times on two"
    )


def _orders() -> str:
    ratios = [
        each.speed_up("numpy") for each in measured.on_threads(measured.load("zen5-orders"), 2)
    ]
    return (
        f"takes 1/{statistics.median(ratios):.1f} of NumPy's time in the median on two threads of the "
        f"Zen 5, and 1/{min(ratios):.2f} at worst"
    )


def _inplace() -> str:
    """Write the larger median of one and two threads, and the worst case, in copies."""

    def most(stem: str, name: str = "ttlg") -> tuple[float, float]:
        report = measured.load(f"granite-rapids-inplace-{stem}")
        times = [measured.copies(measured.on_threads(report, threads), name) for threads in (1, 2)]
        return max(map(statistics.median, times)), max(map(max, times))

    def both(stem: str) -> str:
        return "{:.1f} ({:.1f})".format(*most(stem))

    return (
        "the larger median of one and two threads (the worst case): square matrices of float32 and "
        f"float64 {both('square')}, other float64 matrices of 1000 to 10000 rows and columns "
        f"{both('random')}, arrays of structures of 2 to 31 float64 fields and back {both('aos')}, "
        f"random permutations of rank 4 and 5 {both('tensors')}. Where memory for a second array is "
        "there, `ttlg.transpose` and copying back take "
        f"{most('random', 'ttlg-back')[0]:.1f} for the other matrices"
    )


def _scipy_between_runs() -> str:
    """Write by how much SciPy's time of the same matrix differs between the records."""
    one, two = (
        [each["seconds"]["scipy"] for each in measured.sparse_matrices(threads)]
        for threads in (1, 2)
    )
    most = max(max(a / b, b / a) for a, b in zip(one, two, strict=True))
    return f"SciPy's own times differ by up to {most:.1f} times between the two runs"


def _models(errors: str, kind: str) -> str:
    """Write the least and the most of the shipped models' errors, in per cent."""
    paths = measured.MODELS.glob("cpu-*.json")
    return _between(
        (100 * json.loads(path.read_text())["errors"][errors][kind] for path in paths), 0
    )


def _slowest() -> str:
    """Write the shares of the copy ceiling of reversed tensors of rank 5 and 6 on one thread."""
    found = [
        each.share("ttlg")
        for each in measured.on_threads(measured.load("zen5-ttc57"), 1)
        if len(each.case.axes) >= 5 and list(each.case.axes) == sorted(each.case.axes, reverse=True)
    ]
    return f"tensors of rank 5 and 6 are among the slowest large ones, at {_between(found)} of the copy"


def _networks() -> str:
    ratios = [
        each["operations"]["measured"] / each["time"]["measured"]
        for each in measured.record("zen5-networks-1")["results"]
    ]
    return f"trees by time were up to {max(ratios):.1f} times as fast as those of the fewest operations"


def _zarr() -> str:
    """Write how many times as fast reads are whose chunks end with another axis than the result."""

    def ratio(data: str, compressed: bool) -> str:
        found = [
            each["seconds"]["read"]["zarr"] / each["seconds"]["read"]["ttlg"]
            for each in measured.record("zen5-zarr")["results"]
            if each["order"] in ("F", "(1, 2, 0)", "result F")
            and (each["data"], each["compressed"]) == (data, compressed)
        ]
        return f"{statistics.median(found):.1f}"

    return (
        f"reads that reorder are {ratio('field', False)} times as fast in the median without "
        "compression; with Zarr's default, where decompressing takes most of the time, "
        f"{ratio('field', True)} times for compressible data and {ratio('noise', True)} times for noise"
    )


def _jax() -> str:
    ratios = [
        each.seconds["jax"] / each.seconds["ttlg-jit"]
        for each in measured.on_threads(measured.load("zen3-call"), 2)
        if each.case.bytes > 10**7
    ]
    return f"arrays of 38 MB and more {_between(ratios, 1)} times its speed"


def _loops() -> str:
    """Write what orders of the loops over blocks take beyond the fastest."""
    rows = [read_row(each) for each in measured.record("zen4-loops")["results"]]
    rows = [row for row in rows if len(row.blocks) > 1]

    def behind(seconds: Callable[[Mapping[str, float], Any], float]) -> list[float]:
        return [100 * (seconds(row.blocks, row) / min(row.blocks.values()) - 1) for row in rows]

    worst = behind(lambda blocks, row: max(blocks.values()))
    comet = behind(lambda blocks, row: blocks[row.cheapest])
    planned = behind(lambda blocks, row: blocks[row.planned])
    mean = statistics.mean
    return (
        f"the worst order takes {mean(worst):.0f} % longer than the fastest in the mean, COMET's "
        f"{mean(comet):.1f} % ({max(comet):.0f} % at the most) and the planner's {mean(planned):.1f} % "
        f"({max(planned):.0f} %)"
    )


def _structures() -> str:
    """Write what an H200 gains by `coalesced_ptr`, beside a copy and beside plain pointers."""
    accesses: dict[str, list[Mapping[str, Any]]] = {}
    for each in body("h200-structures")["results"]:
        accesses.setdefault(each["operation"], []).append(each)

    def times(each: Mapping[str, Any], peer: str) -> float:
        return float(each["seconds"][peer] / each["seconds"]["coalesced"])

    copies = {4 * each["words"]: each for each in accesses["copy"]}
    of_copy = [times(each, "memcpy") for size, each in copies.items() if size >= 12]
    most = {name: max(times(each, "direct") for each in own) for name, own in accesses.items()}
    return (
        f"reach {_between(of_copy)} of the speed of the whole array's copy by `coalesced_ptr`. Beside "
        f"plain pointers stores are up to {most['store']:.1f} times as fast, copies {most['copy']:.1f}, "
        f"gathers {most['gather']:.1f} and scatters {most['scatter']:.1f} times; structures of 8 bytes "
        f"are copied at {times(copies[8], 'direct'):.2f} of their speed"
    )


def _of_copy(results: Sequence[Result], name: str) -> list[float]:
    """List a contender's shares of the fastest copy, of whatever names copies have on a GPU."""
    return [
        min(s for key, s in each.seconds.items() if "copy" in key) / each.seconds[name]
        for each in results
    ]


def _shares() -> str:
    """Write the H200's shares of the copy ceiling out of place."""
    parts = []
    for title, (suite, dtype) in _RATES.items():
        found = _of_copy(timed("h200-bench", suite, dtype), "ttlg-plan")
        parts.append(f"{title} {statistics.median(found):.2f} ({min(found):.2f})")
    return f"{', '.join(parts[:4])}; {', '.join(parts[4:])}"


def _gpu_predictions() -> str:
    """Write how far the shipped model is off, suite by suite and dtype by dtype."""
    off: dict[tuple[str, str], list[float]] = {}
    for each in body("h200-bench")["results"]:
        if "ttlg-plan" in each["seconds"]:
            key = each["case"]["suite"], each["case"]["dtype"]
            off.setdefault(key, []).append(
                abs(each["predicted"] / each["seconds"]["ttlg-plan"] - 1)
            )
    medians = sorted(100 * statistics.median(each) for each in off.values())
    near = [each for each in medians if each < 20]
    return (
        f"is {_between(near, 0)} % off in the median of {len(near)} of the {len(off)} suites and "
        f"dtypes, and up to {medians[-1]:.0f} % in the others"
    )
