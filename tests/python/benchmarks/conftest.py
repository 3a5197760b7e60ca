"""What several tests of the benchmarks share."""

import sys
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


@pytest.fixture
def host_device(a_gpu, no_synchronize, monkeypatch):
    """Let the host stand in for a device: its memory, a clock and plans, but of no kernel r2c."""
    import torch

    import ttlg
    from ttlg.benchmarks.gpu import inplace

    def here(make):
        return lambda *args, device=None, **more: make(*args, **more)

    def plan(*args, device=None, kernel=None, parameters=None, **more):
        if kernel == "r2c":
            raise ValueError("the rows are too long")
        return plan_for(*args, **more)

    for name in ("empty", "randint", "randperm"):
        monkeypatch.setattr(torch, name, here(getattr(torch, name)))
    device = types.SimpleNamespace(L2_cache_size=0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: device)
    event = types.SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    event.elapsed_time = lambda end: 0.5
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: event)
    plan_for = ttlg.plan
    monkeypatch.setattr(ttlg, "plan", plan)
    monkeypatch.setattr(inplace, "with_bands", lambda plan, width: plan)
    for library in ("cupy", "jax", "nvmath.bindings.cutensor"):
        monkeypatch.setitem(sys.modules, library, None)
    return device
