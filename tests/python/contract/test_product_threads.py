"""Products use as many threads as are chosen, and the library's own number afterwards."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ttlg
from ttlg._contract import kept, libraries, product_threads
from ttlg._contract.product_threads import Limiter, Pool

from .equations import check, random_values

X, Y = random_values((60, 50), "float64"), random_values((50, 40), "float64", 1)


class Number:
    """A pool of threads that has a number and no threads."""

    def __init__(self, number):
        self.number = number
        self.pool = Pool(lambda: self.number, self.change)

    def change(self, number):
        self.number = number


@pytest.fixture
def many_cpus(monkeypatch):
    monkeypatch.setattr(product_threads, "_CPUS", 64)


@pytest.fixture
def products(monkeypatch, many_cpus, spy):
    """Return the numbers of threads that products are called with, on a machine of 64 processors."""
    blas = Number(16)
    monkeypatch.setattr(libraries.NUMPY, "limiter", Limiter([blas.pool]), raising=False)
    yield spy(np, "matmul", lambda *_, **__: blas.number)
    assert blas.number == 16


def numbers(called):
    """Return the numbers that were called with since the last time."""
    found = set(called)
    called.clear()
    return found


@pytest.mark.parametrize("given", [1, 2, 16, 63])
def test_chosen_by_argument(products, given):
    for _ in range(2):
        check(ttlg.einsum("ab,bc->ac", X, Y, threads=given), X @ Y)
        check(ttlg.tensordot(X, Y, 1, threads=given), X @ Y)
        contraction = ttlg.contraction("ab,bc->ac", X.shape, Y.shape, threads=given)
        check(contraction(X, Y), X @ Y)
    # Measurements are among them.
    assert numbers(products) == {min(given, 16)}


def test_chosen_for_a_block_or_the_process(products):
    before = ttlg.get_num_threads()
    contraction = ttlg.contraction("ab,bc->ac", X.shape, Y.shape, flops=1e9)
    for call in (lambda: ttlg.einsum("ab,bc->ac", X, Y), lambda: contraction(X, Y)):
        call()
        assert numbers(products) == {16}
        with ttlg.threads(3):
            call()
            assert numbers(products) == {3}
            ttlg.einsum("ab,bc->ac", X, Y, threads=5)
            assert numbers(products) == {5}
        ttlg.set_num_threads(before)
        try:
            call()
            assert numbers(products) == {min(before, 16)}
        finally:
            ttlg.set_num_threads(None)
        call()
        assert numbers(products) == {16}


def test_costs_are_kept_for_each_number(products):
    found = []
    for threads in (1, 2, None):
        found.append(kept.costs_for("float64", "cpu", threads, None))
        found[-1].product(1, 32, 32, 32, "fs", "sf")
        assert numbers(products) == {threads or 16}
    with ttlg.threads(1):
        found.append(kept.costs_for("float64", "cpu", None, None))
    # Transpositions of the last one use the number of the block that it is called in.
    assert [costs.threads for costs in found] == [1, 2, None, None]
    assert len(set(map(id, found))) == 4


def test_after_an_error(products):
    for _ in range(2):
        with pytest.raises(ValueError, match="out"):
            ttlg.einsum("ab,bc->ac", X, Y, out=np.zeros(3), threads=1)


def test_the_least_of_several_limits_holds():
    one, other = Number(8), Number(2)
    limiter = Limiter([one.pool, other.pool])
    with limiter.at_most(4):
        assert (one.number, other.number) == (4, 2)
        with limiter.at_most(1):
            assert (one.number, other.number) == (1, 1)
            with limiter.at_most(0), limiter.at_most(3):
                assert (one.number, other.number) == (1, 1)
        assert (one.number, other.number) == (4, 2)
    assert (one.number, other.number) == (8, 2)


def test_calls_that_end_in_another_order_than_they_begin():
    blas = Number(8)
    limiter = Limiter([blas.pool])
    first, second = limiter.at_most(2), limiter.at_most(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas.number == 1
    second.__exit__(None, None, None)
    assert blas.number == 8


@pytest.mark.usefixtures("frequent_switches")
def test_threads_that_limit_at_once():
    blas = Number(8)
    limiter = Limiter([blas.pool])
    begin = threading.Barrier(4)

    def call(limit):
        begin.wait()
        for _ in range(200):
            with limiter.at_most(limit):
                assert blas.number <= limit

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(call, limit) for limit in (1, 2, 3, 3)]:
            done.result()
    assert blas.number == 8


def test_blas_of_numpy(many_cpus, spy):
    pytest.importorskip("threadpoolctl")
    pools = product_threads.blas_pools()
    if not pools:
        pytest.skip("NumPy's BLAS is unknown to threadpoolctl")
    before = [pool.get() for pool in pools]
    called = spy(np, "matmul", lambda *_, **__: [pool.get() for pool in pools])
    check(ttlg.einsum("ab,bc->ac", X, Y, threads=1), X @ Y)
    assert called
    assert all(number == 1 for each in called for number in each)
    assert [pool.get() for pool in pools] == before


def test_without_threadpoolctl(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert product_threads.blas_pools() == []
    with Limiter([]).at_most(1):
        pass


def test_pytorch(many_cpus, spy):
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    called = spy(torch, "matmul", lambda *_: torch.get_num_threads())
    torch.set_num_threads(2)
    try:
        x, y = torch.from_numpy(X), torch.from_numpy(Y)
        ttlg.einsum("ab,bc->ac", x, y, threads=1)
        assert set(called) == {1}
        assert torch.get_num_threads() == 2
        ttlg.einsum("ab,bc->ac", x, y, threads=4)
        assert called[-1] == 2
    finally:
        torch.set_num_threads(before)
