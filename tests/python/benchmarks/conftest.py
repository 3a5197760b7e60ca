"""What several tests of the benchmarks share."""

import types

import pytest


@pytest.fixture
def device(monkeypatch):
    """Stand in for a GPU that can be lost: memory on the host, plans that do nothing."""
    torch = pytest.importorskip("torch")
    import ttlg
    from ttlg.benchmarks.gpu.device import Buffers

    state = types.SimpleNamespace(lost=False)

    def synchronize():
        if state.lost:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    plan = types.SimpleNamespace(kernel="copy", predicted_time=1e-3)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    monkeypatch.setattr(ttlg, "plan", lambda *args, **kwargs: plan)
    x = torch.arange(12, dtype=torch.float64).view(3, 4)
    state.buffers = lambda case: Buffers([x, x], [torch.empty(4, 3, dtype=x.dtype)] * 2)
    return state
