"""The suites in place are those of the paper, reduced unless they are asked for in full."""

import itertools
import math
import statistics

import pytest

from ttlg.benchmarks.inplace.suites import LANDSCAPE_EXTENTS, RANDOM_SUITES, SUITES
from ttlg.benchmarks.suites import cases

FULL = {
    "inplace-random": 1000,
    "inplace-aos": 2 * 10000,
    "inplace-tensors": 240,
    "inplace-landscape": 25000,
}


def test_names_say_that_they_are_in_place():
    assert all(case.inplace for case in cases(list(SUITES)))
    assert not any(case.inplace for case in cases(["matrices", "skinny"]))


@pytest.mark.parametrize("name", RANDOM_SUITES)
def test_full_suites_are_the_papers_size_and_reproducible(name):
    found = cases([name], full=True)
    assert len(found) == FULL[name]
    assert cases([name], full=True) == found


@pytest.mark.parametrize("name", RANDOM_SUITES)
def test_sample_sets_the_number(name):
    per_draw = 2 if name == "inplace-aos" else 1
    assert len(cases([name], sample=9)) == 9 * per_draw
    assert cases([name], sample=9, full=True) == cases([name], full=True)[: 9 * per_draw]


def test_random_matrices_are_those_of_the_suite_out_of_place():
    assert [case.shape for case in cases(["inplace-random"])] == [
        case.shape for case in cases(["matrices"])
    ]
    extents = [extent for case in cases(["inplace-random"], full=True) for extent in case.shape]
    assert min(extents) >= 1000
    assert max(extents) <= 10000
    assert statistics.mean(extents) == pytest.approx(5500, rel=0.05)


def test_squares_are_square_with_powers_of_two_and_odd_orders():
    for dtype in ("float32", "float64"):
        orders = [case.shape for case in cases(["inplace-square"]) if case.dtype == dtype]
        assert all(rows == columns for rows, columns in orders)
        assert min(orders)[0] == 1000
        assert max(orders)[0] == 16384
        assert {rows & (rows - 1) == 0 for rows, _ in orders} == {True, False}
        assert sum(rows % 2 for rows, _ in orders) >= 3


@pytest.mark.parametrize("full", [False, True])
def test_structures_go_both_ways(full):
    found = cases(["inplace-aos"], full=full)
    for there, back in zip(found[::2], found[1::2], strict=True):
        assert there.shape == back.shape[::-1]
        count, fields = there.shape
        assert 2 <= fields < 32
        assert 10**4 <= count < 10**7
    # Uniform counts have their median halfway, uniform logarithms at the geometric mean.
    middle = statistics.median(case.shape[0] for case in found[::2])
    assert (4e6 < middle < 6e6) if full else (1e5 < middle < 1e6)


def test_tensors_are_permuted_and_within_the_bytes():
    found = cases(["inplace-tensors"], full=True)
    assert {(len(case.shape), case.dtype) for case in found} == set(
        itertools.product((4, 5), ("float32", "float64"))
    )
    for case in found:
        assert 10e6 <= case.bytes <= 200e6
        assert case.axes != tuple(sorted(case.axes))
        assert min(case.shape) >= 2


def test_landscape_draws_from_every_cell():
    least, most = LANDSCAPE_EXTENTS
    width = (most - least) / 8
    drawn = [
        tuple(extent - least for extent in case.shape) for case in cases(["inplace-landscape"])
    ]
    cells = {(min(7, m // width), min(7, n // width)) for m, n in drawn}
    assert len(cells) == 64
    everywhere = cases(["inplace-landscape"], full=True)
    assert all(least <= extent <= most for case in everywhere for extent in case.shape)
    assert math.isclose(statistics.mean(case.shape[0] for case in everywhere), 13000, rel_tol=0.02)
