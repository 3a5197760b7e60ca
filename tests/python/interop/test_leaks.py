"""Nothing stays behind in other libraries: not on success, not on errors."""

import gc
import sys

import numpy as np
import pytest

import ttlg

from ..arrays import resident_bytes
from .kinds import KINDS

MIB = 1 << 20


@pytest.fixture(params=["torch", "jax"])
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
