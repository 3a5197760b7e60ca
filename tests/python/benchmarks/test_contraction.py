"""Contractions are described rightly, on the threads that are stated, and compared within rounding."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.contenders import Contender
from ttlg.benchmarks.contraction import contenders as contending
from ttlg.benchmarks.contraction.measure import check

from .conftest import NINE

STAY = """ab,bc->ac ba,cb->ac abc,cd->abd abcd,cde->abe lab,lbc->lac alb,lbc->lac bl,lbc->lc
    ab,cd->abcd a1c,1d->acd"""
MOVE = "abc,bd->acd abcd,dce->abe abl,lbc->lac alcb,lbd->lacd"


def test_moves_says_whether_matrices_are_there():
    every = [
        replace(NINE[0], equation=equation, extents=dict.fromkeys("abcdel", 3) | {"1": 1})
        for equation in (*STAY.split(), *MOVE.split())
    ]
    assert [case.equation for case in every if case.moves] == MOVE.split()
    assert (NINE[0].summed, NINE[0].multiplications) == (5, 4 * 5 * 6)


def test_networks_are_the_same_at_every_call():
    pytest.importorskip("cotengra")
    from ttlg.benchmarks.contraction.networks import Network

    tiny, grid = Network("tiny", 2, 8, 3, seed=1), Network("grid", 5, lattice=(2, 3))
    assert tiny.build() == tiny.build()
    assert (len(tiny.build()[0]), len(grid.build()[0])) == (8, 6)
    assert set(grid.build()[2].values()) == {5}


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
