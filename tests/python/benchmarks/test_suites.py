"""The suites are the published ones, and the same on every machine."""

import itertools
import math
import statistics

import pytest

import ttlg
from ttlg.benchmarks.case import scaled_rank
from ttlg.benchmarks.inplace import suites as inplace
from ttlg.benchmarks.sparse import suites as sparse
from ttlg.benchmarks.suites import DEFAULT_SUITES, QUICK_BYTES, QUICK_CASES, SUITES, cases
from ttlg.benchmarks.ttc57 import TTC57

COUNTS = {
    "ttc57": 2 * 57,
    "sixd-sample": 3 * 24,
    "sixd": 3 * 720,
    "matrices": 30,
    "skinny": 3 * 4 * 2,
    "layouts": 3 * 3 * 2,
    "cubes": 3 * 9 * 5,
    "gentt": 7 * 3,
    "latency": 10,
    "call": 9,
    "fresh": 4,
    "orders": 16,
    "twos": 2 * 8 * 4,
    "inplace-square": 28,
    "inplace-random": 30,
    "inplace-aos": 48,
    "inplace-tensors": 24,
    "inplace-landscape": 64,
    "sparse-matrices": 9,
    "sparse-tensors": 3 * 5 + 4 * 23 + 2 * 12,
    "sparse-options": 9 + 3 * 3,
}
FULL = {
    "inplace-random": 1000,
    "inplace-aos": 2 * 10000,
    "inplace-tensors": 240,
    "inplace-landscape": 25000,
}


def suite(name, **options):
    return cases([name], **options)


@pytest.mark.parametrize("name", SUITES)
def test_cases_are_valid_and_labels_unique(name):
    found = suite(name)
    assert len(found) == COUNTS[name]
    assert found == suite(name), "the same at every call"
    assert len({case.label for case in found}) == len(found)
    for case in found:
        assert case.suite == name
        assert case.inplace == (name in inplace.SUITES)
        assert sorted(case.axes) == list(range(len(case.shape)))
        assert math.prod(case.shape) > 1
        # Input, output, NumPy's result and JAX's two arrays stay under 6 GB. In place the command
        # line leaves out what is too large.
        assert case.bytes <= 1.1e9 or case.inplace


def test_default_leaves_out_only_the_long_suite_those_in_place_and_sparse_ones():
    assert set(SUITES) - set(DEFAULT_SUITES) == {"sixd", *inplace.SUITES, *sparse.SUITES}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ttc57_is_the_published_list(dtype):
    # The core numbers modes as the sources do, so the plan must give back size and permutation.
    published = [(size, perm) for perm, sizes in TTC57 for size in sizes]
    chosen = [case for case in suite("ttc57") if case.dtype == dtype]
    assert [case.name for case in chosen] == [f"{number:02}" for number in range(1, 58)]
    for case, (size, perm) in zip(chosen, published, strict=True):
        plan = ttlg.plan(case.shape, case.axes, dtype)
        assert (plan.extents, plan.perm) == (size, perm)
        assert size[0] % 16 == size[perm[0]] % 16 == 0
        assert 192 < math.prod(size) * 4 / 2**20 < 231


def test_ttc57_table_has_no_slip():
    # The permutations as TTC's rule writes them, and the elements that the source counts in all.
    rule = """10 021 102 210 0321 2130 2031 1032 3210 04213 32140 20413 13042 43210
        032541 320514 204153 325104 543210"""
    assert [perm for perm, _ in TTC57] == [tuple(map(int, text)) for text in rule.split()]
    assert sum(math.prod(size) for _, sizes in TTC57 for size in sizes) == 3_077_313_696
    # Written down independently. Number 19 of the list, column-major: 96 75 96 75 by 2 0 3 1.
    case = suite("ttc57")[18]
    assert (case.shape, case.axes) == ((75, 96, 75, 96), (2, 0, 3, 1))
    # Number 28: 32 48 28 28 48 by 0 4 2 1 3, so that the output is 32 48 28 48 28.
    case = suite("ttc57")[27]
    assert (case.shape, case.axes) == ((48, 28, 28, 48, 32), (1, 3, 2, 0, 4))
    assert case.out_shape == (28, 48, 28, 48, 32)


def test_six_axes_have_every_permutation_and_a_sample_all_scaled_ranks():
    every = list(itertools.permutations(range(6)))
    for extent in (15, 16, 17):
        chosen = [case.axes for case in suite("sixd") if case.shape == (extent,) * 6]
        assert sorted(chosen) == every
    ranks = [scaled_rank(axes) for axes in every]
    assert [ranks.count(rank) for rank in range(1, 7)] == [1, 5, 30, 110, 265, 309]
    for axes, rank in list(zip(every, ranks, strict=True))[::17]:
        assert len(ttlg.plan((5,) * 6, axes, "float64").extents) == rank
    found = suite("sixd", sample=12)
    drawn = {case.axes for case in found}
    assert (len(found), len(drawn)) == (3 * 12, 12)
    assert sorted(map(scaled_rank, drawn)) == [1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert sorted(suite("sixd", sample=2000), key=repr) == sorted(suite("sixd"), key=repr)
    assert suite("sixd", sample=12, full=True) == suite("sixd")


def test_what_is_drawn_is_always_the_same():
    """Written down, so that another machine or version draws them, too."""
    chosen = suite("sixd-sample")
    drawn = [case.axes for case in chosen[:24]]
    assert drawn[:3] == [(4, 5, 1, 3, 2, 0), (0, 4, 2, 5, 1, 3), (4, 0, 3, 5, 1, 2)]
    assert len(set(drawn)) == 24
    for extent, start in ((16, 0), (15, 24), (17, 48)):
        of_extent = chosen[start : start + 24]
        assert [case.axes for case in of_extent] == drawn
        assert {case.shape for case in of_extent} == {(extent,) * 6}
    drawn = [case.axes for case in suite("gentt")[2::3]]
    assert drawn[2:5] == [(0, 2, 3, 1), (2, 1, 3, 0, 5, 4), (3, 0, 2, 1)]
    shapes = [case.shape for case in suite("matrices")]
    assert len(set(shapes)) == 30
    assert shapes[:2] == [(1926, 2500), (2390, 6915)]
    assert [case.shape for case in suite("inplace-random")] == shapes


def test_gentt_maps_are_dispersed_and_reversed():
    found = suite("gentt")
    for dispersed, backwards in zip(found[::3], found[1::3], strict=True):
        rank = len(dispersed.shape)
        assert dispersed.shape == backwards.shape
        assert len(ttlg.plan(dispersed.shape, dispersed.axes).extents) == rank
        assert backwards.axes == tuple(reversed(range(rank)))


def test_cubes_have_every_permutation_but_the_copy():
    every = set(itertools.permutations(range(3))) - {(0, 1, 2)}
    by_kind = {}
    for case in suite("cubes"):
        by_kind.setdefault((case.shape, case.dtype), set()).add(case.axes)
    assert [*by_kind.values()] == [every] * 27
    extents = {shape[0] for shape, _ in by_kind}
    assert (min(extents), max(extents)) == (8, 192)


def test_sizes_are_as_stated():
    by_dtype = {}
    for case in suite("layouts"):
        by_dtype.setdefault(case.dtype, []).append(case.bytes)
    assert by_dtype["float32"] == by_dtype["uint16"] == by_dtype["uint8"]
    assert {case.shape[-1] for case in suite("layouts")[::2]} == {3, 64, 512}
    calls = suite("call")
    assert [math.prod(case.shape) for case in calls[:5]] == [64, 64, 1024, 1024, 300**2]
    assert all(38e6 < case.bytes < 1.01e8 for case in calls[5:])
    sizes = [case.bytes / 1e6 for case in suite("orders")]
    assert sizes == pytest.approx([1] * 4 + [10] * 4 + [100] * 4 + [1000] * 4, rel=0.06)
    assert [round(case.bytes / 1e6) for case in suite("fresh")] == [40, 100, 201, 400]
    elements = {math.prod(case.shape) for case in suite("latency")}
    assert (min(elements), max(elements)) == (64, 4096)


@pytest.mark.parametrize("name", SUITES)
def test_quick_takes_few_and_small_cases(name):
    found = suite(name, quick=True)
    assert len(found) == min(QUICK_CASES, COUNTS[name])
    assert found == suite(name, quick=True)
    original = {case.label: case for case in suite(name)}
    for case in found:
        assert case.bytes <= QUICK_BYTES
        whole = original[case.label.replace(" cut ", " ")]
        assert case.axes == whole.axes
        assert ("cut" in case.name) == (whole.bytes > QUICK_BYTES)
        assert case == whole or whole.bytes > QUICK_BYTES


def test_cut_halves_the_longest_extents_only():
    case = suite("ttc57")[4]
    assert case.shape == (384, 64, 2144)
    assert case.cut(case.bytes) == case
    assert case.cut(case.bytes - 1).shape == (384, 64, 1072)
    assert case.cut(case.bytes // 16).shape == (192, 64, 268)


@pytest.mark.parametrize("name", inplace.RANDOM_SUITES)
def test_suites_that_draw_do_so_as_often_as_the_paper_or_as_is_asked_for(name):
    found = suite(name, full=True)
    assert len(found) == FULL[name]
    assert suite(name, full=True) == found
    count = 9 * (2 if name == "inplace-aos" else 1)
    assert len(suite(name, sample=9)) == count
    assert suite(name, sample=9, full=True) == found[:count]


def test_matrices_in_place_are_those_of_the_paper():
    extents = [extent for case in suite("inplace-random", full=True) for extent in case.shape]
    assert 1000 <= min(extents) <= max(extents) <= 10000
    assert statistics.mean(extents) == pytest.approx(5500, rel=0.05)
    for dtype in ("float32", "float64"):
        orders = [case.shape for case in suite("inplace-square") if case.dtype == dtype]
        assert all(rows == columns for rows, columns in orders)
        assert (min(orders)[0], max(orders)[0]) == (1000, 16384)
        assert {rows & (rows - 1) == 0 for rows, _ in orders} == {True, False}
        assert sum(rows % 2 for rows, _ in orders) >= 3
    least, most = inplace.LANDSCAPE_EXTENTS
    width = (most - least) / 8
    cells = {
        tuple(min(7, (extent - least) // width) for extent in case.shape)
        for case in suite("inplace-landscape")
    }
    assert len(cells) == 64
    everywhere = suite("inplace-landscape", full=True)
    assert all(least <= extent <= most for case in everywhere for extent in case.shape)
    assert statistics.mean(case.shape[0] for case in everywhere) == pytest.approx(13000, rel=0.02)


@pytest.mark.parametrize("full", [False, True])
def test_structures_go_both_ways(full):
    found = suite("inplace-aos", full=full)
    for there, back in zip(found[::2], found[1::2], strict=True):
        assert there.shape == back.shape[::-1]
        count, fields = there.shape
        assert 2 <= fields < 32
        assert 10**4 <= count < 10**7
    # Uniform counts have their median halfway, uniform logarithms at the geometric mean.
    middle = statistics.median(case.shape[0] for case in found[::2])
    assert (4e6 < middle < 6e6) if full else (1e5 < middle < 1e6)


def test_tensors_in_place_are_permuted_and_within_the_bytes():
    found = suite("inplace-tensors", full=True)
    kinds = itertools.product((4, 5), ("float32", "float64"))
    assert {(len(case.shape), case.dtype) for case in found} == set(kinds)
    for case in found:
        assert 10e6 <= case.bytes <= 200e6
        assert case.axes != tuple(sorted(case.axes))
        assert min(case.shape) >= 2
