"""Many threads in all of ttlg at a time, as free-threaded Python lets them; others take turns."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ttlg
from ttlg import _core
from ttlg._contract import kept
from ttlg._contract.costs import Costs
from ttlg._plan.plan import Plan

from ..arrays import bits, random_array

THREADS = 8


@pytest.fixture(autouse=True)
def _quick_turns(monkeypatch):
    """Let threads take turns more often than every 5 ms, where there is a GIL, and undo settings."""
    # Costs would be measured again whenever plans are forgotten.
    monkeypatch.setattr(Costs, "_copied", lambda costs: 1e-10)
    monkeypatch.setattr(Costs, "_measure", lambda costs, *problem: 1e-3)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
    ttlg.set_learning(False)
    ttlg.set_result_pool(None)
    ttlg.cache_clear()


def together(work):
    """Call `work` with the numbers of all threads, in threads that begin at the same time."""
    start = threading.Barrier(THREADS)

    def begin(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


SMALL = random_array((5, 6, 7), "<u2")
MEDIUM = random_array((60, 50, 40), "<f4")
LARGE = random_array((1030, 1100), "<f4")  # whose results come from the pool
PLAN = ttlg.plan(MEDIUM.shape, dtype=MEDIUM.dtype)
LEFT, RIGHT = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
COORDS = np.array([[0, 0, 1], [0, 2, 1], [3, 0, 2]])


def zeros():
    return np.zeros_like(MEDIUM.T, order="C")


def copied():
    out = zeros()
    ttlg.copyto(out, MEDIUM.T)
    return out


# Calls, given the thread's number, whose results are arrays.
CALLS = [
    (lambda number: ttlg.transpose(SMALL, threads=1 + number % 2), SMALL.T),
    (lambda number: ttlg.transpose(MEDIUM, threads=1 + number % 2), MEDIUM.T),
    (lambda _: ttlg.transpose(LARGE), LARGE.T),
    (lambda _: ttlg.transpose(MEDIUM, out=zeros()), MEDIUM.T),
    (lambda _: copied(), MEDIUM.T),
    (lambda _: PLAN(MEDIUM), MEDIUM.T),
    (lambda _: ttlg.transpose_inplace(SMALL.copy()), SMALL.T),
    (lambda _: ttlg.transpose_inplace(MEDIUM.copy()), MEDIUM.T),
    (lambda _: ttlg.moveaxis(SMALL, 0, -1), np.moveaxis(SMALL, 0, -1)),
    (lambda _: ttlg.asfortranarray(SMALL), SMALL),
    (lambda _: ttlg.einsum("ij,jk->ki", LEFT, RIGHT), (LEFT @ RIGHT).T),
    (lambda _: ttlg.tensordot(LEFT, RIGHT, 1), LEFT @ RIGHT),
]


def job_of(call, expected):
    """Return a function that makes a call and compares its result."""
    expected = bits(expected)

    def job(number):
        assert bits(call(number)) == expected

    return job


def makes_plans(number):
    shape = (number + 2, 300, 7 + number % 3)
    plan = ttlg.plan(shape, (2, 0, 1), "u1")
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.candidates()
    assert str(plan.explain())
    assert ttlg.predict_time(shape, (2, 0, 1), "u1") > 0
    x = random_array(shape, "u1", seed=number)
    assert bits(ttlg.plan_for(x)(x)) == bits(x.T)


def moves_nonzeros(number):
    coords, values, shape = ttlg.sparse.transpose((COORDS, np.arange(3.0), (2, 3, 4)), (2, 0, 1))
    assert coords.tolist() == [[0, 2, 3], [0, 1, 0], [2, 1, 0]]
    assert (values.tolist(), shape) == ([1.0, 2.0, 0.0], (4, 2, 3))


def changes_settings(number):
    ttlg.set_num_threads(1 + number % 3)
    with ttlg.threads(2 + number):
        assert ttlg.get_num_threads() == 2 + number
    with ttlg.learning(number % 2 == 0), ttlg.set_result_pool(number << 20):
        assert bits(ttlg.transpose(MEDIUM)) == bits(MEDIUM.T)
    ttlg.set_result_pool(None)
    assert ttlg.show_config()["cpu"]["threads"] >= 1


def forgets_plans(number):
    (ttlg.cache_clear if number % 2 else lambda: ttlg.cache_resize(number))()
    assert ttlg.cache_info().currsize >= 0


JOBS = [job_of(*each) for each in CALLS]
JOBS += [makes_plans, moves_nonzeros, changes_settings, forgets_plans]


@pytest.mark.parametrize("job", JOBS)
def test_the_same_in_all_threads(job):
    together(lambda number: [job(number) for _ in range(2)])


@pytest.mark.parametrize("learns", [False, True], ids=["planned", "learning"])
def test_all_at_once(learns):
    ttlg.set_learning(learns)

    def work(number):
        for job in 2 * (JOBS[number:] + JOBS[:number]):
            job(number)

    together(work)


def test_costs_that_another_thread_clears(monkeypatch):
    class ClearedMeanwhile(dict):
        def __setitem__(self, key, value):
            pass

    monkeypatch.setattr(kept, "_costs", ClearedMeanwhile())
    monkeypatch.setattr(kept, "contractions", {})
    assert (ttlg.einsum("ij,jk->ik", LEFT, RIGHT) == LEFT @ RIGHT).all()


def meanwhile(call):
    """Let another thread make a call, and wait until it has, unless it is made to wait itself."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(0.1)
    return thread


def test_contractions_that_another_thread_forgets(monkeypatch):
    others = []

    class ClearedMeanwhile(dict):
        def __iter__(self):
            others.append(meanwhile(kept._forget))
            return super().__iter__()

    monkeypatch.setattr(kept, "_MAX_CONTRACTIONS", 2)
    monkeypatch.setattr(kept, "contractions", ClearedMeanwhile(a=None, b=None))
    kept.keep("c", None)
    for thread in others:
        thread.join()
    assert len(others) == 1
    assert not kept.contractions


def test_a_limit_that_is_set_while_another_is_asked_for_stays():
    def ask():
        _core.set_result_pool(123)
        return 1 << 30

    _core.set_result_pool(ask)
    assert _core.result_pool_info()[0] == 123


def test_limits_of_two_threads_come_back_in_turn(monkeypatch):
    others, befores = [], []

    def set_meanwhile(limit, to_core=_core.set_result_pool):
        to_core(limit)
        if limit == 2:
            others.append(meanwhile(lambda: befores.append(ttlg.set_result_pool(3)._before)))

    ttlg.set_result_pool(1)
    monkeypatch.setattr(_core, "set_result_pool", set_meanwhile)
    befores.append(ttlg.set_result_pool(2)._before)
    for thread in others:
        thread.join()
    assert sorted(befores) == [1, 2]
    assert _core.result_pool_info()[0] == 3


def test_threads_of_a_block_from_the_first_on(run_python):
    run_python("""
        import threading
        from concurrent.futures import ThreadPoolExecutor
        import ttlg

        start = threading.Barrier(8)

        def work(number):
            start.wait()
            with ttlg.threads(number + 2):
                return ttlg.get_num_threads()

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == list(range(2, 10))
    """)


@pytest.mark.skipif(
    not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled(), reason="needs no-GIL Python"
)
def test_import_leaves_the_gil_off(run_python):
    result = run_python("import sys, ttlg; print(sys._is_gil_enabled())", PYTHON_GIL="")
    assert result.stdout == "False\n"
