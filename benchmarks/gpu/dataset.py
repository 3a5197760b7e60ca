"""What the time model is fitted to (TTLG, section V): tensors, permutations and slices."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from ttlg._calibrate.problems import ORDERINGS, shape
from ttlg.benchmarks.case import Case

T = TypeVar("T")

RANKS = (3, 4, 5, 6)
VOLUMES = (16 << 20, 64 << 20, 256 << 20)  # bytes
DTYPES = ("float64", "float32")
_TEST_SHARE = 5  # one in so many points is kept for the test


def problems(seed: int) -> Iterator[Case]:
    """List tensors of every stratum with a permutation each, without end.

    Each round goes through ranks, volumes, orderings and dtypes in an order of its own and draws a
    permutation for each, so that a run that stops early has seen all strata about equally often.
    """
    draw = random.Random(seed)
    strata = list(itertools.product(RANKS, VOLUMES, ORDERINGS, DTYPES))
    while True:
        draw.shuffle(strata)
        for rank, volume, ordering, dtype in strata:
            extents = shape(rank, volume // np.dtype(dtype).itemsize, ordering)
            axes = draw.sample(range(rank), rank)
            name = f"rank {rank} {volume >> 20}M {ordering}"
            yield Case("calibrate", name, extents, tuple(axes), dtype)


def sample(candidates: Sequence[T], most: int, seed: int) -> list[T]:
    """Draw candidates that are listed the fastest first: always the first, the others at random."""
    others = candidates[1:]
    drawn = random.Random(seed).sample(others, min(most - 1, len(others)))
    return [*candidates[:1], *drawn]


def split(count: int, seed: int) -> tuple[list[int], list[int]]:
    """Split points at random into 4/5 to fit and 1/5 to test with.

    Returns
    -------
    tuple of two lists of int
        Numbers from 0 to `count` - 1, each in exactly one list, in ascending order.
    """
    order = random.Random(seed).sample(range(count), count)
    tested = math.floor(count / _TEST_SHARE)
    return sorted(order[tested:]), sorted(order[:tested])
