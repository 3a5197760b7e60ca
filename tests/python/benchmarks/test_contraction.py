"""Contractions are those that are published, described rightly, and compared within rounding."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.contenders import Contender
from ttlg.benchmarks.contraction import contenders as contending
from ttlg.benchmarks.contraction.measure import check
from ttlg.benchmarks.contraction.published import TCCG, TCCG_MORE
from ttlg.benchmarks.contraction.suites import MOST_BYTES, cases
from ttlg.benchmarks.suites import QUICK_BYTES

from .conftest import NINE


def of(equation, **extents):
    labels = sorted(set(equation) - set(",->"))
    return replace(NINE[0], equation=equation, extents=dict.fromkeys(labels, 3) | extents)


def test_cases_are_valid():
    found = cases()
    assert len({case.label for case in found}) == len(found)
    for case in found:
        assert re.fullmatch(r"[a-h]+,[a-h]+->[a-h]+", case.equation)
        assert all(len(set(term)) == len(term) for term in (*case.terms, case.output))
        first, second = map(set, case.terms)
        assert first ^ second <= set(case.output) <= first | second
        assert set(case.extents) == first | second
    assert all(max(case.sizes) <= QUICK_BYTES for case in cases(quick=True))


def test_tccg_has_its_names_extents_and_layout():
    tccg = [case for case in cases(full=True) if case.part == "tccg"]
    assert [case.name for case in tccg] == [*TCCG, *TCCG_MORE]
    for case in tccg:
        result, first, second = case.name.split("-")
        assert (case.terms, case.output) == ([first[::-1], second[::-1]], result[::-1])
        published = (TCCG | TCCG_MORE)[case.name]
        extents = tuple(case.extents[label] for label in sorted(case.extents))
        whole = replace(case, extents=dict(zip(sorted(case.extents), published, strict=True)))
        assert (extents == published) == (max(whole.sizes) <= MOST_BYTES)
        assert MOST_BYTES / 2 < max(case.sizes) <= MOST_BYTES
        # The rule of the source: multiples of 24 where a tensor varies fastest, else of 4.
        assert all(extent % 4 == 0 for extent in (*published, *extents))


@pytest.mark.parametrize(
    ("equation", "moves"),
    [
        ("ab,bc->ac", False),
        ("ba,cb->ac", False),
        ("abc,cd->abd", False),
        ("abc,bd->acd", True),
        ("abcd,cde->abe", False),
        ("abcd,dce->abe", True),
        ("lab,lbc->lac", False),
        ("alb,lbc->lac", False),
        ("abl,lbc->lac", True),
        ("bl,lbc->lc", False),
        ("alcb,lbd->lacd", True),
        ("ab,cd->abcd", False),
    ],
)
def test_moves_says_whether_matrices_are_there(equation, moves):
    assert of(equation).moves == moves
    assert not of("abc,bd->acd", b=1).moves


def test_cut_shortens_the_longest_extents():
    case = of("ab,bc->ac", a=9, b=40, c=7)
    assert case.cut(max(case.sizes)) == case
    assert case.cut(9 * 36 * 8).extents == {"a": 9, "b": 36, "c": 7}
    assert max(case.cut(8).sizes) == 8
    assert (case.summed, case.multiplications) == (40, 9 * 40 * 7)


def test_networks_are_the_same_at_every_call():
    pytest.importorskip("cotengra")
    from ttlg.benchmarks.contraction.networks import Network

    tiny, grid = Network("tiny", 2, 8, 3, seed=1), Network("grid", 2, lattice=(2, 3))
    assert tiny.build() == tiny.build()
    assert (len(tiny.build()[0]), len(grid.build()[0])) == (8, 6)
    assert set(replace(grid, bond=5).build()[2].values()) == {5}


def test_threads_are_those_of_all_libraries_and_put_back(monkeypatch):
    before, asked = ttlg.get_num_threads(), []

    class Library:
        get_num_threads = staticmethod(lambda: 7)
        set_num_threads = staticmethod(asked.append)

    monkeypatch.setitem(sys.modules, "torch", Library)
    monkeypatch.setitem(sys.modules, "pytblis", Library)
    with contending.threads(3):
        assert ttlg.get_num_threads() == 3
        assert asked == [3, 3]
    assert asked == [3, 3, 7, 7]
    assert ttlg.get_num_threads() == before


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_is_allowed(dtype):
    generator = np.random.default_rng(0)
    a, b = (generator.uniform(-1, 1, shape).astype(dtype) for shape in ((3, 5000), (5000, 4)))
    one_by_one = np.zeros((3, 4), dtype)
    for k in range(5000):
        one_by_one += a[:, k, None] * b[k]
    assert not np.array_equal(one_by_one, a @ b)
    check(Contender("other order", lambda: one_by_one), a @ b, 5000)
