"""The contractions are those that are stated, and the same on every machine."""

import re
from dataclasses import replace

import pytest

from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.published import TCCG, TCCG_MORE
from ttlg.benchmarks.contraction.suites import MOST_BYTES, cases
from ttlg.benchmarks.suites import QUICK_BYTES

EXTENTS = {"a": 3, "b": 4, "c": 5, "d": 6, "e": 7}
TINY = ContractionCase("tiny", "first", "abcd,dbea->ec", EXTENTS, "float64")


def of(equation, **extents):
    labels = sorted(set(equation) - set(",->"))
    return replace(TINY, equation=equation, extents=dict.fromkeys(labels, 3) | extents)


def by_part(**options):
    found = {}
    for case in cases(**options):
        found.setdefault(case.part, []).append(case)
    return found


def test_cases_are_valid_and_the_same_at_every_call():
    found = cases()
    assert found == cases()
    assert len({case.label for case in found}) == len(found)
    for case in found:
        assert re.fullmatch(r"[a-h]+,[a-h]+->[a-h]+", case.equation)
        assert all(len(set(term)) == len(term) for term in (*case.terms, case.output))
        first, second = map(set, case.terms)
        assert first ^ second <= set(case.output) <= first | second
        assert set(case.extents) == first | second
        assert case.described.startswith(f"{case.label}: {case.equation} of ")


def test_tccg_has_its_names_extents_and_layout():
    tccg = {case.name: case for case in by_part()["tccg"]}
    assert list(tccg) == list(TCCG)
    assert len(tccg) == 24
    everything = by_part(full=True)["tccg"]
    assert [case.name for case in everything] == [*TCCG, *TCCG_MORE]
    assert len(everything) == 48
    for case in everything:
        result, first, second = case.name.split("-")
        assert (case.terms, case.output) == ([first[::-1], second[::-1]], result[::-1])
        published = (TCCG | TCCG_MORE)[case.name]
        extents = tuple(case.extents[label] for label in sorted(case.extents))
        whole = replace(case, extents=dict(zip(sorted(case.extents), published, strict=True)))
        assert (extents == published) == (max(whole.sizes) <= MOST_BYTES)
        assert MOST_BYTES / 2 < max(case.sizes) <= MOST_BYTES
        # The rule of the source: multiples of 24 where a tensor varies fastest, else of 4.
        assert all(extent % 4 == 0 for extent in (*published, *extents))


def test_random_contractions_are_as_stated():
    drawn = by_part()["random"]
    assert len(drawn) == 200
    assert drawn[:3] == by_part(sample=3)["random"]
    # Written down, so that another machine or version draws them, too.
    assert (drawn[0].equation, drawn[0].dtype) == ("bdca,ab->dc", "float64")
    assert drawn[0].extents == {"a": 197, "b": 57, "c": 13, "d": 12}
    for case in drawn:
        *operands, _ = case.sizes
        assert all(50_000 <= size <= 16_000_000 for size in operands)
        shared = set(case.terms[0]) & set(case.terms[1])
        assert all(2 <= len(term) <= 5 for term in case.terms)
        assert 1 <= len(shared - set(case.output)) <= 3
        assert len(shared & set(case.output)) <= 1
    stacked = [set(c.terms[0]) & set(c.terms[1]) & set(c.output) for c in drawn]
    assert 0 < sum(map(len, stacked)) < 100
    assert {case.dtype for case in drawn} == {"float32", "float64"}
    assert {case.moves for case in drawn} == {True, False}


@pytest.mark.parametrize(
    ("case", "moves"),
    [
        (of("ab,bc->ac"), False),
        (of("ba,cb->ac"), False),
        (of("abc,cd->abd"), False),
        (of("abc,bd->acd"), True),
        (of("abc,bd->acd", b=1), False),
        (of("abcd,cde->abe"), False),
        (of("abcd,dce->abe"), True),
        (of("lab,lbc->lac"), False),
        (of("alb,lbc->lac"), False),
        (of("abl,lbc->lac"), True),
        (of("bl,lbc->lc"), False),
        (of("alcb,lbd->lacd"), True),
        (of("ab,cd->abcd"), False),
    ],
    ids=lambda value: value.equation if isinstance(value, ContractionCase) else None,
)
def test_moves_says_whether_matrices_are_there(case, moves):
    assert case.moves == moves


def test_cut_shortens_the_longest_extents():
    case = of("ab,bc->ac", a=9, b=40, c=7)
    assert case.cut(max(case.sizes)) == case
    assert case.cut(9 * 36 * 8).extents == {"a": 9, "b": 36, "c": 7}
    assert max(case.cut(8).sizes) == 8
    assert (case.summed, case.multiplications) == (40, 9 * 40 * 7)
    quick = cases(quick=True)
    assert len(quick) == 3 * 8
    assert all(max(each.sizes) <= QUICK_BYTES for each in quick)


def test_networks_are_the_same_at_every_call():
    pytest.importorskip("cotengra")
    from ttlg.benchmarks.contraction.networks import Network

    tiny, grid = Network("tiny", 2, 8, 3, seed=1), Network("grid", 2, lattice=(2, 3))
    assert tiny.build() == tiny.build()
    assert (len(tiny.build()[0]), len(grid.build()[0])) == (8, 6)
    assert set(replace(grid, bond=5).build()[2].values()) == {5}
