"""Plans chosen by measurement: what competes, the winner, and who uses it."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import ttlg
from ttlg import _tune

from ..arrays import bits, problems, random_array, random_raw, zeros_in_line
from .conftest import AXES, SHAPE, tuned


@pytest.fixture
def slowest_wins(monkeypatch):
    """Let the candidate with the longest predicted time win, and list the plans measured."""
    rounds = []

    def sample(plans, x, out):
        rounds.append(plans)
        return [1e-6 * (len(plans) - place) for place in range(len(plans))]

    monkeypatch.setattr(_tune, "_sample", sample)
    return rounds


def but_for_threads(plan):
    return plan.kernel, plan.parameters | {"threads": 0}


class Paced:
    """A timer on a clock of its own: a call takes these seconds, or others after another plan's."""

    last = None

    def __init__(self, seconds, after_others=None):
        self.seconds, self.after_others = seconds, after_others or seconds
        self.samples = 0

    def __call__(self, calls):
        first = self.seconds if Paced.last is self else self.after_others
        Paced.last = self
        self.samples += 1
        return first + (calls - 1) * self.seconds


def test_calls_that_follow_the_same_plan_are_compared():
    timers = [Paced(1, 0.5), Paced(0.8, 0.8), Paced(0.9, 0.6)]
    assert _tune.least_seconds(timers) == pytest.approx([1, 0.8, 0.9])


@pytest.mark.parametrize("fastest", range(9))
def test_the_fastest_wins(fastest):
    timers = [Paced(0.010 if number == fastest else 0.011) for number in range(9)]
    assert _tune.least_seconds(timers) == [each.seconds for each in timers]


def test_the_slow_are_left_out_early_and_a_clear_winner_ends_it():
    timers = [Paced(0.01 * factor) for factor in (3, 1, 1.05, 4)]
    _tune.least_seconds(timers)
    slow, fast, close, slower = (each.samples for each in timers)
    assert slow == slower < fast == close
    timers = [Paced(0.01 * factor) for factor in (4, 3, 1, 5)]
    _tune.least_seconds(timers)
    assert len({each.samples for each in timers}) == 1


def test_transpose_uses_the_winner(slowest_wins):
    model = ttlg.plan(SHAPE, AXES, threads=2)
    plan = tuned()
    assert plan != model
    assert ttlg.plan(SHAPE, AXES, "f8", threads=2).gain is None, "another layout"
    before = ttlg.cache_info()
    x = random_array(SHAPE, "<f4")
    outs = [zeros_in_line(begin, (60, 40, 50), "<f4") for begin in (0, 16)]
    assert bits(ttlg.transpose(x, AXES, threads=2)) == bits(x.transpose(AXES))
    for out in outs:
        assert ttlg.transpose(x, AXES, threads=2, out=out) is out
        assert bits(out) == bits(x.transpose(AXES))
    assert ttlg.plan(SHAPE, AXES, threads=2) == plan
    info = ttlg.cache_info()
    assert (info.hits, info.misses) == (before.hits + 4, before.misses)
    for out in outs:
        kept = ttlg.plan_for(x, AXES, out=out, threads=2)
        assert (kept.kernel, kept.parameters) == (plan.kernel, plan.parameters)


@pytest.mark.parametrize("begin", [0, 16])
@pytest.mark.parametrize("backwards", [False, True])
def test_arrays_begin_in_lines_as_planned(begin, backwards):
    out = zeros_in_line(begin, (30, 20), "<f4")[:: -1 if backwards else 1]
    begins = out.ctypes.data % 64
    plan = ttlg.plan_for(np.zeros((20, 30), "<f4"), out=out, threads=1)
    x, made = _tune.arrays_for(plan._compiled)
    assert made.strides == out.strides
    assert made.ctypes.data % 64 == (0 if begins == 0 else 16)
    assert x.shape == (20, 30)


def test_a_kernel_that_is_asked_for_competes_with_itself_alone(slowest_wins):
    chosen = ttlg.plan((3000, 4000), (1, 0), threads=2)
    for kernel in ("tile", "shuffle", "strided_copy", "reference"):
        slowest_wins.clear()
        plan = tuned((3000, 4000), (1, 0), kernel=kernel)
        assert {each.kernel for plans in slowest_wins for each in plans} == {kernel}
        assert plan.kernel == kernel
        assert ttlg.plan((3000, 4000), (1, 0), threads=2, kernel=kernel) == plan
        assert ttlg.plan((3000, 4000), (1, 0), threads=2) == chosen
    assert len(slowest_wins[0]) == 1  # the reference has one candidate


def test_everything_competes_and_then_numbers_of_threads(slowest_wins):
    plan = tuned((3000, 4000), (1, 0), threads=5)
    kernels, counts = slowest_wins
    assert {each.kernel for each in kernels} == {"tile", "shuffle", "strided_copy"}
    assert len({json.dumps([each.kernel, each.parameters]) for each in kernels}) == len(kernels)
    assert [each.parameters["threads"] for each in counts] == [5, 1, 2]
    assert but_for_threads(plan) == but_for_threads(kernels[-1])
    # One block is nothing to share.
    slowest_wins.clear()
    tuned((4, 5), (1, 0), threads=64)
    assert len(slowest_wins) == 1


def test_the_plan_knows_what_was_measured(slowest_wins):
    plan = tuned((3000, 4000), (1, 0), threads=4)
    kernels, counts = slowest_wins
    candidates = plan.candidates()
    assert (candidates[0].kernel, candidates[0].parameters) == (plan.kernel, plan.parameters)
    assert len({repr(each[:2]) for each in candidates}) == len(candidates)
    # What the planner looked at with fewer threads was timed only for the best blocks.
    timed = [each for each in candidates if each.measured_seconds is not None]
    assert len(timed) == len(kernels) + len(counts) - 1
    own, *others = [each.measured_seconds for each in timed]
    assert others == sorted(others)
    # The winner of the first round was timed again, beside other numbers of threads.
    assert [own, *others] == pytest.approx(
        sorted([1e-6 * n for n in range(2, len(kernels) + 1)] + [1e-6, 2e-6, 3e-6])
    )
    assert all(each.seconds > 0 for each in candidates)
    assert plan.gain == pytest.approx(len(kernels))
    text = plan.explain()
    assert f"measured, the fastest of {len(timed)}:" in text
    assert f"->       1.0 microseconds  {plan.kernel} " in text
    assert text.count("(the planner's choice)") == 1
    assert text.endswith(f"gain over the planner's choice: {len(kernels)}.00 times the speed")
    # Here the planner prefers tiles; with some models the least of all its choices are others.
    instead = f"->  {plan.kernel:12} instead: measured to be faster"
    assert (instead in text) == (plan.kernel != "tile")


def test_the_winner_leads_whatever_was_timed_before(monkeypatch):
    # A machine that got slower; of the others in the first round none is among the first.
    rounds = iter([itertools.chain([3e-6, 1e-6, 4e-6], itertools.repeat(9e-6)), [6e-6, 5e-6]])
    monkeypatch.setattr(
        _tune, "_sample", lambda plans, x, out: list(itertools.islice(next(rounds), len(plans)))
    )
    plan = tuned((700, 800), None)
    listed = plan.candidates()
    assert (listed[0].kernel, listed[0].parameters) == (plan.kernel, plan.parameters)
    assert [each.measured_seconds for each in listed[:4]] == [5e-6, 3e-6, 4e-6, 6e-6]
    assert plan.gain == pytest.approx(0.6)


def test_what_was_measured_for_a_contiguous_output_serves_new_arrays(slowest_wins):
    x, out = np.zeros(SHAPE, "f4"), zeros_in_line(0, (60, 40, 50), "f4")
    model = ttlg.plan(SHAPE, AXES, threads=2)
    plan = ttlg.plan_for(x, AXES, out=out, threads=2, tune="measure")
    served = ttlg.plan(SHAPE, AXES, threads=2)
    assert (served.kernel, served.parameters) == (plan.kernel, plan.parameters)
    assert served != model


def test_measured_times_stay_with_the_plan(slowest_wins):
    plan = tuned()
    unmeasured = ttlg.plan(SHAPE, AXES, threads=1)
    assert unmeasured.gain is None
    assert {each.measured_seconds for each in unmeasured.candidates()} == {None}
    for twin in (
        ttlg.Plan.from_json(plan.to_json()),
        pickle.loads(pickle.dumps(plan)),
        ttlg.plan(SHAPE, AXES, threads=2),
        ttlg.plan_for(np.zeros(SHAPE, "f4"), AXES, threads=2),
    ):
        assert twin == plan
        assert twin.candidates() == plan.candidates()
        assert twin.gain == plan.gain > 1
        assert twin.explain() == plan.explain()
    record = json.loads(plan.to_json())
    assert record.pop("measured")
    twin = ttlg.Plan.from_json(json.dumps(record))
    assert twin.gain is None
    assert (twin, hash(twin)) == (plan, hash(plan)), "how it was found is not compared"
    out = zeros_in_line(0, plan.out_shape, "f4")
    into = ttlg.plan_for(np.zeros(SHAPE, "f4"), AXES, threads=2, out=out)
    assert into.candidates() == plan.candidates()


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: 3,
        lambda rows: [3],
        lambda rows: [["tile"]],
        lambda rows: [["nope", *rows[0][1:]]],
        lambda rows: [["tile", {"block": 1}, 1.0]],
        lambda rows: [[*rows[0][:2], 0]],
        lambda rows: [[*rows[0][:2], math.nan]],
        lambda rows: [[*rows[0][:2], "soon"]],
    ],
)
def test_measured_times_that_are_none(slowest_wins, damage):
    record = json.loads(tuned().to_json())
    record["measured"] = damage(record["measured"])
    with pytest.raises(ValueError, match=r"\w"):
        ttlg.Plan.from_json(json.dumps(record))


def test_a_strided_output_is_measured_as_it_lies(slowest_wins):
    x = np.zeros(SHAPE, "f4")
    out = np.zeros((60, 40, 100), "f4")[::-1, :, ::2]
    before = ttlg.plan(SHAPE, AXES, threads=2)
    plan = ttlg.plan_for(x, AXES, out=out, threads=2, tune="measure")
    assert plan.out_strides == out.strides
    assert plan.gain > 1
    assert ttlg.plan_for(x, AXES, out=out, threads=2).candidates() == plan.candidates()
    assert ttlg.plan(SHAPE, AXES, threads=2) == before


@settings(max_examples=25)
@given(problems())
def test_any_layout_may_be_measured(problem):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    plan = ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, threads=2, tune="measure")
    assert bits(plan(x)) == bits(x.transpose(axes))
    assert plan.parameters["threads"] in (1, 2)


def test_among_equals_the_planners_choice_wins(monkeypatch):
    monkeypatch.setattr(_tune, "_sample", lambda plans, x, out: [1.0] * len(plans))
    plan = tuned()
    assert plan == ttlg.plan(SHAPE, AXES, threads=2, kernel=plan.kernel)
    assert plan.gain == 1
    assert "gain over" not in plan.explain()


@pytest.mark.parametrize(
    ("shape", "dtype"), [((0, 3), "f4"), ((5, 0), "u1"), ((4, 4), "V0"), ((4, 4), "S0")]
)
def test_nothing_is_measured_where_nothing_moves(measured, directory, shape, dtype):
    assert tuned(shape, (1, 0), dtype=dtype) == ttlg.plan(shape, (1, 0), dtype, threads=2)
    assert not measured
    assert not directory.exists()


def test_arrays_that_do_not_fit(directory):
    huge = {"shape": (1 << 31, 1 << 31), "axes": (1, 0), "dtype": "u1", "strides": (0, 0)}
    model = ttlg.plan(**huge)
    with pytest.raises(MemoryError, match=r"takes 1 bytes .* and 4611686018427387904 .*'model'"):
        ttlg.plan(**huge, tune="measure")
    assert list(directory.iterdir()) == []
    assert ttlg.plan(**huge) == model


@pytest.mark.parametrize(("seconds", "shown"), [(0.15, True), (0.001, False)])
def test_a_terminal_sees_progress_after_a_second(tmp_path, terminal, seconds, shown):
    script = tmp_path / "slow.py"
    script.write_text(
        "import time\n"
        "from ttlg import _tune\n"
        "class Sleeper:\n"
        f"    def run(self, x, out): time.sleep({seconds})\n"
        "_tune._sample([Sleeper(), Sleeper()], None, None)\n"
    )
    status, printed = terminal(script)
    assert status == 0, printed
    assert ("ttlg tune" in printed) == shown
