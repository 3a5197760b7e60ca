"""What the tests of ``.npy`` files share."""

import numpy as np
import pytest

from ttlg._files import npy as _npy

from ..arrays import random_array


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.npy"
    np.save(path, random_array((40, 30, 20), "<f4"))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def small_pieces(monkeypatch):
    """Let small files be moved in many pieces."""
    monkeypatch.setattr(_npy, "MIN_MEMORY", 1)
