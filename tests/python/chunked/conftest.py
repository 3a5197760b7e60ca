"""What the tests of Dask and Zarr share."""

import pytest


@pytest.fixture
def default_settings_of_zarr():
    """Undo what a test sets."""
    yield
    pytest.importorskip("zarr").config.reset()


@pytest.fixture
def everything_is_large(monkeypatch):
    """Let ttlg move small blocks of Zarr's arrays too."""
    monkeypatch.setattr("ttlg.zarr._MIN_BYTES", 0)
