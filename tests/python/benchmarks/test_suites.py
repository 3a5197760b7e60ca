"""The suites are the published ones, and the same on every machine."""

import itertools
import math

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


def suite(name):
    return cases([name])


@pytest.mark.parametrize("name", SUITES)
def test_cases_are_valid_and_labels_unique(name):
    found = suite(name)
    assert len(found) == COUNTS[name]
    assert found == suite(name), "the same at every call"
    assert len({case.label for case in found}) == len(found)
    for case in found:
        assert case.suite == name
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
        assert size[0] % 16 == 0
        assert size[perm[0]] % 16 == 0
        assert 192 < math.prod(size) * 4 / 2**20 < 231


def test_ttc57_table_has_no_slip():
    # The permutations as TTC's rule writes them, and the elements that the source counts in all.
    rule = """10 021 102 210 0321 2130 2031 1032 3210 04213 32140 20413 13042 43210
        032541 320514 204153 325104 543210"""
    assert [perm for perm, _ in TTC57] == [tuple(map(int, text)) for text in rule.split()]
    assert sum(math.prod(size) for _, sizes in TTC57 for size in sizes) == 3_077_313_696


def test_ttc57_against_facts_written_down_independently():
    # Number 19 of the list in column-major order: 96 75 96 75 by 2 0 3 1.
    case = suite("ttc57")[18]
    assert (case.shape, case.axes) == ((75, 96, 75, 96), (2, 0, 3, 1))
    # Number 28: 32 48 28 28 48 by 0 4 2 1 3, so that the output is 32 48 28 48 28.
    case = suite("ttc57")[27]
    assert (case.shape, case.axes) == ((48, 28, 28, 48, 32), (1, 3, 2, 0, 4))
    assert case.out_shape == (28, 48, 28, 48, 32)


def test_sixd_has_every_permutation():
    every = set(itertools.permutations(range(6)))
    for extent in (15, 16, 17):
        chosen = [case for case in suite("sixd") if case.shape == (extent,) * 6]
        assert {case.axes for case in chosen} == every


def test_scaled_ranks_are_those_of_plans():
    """And as many of each as six axes have."""
    every = list(itertools.permutations(range(6)))
    ranks = [scaled_rank(axes) for axes in every]
    assert [ranks.count(rank) for rank in range(1, 7)] == [1, 5, 30, 110, 265, 309]
    for axes, rank in list(zip(every, ranks, strict=True))[::17]:
        assert len(ttlg.plan((5,) * 6, axes, "float64").extents) == rank


def test_a_sample_of_sixd_has_all_scaled_ranks():
    found = cases(["sixd"], sample=12)
    assert len(found) == 3 * 12
    drawn = {case.axes for case in found}
    assert len(drawn) == 12
    ranks = sorted(map(scaled_rank, drawn))
    assert ranks == [1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert cases(["sixd"], sample=2000) == sorted(
        suite("sixd"), key=cases(["sixd"], sample=2000).index
    )
    assert cases(["sixd"], sample=12, full=True) == suite("sixd")


def test_sixd_sample_is_always_the_same():
    chosen = suite("sixd-sample")
    drawn = [case.axes for case in chosen[:24]]
    assert drawn[:3] == [(4, 5, 1, 3, 2, 0), (0, 4, 2, 5, 1, 3), (4, 0, 3, 5, 1, 2)]
    assert len(set(drawn)) == 24
    for extent, start in ((16, 0), (15, 24), (17, 48)):
        of_extent = chosen[start : start + 24]
        assert [case.axes for case in of_extent] == drawn
        assert {case.shape for case in of_extent} == {(extent,) * 6}


def test_gentt_maps():
    found = suite("gentt")
    for dispersed, backwards, drawn in zip(found[::3], found[1::3], found[2::3], strict=True):
        rank = len(dispersed.shape)
        assert dispersed.shape == backwards.shape == drawn.shape
        assert len(ttlg.plan(dispersed.shape, dispersed.axes).extents) == rank
        assert backwards.axes == tuple(reversed(range(rank)))
    assert [case.axes for case in found[2::3]][2:5] == [
        (0, 2, 3, 1),
        (2, 1, 3, 0, 5, 4),
        (3, 0, 2, 1),
    ]


def test_matrices_are_always_the_same():
    shapes = [case.shape for case in suite("matrices")]
    assert all(1000 <= extent <= 10000 for shape in shapes for extent in shape)
    assert len(set(shapes)) == 30
    assert shapes[:2] == [(1926, 2500), (2390, 6915)]


def test_layouts_have_the_same_bytes_in_each_dtype():
    by_dtype = {}
    for case in suite("layouts"):
        by_dtype.setdefault(case.dtype, []).append(case.bytes)
    assert by_dtype["float32"] == by_dtype["uint16"] == by_dtype["uint8"]
    assert {case.shape[-1] for case in suite("layouts")[::2]} == {3, 64, 512}


def test_cubes_have_every_permutation_but_the_copy():
    every = set(itertools.permutations(range(3))) - {(0, 1, 2)}
    by_kind = {}
    for case in suite("cubes"):
        by_kind.setdefault((case.shape, case.dtype), set()).add(case.axes)
    assert len(by_kind) == 27
    assert all(found == every for found in by_kind.values())
    extents = {shape[0] for shape, _ in by_kind}
    assert (min(extents), max(extents)) == (8, 192)


def test_whole_calls_are_tiny_or_large():
    found = suite("call")
    assert [math.prod(case.shape) for case in found[:5]] == [64, 64, 1024, 1024, 300**2]
    assert all(38e6 < case.bytes < 1.01e8 for case in found[5:])


def test_orders_are_from_one_megabyte_to_one_gigabyte():
    megabytes = [case.bytes / 1e6 for case in suite("orders")]
    for first, size in zip(range(0, 16, 4), (1, 10, 100, 1000), strict=True):
        assert megabytes[first : first + 4] == pytest.approx([size] * 4, rel=0.06)


def test_fresh_results_are_large():
    assert [round(case.bytes / 1e6) for case in suite("fresh")] == [40, 100, 201, 400]


def test_latency_is_on_small_tensors():
    assert {64, 4096} <= {math.prod(case.shape) for case in suite("latency")}
    assert all(64 <= math.prod(case.shape) <= 4096 for case in suite("latency"))


@pytest.mark.parametrize("name", SUITES)
def test_quick_takes_few_and_small_cases(name):
    found = cases([name], quick=True)
    assert len(found) == min(QUICK_CASES, COUNTS[name])
    assert found == cases([name], quick=True)
    original = {case.label: case for case in suite(name)}
    for case in found:
        assert case.bytes <= QUICK_BYTES
        whole = original[case.label.replace(" cut ", " ")]
        assert case.axes == whole.axes
        assert ("cut" in case.name) == (whole.bytes > QUICK_BYTES)
        if whole.bytes <= QUICK_BYTES:
            assert case == whole


def test_cut_halves_the_longest_extents_only():
    case = suite("ttc57")[4]
    assert case.shape == (384, 64, 2144)
    assert case.cut(case.bytes) == case
    assert case.cut(case.bytes - 1).shape == (384, 64, 1072)
    assert case.cut(case.bytes // 16).shape == (192, 64, 268)
