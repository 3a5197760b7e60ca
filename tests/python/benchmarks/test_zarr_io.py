"""The benchmark of Zarr runs, verifies, and reports what it measured."""

import numpy as np
import pytest

pytest.importorskip("zarr", minversion="3.1")

from ttlg.benchmarks import zarr_io


@pytest.fixture
def small_arrays(monkeypatch):
    monkeypatch.setattr(zarr_io, "_MIN_ARRAY_MB", 2)


def test_cases_cover_orders_dtypes_and_sizes():
    cases = zarr_io.cases(quick=False)
    assert len(set(cases)) == len(cases)
    assert {case.order for case in cases} == set(zarr_io.ORDERS)
    assert {case.dtype for case in cases} == set(zarr_io.DTYPES)
    assert {case.chunk_mb for case in cases} == {1, 8, 64}
    for case in cases:
        assert np.prod(case.chunks) * np.dtype(case.dtype).itemsize == pytest.approx(
            case.chunk_mb * 1e6, rel=0.05
        )
        counts = [extent // chunk for extent, chunk in zip(case.shape, case.chunks, strict=True)]
        assert np.prod(counts) >= 2


@pytest.mark.parametrize("store", ["memory", "local"])
@pytest.mark.parametrize("order", zarr_io.ORDERS)
def test_every_contender_is_timed(small_arrays, order, store):
    case = zarr_io.Case(order, "u2", True, 1, store=store)
    seconds = zarr_io.measure(case, 1)
    for what in ("write", "read"):
        assert set(seconds[what]) == set(zarr_io.CONTENDERS)
        assert min(seconds[what].values()) > 0
    assert order in zarr_io.line(case, seconds)


def test_wrong_elements_are_found(small_arrays, monkeypatch):
    monkeypatch.setattr(
        zarr_io.ttlg.zarr, "copyto", lambda dst, src, **_: np.copyto(dst, src[::-1])
    )
    with pytest.raises(RuntimeError, match="ttlg read other elements"):
        zarr_io.measure(zarr_io.Case("F", "u2", True, 1), 1)
