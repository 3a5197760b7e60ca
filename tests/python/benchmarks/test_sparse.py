"""Sparse cases are drawn as stated, and a wrong result is refused."""

import itertools
import json
import math
import re
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks import machine
from ttlg.benchmarks.contenders import COPIES, optional
from ttlg.benchmarks.measure import WrongResultError
from ttlg.benchmarks.report import Report, table
from ttlg.benchmarks.sparse import contenders as contending
from ttlg.benchmarks.sparse import measure as measuring
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.contenders import OPTIONS, SparseContender
from ttlg.benchmarks.sparse.generate import TooDenseError, distinct, generate
from ttlg.benchmarks.sparse.measure import measure
from ttlg.benchmarks.sparse.memory import extra_bytes
from ttlg.benchmarks.sparse.published import MATRICES, PUBLISHED, TENSORS
from ttlg.benchmarks.sparse.skew import skewed
from ttlg.benchmarks.suites import cases

MATRIX = SparseCase(
    "sparse-matrices", "webbase-1M", (300, 200), (1, 0), "float64", "webbase-1M", 900, "csr"
)
TENSOR = SparseCase(
    "sparse-tensors", "uber (2,0,3,1)", (6, 5, 7, 4), (2, 0, 3, 1), "float64", "uber", 200, "coo"
)
EXTENTS = (43, 37, 31, 29, 23)


def small(name):
    """Shrink a published matrix or tensor, without a change of its rank or its structure."""
    published = PUBLISHED[name]
    rank = len(published.shape)
    if name in MATRICES:
        shape = (90, 700) if name == "rail4284" else (700, 700)
        return SparseCase("tiny", name, shape, (1, 0), "float64", name, 2000, "csr")
    shape = tuple(map(min, published.shape, EXTENTS))
    return SparseCase("tiny", name, shape, tuple(range(rank)), "float64", name, 500, "coo")


@pytest.mark.parametrize("name", PUBLISHED)
def test_generated_nonzeros_are_as_stated_and_the_same_every_time(name):
    case = small(name)
    first = generate(case)
    generate(TENSOR)  # what was drawn last is kept
    found = generate(case)
    assert first is not found
    for once, again in zip(first.coords, found.coords, strict=True):
        np.testing.assert_array_equal(once, again)
    assert found.shape == case.shape
    assert len(found.values) == case.nnz
    assert found.values.dtype == case.dtype
    assert len(np.unique(found.values)) == case.nnz
    for mode, extent in zip(found.coords, case.shape, strict=True):
        assert mode.dtype == np.int32
        assert len(mode) == case.nnz
        assert 0 <= mode.min() <= mode.max() < extent
    keys = np.ravel_multi_index(found.coords, case.shape)
    assert (np.diff(keys) > 0).all(), "sorted, and none twice"


def test_nonzeros_of_more_entries_than_64_bits_number_are_sorted():
    shape = (2**31 - 1, 2**31 - 1, 5)
    generator = np.random.default_rng(0)

    def draw(count):
        return [generator.integers(min(extent, 9), size=count) for extent in shape]

    coords = distinct(draw, shape, 300, generator)
    keys = np.ravel_multi_index(coords, (9, 9, 5))
    assert len(keys) == 300
    assert (np.diff(keys) > 0).all()


def test_generator_refuses_what_is_too_dense():
    with pytest.raises(TooDenseError, match=r"61 nonzeros of \(3, 4, 5, 1\)"):
        generate(replace(TENSOR, shape=(3, 4, 5, 1), nnz=61))


def test_skew_makes_some_indices_frequent():
    generator = np.random.default_rng(0)
    even = np.bincount(skewed(100, 0, generator)(20000), minlength=100)
    skew = np.bincount(skewed(100, 0.7, generator)(20000), minlength=100)
    assert len(even) == len(skew) == 100
    assert even.max() < 300
    assert skew.max() > 3000
    with pytest.raises(ValueError, match="skew"):
        skewed(100, 1, generator)


@pytest.mark.parametrize("name", ["sparse-matrices", "sparse-tensors", "sparse-options"])
def test_cases_are_scaled_down_and_named_after_what_is_published(name):
    most = 10**6 if name == "sparse-options" else 10**7
    for case in cases([name]):
        published = PUBLISHED[case.pattern]
        assert case.name.split()[0] == case.pattern
        assert case.nnz == min(published.nnz, most)
        assert case.nnz <= math.prod(case.shape)
        if case.pattern in TENSORS or case.nnz == published.nnz:
            assert case.shape == published.shape
        else:
            rows, before = case.nnz / case.shape[1], published.nnz / published.shape[1]
            assert rows == pytest.approx(before, rel=0.3)
        assert max(case.shape) < 2**31
        assert re.match(r"http://frostt.io/|https://sparse.tamu.edu/|$", published.page)


def test_tensors_are_permuted_in_every_way_of_ranks_3_and_4():
    by_name = {}
    for case in cases(["sparse-tensors"]):
        by_name.setdefault(case.pattern, []).append(case.axes)
    assert set(by_name) == set(TENSORS)
    for name, found in by_name.items():
        rank = len(TENSORS[name].shape)
        every = set(itertools.permutations(range(rank))) - {tuple(range(rank))}
        assert set(found) <= every
        assert len(found) == len(set(found)) == (len(every) if rank < 5 else 12)
    full = [case for case in cases(["sparse-tensors"], full=True) if len(case.shape) == 5]
    assert len(full) == 2 * 119
    few = [case for case in cases(["sparse-tensors"], sample=3) if len(case.shape) == 5]
    assert len(few) == 2 * 3


def test_bytes_are_those_of_indices_and_values():
    assert MATRIX.bytes == 900 * (4 + 8)
    assert TENSOR.bytes == 200 * (4 * 4 + 8)
    assert TENSOR.cut(TENSOR.bytes) == TENSOR
    cut = TENSOR.cut(TENSOR.bytes // 2)
    assert (cut.nnz, cut.shape, cut.name) == (100, TENSOR.shape, "uber (2,0,3,1) cut")
    assert "200 nonzeros in COO" in TENSOR.described


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "case", [MATRIX, TENSOR, replace(TENSOR, axes=(0, 3, 1, 2))], ids=["csr", "coo", "first kept"]
)
def test_every_contender_is_right(case, threads):
    pytest.importorskip("scipy.sparse")
    (result,) = measure(case, [threads], 1)
    assert (result.case, result.threads, result.extra_bytes) == (case, threads, None)
    assert {"ttlg", *COPIES} <= set(result.seconds)
    for library, name in (("scipy", "scipy"), ("torch", "torch")):
        assert (name in result.seconds) == (optional(library) is not None)
    assert all(seconds > 0 for seconds in result.seconds.values())


def test_options_are_ttlgs_alone():
    (result,) = measure(replace(TENSOR, suite="sparse-options"), [1], 1)
    assert set(result.seconds) == {"ttlg", *OPTIONS, *COPIES}


def test_libraries_that_number_entries_take_no_part_where_64_bits_are_too_few():
    case = replace(TENSOR, shape=(2**31 - 1, 2**31 - 1, 7, 4))
    nonzeros = replace(generate(TENSOR), shape=case.shape)
    names = {entrant.name for entrant in contending.contenders(case, nonzeros, 1)}
    assert not names & {"pydata", "torch", "ttlg-torch"}


def test_calls_begin_with_the_memory_of_the_call_before_or_with_none(monkeypatch):
    limits, before = [], ttlg.set_result_pool(None)
    entrants = {each.name: each for each in contending.ours(TENSOR, generate(TENSOR), 1)}
    assert measuring._same(*(each.parts(each.prepare()) for each in [entrants["ttlg"]] * 2))
    monkeypatch.setattr(ttlg, "set_result_pool", lambda size: limits.append(size) or before)
    entrants["ttlg-fresh"].prepare()
    assert limits == [0]


def swap(parts, mode, nonzero):
    """Exchange a coordinate with its neighbour's."""
    changed = [part.copy() for part in parts]
    changed[mode][[nonzero, nonzero + 1]] = changed[mode][[nonzero + 1, nonzero]]
    return changed


def add_ulp(parts):
    return [*parts[:-1], np.nextafter(parts[-1], np.inf)]


def swap_nonzeros(parts):
    order = np.arange(len(parts[-1]))
    order[:2] = 1, 0
    return [part[order] for part in parts]


LIARS = {
    "values at other places": lambda parts: swap(parts, -1, 5),
    "other values": add_ulp,
    "unsorted": swap_nonzeros,
    "one is missing": lambda parts: [part[:-1] for part in parts],
    "one is there twice": lambda parts: [np.r_[part[:1], part[:-1]] for part in parts],
    "other dtype": lambda parts: [*parts[:-1], parts[-1].astype(np.float32)],
    "not transposed": lambda parts: [*generate(TENSOR).coords, generate(TENSOR).values],
}


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize("lie", LIARS.values(), ids=LIARS)
def test_wrong_results_are_refused(monkeypatch, lie, first):
    def with_liar(case, nonzeros, threads):
        (ours, *_) = contending.ours(case, nonzeros, threads)
        liar = SparseContender("liar", ours.call, parts=lambda x: lie([*x[0], x[1]]))
        return [liar, ours] if first else [ours, liar]

    monkeypatch.setattr(measuring, "contenders", with_liar)
    with pytest.raises(WrongResultError, match=r"^liar gave a wrong result.*uber.* on 1 thread"):
        measure(TENSOR, [1], 1)


def test_wrong_row_pointers_are_refused(monkeypatch):
    pytest.importorskip("scipy.sparse")

    def with_liar(case, nonzeros, threads):
        (ours, *_) = contending.ours(case, nonzeros, threads)
        shift = np.r_[0, np.full(case.shape[1] - 1, 1), 0].astype(np.int32)
        return [replace(ours, parts=lambda x: (x.indptr + shift, x.indices, x.data))]

    monkeypatch.setattr(measuring, "contenders", with_liar)
    with pytest.raises(WrongResultError, match="ttlg gave a wrong result"):
        measure(MATRIX, [1], 1)


def test_memory_is_measured_in_another_process():
    case = replace(TENSOR, shape=(60, 50, 70, 40), nnz=100_000)
    # A sort needs memory in the order of its input, which has 24 bytes a nonzero.
    assert -24 < extra_bytes(case, 1) < 200


def test_reports_are_rebuilt_and_have_a_row_for_each_case():
    results = measure(replace(TENSOR, nnz=100), [1], 1)
    results += [replace(results[0], case=TENSOR, extra_bytes=12.34)]
    results[0].seconds.update({"ttlg": 1.0, "scipy": 2.0, **dict.fromkeys(COPIES, 0.5)})
    report = Report(machine.describe("ttlg bench"), tuple(results))
    record = json.dumps(asdict(report))
    assert Report.from_json(record) == report
    assert json.loads(record)["results"][0]["case"]["nnz"] == 100
    rows = [" ".join(row.split()) for row in table(report).splitlines()]
    assert any(re.match(r"uber \(2,0,3,1\) float64 50\.0% 2\.00x.*", row) for row in rows)
    assert any(row.startswith("share of copy") for row in rows)
    assert any(re.match(r"worst 50\.0% .*12\.3$", row) for row in rows)


def test_absent_libraries_take_no_part(monkeypatch):
    for name in ("scipy.sparse", "sparse", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    entrants = contending.contenders(TENSOR, generate(TENSOR), 1)
    assert [entrant.name for entrant in entrants] == ["ttlg", "ttlg-fresh"]
