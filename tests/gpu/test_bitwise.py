"""`ttlg.transpose` on the GPU moves the same bytes as NumPy, and no others."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..python.arrays import layouts, problems, random_raw
from .moves import ODD_WIDTHS, WIDTHS, TorchMemory, check, check_move

torch = pytest.importorskip("torch")

MIXED = (3, 7, 2, 5, 4, 6)
LEADS = ((0, 0), (1, 0), (0, 1), (2, 6), (4, 8), (8, 4), (15, 13))


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("rank", range(1, 7))
def test_every_permutation(rank, itemsize):
    for axes in itertools.permutations(range(rank)):
        check(MIXED[:rank], axes, itemsize)


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
def test_random_ranks_and_extents(itemsize):
    draw = random.Random(itemsize)
    for _ in range(60):
        rank = draw.randint(2, 16)
        shape, room = [], 200_000
        for left in range(rank, 0, -1):
            # Ranks near 16 have room for twos and threes only, others for a prime or two.
            most = max(2, int(room ** (1 / left) * draw.choice((1, 1, 2))))
            shape.append(min(draw.randint(2, most), max(room, 1)))
            room //= shape[-1]
        draw.shuffle(shape)
        check(tuple(shape), draw.sample(range(rank), rank), itemsize)


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((129, 257), (1, 0)),
        ((128, 256), (1, 0)),
        ((31, 33, 65), (2, 1, 0)),
        ((1000, 3), (1, 0)),
        ((3, 1000), (1, 0)),
        ((2, 100_003), (1, 0)),
        ((5, 1031, 7), (0, 2, 1)),
        ((17, 16, 15, 32), (1, 0, 2, 3)),
        ((40, 50, 8, 3), (1, 0, 2, 3)),
        ((40, 50, 8, 3), (2, 1, 0, 3)),
        ((27, 27, 27, 27), (3, 0, 2, 1)),
    ],
    ids=str,
)
def test_tiles_and_their_remainders(shape, axes, itemsize):
    check(shape, axes, itemsize)


def test_rank_64():
    # 20 modes of two elements that nothing fuses, among modes of one.
    shape = [1] * 64
    long = range(3, 63, 3)
    for axis in long:
        shape[axis] = 2
    check(tuple(shape), tuple(reversed(range(64))), 4)
    even = [axis for axis in range(64) if axis % 2 == 0]
    check(tuple(shape), (*even, *(axis for axis in range(64) if axis % 2)), 4)


@pytest.mark.parametrize("leads", LEADS, ids=str)
@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
def test_misaligned_pointers(itemsize, leads):
    lead, out_lead = leads
    for shape, axes in (
        ((64, 96), (1, 0)),
        ((33, 16, 48), (2, 0, 1)),
        ((12, 24, 64), (1, 0, 2)),
        ((12, 24, 4), (1, 0, 2)),
        ((4096,), (0,)),
        ((20, 8, 20, 8), (2, 1, 0, 3)),
    ):
        check(shape, axes, itemsize, lead=lead, out_lead=out_lead)


@settings(max_examples=150, deadline=None)
@given(problems(max_elements=20_000), st.data())
def test_any_layout_into_any_layout(problem, data):
    layout, axes = problem
    raw = random_raw(layout.count)
    x = layout.of(raw)
    out_shape = tuple(x.shape[axis] for axis in axes)
    out_layout = data.draw(layouts(out_shape, layout.itemsize, broadcast=False))
    out_raw = random_raw(out_layout.count, seed=1)
    check_move(raw, x, axes, out_raw, out_layout.of(out_raw), memory=TorchMemory)


@pytest.mark.parametrize("itemsize", WIDTHS)
def test_strided_sides_with_room_for_vectors(itemsize):
    """Rows that start on multiples of 16 bytes or one element past them, on either side."""
    for pad, out_pad in itertools.product((0, 1, 16 // itemsize), repeat=2):
        raw = random_raw((64 * (128 + pad) + 32) * itemsize)
        out_raw = random_raw((128 * (64 + out_pad) + 32) * itemsize, seed=1)
        x = np.ndarray((64, 128 + pad), f"V{itemsize}", raw)[:, :128]
        out = np.ndarray((128, 64 + out_pad), f"V{itemsize}", out_raw)[:, :64]
        check_move(raw, x, (1, 0), out_raw, out, memory=TorchMemory)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0), (2, 0, 3), (1, 5, 1)], ids=str)
def test_empty_and_unit_axes(shape):
    check(shape, tuple(reversed(range(len(shape)))), 4)
