"""All algorithms have the same result, bit for bit, on any thread count; how one is chosen."""

import os
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttlg import sparse

from ..arrays import random_array
from .tensors import ALGORITHMS, check, examples, problems, random_coords, transposed


@settings(max_examples=examples(200))
@given(problems(), st.integers(1, 3))
def test_all_algorithms_equal_numpy(problem, threads):
    tensor, axes = problem
    expected = transposed(tensor, axes)
    for algorithm in ALGORITHMS:
        result = sparse.transpose(tensor, axes, algorithm=algorithm, threads=threads)
        check(result, expected)


@pytest.fixture(scope="module")
def large():
    """Return a tensor that is worth several threads, with long runs and duplicates."""
    shape = (50, 300, 7, 1000)
    coords = random_coords(shape, 50_000, 1, skewed=True)
    coords[:, ::5] = coords[:, 1::5]
    return coords.astype(np.int32), random_array((50_000,), "f8", 2), shape


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("is_sorted", [False, True])
def test_threads_do_not_change_the_result(large, algorithm, is_sorted):
    tensor = transposed(large, range(4)) if is_sorted else large
    for axes in [(3, 2, 1, 0), (0, 2, 1, 3), (1, 0, 2, 3), (0, 1, 2, 3)]:
        expected = transposed(tensor, axes)
        for threads in (1, 2, 3, 4):
            result = sparse.transpose(tensor, axes, algorithm=algorithm, threads=threads)
            check(result, expected, np.int32)


@pytest.fixture(scope="module", params=[False, True], ids=["narrow", "wide"])
def larger(request):
    """Return a tensor that exceeds the caches of one core, and what it is transposed to."""
    shape = (2**40, 500, 2**40) if request.param else (3000, 500, 2000)
    coords = random_coords(shape, 300_000, 5)
    tensor = coords, random_array((300_000,), "f8", 6), shape
    return tensor, transposed(tensor, (2, 0, 1))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_than_fits_the_caches(larger, algorithm):
    tensor, expected = larger
    for threads in (1, 3):
        check(sparse.transpose(tensor, (2, 0, 1), algorithm=algorithm, threads=threads), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nine_of_ten_in_one_slice(algorithm):
    shape = (1000, 40, 2**33)
    coords = random_coords(shape, 20_000, 3, skewed=True)
    tensor = coords, np.arange(20_000), shape
    for axes in [(0, 2, 1), (2, 0, 1), (1, 0, 2)]:
        check(sparse.transpose(tensor, axes, algorithm=algorithm), transposed(tensor, axes))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_in_one_place(algorithm):
    coords = np.full((3, 5000), 7, np.int32)
    tensor = coords, np.arange(5000), (8, 8, 8)
    check(sparse.transpose(tensor, algorithm=algorithm), transposed(tensor, (2, 1, 0)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_compressed_rows_equal_coordinates(algorithm):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    coords = random_coords((300, 500), 20_000, 4, skewed=True)
    x = scipy_sparse.coo_array((np.arange(20_000), tuple(coords)), shape=(300, 500)).tocsr()
    for y in (x, x.tocsc()):
        for threads in (1, 2, 3, 4):
            result = sparse.transpose(y, algorithm=algorithm, threads=threads)
            expected = x.T.asformat(y.format)
            expected.sort_indices()
            assert result.format == y.format
            for name in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(result, name), getattr(expected, name))


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


def test_unset_or_empty_sort_type_is_auto(monkeypatch, algorithms_used):
    monkeypatch.delenv("SORT_TYPE", raising=False)
    sparse.transpose(TENSOR)
    monkeypatch.setenv("SORT_TYPE", "")
    sparse.transpose(TENSOR)
    assert algorithms_used == ["auto", "auto"]


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
    tensor = (coords, np.zeros(500_000), (10**6, 10**6))

    def share_of_helpers():
        """Return the processor time of other threads as a share of the caller's."""
        process, thread = time.process_time(), time.thread_time()
        sparse.transpose(tensor, algorithm="par_qsort", threads=2)
        own = time.thread_time() - thread
        return (time.process_time() - process - own) / own

    # Where others use the cores, a helper may come late.
    assert any(share_of_helpers() > 0.5 for _ in range(20))
