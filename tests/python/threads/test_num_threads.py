"""How many threads: for the process, for a block, for a call, and from the environment."""

import asyncio
import importlib
from concurrent.futures import ThreadPoolExecutor

import pytest

import ttlg
from ttlg._machine import default_threads as _threads

from ..arrays import bits, random_array


def test_a_refused_number_changes_nothing():
    ttlg.set_num_threads(3)
    for n in (0, -1, 1.5, "2"):
        with pytest.raises((TypeError, ValueError)):
            ttlg.set_num_threads(n)
    assert ttlg.get_num_threads() == 3


def test_plans_take_as_many_threads_as_allowed_and_worth_it():
    ttlg.set_num_threads(3)
    for shape, given, threads in (
        ((4096, 4096), None, 3),
        ((4096, 4096), 2, 2),
        ((4096, 4096), 1, 1),
        ((10, 10), 8, 1),
    ):
        assert ttlg.plan(shape, threads=given).parameters["threads"] == threads


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"OMP_NUM_THREADS": "1"}, 1),
        ({"OMP_NUM_THREADS": "3, 2,1"}, 3),  # the outermost level
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


def test_what_openmp_would_not_take_is_ignored(run_python):
    script = "import ttlg; print(ttlg.get_num_threads())"
    usual, *others = (
        run_python(script, OMP_NUM_THREADS=value).stdout
        for value in ("", "0", "-3", "two", "7x", "9" * 5000)
    )
    assert set(others) == {usual}


def test_the_affinity_mask_counts(run_python):
    result = run_python("""
        import os
        os.environ.pop("OMP_NUM_THREADS", None)
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
        import ttlg
        print(ttlg.get_num_threads())
    """)
    assert result.stdout == "1\n"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("quota", "processors"), [(50_000, 1), (100_000, 1), (250_000, 3), (None, 8), (99_000_000, 8)]
)
def test_control_groups_count(control_groups, monkeypatch, version, quota, processors):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_threads, "_usable_processors", lambda: 8)
    membership = control_groups / "membership"
    if version == 2:
        membership.write_text("0::/outer/inner\n")
        files = {"cpu.max": f"{'max' if quota is None else quota} 100000"}
        inner = control_groups / "outer/inner"
    else:
        membership.write_text("4:cpu,cpuacct:/outer/inner\n")
        files = {"cpu.cfs_quota_us": quota or -1, "cpu.cfs_period_us": 100_000}
        inner = control_groups / "cpu/outer/inner"
    inner.mkdir(parents=True)
    assert _threads.default() == 8
    for name, text in files.items():
        (inner.parent / name).write_text(f"{text}\n")  # of the group around this one
    assert _threads.default() == processors


@pytest.mark.parametrize("value", ["0", "-1", "1025", "two", "1.5", "9" * 20, "9" * 5000])
def test_invalid_environment(run_python, value):
    result = run_python("import ttlg", status=1, TTLG_NUM_THREADS=value)
    assert result.stderr.splitlines()[-1] == (
        f"ValueError: TTLG_NUM_THREADS must be from 1 to 1024, not {value!r}; unset it for "
        "the default"
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


@pytest.mark.parametrize("n", [0, -1, 1025, 1 << 70, 1.5])
def test_a_block_needs_an_integer_in_range(n):
    error, allowed = (TypeError, "an integer") if n == 1.5 else (ValueError, "from 1 to 1024")
    with pytest.raises(error, match=f"threads must be {allowed}, not {n}"), ttlg.threads(n):
        pytest.fail("the block runs")


def test_a_function_may_be_decorated_and_a_block_may_raise():
    @ttlg.threads(3)
    def number():
        return ttlg.get_num_threads()

    before = ttlg.get_num_threads()
    assert [number(), number()] == [3, 3]
    with pytest.raises(KeyError), ttlg.threads(before + 1):
        raise KeyError
    assert ttlg.get_num_threads() == before


def test_other_threads_do_not_have_the_number_of_a_block():
    ttlg.set_num_threads(6)
    with ThreadPoolExecutor(1) as pool, ttlg.threads(4):
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


@pytest.fixture
def threadpoolctl():
    """Return threadpoolctl, to which ttlg is known."""
    module = pytest.importorskip("threadpoolctl")
    importlib.import_module("ttlg.threadpools")
    return module


@pytest.mark.parametrize("chosen", [None, 4])
def test_threadpoolctl_limits(threadpoolctl, chosen):
    ttlg.set_num_threads(chosen)
    before = ttlg.get_num_threads()
    for limit in (1, 2, 100):
        for apis in ({"user_api": "ttlg"}, {}):
            with threadpoolctl.threadpool_limits(limit, **apis):
                assert ttlg.get_num_threads() == min(before, limit)
                plan = ttlg.plan((4096, 4096))
                assert plan.parameters["threads"] == min(before, limit)
                with ttlg.threads(3):
                    assert ttlg.get_num_threads() == 3
                assert ttlg.plan((4096, 4096), threads=3).parameters["threads"] == 3
            assert ttlg.get_num_threads() == before
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert ttlg.get_num_threads() == before


def test_threadpoolctl_knows_ttlg_once(threadpoolctl):
    found = [each for each in threadpoolctl.threadpool_info() if each["user_api"] == "ttlg"]
    assert [each["num_threads"] for each in found] == [ttlg.get_num_threads()]
    assert found[0]["version"] == ttlg.__version__


@pytest.mark.parametrize(
    "imports",
    ["import threadpoolctl, ttlg", "import ttlg, threadpoolctl, ttlg.threadpools"],
)
def test_threadpoolctl_in_either_order(run_python, imports):
    pytest.importorskip("threadpoolctl")
    script = f"""
        {imports}
        with threadpoolctl.threadpool_limits(1):
            print(ttlg.get_num_threads())
        print(ttlg.get_num_threads())
    """
    result = run_python(script, OMP_NUM_THREADS="3")
    assert result.stdout.split() == ["1", "3"], result.stderr


def test_tensors_use_the_number_of_pytorch(run_python):
    pytest.importorskip("torch")
    script = """
        import threadpoolctl
        import torch
        import ttlg

        x = torch.rand(2000, 2000)
        torch.set_num_threads(3)

        def numbers():
            plans = ttlg.plan_for(x), ttlg.plan_for(x, inplace=True), ttlg.plan_for(x.numpy())
            ttlg.cache_clear()
            ttlg.transpose(x)
            ttlg.plan_for(x)
            return *(plan.parameters["threads"] for plan in plans), ttlg.cache_info().hits

        print(*numbers())
        with ttlg.threads(5):
            print(*numbers())
        ttlg.set_num_threads(4)
        print(*numbers())
    """
    result = run_python(script, OMP_NUM_THREADS="2")
    assert result.stdout.splitlines() == ["3 3 2 1", "5 5 5 1", "4 4 4 1"], result.stderr
