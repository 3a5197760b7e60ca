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


@pytest.fixture
def drawn(monkeypatch):
    """Keep figures instead of rendering them, which takes long."""
    figures = []
    figure = pytest.importorskip("matplotlib.figure").Figure
    monkeypatch.setattr(figure, "savefig", lambda saved, path: figures.append(saved))
    return figures


@pytest.fixture
def curves():
    """Return a function that lists the curves of a panel, by their labels, as lists of values."""
    return lambda axes: {line.get_label(): list(line.get_ydata()) for line in axes.lines}


@pytest.fixture
def a_gpu(monkeypatch):
    """Let programs find a device."""
    pytest.importorskip("torch")
    from ttlg.benchmarks.gpu import session

    monkeypatch.setattr(session, "require", lambda: None)
    monkeypatch.setattr(session, "describe", lambda command: {"command": command})


@pytest.fixture
def no_synchronize(monkeypatch):
    """Let what waits for a device that is not there return at once."""
    monkeypatch.setattr(pytest.importorskip("torch").cuda, "synchronize", lambda: None)
