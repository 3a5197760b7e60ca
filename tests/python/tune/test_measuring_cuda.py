"""Plans for GPUs chosen by measurement, on a stand-in for the device that times them."""

import json

import numpy as np
import pytest

import ttlg
from ttlg import _core, _models, _tune_cuda

from ..interop.fake_cuda import OnCuda, Tensor, install_torch

MODEL = _core.DeviceModel(name="imaginary")


class Device:
    """What stands for `CudaMeasurement`: calls take what a test says, and are counted."""

    def __init__(self):
        self.seconds_of = lambda plan: plan.predicted_seconds
        self.plans = []
        self.made = []

    def make(self, plan, *more):
        self.made.append((plan, *more))
        return self

    def seconds(self, plan, calls):
        if plan not in self.plans:
            self.plans.append(plan)
        return calls * self.seconds_of(plan)

    inplace_seconds = seconds


@pytest.fixture
def device(monkeypatch):
    ttlg.cache_clear()
    found = Device()
    monkeypatch.setattr(_core, "CudaMeasurement", found.make)
    monkeypatch.setattr(_models, "model_of", lambda device: MODEL)
    yield found
    ttlg.cache_clear()


def band_width(plan):
    return plan.parameters.get("band_width")


def in_bands(plan, width):
    """Return the kernel and the parameters of a plan, and with them bands of another width."""
    return plan.kernel, {**plan.parameters, "band_width": width}


def tuned(shape=(5000, 6000), axes=(1, 0), **options):
    return ttlg.plan(shape, axes, **{"device": "cuda", "tune": "measure"} | options)


def slower(plan, penalty):
    """Make all plans take as long but for a penalty."""
    return 1e-4 * (1 + penalty(plan))


@pytest.mark.parametrize("width", [0, 4, 64])
def test_bands_are_measured_for_the_fastest_slices(device, width):
    model = ttlg.plan((5000, 6000), (1, 0), device="cuda")
    other = model.candidates()[3]

    def penalty(plan):
        is_other = in_bands(plan, 0) == in_bands(other, 0)
        return (0 if is_other else 0.5) + (0 if band_width(plan) == width else 0.2)

    device.seconds_of = lambda plan: slower(plan, penalty)
    plan = tuned()
    assert (plan.kernel, plan.parameters) == in_bands(other, width)
    assert plan.gain == pytest.approx(1.7)
    measured = {json.dumps([each.kernel, each.parameters]) for each in device.plans}
    listed = {json.dumps(each[:2]) for each in model.candidates()}
    widths = {json.dumps(in_bands(other, n)) for n in _tune_cuda._BANDS}
    assert measured == listed | widths
    assert device.made == [(model._compiled, 0)]


def test_the_winner_is_kept_for_its_layout(device):
    device.seconds_of = lambda plan: slower(plan, lambda plan: band_width(plan) != 2)
    model = ttlg.plan((5000, 6000), (1, 0), device="cuda")
    plan = tuned()
    assert band_width(plan) == 2
    assert ttlg.plan((5000, 6000), (1, 0), device="cuda") == plan != model
    x = OnCuda(np.zeros((5000, 6000), "f4"))
    core = _core.cuda_plan_for(_core.view(x, "x"), (1, 0), None, MODEL)
    if core.pointer_alignment == plan._compiled.pointer_alignment:
        assert core == plan._compiled
    with ttlg.learning(False):
        assert ttlg.plan((5000, 6000), (1, 0), device="cuda") == plan
    assert band_width(ttlg.plan((5000, 6000), (1, 0), "f8", device="cuda")) != 2
    assert plan.explain().endswith("times the speed")
    assert "in bands of 2 slices" in plan.explain().split("measured, ")[1]
    assert plan.candidates()[0].measured_seconds == 1e-4
    assert ttlg.Plan.from_json(plan.to_json()).candidates() == plan.candidates()


def test_an_array_is_measured_on_its_own_device(device, monkeypatch):
    x = OnCuda(np.zeros((300, 500), "f4"), device=(2, 1))
    plan = ttlg.plan_for(x, (1, 0), tune="measure")
    (made,) = device.made
    assert made[1] == 1
    assert ttlg.plan_for(x, (1, 0)) == plan
    install_torch(monkeypatch, 0)
    x = Tensor(np.zeros((500, 500), "f4"))
    inplace = ttlg.plan_for(x, (1, 0), inplace=True, tune="measure")
    assert device.made[1][2] == 0
    assert inplace.kernel.startswith("square")


def test_a_forced_kernel_competes_with_itself_alone(device):
    plan = tuned(kernel="orthogonal_arbitrary")
    assert {each.kernel for each in device.plans} == {plan.kernel} == {"orthogonal_arbitrary"}
    device.plans.clear()
    plan = tuned((3000, 3000), inplace=True, kernel="square_sg")
    assert {each.kernel for each in device.plans} == {plan.kernel} == {"square_sg"}
    widths = {step["width"] for each in device.plans for step in each.parameters["steps"]}
    assert widths == {8, 16, 32, 47}


@pytest.mark.parametrize(
    ("kernel", "width", "threads"),
    [("square_v1b", 8, 256), ("square_sg", 32, 64), ("square_tw", 0, 1024)],
)
def test_widths_and_thread_blocks_in_place(device, kernel, width, threads):
    def penalty(plan):
        (step,) = plan.parameters["steps"]
        return (
            0.4 * (step["kernel"] != kernel)
            + 0.2 * (step["width"] != width)
            + 0.1 * (step["threads"] != threads)
        )

    device.seconds_of = lambda plan: slower(plan, penalty)
    plan = tuned((6000, 6000), inplace=True)
    (step,) = plan.parameters["steps"]
    assert (step["kernel"], step["width"], step["threads"]) == (kernel, width, threads)
    assert ttlg.plan((6000, 6000), (1, 0), device="cuda", inplace=True) == plan
    assert plan.candidates()[0].measured_seconds == 1e-4
    assert f"blocks of {threads} threads" in plan.explain().split("measured, ")[1]
    twin = ttlg.Plan.from_json(plan.to_json())
    assert twin == plan
    assert twin.gain == plan.gain
    assert twin.candidates() == plan.candidates()
    workspaces = [each.workspace_bytes for each in device.plans]
    assert device.made[0][1:] == (max(workspaces), 0)


def test_every_step_in_place_is_varied(device):
    plan = tuned((48, 48, 48, 48), (3, 2, 1, 0), inplace=True)
    assert plan.gain is not None
    steps = [step["kernel"] for step in plan.parameters["steps"]]
    assert steps == ["square_v1b", "runs"]
    measured = [each.parameters["steps"] for each in device.plans if each.kernel == plan.kernel]
    for number in range(2):
        threads = {each[number]["threads"] for each in measured}
        assert threads == {64, 128, 256, 512, 1024}


@pytest.mark.parametrize("inplace", [False, True])
def test_no_plan_is_measured_twice_at_a_time(device, spy, inplace):
    lists = spy(_tune_cuda, "_sample", lambda _, seconds, plans: list(plans))
    tuned((3000, 3000), inplace=inplace)
    assert len(lists) > 1
    for plans in lists:
        assert all(plan not in plans[:i] for i, plan in enumerate(plans))


def test_the_next_process_finds_it(device, monkeypatch, tmp_path):
    monkeypatch.setenv("TTLG_CACHE_DIR", str(tmp_path))
    device.seconds_of = lambda plan: slower(plan, lambda plan: band_width(plan) != 2)

    def all_tuned():
        inplace = [tuned((3000, 3000), inplace=True, workspace=most) for most in (None, 9)]
        return [tuned(), *inplace]

    made = all_tuned()
    assert len(device.made) == 3
    ttlg.cache_clear()
    again = all_tuned()
    assert again == made
    assert [each.gain for each in again] == [each.gain for each in made]
    assert len(device.made) == 3
    tuned((5000, 6000), (1, 0), dtype="f8")
    tuned(kernel="orthogonal_distinct")
    memory = np.zeros(300 * 500 + 1, "f4")
    for x in (memory[:-1], memory[1:]):  # aligned, and not
        ttlg.plan_for(OnCuda(x.reshape(300, 500)), (1, 0), tune="measure")
    assert len(device.made) == 7


def test_no_room_on_the_device(device, monkeypatch):
    def refuse(*arguments):
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(_core, "CudaMeasurement", refuse)
    message = r"shape \(5000, 6000\) takes an input and an output of .* 4 bytes on cuda:3.*'model'"
    with pytest.raises(MemoryError, match=message):
        tuned(device="cuda:3")
    with pytest.raises(MemoryError, match="takes an array of elements"):
        tuned((500, 500), inplace=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tesla-k40c"}, "needs a GPU of this machine, .* not 'tesla-k40c'"),
        ({"tune": "learn"}, "tune='learn' is for device 'cpu', not 'cuda'"),
        ({"device": "cpu", "inplace": True}, "plans in place are measured on GPUs alone"),
        ({"inplace": True, "tune": "learn"}, "calls in place do not learn"),
        ({"threads": 2}, "threads= is for device 'cpu'"),
    ],
    ids=repr,
)
def test_what_cannot_be_measured(device, options, message):
    with pytest.raises(ValueError, match=message):
        tuned(**options)
    assert device.made == []


@pytest.mark.parametrize("shape", [(0, 3), (5, 0)])
def test_nothing_is_measured_where_nothing_moves(device, shape):
    tuned(shape)
    tuned(shape, inplace=True)
    assert device.made == []
    assert tuned((300, 700), (0, 1), inplace=True, kernel="square_v1b").kernel == "none"
    assert device.plans == []
