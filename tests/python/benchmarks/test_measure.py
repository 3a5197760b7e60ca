"""Contenders do the whole work, and what is measured has been verified."""

import functools
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks import contenders as module
from ttlg.benchmarks import measure as measuring
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import COPIES, OURS, RESULTS, Contender, available_cores, contenders
from ttlg.benchmarks.measure import (
    Result,
    WrongResultError,
    bandwidth,
    measure,
    random_array,
    time_calls,
    verify,
)

TINY = Case("tiny", "3-D", (6, 5, 4), (2, 0, 1), "float64")


@pytest.fixture
def arrays():
    x = random_array(TINY.shape, TINY.dtype)
    return x, np.empty(TINY.out_shape, x.dtype), x.transpose(TINY.axes).copy()


@pytest.fixture
def torch():
    library = pytest.importorskip("torch")
    before = library.get_num_threads()
    yield library
    library.set_num_threads(before)


def lie_by_one_bit(x, out, axes):
    np.copyto(out, x.transpose(axes))
    out.reshape(-1).view(np.uint8)[-1] ^= 1


LIARS = {
    "one bit": lie_by_one_bit,
    "last element": lambda x, out, axes: np.copyto(out.ravel()[:-1], x.transpose(axes).flat[:-1]),
    "inverse": lambda x, out, axes: np.copyto(out.ravel(), x.transpose(np.argsort(axes)).flat),
    "nothing": lambda x, out, axes: None,
}


def test_verify_accepts_the_right_result(arrays):
    x, out, expected = arrays
    verify(Contender("right", lambda: np.copyto(out, x.transpose(TINY.axes))), out, expected)
    assert out.tobytes() == expected.tobytes()
    verify(Contender("returns", lambda: expected.copy(), returns=True), out, expected)


@pytest.mark.parametrize("liar", LIARS.values(), ids=LIARS)
def test_verify_refuses_a_wrong_result(arrays, liar):
    x, out, expected = arrays
    np.copyto(out, expected)  # what the contender before has left
    with pytest.raises(WrongResultError, match="liar gave a wrong result"):
        verify(Contender("liar", lambda: liar(x, out, TINY.axes)), out, expected)
    converted = Contender("liar", lambda: expected.astype(np.float32), returns=True)
    with pytest.raises(WrongResultError):
        verify(converted, out, expected)


def test_measure_raises_on_a_wrong_contender(monkeypatch):
    def with_liar(x, out, axes, threads, peers):
        liar = Contender("liar", lambda: lie_by_one_bit(x, out, axes))
        return [*contenders(x, out, axes, threads, peers), liar]

    monkeypatch.setattr(measuring, "contenders", with_liar)
    with pytest.raises(WrongResultError, match=r"liar .* shape=\(6, 5, 4\).* on 1 thread"):
        measure(TINY, [1], 1)


def test_measure_times_every_contender():
    results = measure(TINY, [1, 2], 1)
    assert [result.threads for result in results] == [1, 2]
    for result in results:
        assert result.case == TINY
        assert {*COPIES, *OURS, "numpy"} <= set(result.seconds)
        assert all(seconds > 0 for seconds in result.seconds.values())
        assert result.kernel == ttlg.plan(TINY.shape, TINY.axes, TINY.dtype).kernel


def test_time_calls_takes_the_median_of_samples_and_prepares_each_outside_of_its_time():
    calls, events = {"even": 0, "one slow": 0}, []

    def call(name, seconds=0.006):
        calls[name] += 1
        time.sleep(0.3 if (name, calls[name]) == ("one slow", 3) else seconds)

    def prepare():
        events.append("prepare")
        time.sleep(0.1)

    entrants = [Contender(name, functools.partial(call, name)) for name in calls]
    times = time_calls(entrants, 3)
    # Once for how many calls make a sample, which follows a call of the same contender.
    assert calls == {"even": 1 + 2 * 3, "one slow": 1 + 2 * 3}
    assert all(0.006 <= seconds < 0.3 for seconds in times.values())
    prepared = Contender(
        "prepared", lambda: events.append("call") or time.sleep(0.006), prepare=prepare
    )
    assert time_calls([prepared], 2)["prepared"] < 0.1
    assert events == ["prepare", "call"] * (1 + 2 * 2)


def test_time_calls_repeats_short_calls_in_a_sample():
    calls = []
    seconds = time_calls([Contender("short", lambda: calls.append(1))], 1)["short"]
    assert len(calls) > 100
    assert seconds < 0.001


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "uint16"])
def test_random_arrays_are_numbers_and_the_same_every_time(dtype):
    x = random_array((50, 50), dtype)
    assert x.dtype == dtype
    assert not np.isnan(x).any()
    assert len(np.unique(x)) > 200
    np.testing.assert_array_equal(x, random_array((50, 50), dtype))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "uint16"])
def test_every_contender_is_right(dtype, threads):
    axes = (1, 2, 0)
    x = random_array((300, 31, 17), dtype)
    out = np.empty((31, 17, 300), dtype)
    for entrant in contenders(x, out, axes, threads):
        verify(entrant, out, x if entrant.name in COPIES else x.transpose(axes).copy())


def test_copies_stream_and_use_the_threads_as_named(spy):
    made = spy(ttlg.Plan, "from_json", lambda plan, text: plan)
    x, out = np.zeros((2, 3)), np.zeros((3, 2))
    names = [entrant.name for entrant in module.copies(x, out, 2)]
    assert names == list(COPIES)
    assert [plan.kernel for plan in made] == ["copy", "copy"]
    assert [plan.parameters["streaming"] for plan in made] == [False, True]
    assert [plan.parameters["threads"] for plan in made] == [2, 2]


def test_cold_call_plans_again_and_the_other_does_not(arrays):
    x, out, _ = arrays
    entrants = {entrant.name: entrant for entrant in module.ours(x, out, TINY.axes, 1)}
    for _ in range(3):
        entrants["ttlg-cold"].call()
    assert ttlg.cache_info().misses == 1  # the cache is cleared, counts and all, before each call
    for _ in range(3):
        entrants["ttlg"].call()
        entrants["ttlg-plan"].call()
    assert ttlg.cache_info()[:2] == (3, 1)


def test_absent_peers_take_no_part(monkeypatch, arrays):
    x, out, _ = arrays
    for name in ("torch", "jax", "hptt"):
        monkeypatch.setitem(sys.modules, name, None)
    names = [entrant.name for entrant in contenders(x, out, TINY.axes, available_cores())]
    assert names == [*COPIES, *OURS, "numpy"]


@pytest.mark.parametrize("threads", [1, 2])
def test_torch_uses_the_threads(torch, arrays, threads):
    x, out, expected = arrays
    verify(module.torch(x, out, TINY.axes, threads), out, expected)
    assert torch.get_num_threads() == threads


def test_jax_takes_part_with_all_cores_only(monkeypatch, arrays):
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    x, out, expected = arrays
    monkeypatch.setattr(module, "available_cores", lambda: 3)
    assert module.jax(x, out, TINY.axes, 2) is None
    verify(module.jax(x, out, TINY.axes, 3), out, expected)
    assert jax.config.jax_enable_x64 == before


def test_hptt_is_called_as_its_python_module_documents(monkeypatch, arrays):
    x, out, expected = arrays
    threads = []

    def update(perm, alpha, a, beta, b, numThreads=-1):  # noqa: N803
        threads.append(numThreads)
        b[...] = alpha * a.transpose(perm) + (beta * b if beta else 0)

    monkeypatch.setitem(sys.modules, "hptt", SimpleNamespace(tensorTransposeAndUpdate=update))
    verify(module.hptt(x, out, TINY.axes, 2), out, expected)
    assert threads == [2]
    assert module.hptt(x.view(np.int64), out.view(np.int64), TINY.axes, 2) is None


def test_rates():
    seconds = {"copy-numpy": 3.0, "copy-plain": 2.0, "copy-streaming": 4.0, "ttlg": 5.0, "torch": 8}
    result = Result(TINY, 1, "tile", seconds)
    assert result.ceiling == 2.0
    assert result.share("ttlg") == 0.4
    assert result.speed_up("torch") == 1.6
    assert TINY.bytes == 6 * 5 * 4 * 8
    assert bandwidth(TINY, 1e-6) == pytest.approx(2 * 960 / 1e3)


@pytest.mark.parametrize(
    ("suite", "names"),
    [
        ("call", {"ttlg", "ttlg-torch", "numpy", "torch"}),
        ("orders", {"ttlg", "numpy", "torch"}),
        ("fresh", {"ttlg", *RESULTS}),
    ],
)
def test_whole_calls_return_a_new_array(torch, suite, names):
    case = replace(TINY, suite=suite, axes=(2, 1, 0))
    peers = () if suite == "fresh" else measuring.PEERS
    (result,) = measure(case, [2], 1, peers=peers)
    others = {"ttlg-jit", "jax"} if suite == "call" else set()
    assert {*COPIES, *names} <= set(result.seconds) <= {*COPIES, *names, *others}
    assert ("ttlg-jit" in result.seconds) == ("jax" in result.seconds)
    if peers:
        assert ttlg.get_num_threads() == torch.get_num_threads() == 2
    x = random_array(case.shape, case.dtype)
    out = np.empty(case.out_shape)
    calls = {
        "call": lambda: module.whole_calls(x, case.axes, 1),
        "orders": lambda: module.fortran_orders(x, 1),
        "fresh": lambda: [next(module.calls_for_result(x, out, case.axes, 1))],
    }[suite]()
    for call in calls:
        first, second = np.asarray(call.call()), np.asarray(call.call())
        assert first.flags.c_contiguous
        assert not np.shares_memory(first, x)
        assert suite == "orders" or not np.shares_memory(first, second)
        assert first.tobytes() == second.tobytes() == x.transpose(case.axes).tobytes()
    if suite == "fresh":
        _, into = module.calls_for_result(x, out, case.axes, 1)
        assert into.call() is out
