"""What tests of sparse tensors share."""

import ctypes

import numpy as np
import pytest

from ttlg import _core


def memory(pointer, count):
    """View memory as bytes."""
    if count == 0:
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_uint8)), (count,))


@pytest.fixture
def on_host(monkeypatch):
    """Let the CPU do what a device is asked for, and return what was asked."""
    asked = []

    def workspace(*problem):
        return 256

    def transpose(modes, values, coords_out, values_out, nnz, extents, perm, value_bytes, *rest):
        index_bytes, is_sorted, _workspace, workspace_bytes, device, stream = rest
        asked.append((is_sorted, device, stream))
        assert (index_bytes, workspace_bytes) == (8, 256)
        coords = [memory(mode, 8 * nnz).view(np.int64) for mode in modes]
        elements = memory(values, nnz * value_bytes).reshape(nnz, value_bytes)
        found = _core.sparse_transpose(
            coords, None, elements, extents, list(perm), True, False, "auto", 1
        )
        memory(coords_out, 8 * nnz * len(modes))[:] = found[0].view(np.uint8).reshape(-1)
        memory(values_out, nnz * value_bytes)[:] = found[2].reshape(-1)

    monkeypatch.setattr(_core, "sparse_cuda_workspace", workspace)
    monkeypatch.setattr(_core, "sparse_cuda_transpose", transpose)
    return asked
