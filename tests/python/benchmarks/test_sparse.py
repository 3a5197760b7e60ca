"""Sparse cases are drawn as stated, and measured on the memory that is stated."""

from dataclasses import replace

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks.sparse import contenders as contending
from ttlg.benchmarks.sparse import measure as measuring
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.generate import TooDenseError, distinct, generate
from ttlg.benchmarks.sparse.memory import extra_bytes
from ttlg.benchmarks.sparse.published import MATRICES, PUBLISHED
from ttlg.benchmarks.sparse.skew import skewed

from .conftest import TENSOR

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
    assert found.values.dtype == case.dtype
    assert len(found.values) == len(np.unique(found.values)) == case.nnz
    for mode, extent in zip(found.coords, case.shape, strict=True):
        assert (mode.dtype, len(mode)) == (np.int32, case.nnz)
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


def test_memory_is_measured_in_another_process():
    case = replace(TENSOR, shape=(60, 50, 70, 40), nnz=100_000)
    # A sort needs memory in the order of its input, which has 24 bytes a nonzero.
    assert -24 < extra_bytes(case, 1) < 200
