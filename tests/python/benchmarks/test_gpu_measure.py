"""How the GPU's benchmarks verify and time contenders, and which plans these have, without a GPU."""

import itertools
import statistics
import types

import pytest

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.measure import POISON, WrongResultError

torch = pytest.importorskip("torch")

import ttlg
from ttlg.benchmarks.gpu import device, inplace, report
from ttlg.benchmarks.gpu.contenders import Contender
from ttlg.benchmarks.gpu.device import Buffers, Memory
from ttlg.benchmarks.gpu.measure import measure, time_calls, verify

plan_for = ttlg.plan
MATRIX = Case("inplace-baselines", "A", (48, 36), (1, 0), "float32")

pytestmark = pytest.mark.usefixtures("no_synchronize")


@pytest.fixture
def buffers():
    x = torch.arange(12, dtype=torch.int16).view(3, 4)
    return Buffers([x, x + 1], [torch.zeros(4, 3, dtype=torch.int16) for _ in range(2)])


def transpose_half(x, y):
    kept = x.clone()
    ttlg.transpose_inplace(x)
    x[2:] = kept[2:]


@pytest.mark.parametrize(
    ("options", "axes", "right", "liars"),
    [
        (
            {},
            (1, 0),
            lambda x, y: y.copy_(x.t()),
            [lambda x, y: None, lambda x, y: y[:-1].copy_(x.t()[:-1])],
        ),
        ({}, None, lambda x, y: y.view(-1).copy_(x.view(-1)), [lambda x, y: y.copy_(x.t())]),
        (
            {"returns": True},
            (1, 0),
            lambda x, y: x.t().clone(),
            [
                lambda x, y: x.clone(),
                lambda x, y: x.t().reshape(3, 4),
                lambda x, y: x.t() + 1,
            ],
        ),
        ({"returns": True}, (1, 0), lambda x, y: x.t().numpy(), []),
        (
            {"inplace": True},
            (1, 0),
            lambda x, y: ttlg.transpose_inplace(x),
            [lambda x, y: None, lambda x, y: y.copy_(x.t()), transpose_half],
        ),
    ],
    ids=["writes", "copies", "returns", "numpy", "in place"],
)
def test_a_liar_is_found(buffers, options, axes, right, liars):
    x, y = buffers.inputs[0], buffers.outputs[0]
    for _ in range(3):
        verify(Contender("right", lambda i: right(x, y), **options), buffers, axes)
    for liar in liars:
        y.copy_(x.t())
        with pytest.raises(WrongResultError, match="liar gave a wrong result"):
            verify(Contender("liar", lambda i, liar=liar: liar(x, y), **options), buffers, axes)


def test_a_changed_input_is_found(buffers):
    x, y = buffers.inputs[0], buffers.outputs[0]
    with pytest.raises(WrongResultError, match="liar changed its input"):
        verify(Contender("liar", lambda i: x.copy_(y.t())), buffers, (1, 0))
    buffers.poison()
    assert bytes(y.view(torch.uint8).flatten().tolist()) == bytes([POISON]) * 24


def test_time_calls_takes_turns_and_the_median_of_samples():
    seen = {"long": [], "alone": []}
    ticks = {"long": itertools.chain([0.5, 0.4], itertools.cycle([0.2, 0.4, 0.9]))}
    ticks["alone"] = itertools.chain([0.5, 0.4], itertools.cycle([0.1]))

    def entrant(name, **more):
        def clock(work):
            work()
            return next(ticks[name])

        return Contender(name, seen[name].append, clock=clock, **more)

    found = time_calls([entrant("long"), entrant("alone", alone=True)], 4, 3, {})
    # Longer than a sample: one turn of the four buffers.
    assert found == {"long": statistics.median([0.2, 0.4, 0.9]) / 4, "alone": 0.1}
    assert len(seen["long"]) == 1 + 4 + 3 * 4
    assert len(seen["alone"]) == 1 + 4 + 3
    assert set(seen["long"]) == {0, 1, 2, 3}


def test_memory(host_device, monkeypatch):
    """An array beside its copy, or as many as exceed the L2 cache."""
    host_device.L2_cache_size = 1 << 20
    memory = Memory()
    counts = {
        (suite, n): len(memory.buffers(Case(suite, "A", (n, n), (1, 0), "float32")))
        for suite in ("inplace-square", "oop-orders")
        for n in (64, 512, 2048)
    }
    assert [*counts.values()] == [32, 4, 1, 32, 2, 2]
    full, empty_like = [True], torch.empty_like

    def empty(x):
        if full:
            raise torch.OutOfMemoryError("out of memory")
        return empty_like(x)

    monkeypatch.setattr(torch, "empty_like", empty)
    memory = Memory()
    with pytest.raises(torch.OutOfMemoryError):
        memory.buffers(MATRIX)
    full.clear()
    assert [y.shape for y in memory.buffers(MATRIX).outputs] == [(36, 48)] * 32


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64", "complex128"])
def test_bits_of_every_width_are_compared(monkeypatch, spy, dtype):
    monkeypatch.setattr(device, "_COMPARED", 100)
    sizes = spy(torch, "equal", lambda _, a, b: a.numel())
    words = device._DTYPES[dtype]
    x = torch.arange(7 * 48 * words.itemsize).to(torch.uint8).view(words).view(7, 48)
    for view in (lambda x: x, torch.t):
        sizes.clear()
        assert device.same_bits(view(x), view(x).clone())
        numbers = 7 * 48 * (1 + words.is_complex)
        assert sum(sizes) == numbers
        assert max(sizes) <= 112, "in parts"
        for byte in (0, 100 * words.itemsize, -1):
            other = x.clone()
            other.view(-1).view(torch.uint8)[byte] ^= 1
            assert not device.same_bits(view(x), view(other))
    assert not device.same_bits(x.view(-1), x)
    if words.is_floating_point:
        nan, zero = torch.full((1,), torch.nan, dtype=words), torch.zeros(1, dtype=words)
        assert device.same_bits(nan, nan.clone())
        assert not device.same_bits(zero, -zero)


@pytest.fixture
def planned(monkeypatch):
    """Plan a matrix for a device that there is not, as a contender does."""

    def plan(*args, device, **more):
        return plan_for(*args, device="nvidia-h200", **more)

    monkeypatch.setattr(ttlg, "plan", plan)

    def planned(name, *shape):
        like = types.SimpleNamespace(shape=shape, dtype="float64")
        return inplace.planned(types.SimpleNamespace(inputs=[like]), (1, 0), name)

    return planned


@pytest.mark.parametrize("name", inplace.NAMES)
def test_plans_are_those_of_the_contenders(planned, name):
    plan = planned(name, 17000, 17000)
    if name in ("skinny", "c2r", "r2c"):
        assert plan is None or plan.kernel == name
        return
    (step,) = plan.parameters["steps"]
    what, _, number = name.partition("-")
    varied = {"band": "square_v1b", "region": "square_sg", "threads": "square_v1b"}
    if what == "ttlg":
        assert plan == ttlg.plan((17000, 17000), (1, 0), "float64", device="", inplace=True)
    elif number:
        entry = "threads" if what == "threads" else "width"
        assert (step["kernel"], step[entry]) == (varied[what], int(number))
    else:
        assert step["kernel"] == name


def test_who_cannot_takes_no_part_but_the_planner_says_why(planned, monkeypatch):
    assert {planned(name, 48, 36) for name in (*inplace.SCHEMES, "band-8")} == {None}
    assert planned("band-1", 256, 256).parameters["steps"][0]["width"] == 1
    assert planned("band-64", 256, 256) is None

    def refuse(*args, **options):
        raise ValueError("no way in this workspace")

    monkeypatch.setattr(ttlg, "plan", refuse)
    assert planned("c2r", 48, 36) is None
    with pytest.raises(ValueError, match="no way"):
        planned("ttlg-inplace", 48, 36)


def test_a_planner_that_refuses_is_noted_once(host_device, monkeypatch):
    def plan(*args, inplace=False, **options):
        if inplace:
            raise ValueError("a workspace is too small")
        return plan_for(*args)

    monkeypatch.setattr(ttlg, "plan", plan)
    found = measure(MATRIX, Memory(), 3)
    assert found.failures == {"ttlg-inplace": "ValueError: a workspace is too small"}
    assert found.faulty
    assert not found.has_prediction
    assert "no plan" in report.line(found)


@pytest.mark.parametrize("width", [0, 8])
def test_the_papers_orders_out_of_place(width):
    planned = plan_for((9000, 5000), (1, 0), "float32", device="nvidia-h200")
    plan = inplace.with_bands(planned, width)
    assert (plan.kernel, plan.parameters["band_width"]) == ("orthogonal_distinct", width)
    assert plan.parameters["in_block"] == plan.parameters["out_block"] == 64
