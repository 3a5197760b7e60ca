"""What can be tested without a GPU of its benchmarks in place: cases, contenders, their results."""

import itertools
import types
from dataclasses import replace

import pytest

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.measure import WrongResultError

torch = pytest.importorskip("torch")

import ttlg
from ttlg.benchmarks.gpu import __main__ as cli
from ttlg.benchmarks.gpu import contenders, device, inplace, report
from ttlg.benchmarks.gpu.contenders import Contender
from ttlg.benchmarks.gpu.device import Buffers, Memory
from ttlg.benchmarks.gpu.measure import measure, verify
from ttlg.benchmarks.gpu.suites import SUITES, cases, interleaved

plan_for = ttlg.plan
MATRIX = Case("inplace-random", "A", (48, 36), (1, 0), "float32")


@pytest.fixture(autouse=True)
def _no_device(monkeypatch):
    """Plan for a device that there is not, and keep time without events."""
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    event = types.SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    event.elapsed_time = lambda end: 0.5
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: event)
    monkeypatch.setattr(
        ttlg, "plan", lambda *args, device, **more: plan_for(*args, device="nvidia-h200", **more)
    )


def buffers_of(case, count=1):
    def arrays(shape):
        size = case.bytes // torch.finfo(getattr(torch, case.dtype)).bits * 8
        return [
            torch.arange(size, dtype=getattr(torch, case.dtype)).view(shape) for _ in range(count)
        ]

    return Buffers(arrays(case.shape), arrays(case.out_shape))


def test_suites():
    assert {name: len(cases(name, None)) for name in inplace.SUITES} == {
        "inplace-square": 2 * 18,
        "inplace-bands": 2 * 8,
        "inplace-3d": 2 * 3 * 6 * 3,
        "inplace-random": 2 * 100,
        "inplace-landscape": 64,
        "inplace-aos": 2 * 24,
        "inplace-baselines": 2 * 12,
        "oop-orders": 8 * 8,
    }
    assert inplace.SUITES.keys().isdisjoint(SUITES)
    for name in inplace.SUITES:
        found = cases(name, None)
        assert {case.suite for case in found} == {name}
        assert {case.inplace for case in found} == {name != "oop-orders"}
        assert len({case.label for case in found}) == len(found)
        assert cases(name, None) == found, "drawn from a seed"
    for name in ("inplace-random", "inplace-baselines"):
        assert len(interleaved(cases(name, 5))) == 10
    assert len(cases("inplace-square", 5)) == 36, "its cases are not drawn"
    for name, sample, limits in (
        ("inplace-random", None, (1000, 1500, 19_500, 20_000)),
        ("inplace-baselines", 100, (1000, 1500, 9500, 10_000)),
    ):
        extents = [extent for case in cases(name, sample) for extent in case.shape]
        low, high = limits[:2], limits[2:]
        assert low[0] <= min(extents) < low[1]
        assert high[0] < max(extents) <= high[1]
    for case in cases("inplace-3d", None):
        kept = [axis for axis in range(3) if case.axes[axis] == axis]
        assert [case.shape[axis] for axis in kept] in ([2], [3], [4])
        assert case.out_shape == case.shape


def test_program_lists_cases_and_those_in_place_only_when_asked(capsys):
    assert cli.main(["--suite", "inplace-bands", "oop-orders", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 16 + 64
    assert cli.main(["--list"]) == 0
    assert "inplace" not in capsys.readouterr().out


@pytest.mark.parametrize("name", inplace.NAMES)
def test_plans_are_those_of_the_contenders(name):
    case = Case("inplace-square", "A", (17000, 17000), (1, 0), "float64")
    like = types.SimpleNamespace(shape=case.shape, dtype=case.dtype)
    plan = inplace.planned(types.SimpleNamespace(inputs=[like]), (1, 0), name)
    if name in ("skinny", "c2r", "r2c"):
        assert plan is None or plan.kernel == name
        return
    (step,) = plan.parameters["steps"]
    what, _, number = name.partition("-")
    varied = {"band": "square_v1b", "region": "square_sg", "threads": "square_v1b"}
    if what == "ttlg":
        assert plan == plan_for(case.shape, (1, 0), case.dtype, device="nvidia-h200", inplace=True)
    elif number:
        entry = "threads" if what == "threads" else "width"
        assert (step["kernel"], step[entry]) == (varied[what], int(number))
    else:
        assert step["kernel"] == name


def test_who_cannot_takes_no_part_but_the_planner_says_why(monkeypatch):
    buffers = buffers_of(MATRIX)
    for name in (*inplace.SCHEMES, "band-8"):
        assert inplace.planned(buffers, (1, 0), name) is None
    small = buffers_of(Case("inplace-bands", "A", (256, 256), (1, 0), "float32"))
    assert inplace.planned(small, (1, 0), "band-1").parameters["steps"][0]["width"] == 1
    assert inplace.planned(small, (1, 0), "band-64") is None

    def refuse(*args, **options):
        raise ValueError("no way in this workspace")

    monkeypatch.setattr(ttlg, "plan", refuse)
    assert inplace.planned(buffers, (1, 0), "c2r") is None
    with pytest.raises(ValueError, match="no way"):
        inplace.planned(buffers, (1, 0), "ttlg-inplace")


def test_results_in_place_are_verified():
    buffers = buffers_of(MATRIX)
    x, y = buffers.inputs[0], buffers.outputs[0]
    right = Contender("right", lambda i: ttlg.transpose_inplace(x), inplace=True)
    for _ in range(3):
        verify(right, buffers, (1, 0))

    def half(i):
        kept = x.clone()
        ttlg.transpose_inplace(x)
        x[24:] = kept[24:]

    for wrong in (lambda i: None, lambda i: y.copy_(x.t()), half):
        with pytest.raises(WrongResultError, match="wrong gave"):
            verify(Contender("wrong", wrong, inplace=True), buffers, (1, 0))


@pytest.fixture
def on_host(monkeypatch):
    """Let plans for the device be carried out on the host, and name the kernels asked for."""
    asked = []

    def plan(shape, axes, dtype, device, inplace=False, kernel=None, parameters=None):
        assert device == "cuda"
        asked.append((inplace, kernel))
        if kernel == "r2c":
            raise ValueError("the rows are too long")
        return plan_for(shape, axes, dtype, inplace=inplace)

    monkeypatch.setattr(inplace, "with_bands", lambda plan, width: plan)
    monkeypatch.setattr(ttlg, "plan", plan)
    return asked


@pytest.fixture
def memory():
    return types.SimpleNamespace(buffers=lambda case: buffers_of(case, 2))


def test_cases_are_measured(on_host, memory):
    found = measure(MATRIX, memory, 3)
    assert found.failures == {}
    assert found.left_out["r2c"] == "it cannot carry this permutation out"
    # Every sample takes half a millisecond: those before the first, of a call for each of two
    # arrays, and then those of as many as are expected to take 2 ms.
    assert found.seconds == dict.fromkeys(
        ("copy-memcpy", "copy-ttlg", "ttlg-inplace", "c2r"), pytest.approx(0.0005 / 8)
    )
    assert (True, "r2c") in on_host
    assert found.has_prediction
    assert found.schema == plan_for((48, 36), (1, 0), "float32", inplace=True).kernel
    out = measure(Case("oop-orders", "A", (48, 36), (1, 0), "float32"), memory, 3)
    assert out.seconds.keys() == {"copy-memcpy", "copy-ttlg", "ttlg-plan", "nvi", "oopb", "torch"}
    assert out.planned == "ttlg-plan"


def test_a_planner_that_refuses_is_noted_once(on_host, memory, monkeypatch):
    def plan(*args, inplace=False, **options):
        if inplace:
            raise ValueError("a workspace is too small")
        return plan_for(*args, **(options | {"device": "cpu", "kernel": None}))

    monkeypatch.setattr(ttlg, "plan", plan)
    found = measure(MATRIX, memory, 3)
    assert found.failures == {"ttlg-inplace": "ValueError: a workspace is too small"}
    assert found.faulty
    assert not found.has_prediction
    assert "no plan" in report.line(found)


def test_memory_in_place(monkeypatch):
    """An array beside its copy, or as many as exceed the L2 cache."""
    properties = types.SimpleNamespace(L2_cache_size=1 << 20)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *args, device, **more: empty(*args, **more))
    memory = Memory()
    counts = {}
    for suite, n in itertools.product(("inplace-square", "oop-orders"), (64, 512, 2048)):
        counts[suite, n] = len(memory.buffers(Case(suite, "A", (n, n), (1, 0), "float32")))
    assert counts == {
        ("inplace-square", 64): 32,
        ("inplace-square", 512): 4,
        ("inplace-square", 2048): 1,
        ("oop-orders", 64): 32,
        ("oop-orders", 512): 2,
        ("oop-orders", 2048): 2,
    }


def test_large_and_strided_arrays_are_compared(monkeypatch, spy):
    monkeypatch.setattr(device, "_COMPARED", 100)
    sizes = spy(torch, "equal", lambda _, a, b: a.numel())
    x = torch.arange(7 * 300, dtype=torch.float64).view(7, 300)
    assert device.same_bits(x.t(), x.t().clone())
    assert len(sizes) == 20
    assert max(sizes) <= 105
    assert sum(sizes) == 2100
    for place in (0, 1000, 2099):
        other = x.clone()
        other.view(-1)[place] = -1
        assert not device.same_bits(x.t(), other.t())
    assert not device.same_bits(x.view(-1), x)
    x = torch.zeros((3, 4), dtype=torch.complex128)
    other = x.clone()
    other[1, 2] += 1j
    for axes in ((0, 1), (1, 0)):
        assert device.same_bits(x.permute(axes), x.permute(axes).clone())
        assert not device.same_bits(x.permute(axes), other.permute(axes))


def test_baselines_take_part(on_host, memory, monkeypatch):
    made = {}

    def baseline(name, wrong):
        def make(m, n, itemsize):
            def transpose(address):
                (x,) = (each for each in made["x"].inputs if each.data_ptr() == address)
                x.view(n, m).copy_(x.t().clone())
                x[-1, -1] += wrong

            assert (m, n, itemsize) == (48, 36, 4)
            return transpose

        return contenders._matrix_baseline(name, make)

    def buffers(case):
        made["x"] = buffers_of(case, 2)
        return made["x"]

    memory.buffers = buffers
    monkeypatch.setitem(contenders._MAKERS, "algorithm-1", baseline("algorithm-1", 0))
    monkeypatch.setitem(contenders._MAKERS, "cycles", baseline("cycles", 1))
    found = measure(replace(MATRIX, suite="inplace-baselines"), memory, 3)
    assert {"ttlg-inplace", "c2r", "algorithm-1"} < found.seconds.keys()
    assert found.failures == {"cycles": "WrongResultError: cycles gave a wrong result"}


@pytest.mark.parametrize("width", [0, 8])
def test_the_papers_orders_out_of_place(width):
    planned = plan_for((9000, 5000), (1, 0), "float32", device="nvidia-h200")
    plan = inplace.with_bands(planned, width)
    assert (plan.kernel, plan.parameters["band_width"]) == ("orthogonal_distinct", width)
    assert plan.parameters["in_block"] == plan.parameters["out_block"] == 64
