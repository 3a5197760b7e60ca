"""What is measured on a GPU: TTLG's experiments (section VI) and image layouts."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ttlg.benchmarks import suites
from ttlg.benchmarks.case import Case, axes_of, named
from ttlg.benchmarks.gpu import inplace
from ttlg.benchmarks.tables import grouped

DTYPES = ("float64", "float32", "uint16", "uint8")
_SIXD_DTYPES = ("float64", "float32")
# TTLG's two permutations for the number of calls (Fig. 12), mode 0 fastest: the first has no modes
# to fuse, the second fuses to rank 5.
_CALLS_PERMS = ((0, 2, 5, 1, 4, 3), (4, 1, 2, 5, 3, 0))
# JAX compiles every case again, for longer than all others take to be measured.
_JAX_ONE_IN = 8
CALLS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def ttc57() -> Iterator[Case]:
    """TTC's 57 transpositions in float64, float32, uint16 and uint8, the extents the same."""
    listed = [case for case in suites.ttc57() if case.dtype == "float32"]
    for dtype in DTYPES:
        for case in listed:
            yield replace(case, dtype=dtype)


def sixd(extent: int) -> Iterator[Case]:
    """All 720 permutations of six equal extents, in float64 and float32."""
    for dtype in _SIXD_DTYPES:
        for axes in itertools.permutations(range(6)):
            yield named(f"sixd-{extent}", (extent,) * 6, axes, dtype)


def varying() -> Iterator[Case]:
    """Volumes from 6 KB to 1.5 GB by the permutation 4 1 2 5 3 0, in float64 (Fig. 13).

    The paper's own permutation is only in its figure.
    """
    for extent in (3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24):
        yield Case("varying", f"{extent}^6", (extent,) * 6, axes_of(_CALLS_PERMS[1]), "float64")


def calls() -> Iterator[Case]:
    """Two permutations of 16^6 in float64, by the number of calls, plan included (Fig. 12)."""
    for perm in _CALLS_PERMS:
        name = " ".join(map(str, perm))
        yield Case("calls", name, (16,) * 6, axes_of(perm), "float64")


SUITES = {
    "ttc57": ttc57,
    "layouts": suites.layouts,
    "varying": varying,
    "calls": calls,
    "sixd-16": lambda: sixd(16),
    "sixd-15": lambda: sixd(15),
    "sixd-17": lambda: sixd(17),
}


def cases(name: str, sample: int | None) -> list[Case]:
    """List the cases of a suite, a key of `SUITES` or of `inplace.SUITES`, in its order.

    `sample` says how many of the 720 permutations of a ``sixd`` suite are drawn, the same ones for
    each dtype and extent, and how many cases in suites that draw them; None for all. Other suites
    are not sampled.
    """
    if name in inplace.SUITES:
        return list(inplace.SUITES[name](sample))
    every = list(SUITES[name]())
    if sample is None or not name.startswith("sixd"):
        return every
    permutations = sorted({case.axes for case in every})
    drawn = set(random.Random(6).sample(permutations, min(sample, len(permutations))))
    return [case for case in every if case.axes in drawn]


def interleaved(listed: Sequence[Case]) -> list[tuple[Case, bool]]:
    """Order cases so that the first ones of them are a sample of all.

    Every suite's dtypes take turns, `DTYPES` in their order, each with its cases in a random order.
    The flag says whether JAX takes part, which it does in one of eight of a suite and dtype.
    """
    ordered = sorted(listed, key=lambda case: DTYPES.index(case.dtype))
    groups = grouped(ordered, lambda case: (case.suite, case.dtype))
    for group in groups.values():
        random.Random(1).shuffle(group)
    rounds = enumerate(itertools.zip_longest(*groups.values()))
    return [(case, n % _JAX_ONE_IN == 0) for n, turn in rounds for case in turn if case is not None]
