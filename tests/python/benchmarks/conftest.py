"""What several tests of the benchmarks share."""

import importlib
import sys
import types
from dataclasses import replace

import pytest

from ttlg._calibrate.problems import Problem
from ttlg.benchmarks.ablations import ABLATIONS, Ablation
from ttlg.benchmarks.case import Case, named
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.generated.figures import FIGURES
from ttlg.benchmarks.inplace.suites import RANDOM_SUITES
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.suites import SUITES

from .. import time_models

BENCHMARKS = "ttlg.benchmarks"
TINY = [Case("tiny", str(n), (n, 3, 2), (1, 2, 0), "float32") for n in (4, 5, 6)]
IN_PLACE = [name for name in SUITES if name.startswith("inplace-")]
NINE = [
    ContractionCase("nine", name, "ab,bc->ca", {"a": 4, "b": 5, "c": extent}, "float64")
    for name, extent in (("first", 6), ("second", 7), ("third", 8))
]
MATRIX = SparseCase(
    "sparse-matrices", "webbase-1M", (300, 200), (1, 0), "float64", "webbase-1M", 900, "csr"
)
TENSOR = SparseCase(
    "sparse-tensors", "uber (2,0,3,1)", (6, 5, 7, 4), (2, 0, 3, 1), "float64", "uber", 200, "coo"
)


def module(name):
    """Import a module of the benchmarks."""
    return importlib.import_module(f"{BENCHMARKS}.{name}")


def main_of(program):
    """Return the main function of a program, named as its module."""
    if program.startswith("gpu"):
        pytest.importorskip("torch")
    return module(f"{program}.__main__" if program in ("generated", "loops") else program).main


@pytest.fixture
def one_call(monkeypatch):
    """Let a sample have one call."""
    monkeypatch.setattr(f"{BENCHMARKS}.measure.calls_in_a_sample", lambda timer, seconds: 1)


@pytest.fixture
def tiny(monkeypatch, tmp_path, one_call):
    """Let programs measure few and small cases, in a folder of the test, without JAX."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "jax", None)  # It takes seconds to compile.
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(TINY))
    monkeypatch.setitem(SUITES, "sparse-options", lambda: iter([TENSOR, MATRIX]))
    for name in ("call", "orders", "fresh"):
        whole = Case(name, "3-D", (6, 5, 4), (2, 1, 0), "float64")
        monkeypatch.setitem(SUITES, name, lambda whole=whole: iter([whole]))
    for name in IN_PLACE:
        made = [Case(name, str(n), (30 + n, 20), (1, 0), "float64") for n in range(2)]
        for suites in (SUITES, RANDOM_SUITES):
            monkeypatch.setitem(suites, name, lambda *_, made=made: iter(made))
    parts = {"nine": lambda *_: iter(NINE), "tccg": lambda *_: (), "random": lambda *_: ()}
    monkeypatch.setattr(f"{BENCHMARKS}.contraction.suites.PARTS", parts)
    for name, variants in (("loops", ABLATIONS["kernels"].variants), ("levels", None)):
        monkeypatch.setitem(ABLATIONS, name, Ablation("", (TINY[0],), variants))
    busy = module("busy").CASES
    monkeypatch.setattr(f"{BENCHMARKS}.busy.CASES", (busy[0], busy[6]))
    drawn = [Problem((300, 400), (1, 0), "f4")] * 2
    monkeypatch.setattr(f"{BENCHMARKS}.learning.draw_problems", lambda seed, count: drawn[:count])
    shapes = {3: (5, 6, 7), 4: (3, 4, 5, 6), 5: (2, 3, 2, 3, 4)}
    monkeypatch.setattr(f"{BENCHMARKS}.loops.measure.SHAPES", shapes)
    loops = module("loops.measure").cases
    monkeypatch.setattr(f"{BENCHMARKS}.loops.__main__.cases", lambda: [*loops()][::20])
    figure = named("few", (5, 3, 7, 24), (3, 0, 2, 1), "float32")
    for name, each in FIGURES.items():
        monkeypatch.setitem(FIGURES, name, replace(each, cases=lambda: (figure,)))
    for owner in ("loops.measure", "generated.measure", "generated.ends"):
        monkeypatch.setattr(
            f"{BENCHMARKS}.{owner}.time_calls", lambda entrants, *_: {e.name: 2.0 for e in entrants}
        )
    with time_models.restored():
        yield


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
