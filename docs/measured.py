"""Tables of the committed measurements, for the page on performance."""

import itertools
import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ttlg import _core
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contraction.measure import ContractionResult
from ttlg.benchmarks.contraction.report import SLOWER, from_json, milliseconds
from ttlg.benchmarks.measure import Result
from ttlg.benchmarks.report import Report

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
MODELS = Path(__file__).parents[1] / "python" / "ttlg" / "models"

ZEN5 = {
    "zen5-ttc57": "TTC-57, float32, float64",
    "zen5-sixd-sample": "6-D 15^6, 16^6, 17^6 float64",
    "zen5-matrices": "matrices",
    "zen5-layouts": "NHWC, NCHW, 1 to 4 bytes",
    "zen5-skinny": "10^7 x 2, 3, 5, 8 and back",
}
# Samples of the suites, but for the images.
ZEN3 = {stem.replace("zen5", "zen3"): title for stem, title in ZEN5.items()}
# Machines and threads of the table with which the README begins.
FIRST_COLUMNS = [*itertools.product(("zen5", "zen3"), (1, 2))]
ZEN5_SMALL = {"zen5-cubes": "cubes, all permutations", "zen5-gentt": "GenTT's shapes"}
# New arrays of a library: its own call, ttlg's, and the threads. JAX always uses all.
NEW_RESULTS = [
    ("numpy", "ttlg", 1),
    ("numpy", "ttlg", 2),
    ("torch", "ttlg-torch", 1),
    ("torch", "ttlg-torch", 2),
    ("jax", "ttlg-jit", 2),
]
# Beside busy processes: how many, and their niceness.
ZEN3_BUSY = {
    "zen3-busy-0": "none",
    "zen3-busy-1": "one",
    "zen3-busy-2": "two",
    "zen3-busy-1-nice": "one of niceness 10",
}
CONTRACTIONS = ["zen5-contractions-1", "zen5-contractions-2", "zen5-contractions-random"]
INPLACE = {
    "granite-rapids-inplace-square": "square matrices, float32, float64",
    "granite-rapids-inplace-random": "random matrices, float64",
    "granite-rapids-inplace-aos": "arrays of 2 to 31 fields and back, float64",
    "granite-rapids-inplace-tensors": "random permutations, rank 4 and 5",
}


def record(stem: str) -> dict[str, Any]:
    """Read the measurement that was committed under a name."""
    found: dict[str, Any] = json.loads((RESULTS / f"{stem}.json").read_text())
    return found


def load(stem: str) -> Report:
    """Read the report that was committed under a name."""
    return Report.from_json((RESULTS / f"{stem}.json").read_text())


def contractions(stem: str) -> list[ContractionResult]:
    """Read the results of contractions that were committed under a name."""
    return from_json((RESULTS / f"{stem}.json").read_text())


def of_one_machine(stems: Iterable[str]) -> dict[str, Report]:
    """Read reports that may be compared: all of them were measured on the same machine."""
    reports = {stem: load(stem) for stem in stems}
    machines = {
        json.dumps([report.machine[key] for key in ("cpu", "cores", "caches", "versions")])
        for report in reports.values()
    }
    if len(machines) != 1:
        raise ValueError(f"{', '.join(reports)} were measured on different machines")
    return reports


def on_threads(report: Report, threads: int) -> list[Result]:
    """List the results on a number of threads."""
    return [result for result in report.results if result.threads == threads]


def percents(results: Sequence[Result], name: str) -> tuple[int, int]:
    """Return a contender's median and worst share of the copy ceiling, in per cent."""
    shares = [result.share(name) for result in results if name in result.seconds]
    return round(100 * statistics.median(shares)), round(100 * min(shares))


def copies(results: Sequence[Result], name: str) -> list[float]:
    """List a contender's times, each in times of the fastest copy of the same bytes."""
    return [1 / result.share(name) for result in results if name in result.seconds]


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def first_cases() -> dict[str, dict[tuple[str, int], list[float]]]:
    """List by kind of array, machine and threads how many times NumPy's speed ttlg has.

    A machine that has no record of a kind is left out.
    """
    kinds: list[tuple[str, str, Callable[[Case], bool]]] = [
        ("uint8 images, NHWC to NCHW and back", "layouts", lambda case: case.dtype == "uint8"),
        (
            "float32 images of 3 channels",
            "layouts",
            lambda case: case.dtype == "float32" and 3 in case.shape,
        ),
        ("rank 2 to 6, TTC-57", "ttc57", lambda case: True),
        ("rank 6, float64", "sixd-sample", lambda case: True),
        ("matrices, float64", "matrices", lambda case: True),
        ("10^7 structures of 2 to 8 fields and back", "skinny", lambda case: True),
        ("views: crops, flips, channels", "views", lambda case: True),
    ]
    found: dict[str, dict[tuple[str, int], list[float]]] = {}
    for title, suite, takes in kinds:
        found[title] = {}
        for stem, threads in FIRST_COLUMNS:
            if not (RESULTS / f"{stem}-{suite}.json").exists():
                continue
            results = on_threads(load(f"{stem}-{suite}"), threads)
            found[title][stem, threads] = [
                result.speed_up("numpy") for result in results if takes(result.case)
            ]
    return found


def first_table() -> str:
    """Write the speeds over NumPy's with which the README begins: medians and ranges."""

    def cell(ratios: Sequence[float] | None) -> str:
        if not ratios:
            return "-"
        return f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"

    rows = [
        [title, *(cell(columns.get(key)) for key in FIRST_COLUMNS)]
        for title, columns in first_cases().items()
    ]
    zen5, zen3 = ("AMD Zen 5, 1 thread", "2 threads"), ("AMD Zen 3, 1 thread", "2 threads")
    return markdown(["times NumPy's speed: median (range)", *zen5, *zen3], rows)


def new_results_table() -> str:
    """Write how many times as fast as each library ttlg returns its arrays, on the Zen 3."""
    report = load("zen3-call")
    large = [result for result in report.results if result.case.bytes > 10**7]
    rows = []
    for case in dict.fromkeys(result.case for result in large):
        results = {result.threads: result.seconds for result in large if result.case == case}
        row = [f"{' x '.join(map(str, case.shape))} {case.dtype}, {case.bytes / 1e6:.0f} MB"]
        for peer, ours, threads in NEW_RESULTS:
            seconds = results[threads]
            row.append(f"{seconds[peer] / seconds[ours]:.1f}")
        rows.append(row)
    titles = ("NumPy, 1 thread", "2 threads", "PyTorch, 1 thread", "2 threads", "JAX in jit, 2")
    return markdown(["times the speed of", *titles], rows)


def shares_table(suites: Mapping[str, str], contenders: Mapping[str, str]) -> str:
    """Write the shares of the copy ceiling: medians (and worst) on 1 / 2 threads."""
    rows = []
    for stem, title in suites.items():
        report = load(stem)
        cells = []
        for name in contenders:
            parts = [percents(on_threads(report, threads), name) for threads in (1, 2)]
            cells.append(" / ".join(f"{median} ({worst})" for median, worst in parts))
        rows.append([title, len(on_threads(report, 1)), *cells])
    return markdown(["suite", "cases", *contenders.values()], rows)


def inplace_table() -> str:
    """Write the times in place on the Granite Rapids, in copies of the same bytes to another array."""
    contenders = {
        "ttlg": "ttlg",
        "openblas": "OpenBLAS",
        "fftw-measure": "FFTW",
        "fastremap": "fastremap",
        "ttlg-back": "second array",
    }
    rows = []
    for stem, title in INPLACE.items():
        report = load(stem)
        cells = []
        for name in contenders:
            times = [copies(on_threads(report, threads), name) for threads in (1, 2)]
            parts = [f"{statistics.median(each):.1f} ({max(each):.1f})" for each in times if each]
            cells.append(" / ".join(parts))
        rows.append([title, *cells])
    return markdown(["suite", *contenders.values()], rows)


def contractions_table() -> str:
    """Write the milliseconds of nine contractions on one thread."""
    measured = contractions(CONTRACTIONS[0])
    peers = {"ttlg": "ttlg", "numpy": "NumPy", "torch": "PyTorch"}
    peers |= {"opt_einsum": "opt_einsum", "pytblis": "TBLIS"}
    rows = [
        [result.case.equation, *(milliseconds(result.seconds[name]) for name in peers)]
        for result in measured
        if result.case.part == "nine"
    ]
    return markdown(["milliseconds", *peers.values()], rows)


def contraction_ratios_table() -> str:
    """Write how ttlg compares with the fastest of its peers, by suite and threads."""
    grouped: dict[tuple[str, int], list[ContractionResult]] = {}
    for stem in CONTRACTIONS:
        for result in contractions(stem):
            grouped.setdefault((result.case.part, result.threads), []).append(result)
    rows = []
    for (part, threads), results in sorted(grouped.items()):
        moving = [result.ratio for result in results if result.case.moves]
        slower = sum(result.ratio < SLOWER for result in results)
        off = statistics.median(abs(result.prediction - 1) for result in results)
        rows.append(
            [
                f"{part}, {threads} thread{'s' * (threads > 1)}",
                len(results),
                f"{statistics.median(moving):.2f}",
                slower,
                f"{min(result.ratio for result in results):.2f}",
                f"{off:.0%}",
            ]
        )
    heads = ["cases", "median ratio where elements move", f"ratios below {SLOWER}", "worst ratio"]
    return markdown(["suite", *heads, "predictions off by, median"], rows)


def networks_table() -> str:
    """Write the times of networks along the tree of the fewest operations and of the least time."""
    rows = []
    for each in record("zen5-networks-1")["results"]:
        fewest, fastest = each["operations"], each["time"]
        rows.append(
            [
                f"{each['name']}, bonds of {each['bond']}",
                *(milliseconds(tree["measured"]) for tree in (fewest, fastest)),
                f"{fewest['measured'] / fastest['measured']:.2f}",
                f"{fastest['predicted'] / fastest['measured']:.2f}",
                f"{fewest['searching']:.1f} / {fastest['searching']:.1f}",
            ]
        )
    heads = ["fewest operations, ms", "least time, ms", "ratio", "predicted / measured"]
    return markdown(["network, by the tree of", *heads, "seconds of the searches"], rows)


def sparse_matrices(threads: int) -> list[dict[str, Any]]:
    """List the transpositions of sparse matrices that were measured on an Emerald Rapids."""
    results: list[dict[str, Any]] = record(f"emerald-rapids-sparse-matrices-{threads}")["results"]
    return results


def sparse_table() -> str:
    """Write the milliseconds of sparse matrices on 1 / 2 threads, and the others' times by them."""
    columns = [sparse_matrices(threads) for threads in (1, 2)]
    peers = [("scipy", "ttlg"), ("scipy", "ttlg-fresh"), ("torch", "ttlg-torch")]

    def cell(values: Iterable[float], digits: int = 2) -> str:
        return " / ".join(f"{value:.{digits}f}" for value in values)

    ratios = [
        [[each["seconds"][peer] / each["seconds"][ours] for each in own] for own in columns]
        for peer, ours in peers
    ]
    digits = [2, 2, 0]
    rows = []
    for number, both in enumerate(zip(*columns, strict=True)):
        times = [
            cell((1e3 * each["seconds"][name] for each in both), 0)
            for name in ("ttlg", "ttlg-fresh")
        ]
        shown = [
            cell((own[number] for own in ratio), count)
            for ratio, count in zip(ratios, digits, strict=True)
        ]
        rows.append([both[0]["case"]["name"], *times, *shown])
    medians = [
        cell(map(statistics.median, ratio), count)
        for ratio, count in zip(ratios, digits, strict=True)
    ]
    heads = ["ms", "ms, new memory", "SciPy", "SciPy, new memory", "PyTorch"]
    return markdown(["matrix", *heads], [*rows, ["median", "", "", *medians]])


def mean_and_worst(values: Sequence[float]) -> str:
    """Write a mean, and the value that 95 % are within."""
    return f"{statistics.mean(values):.1%} ({statistics.quantiles(values, n=20)[-1]:.0%})"


def learned_groups(stem: str) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Group the results of calls that learn by model and threads."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for each in record(stem)["results"]:
        groups.setdefault((each["model"], each["threads"]), []).append(each)
    return groups


def learning_table() -> str:
    """Write what plans lose after some calls that learn, and what these calls cost."""
    rows = []
    for (model, threads), own in learned_groups("zen4-learning").items():
        regrets = [mean_and_worst(each) for each in zip(*(e["regrets"] for e in own), strict=True)]
        cost = statistics.mean(each["cost"] for each in own)
        rows.append([model, threads, *regrets, f"{cost:.2f}"])
    heads = ["after a call", *(f"after {calls}" for calls in (10, 20, 50))]
    return markdown(["model", "threads", *heads, "time of 20 calls"], rows)


def learning_unseen_table() -> str:
    """Write what first plans lose before and after calls of other layouts."""
    rows = []
    groups = learned_groups("zen4-learning-unseen")
    for (model, threads), before in groups.items():
        after = groups.get((f"{model}, learned", threads))
        if after is None:
            continue
        losses = [mean_and_worst([each["regrets"][0] for each in own]) for own in (before, after)]
        off = [
            statistics.median(abs(each["predicted"] / each["measured"] - 1) for each in own)
            for own in (before, after)
        ]
        rows.append([model, threads, *losses, *(f"{each:.0%}" for each in off)])
    heads = ["first plans lose, before", "after", "times off by, median, before", "after"]
    return markdown(["model", "threads", *heads], rows)


def busy_table() -> str:
    """Write the times of default calls over those on one thread, beside busy processes."""
    rows = []
    for cases in zip(*(record(stem)["results"] for stem in ZEN3_BUSY), strict=True):
        shape = " x ".join(map(str, cases[0]["shape"]))
        where = "in place" if cases[0]["inplace"] else "`out=`"
        row = [f"{shape} {cases[0]['dtype']}, {where}"]
        for case in cases:
            default, one = (case["microseconds"][name] for name in ("default", "one"))
            row.append(" / ".join(f"{default[key] / one[key]:.2f}" for key in ("mean", "p90")))
        rows.append(row)
    return markdown(["busy processes:", *ZEN3_BUSY.values()], rows)


def models_table() -> str:
    """Write how well the shipped models do on problems that they were not fitted to."""
    rows = []
    for path in sorted(MODELS.glob("cpu-*.json")):
        model = json.loads(path.read_text())
        off, lost = model["errors"]["held_out"], model["errors"]["regret"]
        rows.append(
            [model["name"], f"{model['fitted']['rows']:,}", f"{lost['cases']:,}"]
            + [f"{each[key]:.1%}" for each in (off, lost) for key in ("median", "mean")]
        )
    heads = ["model", "plans", "cases", "times off by, median", "mean"]
    return markdown([*heads, "choices lose, median", "mean"], rows)


def machine(stem: str) -> str:
    """Say in a line on what a report was measured."""
    found = record(stem)["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in found["caches"].items())
    cores = f"{found['cores']} core{'s' * (found['cores'] > 1)}"
    commit = found["commit"][:7]
    return f"{found['cpu']}, {cores}, {caches}; NumPy {found['versions']['numpy']}; commit {commit}"


def commands(stems: Iterable[str]) -> str:
    """Show the commands that measured some reports."""
    return "\n".join(["```sh", *(record(stem)["machine"]["command"] for stem in stems), "```"])


def substitutions() -> dict[str, str]:
    """Return what stands in double braces on the first page and on that on performance."""
    medians = {
        key: f"{statistics.median(ratios):.1f}"
        for key, ratios in first_cases()["rank 2 to 6, TTC-57"].items()
    }
    return {
        "first_number": medians["zen5", 2],
        "first_number_alone": medians["zen5", 1],
        "second_number": medians["zen3", 2],
        "second_number_alone": medians["zen3", 1],
        "zen5_machine": machine("zen5-ttc57"),
        "zen5_shares": shares_table(ZEN5, {"ttlg": "ttlg", "numpy": "NumPy"}),
        "zen5_commands": commands([*ZEN5, *ZEN5_SMALL, "zen5-call"]),
        "first_table": first_table(),
        "zen3_machine": machine("zen3-ttc57"),
        "zen3_shares": shares_table(
            ZEN3, {"ttlg": "ttlg", "numpy": "NumPy", "torch": "PyTorch 2.13"}
        ),
        "zen3_call_machine": machine("zen3-call"),
        "zen3_commands": commands([*ZEN3, "zen3-call", *ZEN3_BUSY]),
        "zen3_busy_machine": machine("zen3-busy-1"),
        "zen3_busy": busy_table(),
        "new_results": new_results_table(),
        "inplace_machine": machine("granite-rapids-inplace-random"),
        "inplace_times": inplace_table(),
        "inplace_commands": commands(INPLACE),
        "contractions_machine": machine(CONTRACTIONS[0]),
        "contractions": contractions_table(),
        "contraction_ratios": contraction_ratios_table(),
        "contraction_commands": commands([*CONTRACTIONS, "zen5-networks-1"]),
        "networks": networks_table(),
        "learning_machine": machine("zen4-learning"),
        "learning": learning_table(),
        "learning_unseen": learning_unseen_table(),
        "learning_commands": commands(["zen4-learning", "zen4-learning-unseen"]),
        "models": models_table(),
        "sparse_machine": machine("emerald-rapids-sparse-matrices-2"),
        "sparse_matrices": sparse_table(),
        "terms": str(len(_core.cpu_term_names())),
    }
