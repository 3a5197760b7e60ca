"""The planner cache: every layout is planned once, and no two layouts share a plan."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

X = random_array((4, 6, 8), "<f4")


@pytest.fixture(autouse=True)
def _empty_cache():
    ttlg.cache_clear()


def counts():
    info = ttlg.cache_info()
    return info.hits, info.misses, info.currsize


def test_the_same_layout_is_planned_once_until_the_cache_is_cleared():
    for _ in range(2):
        assert counts() == (0, 0, 0)
        for _ in range(3):
            ttlg.transpose(X, (2, 0, 1))
        assert counts() == (2, 1, 1)
        ttlg.cache_clear()


def test_what_does_not_decide_is_not_in_the_key():
    ttlg.transpose(X, (2, 0, 1))
    spellings = [
        lambda: ttlg.transpose(X, [-1, 0, -2]),
        lambda: ttlg.transpose(X, np.array([2, 0, 1])),
        lambda: ttlg.permute_dims(X, (2, 0, 1)),
        lambda: ttlg.transpose(X.view("<i4"), (2, 0, 1)),
        lambda: ttlg.transpose(X.copy(), (2, 0, 1)),
        lambda: ttlg.transpose(X, (2, 0, 1), threads=ttlg.get_num_threads()),
        lambda: ttlg.plan((4, 6, 8), (2, 0, 1)),
        lambda: ttlg.plan([4, 6, 8], (2, 0, 1), "i4", strides=X.strides),
    ]
    for number, call in enumerate(spellings, 1):
        call()
        assert counts() == (number, 1, 1)


def test_everything_that_decides_is_in_the_key():
    square = random_array((6, 6, 6), "<f4")
    reversed_out = np.empty((6, 6, 6), "<f4")[::-1]
    calls = [
        lambda: ttlg.transpose(square, (2, 0, 1)),
        lambda: ttlg.transpose(square, (1, 2, 0)),
        lambda: ttlg.transpose(square.transpose(1, 0, 2), (2, 0, 1)),
        lambda: ttlg.transpose(square[::-1], (2, 0, 1)),
        lambda: ttlg.transpose(square[:5], (2, 0, 1)),
        lambda: ttlg.transpose(square.view("<f2")[..., ::2], (2, 0, 1)),
        lambda: ttlg.transpose(square, (2, 0, 1), out=reversed_out),
        lambda: ttlg.transpose(square, (2, 0, 1), out=reversed_out[::-1].transpose(1, 0, 2)),
        lambda: ttlg.transpose(square, (2, 0, 1), threads=63),
        lambda: ttlg.plan((6, 6, 6), (2, 0, 1), kernel="strided_copy"),
        lambda: ttlg.plan((6, 6, 6), (2, 0, 1), kernel="reference"),
        lambda: ttlg.plan((6, 6, 6), (2, 0, 1), "f8"),
    ]
    for number, call in enumerate(calls, 1):
        call()
        assert counts() == (0, number, number)
    for number, call in enumerate(calls, 1):
        call()
        assert counts() == (number, len(calls), len(calls))


def test_setting_the_threads_changes_the_plan():
    x = random_array((2048, 2048), "u1")
    ttlg.set_num_threads(1)
    assert ttlg.plan(x.shape, dtype="u1").parameters["threads"] == 1
    ttlg.set_num_threads(2)
    assert ttlg.plan(x.shape, dtype="u1").parameters["threads"] == 2
    assert counts() == (0, 2, 2)


def test_numbers_that_equal_integers_are_no_axes():
    # 1.0 == 1 and hash(1.0) == hash(1), so a careless key would let these through.
    ttlg.transpose(X, (1, 0, 2))
    with pytest.raises(TypeError, match=r"1\.0 is not an axis number"):
        ttlg.transpose(X, (1.0, 0, 2))
    ttlg.plan((4, 6), (1, 0), threads=1)
    for changed in ({"shape": (4.0, 6)}, {"threads": 1.0}, {"strides": (24.0, 4)}):
        with pytest.raises(TypeError):
            ttlg.plan(**{"shape": (4, 6), "axes": (1, 0), "threads": 1} | changed)


def test_failures_are_not_kept():
    for _ in range(2):
        with pytest.raises(ValueError, match="does not apply"):
            ttlg.plan((4, 6), (1, 0), kernel="copy")
        with pytest.raises(ValueError, match="axes"):
            ttlg.transpose(X, (0, 1))
    assert ttlg.cache_info().currsize == 0


def test_the_least_recently_used_plan_goes_first():
    ttlg.cache_resize(2)
    assert ttlg.cache_info().maxsize == 2
    first, second, third = (lambda n=n: ttlg.plan((n, 5), (1, 0)) for n in (2, 3, 4))
    first()
    second()
    first()
    third()  # the second is the one that was not asked for lately
    assert counts() == (1, 3, 2)
    first()
    third()
    assert counts() == (3, 3, 2)
    second()
    assert counts() == (3, 4, 2)


def test_resize():
    ttlg.transpose(X)
    ttlg.cache_resize(10)
    assert ttlg.cache_info() == (0, 0, 10, 0)
    ttlg.cache_resize(0)
    for _ in range(3):
        assert bits(ttlg.transpose(X)) == bits(X.T)
    assert ttlg.cache_info() == (0, 3, 0, 0)


@pytest.mark.parametrize(
    ("n", "exception"), [(-1, ValueError), (1.5, TypeError), ("8", TypeError), (None, TypeError)]
)
def test_resize_refuses(n, exception):
    ttlg.transpose(X)
    with pytest.raises(exception):
        ttlg.cache_resize(n)
    assert counts() == (0, 1, 1)
    assert ttlg.cache_info().maxsize == 4096


def test_a_plan_outlives_the_cache():
    plan = ttlg.plan(X.shape, (2, 0, 1))
    ttlg.cache_clear()
    ttlg.cache_resize(0)
    assert bits(plan(X)) == bits(X.transpose(2, 0, 1))


def test_many_threads_share_one_small_cache():
    # Sixteen layouts through a cache of four: hits, misses and evictions race.
    ttlg.cache_resize(4)
    arrays = [random_array((3 + n, 5, 4), "<f8", seed=n) for n in range(16)]
    start = threading.Barrier(8)

    def work(seed):
        rng = np.random.default_rng(seed)
        start.wait()
        for n in rng.integers(0, len(arrays), 400):
            axes = tuple(int(axis) for axis in rng.permutation(3))
            assert bits(ttlg.transpose(arrays[n], axes)) == bits(arrays[n].transpose(axes))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    info = ttlg.cache_info()
    assert info.hits + info.misses == 8 * 400
    assert info.currsize == 4
