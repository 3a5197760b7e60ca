"""What can be tested of the GPU's benchmarks without one: cases, samples, tables."""

import itertools
import json
import statistics
import types

import pytest

from ttlg.benchmarks.case import Case
from ttlg.benchmarks.measure import POISON, WrongResultError

torch = pytest.importorskip("torch")

import ttlg
from ttlg import _core
from ttlg.benchmarks.gpu import __main__ as cli
from ttlg.benchmarks.gpu import (
    baselines,
    calibrate,
    contenders,
    conversion,
    inplace,
    report,
    session,
    structures,
)
from ttlg.benchmarks.gpu.contenders import COPIES, PEERS, Contender, contender
from ttlg.benchmarks.gpu.device import Buffers
from ttlg.benchmarks.gpu.measure import Result, time_calls, verify
from ttlg.benchmarks.gpu.suites import DTYPES, SUITES, cases, interleaved

CASE = Case("ttc57", "A", (1000, 500), (1, 0), "float64")


pytestmark = pytest.mark.usefixtures("no_synchronize")


def test_suites():
    counts = {name: len(cases(name, None)) for name in SUITES}
    assert counts == {
        "ttc57": 4 * 57,
        "layouts": 18,
        "varying": 12,
        "calls": 2,
        "sixd-16": 2 * 720,
        "sixd-15": 2 * 720,
        "sixd-17": 2 * 720,
    }
    assert {case.dtype for case in cases("ttc57", None)} == set(DTYPES)
    sizes = [case.bytes for case in cases("varying", None)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (3**6 * 8, 24**6 * 8)


def test_sample_draws_the_same_permutations_for_all_extents_and_dtypes():
    drawn = {
        (name, dtype): {case.axes for case in cases(name, 10) if case.dtype == dtype}
        for name in ("sixd-15", "sixd-16", "sixd-17")
        for dtype in ("float64", "float32")
    }
    assert {len(axes) for axes in drawn.values()} == {10}
    assert len({frozenset(axes) for axes in drawn.values()}) == 1
    assert len(cases("sixd-15", 10_000)) == 2 * 720
    assert cases("varying", 1) == cases("varying", None)


@pytest.fixture
def buffers():
    x = torch.arange(12, dtype=torch.int16).view(3, 4)
    return Buffers([x, x + 1], [torch.zeros(4, 3, dtype=torch.int16) for _ in range(2)])


def test_verify(buffers):
    x, y = buffers.inputs[0], buffers.outputs[0]
    verify(Contender("writes", lambda i: y.copy_(x.t())), buffers, (1, 0))
    verify(Contender("copies", lambda i: y.view(-1).copy_(x.view(-1))), buffers, None)
    verify(Contender("returns", lambda i: x.t().clone(), returns=True), buffers, (1, 0))
    verify(Contender("numpy", lambda i: x.t().numpy(), returns=True), buffers, (1, 0))
    for liar in (
        Contender("liar", lambda i: None),
        Contender("liar", lambda i: y[:-1].copy_(x.t()[:-1])),
        Contender("liar", lambda i: x.clone(), returns=True),
        Contender("liar", lambda i: x.t().reshape(3, 4), returns=True),
        Contender("liar", lambda i: x.t() + 1, returns=True),
    ):
        y.copy_(x.t())
        with pytest.raises(WrongResultError, match="liar gave a wrong result"):
            verify(liar, buffers, (1, 0))
    with pytest.raises(WrongResultError):
        verify(Contender("liar", lambda i: y.copy_(x.t())), buffers, None)
    # From the poisoned output to the input.
    kept = x.clone()
    with pytest.raises(WrongResultError, match="liar changed its input"):
        verify(Contender("liar", lambda i: x.copy_(y.t())), buffers, (1, 0))
    x.copy_(kept)
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


def results():
    copies = {"copy-memcpy": 1e-5, "copy-cupy": 2e-5, "copy-ttlg": 1.5e-5}
    own = {"ttlg-plan": 2e-5, "ttlg": 2e-5}
    fast = Result(CASE, "orthogonal_distinct", 1.5e-5, {**own, "torch": 4e-5, **copies})
    other = Case("ttc57", "B", (500, 1000), (1, 0), "float64")
    own = {"ttlg-plan": 4e-5, "ttlg": 4e-5}
    slow = Result(other, "orthogonal_arbitrary", 5e-5, {**own, "torch": 2e-5, **copies})
    return [fast, slow]


def test_shares_and_table():
    fast, slow = results()
    assert (fast.ceiling, fast.share("ttlg"), slow.share("ttlg")) == (1e-5, 0.5, 0.25)
    lines = report.table([fast, slow])
    assert lines[0] == (
        "ttc57 float64: 2 cases; in the median, copy ceiling 800 GB/s and predicted time 25% off"
    )
    rows = {line.split()[0]: line.split() for line in lines[2:]}
    assert rows["ttlg"] == ["ttlg", "300", "0.38", "0.25", "B"]
    assert rows["torch"] == ["torch", "300", "0.38", "0.25", "1", "of", "2", "A"]
    assert report.line(fast) == (
        "ttc57 A float64, orthogonal_distinct: copy 800 GB/s; ttlg-plan 50%, ttlg 50%, torch 25%"
    )
    fast.left_out, slow.left_out = {"cutt": "no library", "jax": "a"}, {"cutt": "no library"}
    found = report.record({"device": "some GPU"}, [fast, slow], {"sixd-17": 3})
    assert json.loads(json.dumps(found))["results"][0]["case"]["shape"] == [1000, 500]
    assert found["table"][-3:] == [
        "left out: cutt, 2 of 2 cases: no library",
        "left out: jax, 1 of 2 cases: a",
        "not measured: 3 of sixd-17",
    ]


def test_budget_is_kept(monkeypatch, capsys):
    now = iter(range(100))
    monkeypatch.setattr(session.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(cli, "Memory", lambda: None)
    asked = []

    def measure(case, memory, repeats, peers):
        asked.append(tuple(peers))
        return results()[0]

    monkeypatch.setattr(cli, "measure", measure)
    measured, written = [], []
    chosen = [(CASE, False), *[(CASE, True)] * 4]
    file = types.SimpleNamespace(
        update=lambda: written.append(len(measured)), write=lambda: written.append("last")
    )
    assert cli._run(chosen, 3, measured, file) == 0
    assert written == [1, 2, 3, "last"]
    assert asked == [tuple(name for name in PEERS if name != "jax"), PEERS, PEERS]
    assert capsys.readouterr().out.count("ttc57 A float64") == 3


def test_the_first_cases_are_a_sample_of_all():
    listed = [case for name in SUITES for case in cases(name, 40)]
    ordered = interleaved(listed)
    assert sorted(map(repr, listed)) == sorted(repr(case) for case, _ in ordered)
    groups = {(case.suite, case.dtype) for case in listed}
    first = [(case.suite, case.dtype) for case, _ in ordered[: len(groups)]]
    assert set(first) == groups
    dtypes = [dtype for _, dtype in first]
    assert dtypes == sorted(dtypes, key=DTYPES.index)
    drawn = [case.axes for case, _ in ordered if (case.suite, case.dtype) == ("sixd-16", "float64")]
    assert drawn != sorted(drawn), "the suite's order begins with permutations that change little"
    for suite, dtype in groups:
        flags = [jax for case, jax in ordered if (case.suite, case.dtype) == (suite, dtype)]
        assert flags == [n % 8 == 0 for n in range(len(flags))]


def test_candidates_are_rebuilt_as_plans():
    model = _core.DeviceModel(name="some-gpu", memory_bytes_per_second=4e12, launch_seconds=1e-9)
    request = _core.Request((60, 70, 80), (22400, 320, 4), 4, (2, 0, 1))
    core = _core.cached_cuda_plan(request, model, None)
    plan = ttlg.Plan(core, "float32")
    drawn = calibrate.chosen(plan, seed=0)
    assert {each.kernel for each in drawn} == {each.kernel for each in plan.candidates()}
    for each in drawn:
        rebuilt = calibrate.plan_of(plan, each)
        assert (rebuilt.schema, rebuilt.parameters) == (each.kernel, each.parameters)
        assert rebuilt.predicted_time == each.seconds


@pytest.mark.parametrize("program", [cli, structures, conversion])
def test_without_a_gpu_it_says_so(program, capsys):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert program.main([]) == 2
    name = program.__name__.removesuffix(".__main__")
    assert capsys.readouterr().err.startswith(f"{name}: ")


@pytest.mark.parametrize("name", ["copy-memcpy", "ttlg", "ttlg-one", "ttlg-single", "torch"])
def test_contenders_do_their_work(buffers, name):
    """Those that work on the host too; the others are at least known by their names."""
    known = {*baselines.NAMES, *PEERS, *itertools.chain(*inplace.CONTENDERS.values())}
    assert known <= contenders._MAKERS.keys()
    made = contender(name, buffers, (1, 0))
    assert made.name == name
    verify(made, buffers, None if name in COPIES else (1, 0))
