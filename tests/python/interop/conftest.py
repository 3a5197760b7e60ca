"""What the tests of arrays on CUDA devices share."""

import pytest

import ttlg
from ttlg import _models

from .fake_cuda import MODEL


@pytest.fixture
def imaginary_devices(monkeypatch):
    """Plan for devices that there are not."""
    monkeypatch.setattr(_models, "model_of", lambda device: MODEL)
    ttlg.cache_clear()
