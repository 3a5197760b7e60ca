"""What the tests of ``.npy`` files share."""

import pytest

from ttlg._files import npy as _npy


@pytest.fixture
def small_pieces(monkeypatch):
    """Let small files be moved in many pieces."""
    monkeypatch.setattr(_npy, "LEAST_MEMORY", 1)
