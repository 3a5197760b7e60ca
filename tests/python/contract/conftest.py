"""What tests of contractions share."""

import sys

import pytest

import ttlg


@pytest.fixture(autouse=True)
def _nothing_planned():
    """Let no test meet contractions that an earlier one has planned."""
    ttlg.cache_clear()
    yield
    ttlg.cache_clear()


@pytest.fixture
def frequent_switches():
    """Let Python's threads take turns at every few steps."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
