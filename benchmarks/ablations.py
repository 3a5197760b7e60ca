"""Ablations: what each of the planner's choices is worth.

Every ablation is data: cases, and for each of them the plans that differ in one respect. All plans
of a case are verified and then timed in one interleaved run with the copies of the same bytes.
"""

import contextlib
import functools
import itertools
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ttlg
from ttlg.benchmarks.case import Case, axes_of
from ttlg.benchmarks.contenders import COPIES, Contender, copies
from ttlg.benchmarks.measure import bandwidth, ceiling, random_array, time_calls, verify
from ttlg.benchmarks.panels import Panel
from ttlg.benchmarks.plans import changed
from ttlg.benchmarks.tables import threads_text

Variants = Iterable[tuple[str, ttlg.Plan]]


@dataclass(frozen=True)
class Row:
    """Median seconds of a call for each variant of a case, and for each copy."""

    ablation: str
    case: Case
    threads: int
    seconds: dict[str, float]
    chosen: str | None  # the variant that the planner would take
    predicted: dict[str, float] = field(default_factory=dict)  # seconds of a call by the time model

    def share(self, variant: str) -> float:
        """Return the variant's speed as a fraction of the fastest copy's."""
        return ceiling(self.seconds) / self.seconds[variant]


@dataclass(frozen=True)
class Ablation:
    """Cases, and the variants of a case's plan; None stands for the SIMD levels."""

    summary: str
    cases: tuple[Case, ...]
    variants: Callable[[ttlg.Plan], Variants] | None


def _edited(plan: ttlg.Plan, **changes: Any) -> ttlg.Plan:
    kernel = changes.pop("kernel", plan.kernel)
    return changed(plan, kernel=kernel, parameters={**plan.parameters, **changes})


def _forced(plan: ttlg.Plan, kernel: str) -> ttlg.Plan:
    threads = plan.parameters["threads"]
    return ttlg.plan(plan.shape, plan.axes, plan.dtype, threads=threads, kernel=kernel)


def _streaming(plan: ttlg.Plan) -> Variants:
    choices = {
        "staged and streamed": (True, True),
        "streamed": (False, True),
        "staged": (True, False),
        "neither": (False, False),
    }
    for name, (staged, streaming) in choices.items():
        with contextlib.suppress(ValueError):  # too large for the buffer, or no lines to stream
            yield name, _edited(plan, staged=staged, streaming=streaming)
    # The blocks above are made for streaming.
    for each in plan.candidates():
        chosen = each.parameters
        if not chosen["streaming"] and chosen["block"] != plan.parameters["block"]:
            yield "neither, blocks for the caches", _edited(plan, kernel=each.kernel, **chosen)
            return


def _prefetch(plan: ttlg.Plan) -> Variants:
    for distance in (0, 1, 2, 4):
        yield f"{distance} blocks ahead", _edited(plan, prefetch=distance)


def _loops(plan: ttlg.Plan) -> Variants:
    for order in itertools.permutations(sorted(plan.parameters["loop_order"])):
        yield " ".join(map(str, order)), _edited(plan, loop_order=order)


def _blocks(plan: ttlg.Plan) -> Variants:
    """Yield the fastest candidate with each block, by the planner's model."""
    fastest: dict[str, ttlg.Plan] = {}
    for kernel, parameters, *_ in plan.candidates():
        if kernel == plan.kernel:
            name = " x ".join(map(str, parameters["block"]))
            streamed = ", streamed" if parameters["streaming"] else ""
            fastest.setdefault(name + streamed, _edited(plan, **parameters))
    return fastest.items()


def _kernels(plan: ttlg.Plan) -> Variants:
    for name in ("tile", "shuffle", "strided_copy"):
        yield name, _forced(plan, name)


def _shuffle(plan: ttlg.Plan) -> Variants:
    yield "shuffle", _forced(plan, "shuffle")
    if plan.kernel != "shuffle":
        yield plan.kernel, plan


def _case(name: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: str = "float32") -> Case:
    return Case("ablation", name, shape, axes, dtype)


def _of_twos(rank: int, new: int) -> Case:
    """Single bytes, 16 to a vector, by a map that fills it with `new` modes from elsewhere.

    So does GenTT, Fig. 8. The modes that stay in the vector are reversed, as are those that stay
    outside of it.
    """
    first = [*range(rank - 1, rank - 1 - new, -1), *range(3, new - 1, -1)]
    perm = first + [mode for mode in range(rank - 1, -1, -1) if mode not in first]
    return _case(f"2^{rank}, {new} new of 4", (2,) * rank, axes_of(perm), "uint8")


_LARGE = (
    _case("matrix", (5001, 4999), (1, 0)),
    _case("16^6", (16,) * 6, (3, 0, 5, 1, 4, 2), "float64"),
    _case("images", (256, 112, 112, 16), (0, 3, 1, 2)),
)
_SMALL = (
    _case("matrix in cache", (512, 512), (1, 0)),
    _case("bytes in cache", (512, 512), (1, 0), "uint8"),
    _case("twos in cache", (2,) * 16, tuple(range(15, -1, -1)), "uint8"),
)

ABLATIONS = {
    "streaming": Ablation("staging and streaming stores, on and off", _LARGE, _streaming),
    "prefetch": Ablation("prefetch of the next block, on and off", _LARGE, _prefetch),
    "loops": Ablation(
        "every order of the loops of a rank-4 tensor (COMET, transpose page)",
        (_case("rank 4", (12, 20, 300, 400), (3, 1, 0, 2)),),
        _loops,
    ),
    "blocks": Ablation(
        "every block that the planner weighs, beside its predicted time", _LARGE, _blocks
    ),
    "levels": Ablation("every SIMD level, in cache and in memory", (*_SMALL, *_LARGE), None),
    "shuffle": Ablation(
        "shuffles by maps that bring 4 to 0 modes into a vector (GenTT, Fig. 8)",
        tuple(_of_twos(14, new) for new in (4, 3, 2, 1, 0)),
        _shuffle,
    ),
    "kernels": Ablation("the kernels beside each other", (_SMALL[0], *_LARGE[:2]), _kernels),
}


def _plan(case: Case, threads: int) -> ttlg.Plan:
    return ttlg.plan(case.shape, case.axes, case.dtype, threads=threads)


def _time(
    case: Case, variants: Sequence[tuple[str, ttlg.Plan]], threads: int, repeats: int
) -> dict[str, float]:
    """Verify the variants and time them and the copies, interleaved."""
    x = random_array(case.shape, case.dtype)
    expected = np.ascontiguousarray(x.transpose(case.axes))
    out = np.empty_like(expected)
    entrants = [Contender(name, functools.partial(plan, x, out)) for name, plan in variants]
    for entrant in entrants:
        verify(entrant, out, expected)
    return time_calls([*copies(x, out, threads), *entrants], repeats)


def _row(name: str, case: Case, variants: Variants, threads: int, repeats: int) -> Row:
    plan, listed = _plan(case, threads), list(variants)
    return Row(
        name,
        case,
        threads,
        _time(case, listed, threads, repeats),
        next((variant for variant, each in listed if each == plan), None),
        {variant: each.predicted_time for variant, each in listed},
    )


def time_level(cases: Sequence[Case], threads: int) -> list[dict[str, float]]:
    """Time the planner's plan of each case once, named by the level that this process uses."""
    used = ttlg.show_config()["cpu"]["simd_used"]
    return [_time(case, [(used, _plan(case, threads))], threads, 1) for case in cases]


_CHILD = """
import json, sys
from ttlg.benchmarks import ablations
from ttlg.benchmarks.case import Case
cases = [Case(**case) for case in json.loads(sys.argv[1])]
print(json.dumps(ablations.time_level(cases, int(sys.argv[2]))))
"""


def _levels(name: str, cases: Sequence[Case], threads: int, repeats: int) -> Iterator[Row]:
    """Time the levels in processes of their own, in turn, as a process cannot change its level."""
    records = json.dumps([vars(case) for case in cases])
    samples: list[dict[str, list[float]]] = [{} for _ in cases]
    for _, level in itertools.product(range(repeats), ttlg.show_config()["cpu"]["simd_found"]):
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, records, str(threads)],
            env=os.environ | {"TTLG_SIMD_LEVEL": level},
            stdout=subprocess.PIPE,
            check=True,
        )
        for found, seconds in zip(samples, json.loads(done.stdout), strict=True):
            for variant, value in seconds.items():
                found.setdefault(variant, []).append(value)
    for case, found in zip(cases, samples, strict=True):
        medians = {variant: statistics.median(values) for variant, values in found.items()}
        yield Row(name, case, threads, medians, ttlg.show_config()["cpu"]["simd_used"])


def run(name: str, threads: int, repeats: int, *, limit: int | None = None) -> Iterator[Row]:
    """Run an ablation of `ABLATIONS`, one row a case.

    Plans and copies use at most `threads`, the median of `repeats` samples of each variant counts,
    and cases are cut down to `limit` bytes. Raises WrongResultError where a variant moves an
    element wrongly.
    """
    ablation = ABLATIONS[name]
    cases = [case if limit is None else case.cut(limit) for case in ablation.cases]
    variants = ablation.variants
    if variants is None:
        yield from _levels(name, cases, threads, repeats)
    else:
        yield from (_row(name, c, variants(_plan(c, threads)), threads, repeats) for c in cases)


def table(row: Row) -> str:
    """Write a row as a table: the planner's choice marked, shares measured and predicted."""
    fastest = ceiling(row.seconds)
    copied = bandwidth(row.case, fastest)
    lines = [f"{row.ablation}: {row.case.label}, threads {row.threads}, copy {copied:.1f} GB/s"]
    names = [name for name in row.seconds if name not in COPIES]
    for name in names:
        mark = "->" if name == row.chosen else "  "
        expected = f"  predicted {fastest / row.predicted[name]:6.1%}" if row.predicted else ""
        lines.append(f"  {mark} {name:{max(map(len, names))}}  {row.share(name):6.1%}{expected}")
    return "\n".join(lines)


def panels(record: Mapping[str, Any]) -> list[Panel]:
    """Draw the variants' shares of the copy ceiling, measured and predicted, case by case."""
    return [_panel(row) for row in record["ablations"]]


def _panel(row: Mapping[str, Any]) -> Panel:
    fastest = ceiling(row["seconds"])
    variants = [name for name in row["seconds"] if name not in COPIES]
    values = {"measured": [fastest / row["seconds"][name] for name in variants]}
    if row["predicted"]:
        values["predicted"] = [fastest / row["predicted"][name] for name in variants]
    labels = [f"{name}{' (chosen)' * (name == row['chosen'])}" for name in variants]
    title = f"{row['ablation']}: {row['case']['name']}, {threads_text(row['threads'])}"
    return Panel(title, labels, values, "share of the copy ceiling")
