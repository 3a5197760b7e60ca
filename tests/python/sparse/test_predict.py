"""Predicted times."""

import math

import numpy as np
import pytest

from ttlg import sparse


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "CSR"])
def test_seconds(format):
    seconds = sparse.predict_time(10**6, (10**4, 10**5), format=format, dtype="float32")
    assert isinstance(seconds, float)
    assert 0 < seconds < 10


def test_more_takes_longer():
    few, many = (sparse.predict_time(n, (10**5,) * 3, (2, 0, 1), threads=1) for n in (10**4, 10**7))
    assert few < many


def test_of_nothing():
    assert math.isfinite(sparse.predict_time(0, (5, 0)))
    assert sparse.predict_time(3, ()) == 0


@pytest.fixture
def asked(spy):
    from ttlg import _core

    return spy(_core, "sparse_predict", lambda seconds, *arguments: arguments)


def test_what_the_core_is_asked(asked):
    sparse.predict_time(
        100, (5, 6), format="csc", dtype="c16", is_sorted=False, threads=3, algorithm="NO_SORT"
    )
    sparse.predict_time(100, (5, 2**33, 7), (1, -1, 0), algorithm="auto", threads=1)
    sparse.predict_time(100, (5, 6), index_dtype="int64", algorithm="auto", threads=1)
    assert asked == [
        (100, [6, 5], [1, 0], 16, 4, True, True, False, "no_sort", 3),
        (100, [5, 2**33, 7], [1, 2, 0], 8, 8, False, False, True, "auto", 1),
        (100, [5, 6], [1, 0], 8, 8, False, False, True, "auto", 1),
    ]


@pytest.mark.parametrize(
    ("nnz", "shape", "options", "error", "match"),
    [
        (-1, (5, 6), {}, ValueError, "nnz must be 0 or more, not -1"),
        (1.5, (5, 6), {}, TypeError, "float"),
        (1, (5, -6), {}, ValueError, "negative extent"),
        (1, (5, 6), {"axes": (0, 2)}, ValueError, "axis 2 is out of range"),
        (1, (5, 6), {"format": "bsr"}, ValueError, "choose one of 'coo', 'csr', 'csc'"),
        (1, (5, 6, 7), {"format": "csr"}, ValueError, "format 'csr' is for two dimensions, not 3"),
        (1, (5, 6), {"index_dtype": "int16"}, ValueError, "must be int32 or int64, not 'int16'"),
        (1, (5, 6), {"dtype": object}, TypeError, "Python objects"),
        (1, (5, 6), {"algorithm": "heap"}, ValueError, "unknown algorithm"),
    ],
)
def test_refused(nnz, shape, options, error, match):
    with pytest.raises(error, match=match):
        sparse.predict_time(nnz, shape, **options)


def test_numpy_integers_count():
    assert sparse.predict_time(np.int64(10), np.array([5, 6])) >= 0
