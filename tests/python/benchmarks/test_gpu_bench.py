"""What can be tested of the GPU's benchmarks without one: suites, programs, tables."""

import itertools
import json
import types
from dataclasses import replace

import pytest

from ttlg.benchmarks.case import Case

torch = pytest.importorskip("torch")

import ttlg
from ttlg import _core
from ttlg.benchmarks.gpu import __main__ as cli
from ttlg.benchmarks.gpu import calibrate, conversion, draw, inplace, report, session, structures
from ttlg.benchmarks.gpu.contenders import COPIES, OURS, PEERS
from ttlg.benchmarks.gpu.measure import Result
from ttlg.benchmarks.gpu.suites import DTYPES, SUITES, cases, interleaved

CASE = Case("ttc57", "A", (1000, 500), (1, 0), "float64")
# How many cases each suite has, those that are drawn in a sample as well.
COUNTS = {
    "ttc57": 4 * 57,
    "layouts": 18,
    "varying": 12,
    "calls": 2,
    "sixd-16": 2 * 720,
    "sixd-15": 2 * 720,
    "sixd-17": 2 * 720,
    "inplace-square": 2 * 18,
    "inplace-bands": 2 * 8,
    "inplace-3d": 2 * 3 * 6 * 3,
    "inplace-random": 2 * 100,
    "inplace-landscape": 64,
    "inplace-aos": 2 * 24,
    "inplace-baselines": 2 * 12,
    "oop-orders": 8 * 8,
}
DRAWN = ("sixd-16", "sixd-15", "sixd-17", "inplace-random", "inplace-baselines")


def test_suites():
    assert {name: len(cases(name, None)) for name in (*SUITES, *inplace.SUITES)} == COUNTS
    for name in COUNTS:
        found = cases(name, None)
        assert cases(name, None) == found, "drawn from a seed"
        assert {case.suite for case in found} == {name}
        assert {case.inplace for case in found} == {name.startswith("inplace")}
        assert len({case.label for case in found}) == len(found)
        if name not in ("inplace-landscape", "inplace-aos"):
            assert len(cases(name, 5)) == (10 if name in DRAWN else len(found))
    assert {case.dtype for case in cases("ttc57", None)} == set(DTYPES)
    sizes = [case.bytes for case in cases("varying", None)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (3**6 * 8, 24**6 * 8)
    for name, (least, most) in {
        "inplace-random": (1000, 20_000),
        "inplace-baselines": (1000, 10_000),
    }.items():
        extents = [extent for case in cases(name, 100) for extent in case.shape]
        assert least <= min(extents) < 1.5 * least
        assert 0.95 * most < max(extents) <= most
    for case in cases("inplace-3d", None):
        kept = [axis for axis in range(3) if case.axes[axis] == axis]
        assert [case.shape[axis] for axis in kept] in ([2], [3], [4])
        assert case.out_shape == case.shape


def test_sample_draws_the_same_permutations_for_all_extents_and_dtypes():
    drawn = {
        frozenset(case.axes for case in cases(name, 10) if case.dtype == dtype)
        for name in ("sixd-15", "sixd-16", "sixd-17")
        for dtype in ("float64", "float32")
    }
    assert [len(axes) for axes in drawn] == [10]
    assert len(cases("sixd-15", 10_000)) == 2 * 720


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


def tiny(case):
    """Return a case whose extents are small, and as different as they were."""
    extents = sorted(set(case.shape))
    return replace(case, shape=tuple(4 + extents.index(extent) for extent in case.shape))


@pytest.mark.parametrize("suite", [*SUITES, *inplace.SUITES])
def test_every_suite_runs_and_has_a_figure(host_device, monkeypatch, tmp_path, drawn, suite):
    few = [tiny(case) for case in cases(suite, 2)[:2]]
    monkeypatch.setattr(cli, "cases", lambda name, sample: few)
    file, figure = tmp_path / "record.json", tmp_path / "figure.svg"
    assert cli.main(["--suite", suite, "--json", str(file), "--plot", str(figure)]) == 0
    assert draw.main([str(file), str(figure)]) == 0
    found = json.loads(file.read_text())["results"]
    assert len(found) == len(few)
    names = {*COPIES, *inplace.CONTENDERS.get(suite, (*OURS, *PEERS, "naive"))} - {"jax"}
    for result in found:
        assert result["seconds"].keys() == names - result["left_out"].keys()
        assert not {*OURS, "copy-ttlg", "ttlg-inplace", "torch"} & result["left_out"].keys()
        assert result["predicted"] > 0
        assert result["curve"].keys() == ({"ttlg", "torch"} if suite == "calls" else set())
    assert len(drawn) == 2, "by the program and from its record"
    titles = [each.get_title() for each in drawn[0].axes if each.get_title()]
    legends = [each.get_legend() for each in drawn[0].axes if each.get_legend()]
    if suite == "inplace-landscape":
        assert titles == ["c2r, GB/s", "ttlg-inplace, GB/s"]
    else:
        shown = {text.get_text() for legend in legends for text in legend.get_texts()}
        assert "ttlg" in {name.partition("-")[0] for name in shown}
        assert shown.isdisjoint(COPIES)
        assert {title.split(", ")[0] for title in titles} == {suite}


def test_cases_are_listed(capsys):
    assert cli.main(["--suite", "inplace-bands", "oop-orders", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 16 + 64
    assert cli.main(["--list"]) == 0
    assert "inplace" not in capsys.readouterr().out, "only when they are asked for"


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
    assert "ceiling 800 GB/s and predicted time 25% off" in lines[0]
    rows = {line.split()[0]: line.split() for line in lines[2:]}
    assert rows["ttlg"] == ["ttlg", "300", "0.38", "0.25", "B"]
    assert rows["torch"] == ["torch", "300", "0.38", "0.25", "1", "of", "2", "A"]
    assert "copy 800 GB/s; ttlg-plan 50%, ttlg 50%, torch 25%" in report.line(fast)
    fast.left_out, slow.left_out = {"cutt": "no library", "jax": "a"}, {"cutt": "no library"}
    found = report.record({"device": "some GPU"}, [fast, slow], {"sixd-17": 3})
    assert [line.split(":")[1] for line in found["table"][-3:]] == [
        " cutt, 2 of 2 cases",
        " jax, 1 of 2 cases",
        " 3 of sixd-17",
    ]


def test_budget_is_kept(host_device, monkeypatch, tmp_path):
    now = itertools.count()
    monkeypatch.setattr(session, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setattr(cli, "time", session.time)
    asked, file = [], tmp_path / "record.json"

    def measure(case, memory, repeats, peers):
        asked.append("jax" in peers)
        return Result(case)

    monkeypatch.setattr(cli, "measure", measure)
    assert cli.main(["--suite", "varying", "--budget", "7", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert len(found["results"]) == len(asked) == 12 - found["left_out"]["varying"]
    assert 2 <= len(asked) <= 4
    assert asked == [n % 8 == 0 for n in range(len(asked))]


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
