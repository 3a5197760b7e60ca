"""The benchmark suites: every case is data, and the same on every machine."""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ttlg.benchmarks.case import Case, axes_of, named, scaled_rank, shape_text
from ttlg.benchmarks.inplace import suites as inplace
from ttlg.benchmarks.sparse import suites as sparse
from ttlg.benchmarks.tables import grouped
from ttlg.benchmarks.ttc57 import TTC57
from ttlg.benchmarks.views import views

# Quick runs take at most this many cases of a suite, each cut down to this many bytes.
QUICK_CASES = 8
QUICK_BYTES = 64 << 20
# Draws cases of both dtypes from ttc57, some that keep the fastest axis, and all shapes of gentt.
QUICK_SEED = 45


def ttc57() -> Iterator[Case]:
    """TTC's 57 transpositions, ranks 2 to 6, no two axes fusable, in float32 and float64."""
    for dtype in ("float32", "float64"):
        sizes = ((size, perm) for perm, triple in TTC57 for size in triple)
        for number, (size, perm) in enumerate(sizes, 1):
            yield Case("ttc57", f"{number:02}", tuple(reversed(size)), axes_of(perm), dtype)


def _sixd(suite: str, permutations: Sequence[tuple[int, ...]]) -> Iterator[Case]:
    for extent in (16, 15, 17):
        for axes in permutations:
            yield named(suite, (extent,) * 6, axes, "float64")


def sixd(sample: int | None = None, full: bool = False) -> Iterator[Case]:
    """All 720 permutations of 16^6, 15^6 and 17^6 in float64 (TTLG, Figs. 6 to 11).

    `sample` is how many permutations are drawn, as many of each scaled rank as there are.
    """
    every = list(itertools.permutations(range(6)))
    return _sixd("sixd", _of_all_ranks(every, sample) if sample and not full else every)


def _of_all_ranks(every: list[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
    """Draw permutations, one of each scaled rank in turn."""
    drawn = random.Random(6).sample(every, len(every))
    ranks = grouped(drawn, scaled_rank)
    turns = itertools.zip_longest(*(ranks[rank] for rank in sorted(ranks)))
    return [axes for axes in itertools.chain.from_iterable(turns) if axes][:count]


def sixd_sample() -> Iterator[Case]:
    """24 of the 720 permutations, drawn once, for 16^6, 15^6 and 17^6 in float64."""
    every = list(itertools.permutations(range(6)))
    return _sixd("sixd-sample", random.Random(6).sample(every, 24))


def gentt() -> Iterator[Case]:
    """Shapes of GenTT, Fig. 5 in float32, each with a dispersed, a reversed and a random map.

    The paper's own maps are not in its text. Dispersed: the odd axes and then the even ones, so
    that no neighbours stay neighbours.
    """
    shapes = (
        (2,) * 6,
        (2,) * 10,
        (8, 32, 32, 4),
        (4, 4, 8, 8, 4, 4),
        (7, 32, 32, 3),
        (5, 3, 7, 8, 4, 4),
        (2,) * 20,
    )
    generator = random.Random(5)
    for shape in shapes:
        order = range(len(shape))
        dispersed = (*order[1::2], *order[::2])
        for axes in (dispersed, tuple(reversed(order)), generator.sample(order, len(order))):
            yield named("gentt", shape, axes, "float32")


def cubes() -> Iterator[Case]:
    """Cubes n^3, n from 8 to 192, all permutations but the copy: float32, float64, uint8."""
    for dtype in ("float32", "float64", "uint8"):
        for n in (8, 16, 24, 32, 48, 64, 96, 128, 192):
            for axes in itertools.islice(itertools.permutations(range(3)), 1, None):
                yield named("cubes", (n, n, n), axes, dtype)


def layouts() -> Iterator[Case]:
    """Image batches NHWC to NCHW and back in float32, uint16 and uint8, 3 to 512 channels."""
    for dtype in ("float32", "uint16", "uint8"):
        # The same bytes for each dtype.
        batches = 4 // np.dtype(dtype).itemsize
        for n, h, w, c in ((256, 224, 224, 3), (128, 112, 112, 64), (256, 14, 14, 512)):
            nhwc, nchw = (n * batches, h, w, c), (n * batches, c, h, w)
            yield Case("layouts", f"NHWC-NCHW {shape_text(nhwc)}", nhwc, (0, 3, 1, 2), dtype)
            yield Case("layouts", f"NCHW-NHWC {shape_text(nchw)}", nchw, (0, 2, 3, 1), dtype)


def matrices() -> Iterator[Case]:
    """30 matrices of random extents from 1000 to 10000, drawn once, in float64."""
    return (replace(case, suite="matrices") for case in inplace.random_matrices())


def skinny() -> Iterator[Case]:
    """Ten million structures of 2, 3, 5 or 8 fields to arrays and back: float32, float64, uint8."""
    for dtype in ("float32", "float64", "uint8"):
        for fields in (2, 3, 5, 8):
            for shape in ((10**7, fields), (fields, 10**7)):
                yield Case("skinny", shape_text(shape), shape, (1, 0), dtype)


def latency() -> Iterator[Case]:
    """Small tensors of 64 to 4096 elements, with ``out=``, in nanoseconds, float32."""
    for shape in (
        (8, 8),
        (4,) * 3,
        (16, 16),
        (2,) * 8,
        (10,) * 3,
        (2,) * 10,
        (64, 64),
        (16,) * 3,
        (4,) * 6,
    ):
        yield named("latency", shape, tuple(reversed(range(len(shape)))), "float32")
    yield named("latency", (8,) * 4, (1, 0, 3, 2), "float32")


def call() -> Iterator[Case]:
    """Whole calls that return a new array, from 64 elements to 100 MB, in nanoseconds."""
    for shape, axes, dtype in (
        ((8, 8), (1, 0), "float32"),
        ((4, 4, 4), (2, 1, 0), "float32"),
        ((32, 32), (1, 0), "float32"),
        ((2,) * 10, tuple(range(9, -1, -1)), "float32"),
        ((300, 300), (1, 0), "float32"),
        ((5000, 5000), (1, 0), "float32"),
        ((3537, 3537), (1, 0), "float64"),
        ((166, 224, 224, 3), (0, 3, 1, 2), "float32"),
        ((256, 224, 224, 3), (0, 3, 1, 2), "uint8"),
    ):
        yield named("call", shape, axes, dtype)


def fresh() -> Iterator[Case]:
    """Matrices of 40 to 400 MB into new results and into ``out=``, float32."""
    for n in (3170, 5000, 7080, 10000):
        yield Case("fresh", shape_text((n, n)), (n, n), (1, 0), "float32")


def orders() -> Iterator[Case]:
    """Arrays of 1 MB to 1 GB into Fortran order, as new arrays: float64, float32, uint8."""
    for megabytes in (1, 10, 100, 1000):
        eighth = megabytes * 125_000
        side, edge, image = round(eighth**0.5), round((2 * eighth) ** (1 / 3)), (224, 224, 3)
        for shape, dtype in (
            ((side, side), "float64"),
            ((eighth // 10, 10), "float64"),
            ((edge, edge, edge), "float32"),
            ((round(8 * eighth / math.prod(image)), *image), "uint8"),
        ):
            yield named("orders", shape, tuple(reversed(range(len(shape)))), dtype)


def twos() -> Iterator[Case]:
    """Extents of 2, ranks 8 to 22 in steps of 2, four random orders each: float32, float64."""
    generator = random.Random(2)
    for dtype in ("float32", "float64"):
        for rank in range(8, 23, 2):
            for _ in range(4):
                axes = tuple(generator.sample(range(rank), rank))
                yield named("twos", (2,) * rank, axes, dtype)


SUITES = {
    "ttc57": ttc57,
    "sixd-sample": sixd_sample,
    "sixd": sixd,
    "matrices": matrices,
    "skinny": skinny,
    "layouts": layouts,
    "cubes": cubes,
    "gentt": gentt,
    "latency": latency,
    "call": call,
    "fresh": fresh,
    "orders": orders,
    "twos": twos,
    "views": views,
    **inplace.SUITES,
    **sparse.SUITES,
}

# Those that draw their cases, by what `cases` passes them.
_DRAWING = ("sixd", *inplace.RANDOM_SUITES, *sparse.DRAWING_SUITES)

# The 2160 cases of `sixd` take hours; its sample replaces it unless it is asked for. In place
# and sparse are other experiments, with other peers.
_SEPARATE = ("sixd", *inplace.SUITES, *sparse.SUITES)
DEFAULT_SUITES = tuple(name for name in SUITES if name not in _SEPARATE)


def cases(
    suites: Sequence[str], *, quick: bool = False, sample: int | None = None, full: bool = False
) -> list[Case]:
    """List the cases of some of `SUITES`, in the order of the names.

    `quick` draws a few cases of each suite, always the same, and cuts the large ones down. `sample`
    is how many cases the suites in place draw, of those that draw them, or how many permutations
    `sixd` and the sparse ones do of a tensor; with `full` they draw as many as the paper, in its way,
    or all.
    """
    chosen: list[Case] = []
    for name in suites:
        make: Callable[..., Iterator[Case]] = SUITES[name]
        suite = list(make(sample, full) if name in _DRAWING else make())
        if quick:
            drawn = random.Random(QUICK_SEED).sample(
                range(len(suite)), min(QUICK_CASES, len(suite))
            )
            suite = [suite[number].cut(QUICK_BYTES) for number in sorted(drawn)]
        chosen += suite
    return chosen
