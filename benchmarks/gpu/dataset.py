"""What the time model is fitted to (TTLG, section V): tensors, permutations and slices."""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from ttlg._calibrate.problems import ORDERINGS, shape
from ttlg.benchmarks.case import Case

T = TypeVar("T")

RANKS = (3, 4, 5, 6)
# Bytes: the paper's 16 MB to 2 GB, and a tensor whose launch takes about as long as its bytes.
VOLUMES = (1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30, 2 << 30)
DTYPES = ("float64", "float32", "uint8", "uint16", "complex128")  # all widths of elements
_TEST_SHARE = 5  # one in this number of problems is kept for the test
# One in this number of permutations leaves the fastest axis where it is, which the FVI kernels need:
# few of those drawn at random do.
_MATCHING = 4


def problems(seed: int) -> Iterator[Case]:
    """List tensors of every stratum with a permutation each, without end.

    Each round goes through all strata, in which ranks and dtypes take turns and each of these has
    its volumes and orderings in an order of its own, and draws a permutation for each. So a run that
    stops early has seen all ranks and dtypes about equally often.
    """
    draw = random.Random(seed)
    groups = list(itertools.product(RANKS, DTYPES))
    others = list(itertools.product(VOLUMES, ORDERINGS))
    while True:
        orders = [draw.sample(others, len(others)) for _ in groups]
        for round_number, group in itertools.product(range(len(others)), range(len(groups))):
            (rank, dtype), (volume, ordering) = groups[group], orders[group][round_number]
            extents = shape(rank, volume // np.dtype(dtype).itemsize, ordering)
            axes = draw.sample(range(rank), rank)
            if draw.randrange(_MATCHING) == 0:
                axes.remove(rank - 1)
                axes.append(rank - 1)
            name = f"rank {rank} {volume >> 20}M {ordering}"
            yield Case("calibrate", name, extents, tuple(axes), dtype)


def sample(candidates: Sequence[T], most: int, seed: int) -> list[T]:
    """Draw candidates that are listed the fastest first: always the first, the others at random."""
    others = candidates[1:]
    drawn = random.Random(seed).sample(others, min(most - 1, len(others)))
    return [*candidates[:1], *drawn]


def held_out(cases: Sequence[str], seed: int) -> set[str]:
    """Draw 1/5 of the problems, all of whose slices are to be tested on.

    The paper draws slices, so that a model has seen most others of the problem that it is tested on.
    """
    distinct = list(dict.fromkeys(cases))
    return set(random.Random(seed).sample(distinct, len(distinct) // _TEST_SHARE))
