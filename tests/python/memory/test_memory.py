"""Nothing leaks: not references, not objects, not memory, whether a call succeeds or raises."""

import gc
import itertools
import sys
import tracemalloc

import numpy as np
import pytest

import ttlg

from ..arrays import random_array, resident_bytes

DTYPE = np.dtype([("a", "<i4")])  # a dtype of its own, since NumPy shares the plain ones


def failing_calls(x):
    """Return calls that raise, each from another depth."""
    frozen = np.zeros(x.shape[::-1], x.dtype)
    frozen.flags.writeable = False
    plan = ttlg.plan((9, 9), dtype=x.dtype)
    return [
        lambda: ttlg.transpose(x, (0, 0)),
        lambda: ttlg.transpose(x, (0, object())),
        lambda: ttlg.transpose(x, threads=0),
        lambda: ttlg.transpose(x, out=x),
        lambda: ttlg.transpose(x, out=frozen),
        lambda: ttlg.transpose(x, out=np.zeros(3, x.dtype)),
        lambda: ttlg.transpose(x, out=np.zeros(x.shape[::-1], "<f8")),
        lambda: ttlg.transpose(x, stream=1),
        lambda: ttlg.transpose([x]),
        lambda: ttlg.transpose(np.array([x, None], object)),
        lambda: plan(x),
        lambda: plan(np.zeros((9, 9), DTYPE).T),
        lambda: ttlg.plan(x.shape, kernel="nope"),
        lambda: ttlg.plan(x.shape, kernel="copy"),
        lambda: ttlg.plan((1 << 40, 1 << 40)),
        lambda: ttlg.Plan.from_json("{}"),
    ]


def fail(call):
    try:
        call()
    except (TypeError, ValueError):
        return
    raise AssertionError("the call was meant to raise")


def test_references_are_given_back_by_failures():
    x = random_array((5, 7), DTYPE)
    calls = failing_calls(x)
    before = sys.getrefcount(x), sys.getrefcount(x.dtype)
    for _ in range(5):
        for call in calls:
            fail(call)
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype)) == before


def test_the_result_is_the_callers_alone():
    x = random_array((5, 7), "<f4")
    y = ttlg.transpose(x)
    assert sys.getrefcount(y) == 2  # y and the argument
    assert y.base is None
    assert y.flags.owndata


def clear_caches():
    """Let CPython drop the attribute names that its type cache holds on to."""
    clear = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
    clear()
    gc.collect()


@pytest.mark.rotating
def test_python_memory_stays_level():
    x = random_array((9, 8), "<f4")
    out = np.empty((8, 9), "<f4")
    calls = failing_calls(x)

    def work():
        for _ in range(50):
            ttlg.transpose(x)
            ttlg.transpose(x, out=out)
            plan = ttlg.Plan.from_json(ttlg.plan(x.shape).to_json())
            plan(x)
            plan.explain()
            for call in calls:
                fail(call)
        clear_caches()

    tracemalloc.start()
    try:
        work()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(3):
            work()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 150 rounds: one leaked object a round, of 16 bytes at least, would show.
    assert after - before < 150 * 10


def grown(work, rounds):
    """Return by how many bytes the process grows over many rounds, once it is warm.

    That is the least of three times: a leak shows each time, a huge page or a larger heap once.
    """
    for _ in range(rounds // 4):
        work()
    sizes = []
    for calls in (rounds, rounds, rounds, 0):
        gc.collect()
        sizes.append(resident_bytes())
        for _ in range(calls):
            work()
    return min(after - before for before, after in itertools.pairwise(sizes))


@pytest.mark.rotating
@pytest.mark.usefixtures("plain_malloc")
def test_small_objects_of_the_core_are_freed():
    # What tracemalloc cannot see: the views and plans of C++, about 1 KB a call. Without the cache
    # every call makes a plan.
    x = random_array((3, 4, 5, 6), "<f4")
    out = np.empty((6, 5, 4, 3), "<f4")
    calls = failing_calls(x[0, 0])
    ttlg.cache_resize(0)

    def work():
        ttlg.transpose(x)
        ttlg.transpose(x, out=out)
        ttlg.Plan.from_json(ttlg.plan(x.shape).to_json())
        for call in calls:
            fail(call)

    rounds = 2000
    assert grown(work, rounds) < rounds * 200


@pytest.mark.rotating
@pytest.mark.usefixtures("plain_malloc")
def test_a_full_cache_does_not_grow():
    ttlg.cache_resize(64)
    shapes = iter(range(2, 1 << 30))
    assert grown(lambda: ttlg.plan((next(shapes), 3, 5), (2, 1, 0)), 20000) < 4 << 20
    assert ttlg.cache_info().currsize == 64
