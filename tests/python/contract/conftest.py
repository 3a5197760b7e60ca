"""What tests of contractions share."""

import pytest

import ttlg


@pytest.fixture(autouse=True)
def _nothing_planned():
    """Let no test meet contractions that an earlier one has planned."""
    ttlg.cache_clear()
    yield
    ttlg.cache_clear()
