"""Contractions are measured as stated, and a wrong result is refused."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.contenders import Contender, optional
from ttlg.benchmarks.contraction import contenders as contending
from ttlg.benchmarks.contraction import measure as measuring
from ttlg.benchmarks.contraction import report
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.measure import ContractionResult, check, measure
from ttlg.benchmarks.measure import WrongResultError

TINY = ContractionCase(
    "tiny", "first", "abcd,dbea->ec", {"a": 3, "b": 4, "c": 5, "d": 6, "e": 7}, "float64"
)
VIEW = ContractionCase("tiny", "second", "ab,bc->ca", {"a": 4, "b": 5, "c": 6}, "float32")


@pytest.mark.parametrize("case", [TINY, VIEW], ids=["moves", "view"])
def test_every_contender_is_right(case):
    first, second = measure(case, [1, 2], 1)
    assert (first.case, first.threads, second.threads) == (case, 1, 2)
    assert {"ttlg", "numpy", "opt_einsum"} <= set(first.seconds)
    for name in ("torch", "pytblis"):
        assert (name in first.seconds) == (optional(name) is not None)
    assert all(seconds > 0 for seconds in (*first.seconds.values(), first.first, first.predicted))
    assert first.layout


def test_absent_libraries_take_no_part(monkeypatch):
    for name in ("torch", "opt_einsum", "pytblis", "threadpoolctl"):
        monkeypatch.setitem(sys.modules, name, None)
    entrants = contending.contenders(TINY, contending.operands(TINY))
    assert [entrant.name for entrant in entrants] == ["ttlg", "numpy"]
    assert contending.products() is None
    with contending.threads(2):
        pass


def test_threads_are_those_of_all_libraries_and_put_back(monkeypatch):
    before = ttlg.get_num_threads()
    asked = []

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


LIARS = {
    "one element": lambda x: x + np.eye(*x.shape) * 1e-12,
    "transposed": lambda x: x.T,
    "other dtype": lambda x: x.astype(np.float32),
    "no number": lambda x: x * np.nan,
    "less precise": lambda x: x.astype(np.float32).astype(np.float64),
}


@pytest.mark.parametrize("lie", LIARS.values(), ids=LIARS)
@pytest.mark.parametrize("liar", ["ttlg", "opt_einsum"])
def test_wrong_results_are_refused(monkeypatch, lie, liar):
    def with_liar(case, arrays):
        for each in contending.contenders(case, arrays):
            wrong = replace(each, call=lambda call=each.call: lie(call()))
            yield wrong if each.name == liar else each

    monkeypatch.setattr(measuring, "contenders", with_liar)
    with pytest.raises(WrongResultError, match=rf"^{liar} gave a wrong result.*'first'.* 1 thread"):
        measure(TINY, [1], 1)


def test_a_way_that_is_wrong_only_later_is_refused(monkeypatch):
    calls = []

    def late(case, arrays):
        ours, *others = contending.contenders(case, arrays)

        def call():
            calls.append(0)
            return ours.call() + (len(calls) == 9)

        return [replace(ours, call=call), *others]

    monkeypatch.setattr(measuring, "contenders", late)
    with pytest.raises(WrongResultError, match="ttlg gave a wrong result, off by 1"):
        measure(TINY, [1], 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_is_allowed(dtype):
    generator = np.random.default_rng(0)
    a, b = (generator.uniform(-1, 1, shape).astype(dtype) for shape in ((3, 5000), (5000, 4)))
    one_by_one = np.zeros((3, 4), dtype)
    for k in range(5000):
        one_by_one += a[:, k, None] * b[k]
    assert not np.array_equal(one_by_one, a @ b)
    check(Contender("other order", lambda: one_by_one), a @ b, 5000)


def result(case, ours, numpy, torch=None, predicted=1.0):
    seconds = {"ttlg": ours, "numpy": numpy} | ({} if torch is None else {"torch": torch})
    return ContractionResult(case, 1, seconds, 2 * ours, predicted * ours, "ab as it lies")


def test_summary_has_the_figures_that_are_asked_for():
    machine = {"cpu": "", "cores": 1, "caches": {}, "versions": {}, "commit": None, "command": ""}
    other = replace(VIEW, part="other")
    results = [
        result(TINY, 0.1, 0.4, 0.3, predicted=0.8),
        result(replace(TINY, name="third"), 0.1, 0.2, predicted=1.1),
        result(other, 0.1, 0.09, 0.5, predicted=1.3),
    ]
    assert [each.best_other for each in results] == ["torch", "numpy", "numpy"]
    assert [each.ratio for each in results] == pytest.approx([3, 2, 0.9])
    rows = [" ".join(row.split()) for row in report.table(machine, results).splitlines()]
    assert "tiny first float64 yes 100 200 0.80 400 300 3.00 torch" in rows
    assert "other second float32 100 200 1.30 90 500 0.90 numpy" in rows
    assert "tiny 2.50 of 2 2.00 at tiny third float64 0 of 2 0.15" in rows
    assert "other - 0.90 at other second float32 1 of 1 0.30" in rows
    assert "all 2.50 of 2 0.90 at other second float32 1 of 3 0.20" in rows
    assert report.line(results[0]) == (
        "tiny first float64, 1 thread: ttlg 100 ms (first 200, predicted 0.80), numpy 400, "
        "torch 300; ratio 3.00"
    )
