"""The claims of Catanzaro et al."""

import statistics
from collections.abc import Sequence
from typing import Any

from ttlg.benchmarks.inplace.rule import RULE, with_rule
from ttlg.benchmarks.measure import Result

from .records import Claim, body, rate, rates, share, timed

_ON_GPU = "h200-bench-inplace"
_GPU = "python -m ttlg.benchmarks.gpu --suite"
_FEW = 7000  # a quarter of the way from 1000 to 25000


def claims() -> list[Claim]:
    """List them."""
    return [
        _of_cpu(
            "1,000 matrices on a CPU, one thread: MKL 0.067, C2R 0.336 GB/s",
            "Fig. 3, Table 1",
            "zen4-inplace-random",
        ),
        _of_cpu("the first 100 of them, prefetched into L2", "", "zen4-inplace-random-100"),
        Claim(
            "C2R where m > n, else R2C: faster than either alone",
            "section 5.2",
            _of_rule(timed("zen4-inplace-random", "inplace-random"), "ttlg"),
            "zen4-inplace-random",
        ),
        Claim(
            "the same on a GPU",
            "section 5.2",
            _of_rule(timed(_ON_GPU, "inplace-random"), "ttlg-inplace"),
            _ON_GPU,
            f"{_GPU} inplace-random",
        ),
        Claim(
            "C2R is fast where there are few columns, R2C where there are few rows",
            "Figs. 4, 5",
            _of_landscape(timed(_ON_GPU, "inplace-landscape")),
            _ON_GPU,
            f"{_GPU} inplace-landscape",
        ),
        Claim(
            "the same on a CPU, which is not in the paper",
            "",
            _of_landscape(timed("zen4-inplace-landscape", "inplace-landscape")),
            "zen4-inplace-landscape",
        ),
        Claim(
            "25,000 matrices of 1000 to 25000 rows and columns",
            "Figs. 4, 5",
            command=f"{_GPU} inplace-landscape --sample 25000",
        ),
        _of_gpu(),
        *_of_structures(),
        Claim(
            "all 10,000 of them",
            "Fig. 7",
            command=f"{_GPU} inplace-aos --sample 10000",
        ),
        Claim(
            "structures of unit stride at a copy's 180 GB/s, up to 45 times direct stores",
            "Fig. 8",
            _of_stores(_accesses("store")),
            "h200-structures",
        ),
        Claim(
            "random structures: faster towards a line of the cache",
            "Fig. 9",
            _of_gathers(_accesses("gather")),
            "h200-structures",
        ),
    ]


def _of_cpu(paper: str, where: str, stem: str) -> Claim:
    results = timed(stem, "inplace-random")
    return Claim(
        paper,
        where,
        f"OpenBLAS {rate(results, 'openblas')}, C2R {rate(results, 'c2r')}, the planner's choice "
        f"{rate(results, 'ttlg')} GB/s ({len(results)} matrices)",
        stem,
    )


def _of_rule(results: Sequence[Result], planned: str) -> str:
    """Write the medians of both kernels alone, of the rule, and of the choice by predicted time."""
    names = {"C2R": "c2r", "R2C": "r2c", "by m > n": RULE, "by predicted time": planned}
    taken = [*map(with_rule, results)]
    medians = ", ".join(f"{label} {rate(taken, name)}" for label, name in names.items())
    return f"{medians} GB/s ({len(results)} matrices)"


def _of_landscape(results: Sequence[Result]) -> str:
    few = {
        what: [each for each in results if each.case.shape[side] < _FEW]
        for side, what in ((1, "columns"), (0, "rows"))
    }
    return "; ".join(
        f"fewer than {_FEW} {what}: C2R {rate(own, 'c2r')}, R2C {rate(own, 'r2c')} GB/s"
        for what, own in few.items()
    )


def _of_gpu() -> Claim:
    floats, doubles = (timed(_ON_GPU, "inplace-random", f"float{bits}") for bits in (32, 64))
    return Claim(
        "matrices on a GPU: Sung 5.33 (float), C2R 14.23 (float) and 19.53 GB/s (double)",
        "Fig. 6, Table 2",
        f"{rate(floats, 'ttlg-inplace')} (float), {rate(doubles, 'ttlg-inplace')} (double), "
        f"{share(floats, 'ttlg-inplace')} and {share(doubles, 'ttlg-inplace')} of a copy",
        _ON_GPU,
        f"{_GPU} inplace-random",
    )


def _of_structures() -> list[Claim]:
    on_gpu = timed(_ON_GPU, "inplace-aos")
    return [
        Claim(
            "10,000 arrays of structures on a GPU: 34.3 GB/s in the median, 51 at most",
            "Fig. 7",
            f"{rate(on_gpu, 'ttlg-inplace')} in the median, {max(rates(on_gpu, 'ttlg-inplace')):.0f} at "
            f"most ({len(on_gpu)} arrays)",
            _ON_GPU,
            f"{_GPU} inplace-aos",
        ),
        _of_structures_on_cpu("the same on a CPU, which is not in the paper", "zen4-inplace-aos"),
        _of_structures_on_cpu("the first 120 of them, prefetched into L2", "zen4-inplace-aos-60"),
    ]


def _of_structures_on_cpu(paper: str, stem: str) -> Claim:
    results = timed(stem, "inplace-aos")
    return Claim(
        paper,
        "",
        f"{rate(results, 'ttlg')} GB/s in the median, {share(results, 'ttlg')} of a copy, out of place "
        f"and back {rate(results, 'ttlg-back')} ({len(results)} arrays)",
        stem,
    )


def _accesses(operation: str) -> list[dict[str, Any]]:
    return [each for each in body("h200-structures")["results"] if each["operation"] == operation]


def _of_stores(accesses: Sequence[dict[str, Any]]) -> str:
    """Compare with half of a copy's time, as a store moves half of its bytes."""
    seconds = [each["seconds"] for each in accesses]
    copy = statistics.median(each["memcpy"] / 2 / each["coalesced"] for each in seconds)
    most = max(each["direct"] / each["coalesced"] for each in seconds)
    return f"{copy:.2f} times a copy's rate in the median, up to {most:.0f} times direct stores"


def _of_gathers(accesses: Sequence[dict[str, Any]]) -> str:
    share = {
        4 * each["words"]: each["seconds"]["memcpy"] / each["seconds"]["coalesced"]
        for each in accesses
    }
    shares = ", ".join(f"{share[size]:.2f} of {size} bytes" for size in (8, 32, 64, 128))
    return f"gathered at these shares of a copy's rate: {shares}"
