"""Threads: how many, the same result for any number, the GIL, and children of fork and spawn."""

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ttlg

from .arrays import bits, random_array, random_raw


def test_set_and_get():
    ttlg.set_num_threads(None)
    default = ttlg.get_num_threads()
    assert default >= 1
    for n in (1, 2, 5):
        ttlg.set_num_threads(n)
        assert ttlg.get_num_threads() == n
    ttlg.set_num_threads(None)
    assert ttlg.get_num_threads() == default


def test_a_refused_number_changes_nothing():
    ttlg.set_num_threads(3)
    for n in (0, -1, 1.5, "2"):
        with pytest.raises((TypeError, ValueError)):
            ttlg.set_num_threads(n)
    assert ttlg.get_num_threads() == 3


def test_plans_take_as_many_threads_as_allowed_and_worth_it():
    large = (4096, 4096)
    ttlg.set_num_threads(3)
    assert ttlg.plan(large).parameters["threads"] == 3
    assert ttlg.plan(large, threads=2).parameters["threads"] == 2
    assert ttlg.plan(large, threads=1).parameters["threads"] == 1
    assert ttlg.plan((10, 10), threads=8).parameters["threads"] == 1


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((1500, 1501), (1, 0)), ((33, 70, 501), (1, 0, 2)), ((9, 8, 7, 6, 5, 40), (5, 3, 1, 0, 2, 4))],
)
def test_any_number_of_threads_gives_the_same_bits(shape, axes, threads):
    x = random_array(shape, "<f8")
    assert bits(ttlg.transpose(x, axes, threads=threads)) == bits(x.transpose(axes))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"OMP_NUM_THREADS": "1"}, 1),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "3", "TTLG_NUM_THREADS": "5"}, 5),
        ({"TTLG_NUM_THREADS": "1"}, 1),
        ({"OMP_NUM_THREADS": "3", "TTLG_NUM_THREADS": ""}, 3),
    ],
    ids=str,
)
def test_environment(run_python, environment, expected):
    script = """
        import ttlg
        print(ttlg.get_num_threads(), ttlg.plan((4096, 4096)).parameters["threads"])
        ttlg.set_num_threads(2)
        print(ttlg.get_num_threads())
        ttlg.set_num_threads(None)
        print(ttlg.get_num_threads())
    """
    result = run_python(script, **environment)
    numbers = [str(expected), str(expected), "2", str(expected)]
    assert result.stdout.split() == numbers, result.stderr


def test_the_default_is_what_openmp_finds(run_python):
    script = """
        import os
        os.environ.pop("OMP_NUM_THREADS", None)
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
        import ttlg
        print(ttlg.get_num_threads())
    """
    assert run_python(script).stdout == "1\n"


@pytest.mark.parametrize("value", ["0", "-1", "1025", "two", "1.5", " ", "9" * 20, "9" * 5000])
def test_invalid_environment(run_python, value):
    result = run_python("import ttlg", TTLG_NUM_THREADS=value)
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1] == (
        f"ValueError: TTLG_NUM_THREADS must be from 1 to 1024, not {value!r}; unset it for "
        "OpenMP's number"
    )


def test_a_block_has_a_number_of_its_own():
    ttlg.set_num_threads(5)
    with ttlg.threads(2):
        assert ttlg.get_num_threads() == 2
        assert ttlg.plan((4096, 4096)).parameters["threads"] == 2
        assert ttlg.plan((4096, 4096), threads=3).parameters["threads"] == 3
        assert ttlg.show_config()["cpu"]["threads"] == 2
        with ttlg.threads(1):
            assert ttlg.get_num_threads() == 1
        with ttlg.threads(None):
            assert ttlg.get_num_threads() == 5
        ttlg.set_num_threads(4)
        assert ttlg.get_num_threads() == 2
    assert ttlg.get_num_threads() == 4


def test_calls_in_a_block_use_its_number():
    x = random_array((700, 1201), "<f4")
    for n in (1, 2, 1):
        ttlg.cache_clear()
        with ttlg.threads(n):
            assert bits(ttlg.transpose(x)) == bits(x.T)
            assert bits(ttlg.transpose(x, threads=n)) == bits(x.T)
        assert ttlg.cache_info()[:2] == (1, 1)  # the same plan: the same number of threads


def test_a_block_that_raises_ends_like_any_other():
    before = ttlg.get_num_threads()
    with pytest.raises(KeyError), ttlg.threads(before + 1):
        raise KeyError
    assert ttlg.get_num_threads() == before


@pytest.mark.parametrize("n", [0, -1, 1025, 1 << 70])
def test_a_block_needs_a_number_in_range(n):
    message = f"threads must be from 1 to 1024, not {n}"
    with pytest.raises(ValueError, match=message), ttlg.threads(n):
        pytest.fail("the block runs")


def test_a_block_needs_an_integer():
    message = r"threads must be an integer, not 1\.5"
    with pytest.raises(TypeError, match=message), ttlg.threads(1.5):
        pytest.fail("the block runs")


def test_a_function_may_be_decorated():
    @ttlg.threads(3)
    def number():
        return ttlg.get_num_threads()

    before = ttlg.get_num_threads()
    assert [number(), number()] == [3, 3]
    assert ttlg.get_num_threads() == before


def test_other_threads_have_numbers_of_their_own():
    ttlg.set_num_threads(6)
    everyone = threading.Barrier(3)

    def number_in_block(n):
        with ttlg.threads(n):
            everyone.wait(60)  # all are in their blocks
            seen = ttlg.get_num_threads()
            everyone.wait(60)
        return seen, ttlg.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        results = pool.map(number_in_block, (2, 3))
        with ttlg.threads(4):
            everyone.wait(60)
            assert ttlg.get_num_threads() == 4
            everyone.wait(60)
        assert list(results) == [(2, 6), (3, 6)]
        with ttlg.threads(4):
            assert pool.submit(ttlg.get_num_threads).result() == 6


def test_tasks_have_numbers_of_their_own():
    async def number_in_block(n, pauses):
        with ttlg.threads(n):
            for _ in range(pauses):
                await asyncio.sleep(0)
            return ttlg.get_num_threads(), await asyncio.to_thread(ttlg.get_num_threads)

    async def main():
        return await asyncio.gather(number_in_block(2, 1), number_in_block(3, 5))

    ttlg.set_num_threads(6)
    assert asyncio.run(main()) == [(2, 2), (3, 3)]
    assert ttlg.get_num_threads() == 6


def test_threadpoolctl_limits():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    ttlg.set_num_threads(None)
    default = ttlg.get_num_threads()
    for limit in (1, 2):
        with threadpoolctl.threadpool_limits(limit, user_api="openmp"):
            assert ttlg.get_num_threads() == limit
            assert ttlg.plan((4096, 4096)).parameters["threads"] == limit
    assert ttlg.get_num_threads() == default


def test_many_threads_share_one_plan():
    x = random_array((61, 43, 97), "<u2")
    plan = ttlg.plan(x.shape, (2, 0, 1), x.dtype)
    expected = bits(x.transpose(2, 0, 1))
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(lambda _: bits(plan(x)) == expected, range(200))
        assert all(results)


def test_many_threads_transpose_with_many_threads():
    arrays = [random_array((700 + n, 1201), "<f4", seed=n) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            results = pool.map(lambda x: ttlg.transpose(x, threads=2), arrays)
            for x, y in zip(arrays, results, strict=True):
                assert bits(y) == bits(x.T)


def test_settings_may_change_while_others_transpose():
    x = random_array((40, 50, 60), "<f4")
    expected = bits(x.T)
    done = threading.Event()

    def meddle():
        n = 0
        while not done.is_set():
            n += 1
            ttlg.set_num_threads(1 + n % 3)
            ttlg.cache_clear()
            ttlg.cache_resize(n % 5)

    with ThreadPoolExecutor(4) as pool:
        meddler = pool.submit(meddle)
        try:
            assert all(pool.map(lambda _: bits(ttlg.transpose(x)) == expected, range(150)))
        finally:
            done.set()
        meddler.result()


def ticks_while(call):
    """Count how often another thread gets to run during a call."""
    ticks = 0
    done = False

    def tick():
        nonlocal ticks
        while not done:
            ticks += 1
            time.sleep(1e-4)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        while not ticks:
            time.sleep(1e-3)
        before = ticks
        call()
        return ticks - before
    finally:
        done = True
        ticker.join()


def test_the_gil_is_released():
    # The plain reference kernel keeps one core busy for a good while.
    x = random_array((1000, 2000), "u1")
    plan = ttlg.plan(x.shape, dtype=x.dtype, kernel="reference")
    out = np.empty(x.T.shape, x.dtype)
    # Never forced to hand over between bytecodes: others run only where the GIL is let go.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        assert any(ticks_while(lambda: plan(x, out)) >= 5 for _ in range(20))
    finally:
        sys.setswitchinterval(interval)


PARENT = """
    import os
    import numpy as np
    import ttlg

    x = np.random.default_rng(0).integers(0, 256, (1500, 2001), np.uint8)

    def right(_=None):
        assert ttlg.plan(x.shape, dtype="u1", threads=2).parameters["threads"] == 2
        return np.array_equal(ttlg.transpose(x, threads=2), x.T)

    def fork_and_wait():
        child = os.fork()
        if child == 0:
            os._exit(0 if right() and right() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("before", ["", "assert right()"], ids=["cold", "after OpenMP ran"])
def test_fork(run_python, before):
    script = f"""{PARENT}
    {before}
    assert fork_and_wait() == 0
    assert right()
    assert fork_and_wait() == 0
    print("done")
    """
    # A child that waits for threads it does not have would hang: the timeout makes that a failure.
    result = run_python(script)
    assert result.stdout == "done\n", result.stderr


def test_fork_after_another_library_ran_openmp(run_python):
    # The pool belongs to the OpenMP library, not to ttlg, which must not wait for it either.
    script = f"""{PARENT}
    import ctypes, pathlib
    maps = pathlib.Path("/proc/self/maps").read_text().split()
    loaded = [path for path in maps if "libgomp" in path]
    if loaded:
        nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
        ctypes.CDLL(loaded[0]).GOMP_parallel(nothing, None, 2, 0)
        print(fork_and_wait())
    else:
        print("no libgomp")
    """
    result = run_python(script)
    if result.stdout == "no libgomp\n":
        pytest.skip("ttlg is built with another OpenMP library")
    assert result.stdout == "0\n", result.stderr


def test_fork_while_other_threads_transpose(run_python):
    script = f"""{PARENT}
    import threading
    stop = threading.Event()
    def keep_going():
        while not stop.is_set():
            assert right()
    workers = [threading.Thread(target=keep_going) for _ in range(2)]
    for worker in workers: worker.start()
    codes = [fork_and_wait() for _ in range(5)]
    stop.set()
    for worker in workers: worker.join()
    print(codes)
    """
    result = run_python(script)
    assert result.stdout == "[0, 0, 0, 0, 0]\n", result.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run_python, method):
    script = """
        import multiprocessing
        import sys
        import numpy as np
        import ttlg

        def work(arguments):
            plan, x = arguments
            return plan(x), ttlg.transpose(x, threads=2)

        if __name__ == "__main__":
            x = np.random.default_rng(0).integers(0, 256, (1100, 1201), np.uint8)
            plan = ttlg.plan(x.shape, dtype="u1", threads=2)
            assert plan.parameters["threads"] == 2
            assert np.array_equal(plan(x), x.T)
            with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                for pair in pool.map(work, [(plan, x)] * 4):
                    assert all(np.array_equal(y, x.T) for y in pair)
            print("done")
    """
    result = run_python(script, method)
    assert result.stdout == "done\n", result.stderr


def test_overlapping_inputs_are_read_by_many_threads_at_once():
    raw = random_raw(1 << 20)
    views = [raw[n:][: 1 << 19].reshape(512, 1024) for n in range(0, 4096, 512)]
    with ThreadPoolExecutor(8) as pool:
        for x, y in zip(views, pool.map(ttlg.transpose, views), strict=True):
            assert bits(y) == bits(x.T)
