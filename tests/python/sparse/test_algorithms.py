"""All algorithms have the same result, bit for bit, on any thread count; how one is chosen."""

import os
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttlg import sparse

from ..arrays import examples
from .tensors import ALGORITHMS, check, problems, transposed


@settings(max_examples=examples(200))
@given(problems(), st.integers(1, 3))
def test_all_algorithms_equal_numpy(problem, threads):
    tensor, axes = problem
    expected = transposed(tensor, axes)
    for algorithm in ALGORITHMS:
        result = sparse.transpose(tensor, axes, algorithm=algorithm, threads=threads)
        check(result, expected)


TENSOR = ([[0, 1], [1, 0]], np.array([1, 2]), (2, 2))


@pytest.fixture
def algorithms_used(spy):
    from ttlg import _core

    return spy(_core, "sparse_transpose", lambda result, *arguments: arguments[7])


@pytest.mark.parametrize("name", ["NO_SORT", "SEQ_QSORT", "Par_QSort", "radix_bucket", "AUTO"])
def test_sort_type_is_read_at_each_call(monkeypatch, algorithms_used, name):
    monkeypatch.setenv("SORT_TYPE", name)
    sparse.transpose(TENSOR)
    monkeypatch.setenv("SORT_TYPE", "COUNT_QUICK")
    sparse.transpose(TENSOR)
    sparse.transpose(TENSOR, algorithm="COUNT_RADIX")  # goes before the environment
    assert algorithms_used == [name.lower(), "count_quick", "count_radix"]


KNOWN = "auto, NO_SORT, SEQ_QSORT, PAR_QSORT, RADIX_BUCKET, COUNT_RADIX, COUNT_QUICK"


def test_unknown_algorithms_are_refused_with_the_known(monkeypatch):
    with pytest.raises(ValueError, match=f"'heap' in the argument algorithm=.*{KNOWN}"):
        sparse.transpose(TENSOR, algorithm="heap")
    with pytest.raises(TypeError, match="algorithm must be a name, not 3"):
        sparse.transpose(TENSOR, algorithm=3)
    monkeypatch.setenv("SORT_TYPE", "QUICK")
    with pytest.raises(ValueError, match=f"'QUICK' in the environment variable SORT_TYPE.*{KNOWN}"):
        sparse.transpose(TENSOR)
    with pytest.raises(ValueError, match="SORT_TYPE"):
        sparse.predict_time(10, (5, 5))


def test_threads_are_read_as_everywhere():
    with pytest.raises(ValueError, match="threads must be from 1"):
        sparse.transpose(TENSOR, threads=0)
    with pytest.raises(TypeError, match="threads must be an integer"):
        sparse.transpose(TENSOR, threads="2")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")
def test_par_qsort_has_several_threads_sort():
    rng = np.random.default_rng(0)
    coords = rng.integers(0, 10**6, (2, 500_000))
    tensor = (coords, np.arange(500_000), (10**6, 10**6))

    def share_of_helpers():
        """Return the processor time of other threads as a share of the caller's."""
        process, thread = time.process_time(), time.thread_time()
        sparse.transpose(tensor, algorithm="par_qsort", threads=2)
        own = time.thread_time() - thread
        return (time.process_time() - process - own) / own

    result = sparse.transpose(tensor, algorithm="par_qsort", threads=2)
    check(result, transposed(tensor, (1, 0)), np.int64)
    # Where others use the cores, a helper may come late.
    assert any(share_of_helpers() > 0.5 for _ in range(20))
