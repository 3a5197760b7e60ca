"""Every permutation of ranks 3 to 5, in both orders, there and back."""

import itertools

import numpy as np
import pytest

from ..arrays import bits, random_array
from .checks import check

SHAPES = [
    (1, 31, 16),
    (64, 3, 17),
    (9, 1, 128),
    (40, 8, 41),
    (5, 1, 16, 7),
    (4, 9, 2, 13),
    (11, 8, 8, 11),
    (2, 3, 1, 8, 5),
    (4, 5, 3, 2, 7),
    (1, 4, 13, 1, 6),
    (2, 2, 2, 2, 2),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_permutation_there_and_back(shape, order):
    widths = itertools.cycle((1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 33))
    for axes in itertools.permutations(range(len(shape))):
        x = np.array(random_array(shape, f"V{next(widths)}"), order=order)
        before = bits(x)
        there = check(x, axes)
        back = check(there, tuple(np.argsort(axes)))
        assert back.strides == x.strides
        assert bits(back) == before


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_permutation_by_several_threads_in_little_memory(order):
    for axes, threads in zip(itertools.permutations(range(4)), itertools.cycle((1, 2, 3, 5, 8))):
        x = np.array(random_array((37, 24, 31, 41), "<u2"), order=order)
        check(x, axes, threads=threads, workspace=x.nbytes // 4)
