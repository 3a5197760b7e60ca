"""ttlg.transform, bit for bit beside NumPy and ml_dtypes."""

import itertools

import numpy as np
import pytest

import ttlg

from . import oracle
from .oracle import TYPES, assert_same, dtype_of, hostile


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_of_types_on_hostile_values(name, saturate):
    x = hostile(dtype_of(name))
    for result in TYPES:
        wanted = oracle.transform(x, dtype_of(result), saturate=saturate)
        if name == result:
            wanted = x
        assert_same(ttlg.transform(x, (0,), dtype=result, saturate=saturate), wanted)


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_of_types_scaled_and_added(name, saturate):
    x = hostile(dtype_of(name))
    for result in TYPES:
        scale, offset = 0.37, -1.5
        wanted = oracle.transform(x, dtype_of(result), scale, offset, saturate=saturate)
        actual = ttlg.transform(
            x, (0,), dtype=result, scale=scale, offset=offset, saturate=saturate
        )
        assert_same(actual, wanted)
