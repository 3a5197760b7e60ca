"""How much may wait in the result pool by default: a share of the memory that there is."""

import resource
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import ttlg
from ttlg._machine import memory as _memory

GIB = 1 << 30


@pytest.fixture
def answers():
    """Let the pool ask how much may wait: list the answers, the last of which is to come again."""
    given = [GIB]

    def ask():
        given.append(given[-1])
        return given[-1]

    ttlg._core.set_result_pool(ask)
    yield given
    ttlg.set_result_pool(None)


@pytest.mark.parametrize(
    ("available", "workers", "room"),
    [
        ([4 * GIB], [], GIB // 2),
        ([1 << 50], [], 2 * GIB),
        ([4 * GIB, GIB, 2 * GIB], [], GIB // 8),
        ([4 * GIB, GIB // 2], [], GIB // 16),
        ([4 * GIB], [10**9], 10**9 // 32),
        ([4 * GIB], [32 * GIB, 8 * GIB], GIB // 4),
        ([0], [], 0),
    ],
)
def test_the_scarcest_memory_decides(available, workers, room):
    assert _memory._share(available, workers) == room


def test_this_machine():
    assert 0 < _memory.room_for_waiting_results() <= 2 * GIB


def group(folder, limit, use, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, use), strict=True):
        (folder / name).write_text(f"{text}\n")


@pytest.mark.parametrize("version", [1, 2])
def test_control_groups_and_those_around_them(control_groups, version):
    if version == 2:
        root, names = control_groups, ("memory.max", "memory.current")
        line, unlimited = "0::/outer/inner", "max"
    else:
        root = control_groups / "memory"
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        line, unlimited = "4:memory:/outer/inner", 0x7FFFFFFFFFFFF000
    group(root, unlimited, 10, names)
    group(root / "outer", 1000, 300, names)
    group(root / "outer/inner", unlimited, 200, names)
    (control_groups / "membership").write_text(f"2:cpu,cpuacct:/outer\n{line}\n")
    assert list(_memory._available_in_cgroups()) == [700]
    for use in (390, 500):
        group(root / "outer/inner", 400, use, names)
        assert sorted(_memory._available_in_cgroups()) == [100, 700]  # a quarter may be cached
    assert _memory.room_for_waiting_results() == 100 // 8


def test_without_control_groups(control_groups):
    assert list(_memory._available_in_cgroups()) == []


@pytest.mark.usefixtures("plain_malloc")
@pytest.mark.parametrize("name", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process(run_python, name):
    script = f"""
        import resource
        from ttlg._machine import memory as _memory
        assert list(_memory._available_within_limits()) == []
        resource.setrlimit(resource.{name}, (4 << 30, 4 << 30))
        (free,) = _memory._available_within_limits()
        assert 1 << 30 < free < 4 << 30
        resource.setrlimit(resource.{name}, (1 << 20, 1 << 20))
        assert list(_memory._available_within_limits()) == [0]
        assert _memory.room_for_waiting_results() == 0
    """
    assert resource.getrlimit(getattr(resource, name))[0] == resource.RLIM_INFINITY
    run_python(script, OPENBLAS_NUM_THREADS="1")


def fake_distributed(workers):
    return SimpleNamespace(Worker=SimpleNamespace(_instances=workers))


def test_workers_of_dask(monkeypatch):
    managers = [SimpleNamespace(memory_limit=limit) for limit in (5, None, 0)]
    # The last is of another version, or not set up yet.
    workers = [*(SimpleNamespace(memory_manager=each) for each in managers), SimpleNamespace()]
    monkeypatch.setitem(sys.modules, "distributed.worker", fake_distributed(workers))
    assert _memory._limits_of_dask_workers() == [5]


def test_a_worker_that_comes_meanwhile_leaves_no_room(monkeypatch):
    class Changing:
        def __iter__(self):
            raise RuntimeError("Set changed size during iteration")

    monkeypatch.setitem(sys.modules, "distributed.worker", fake_distributed(Changing()))
    assert _memory._limits_of_dask_workers() == [0]
    assert _memory.room_for_waiting_results() == 0


@pytest.mark.parametrize("as_plan", [False, True])
def test_the_limit_follows_at_most_once_a_second(answers, as_plan):
    x = np.ones((1024, 1024))
    plan = ttlg.plan_for(x)
    call = plan if as_plan else ttlg.transpose

    def limit():
        return ttlg.show_config()["cpu"]["result_pool_limit_bytes"]

    assert (limit(), len(answers)) == (GIB, 2)
    for _ in range(100):
        call(x)
    assert len(answers) < 11
    answers.append(3 << 20)
    end = time.monotonic() + 20
    while limit() == GIB and time.monotonic() < end:
        call(x)
    assert limit() == 3 << 20
    count = len(answers)
    ttlg.set_result_pool(5 << 20)
    for _ in range(100):
        call(x)
    assert (limit(), len(answers)) == (5 << 20, count)


def test_calls_that_pool_nothing_do_not_ask(answers):
    x = np.ones((1000, 1000))
    out = np.empty_like(x)
    count = len(answers)
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        ttlg.transpose(x[:100])
        ttlg.transpose(x, out=out)
    assert len(answers) == count
    ttlg.transpose(x)
    assert len(answers) == count + 1


def test_an_error_of_the_source_is_passed_on():
    def fail():
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        ttlg._core.set_result_pool(fail)
    ttlg.set_result_pool(None)
    assert np.array_equal(ttlg.transpose(np.eye(2000)), np.eye(2000))
