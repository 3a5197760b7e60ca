"""Contenders do the whole work, and take part where they can; times are of calls alone."""

import functools
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks import contenders as module
from ttlg.benchmarks import views
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import COPIES, Contender, optional
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.measure import measure as measure_contraction
from ttlg.benchmarks.measure import measure, random_array, time_calls
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.contenders import OPTIONS
from ttlg.benchmarks.sparse.measure import measure as measure_sparse

from .conftest import MATRIX, NINE, TENSOR

TINY = Case("tiny", "3-D", (60, 31, 17), (2, 0, 1), "float64")
# What some contenders need.
LIBRARIES = {
    "scipy": "scipy.sparse",
    "pydata": "sparse",
    "ttlg-torch": "torch",
    "ttlg-jit": "jax",
    "opencv": "cv2",
    **{name: name for name in ("torch", "jax", "hptt", "opt_einsum", "pytblis")},
}


@pytest.fixture(autouse=True)
def torch():
    """Put back PyTorch's number of threads."""
    library = optional("torch")
    before = library and library.get_num_threads()
    yield library
    if library:
        library.set_num_threads(before)


def taking_part():
    """List cases, who takes part, and who does where its library is installed."""
    ours, sparse, whole = "ttlg-plan ttlg ttlg-cold numpy", "ttlg ttlg-fresh", "torch ttlg-torch"
    for dtype in ("float32", "float64", "uint8", "uint16"):
        floats = " hptt" if dtype.startswith("float") else ""
        yield replace(TINY, dtype=dtype), ours, f"torch jax{floats}"
    yield replace(TINY, suite="call"), "ttlg numpy", f"{whole} jax ttlg-jit"
    yield replace(TINY, suite="fresh"), "ttlg ttlg-kept ttlg-out numpy", f"{whole} jax ttlg-jit"
    yield replace(TINY, suite="orders", axes=(2, 1, 0)), "ttlg numpy", "torch"
    # Of views JAX and HPTT take no part, and OpenCV does in those that it has a call for.
    turned = next(case for case in views.views() if "rot90" in case.name)
    for case in (turned, next(views.views())):
        yield case, f"{ours} ttlg-straight", "torch opencv"
    yield replace(turned, dtype="float64"), f"{ours} ttlg-straight", "torch"
    yield TENSOR, sparse, f"scipy pydata {whole}"
    yield replace(TENSOR, axes=(0, 3, 1, 2)), sparse, f"scipy pydata {whole}"
    yield replace(TENSOR, suite="sparse-options"), " ".join(["ttlg", *OPTIONS]), ""
    moving = replace(NINE[0], equation="abcd,dbea->ec", extents=dict.fromkeys("abcde", 4))
    for case in (NINE[0], moving):
        yield case, "ttlg numpy", "torch opt_einsum pytblis"


def measured(case, *threads):
    other = {SparseCase: measure_sparse, ContractionCase: measure_contraction}
    return other.get(type(case), measure)(case, threads, 1)


@pytest.mark.parametrize("installed", [True, False], ids=["installed", "absent"])
@pytest.mark.parametrize(("case", "names", "peers"), [*taking_part()])
def test_all_take_part_and_are_right(case, names, peers, installed, one_call, torch, monkeypatch):
    """As measuring verifies them; JAX takes part with all cores only."""
    if not installed:
        for library in (*LIBRARIES.values(), "threadpoolctl"):
            monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    expected = {*names.split(), *(each for each in peers.split() if optional(LIBRARIES[each]))}
    one, two = measured(case, 1, 2)
    assert (one.case, one.threads, two.threads) == (case, 1, 2)
    assert {*two.seconds} - {*COPIES} == expected
    assert {*one.seconds} - {*COPIES} == expected - {"jax", "ttlg-jit"}
    assert min(*one.seconds.values(), *two.seconds.values()) > 0
    assert getattr(one, "extra_bytes", None) is None
    if type(case) is Case:
        assert one.kernel == ttlg.plan(case.shape, case.axes, case.dtype, threads=1).kernel
    if isinstance(case, ContractionCase):
        assert min(one.first, one.predicted) > 0
        assert one.layout
    elif "torch" in expected:
        assert torch.get_num_threads() == 2
    if "jax" in expected:
        assert not sys.modules["jax"].config.jax_enable_x64


def test_rows_take_part(one_call):
    pytest.importorskip("scipy.sparse")
    (result,) = measured(MATRIX, 1)
    peers = {"scipy", *(("torch", "ttlg-torch") if optional("torch") else ())}
    assert {*result.seconds} == {*COPIES, "ttlg", "ttlg-fresh"} | peers


def test_hptt_is_called_as_its_python_module_documents(monkeypatch, one_call):
    threads = []

    def update(perm, alpha, a, beta, b, numThreads=-1):  # noqa: N803
        threads.append(numThreads)
        b[...] = alpha * a.transpose(perm) + (beta * b if beta else 0)

    monkeypatch.setitem(sys.modules, "hptt", SimpleNamespace(tensorTransposeAndUpdate=update))
    (result,) = measured(TINY, 2)
    assert "hptt" in result.seconds
    assert set(threads) == {2}
    (result,) = measured(replace(TINY, dtype="uint8"), 2)
    assert "hptt" not in result.seconds


def test_whole_calls_return_a_new_array(torch):
    x, axes = random_array((6, 5, 4), "float64"), (2, 1, 0)
    out = np.empty(x.shape[::-1])
    kept, into = module.calls_for_result(x, out, axes, 2)
    new = [kept, *module.whole_calls(x, axes, 2, ("numpy", "torch"))]
    assert ttlg.get_num_threads() == 2
    assert torch is None or torch.get_num_threads() == 2
    for each in (*new, *module.fortran_orders(x, 1)):
        first, second = np.asarray(each.call()), np.asarray(each.call())
        assert first.flags.c_contiguous
        assert not np.shares_memory(first, x)
        assert each not in new or not np.shares_memory(first, second)
    assert into.call() is out


def test_time_calls_takes_the_median_of_samples_and_prepares_each_outside_of_its_time():
    calls, events = {"even": 0, "one slow": 0}, []

    def call(name, seconds=0.006):
        calls[name] += 1
        time.sleep(0.6 if (name, calls[name]) == ("one slow", 3) else seconds)

    def prepare():
        events.append("prepare")
        time.sleep(0.1)

    entrants = [Contender(name, functools.partial(call, name)) for name in calls]
    times = time_calls(entrants, 3)
    # Once for how many calls make a sample, which follows a call of the same contender.
    assert calls == {"even": 1 + 2 * 3, "one slow": 1 + 2 * 3}
    assert all(0.006 <= seconds < 0.2 for seconds in times.values())
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


def test_copies_stream_and_use_the_threads_as_named(spy):
    made = spy(ttlg.Plan, "from_json", lambda plan, text: plan)
    assert [each.name for each in module.copies(np.zeros(6), np.zeros(6), 2)] == list(COPIES)
    assert [plan.kernel for plan in made] == ["copy", "copy"]
    assert [plan.parameters["streaming"] for plan in made] == [False, True]
    assert [plan.parameters["threads"] for plan in made] == [2, 2]


def test_cold_call_plans_again_and_the_other_does_not():
    x, out = np.empty((6, 5, 4)), np.empty((4, 6, 5))
    entrants = {entrant.name: entrant for entrant in module.ours(x, out, (2, 0, 1), 1)}
    for _ in range(3):
        entrants["ttlg-cold"].call()
    assert ttlg.cache_info().misses == 1  # the cache is cleared, counts and all, before each call
    for _ in range(3):
        entrants["ttlg"].call()
        entrants["ttlg-plan"].call()
    assert ttlg.cache_info()[:2] == (3, 1)
