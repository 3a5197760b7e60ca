"""Nothing stays behind: not on success, not on errors, not in any library."""

import contextlib
import gc
import sys

import numpy as np
import pytest

import ttlg

from ..arrays import resident_bytes
from .kinds import KINDS
from .producer import Producer

MIB = 1 << 20


@pytest.fixture(params=["numpy", "torch", "jax"])
def make(request):
    return lambda shape: KINDS[request.param].make(np.ones(shape, "f4"), "float32")


def test_results_are_freed(make):
    x = make((512, 1024))  # 2 MiB
    for _ in range(20):
        ttlg.transpose(x)
    before = resident_bytes()
    for _ in range(300):
        ttlg.transpose(x)
    gc.collect()
    # 600 MiB if each call left its result; AddressSanitizer holds 256 back in any case.
    assert resident_bytes() - before < 400 * MIB


def test_references_to_the_input_are_dropped(make):
    x = make((4, 6))
    plan = ttlg.plan((4, 6))

    def fail():
        with pytest.raises(ValueError, match="appears twice"):
            ttlg.transpose(x, (0, 0))

    for call in (lambda: ttlg.transpose(x), lambda: plan(x), fail):
        for _ in range(20):  # of which JAX compiles a program
            call()
        gc.collect()
        references, objects = sys.getrefcount(x), len(gc.get_objects())
        for _ in range(1000):
            call()
        gc.collect()
        assert sys.getrefcount(x) == references
        assert len(gc.get_objects()) < objects + 100


@pytest.mark.parametrize("out_shape", [None, (6, 4), (4, 6)])
def test_ndarrays_dtypes_and_axes_keep_their_references(out_shape):
    dtype = np.dtype([("a", "<i2"), ("b", "<f8")])
    x, axes = np.zeros((4, 6), dtype), [1, 0]
    out = None if out_shape is None else np.zeros(out_shape, dtype)
    given = () if out is None else (out,)
    plan = ttlg.plan((4, 6), axes, dtype)

    is_wrong = out_shape == (4, 6)

    def call_both():
        for call in (lambda: ttlg.transpose(x, axes, out=out), lambda: plan(x, out)):
            with pytest.raises(ValueError, match="out") if is_wrong else contextlib.nullcontext():
                call()

    def counts():
        gc.collect()
        return [sys.getrefcount(each) for each in (x, dtype, axes, plan, plan._compiled, *given)]

    call_both()
    before, blocks = counts(), sys.getallocatedblocks()
    for _ in range(1000):
        call_both()
    after = counts()
    assert after == before
    assert sys.getallocatedblocks() - blocks < 200


@pytest.mark.parametrize(
    ("version", "out_dtype"), [(None, "float32"), ((1, 1), "float32"), ((1, 1), "float64")]
)
def test_every_export_is_deleted_once(version, out_dtype):
    x = Producer(np.ones((4, 6), "float32"), version=version)
    out = Producer(np.ones((6, 4), out_dtype), version=(1, 1))
    message, is_wrong = "out has dtype float64", out_dtype == "float64"
    for _ in range(2000):
        with pytest.raises(TypeError, match=message) if is_wrong else contextlib.nullcontext():
            ttlg.transpose(x, out=out)
    gc.collect()
    assert x.exported == out.exported == 2000
    assert x.released_once
    assert out.released_once


def test_the_result_outlives_the_input():
    x = np.arange(6.0).reshape(2, 3)
    result = ttlg.transpose(Producer(x), out=np.empty((3, 2)))
    del x
    gc.collect()
    assert result.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_results_are_independent(make):
    x = make((4, 6))
    results = [ttlg.transpose(x) for _ in range(100)]
    addresses = {np.asarray(result).ctypes.data for result in results}
    assert len(addresses) == 100
    assert np.asarray(x).ctypes.data not in addresses
