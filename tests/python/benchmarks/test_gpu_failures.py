"""What the GPU's benchmarks keep when something fails, stops or is killed."""

import itertools
import json
import os

import pytest

from ttlg.benchmarks.case import Case

torch = pytest.importorskip("torch")

from ttlg.benchmarks.gpu import __main__ as cli
from ttlg.benchmarks.gpu import baselines, report, session
from ttlg.benchmarks.gpu import measure as measuring
from ttlg.benchmarks.gpu.baselines import OUT_OF_PLACE
from ttlg.benchmarks.gpu.contenders import COPIES, OURS, PEERS, Contender
from ttlg.benchmarks.gpu.measure import Result, measure

CASE = Case("calls", "A", (3, 4), (1, 0), "float64")


def oom(i):
    raise torch.OutOfMemoryError("out of memory")


def crash(i):
    raise RuntimeError("nvrtc: compilation failed\nsource of a kernel")


@pytest.fixture
def takes_part(monkeypatch, device):
    """Let every contender do its work in a millisecond, but those that are given do otherwise."""

    def take_part(**others):
        def contender(name, buffers, axes):
            if name == others.get("cannot_be_made"):
                raise ImportError("its library is broken")
            x = buffers.inputs[0]
            right = (lambda i: x.reshape(4, 3)) if name in COPIES else (lambda i: x.t().clone())
            call = others.get(name.replace("-", "_"), right)
            return Contender(name, call, returns=True, clock=lambda work: work() or 1e-3)

        monkeypatch.setattr(measuring, "contender", contender)

    return take_part


def test_failing_contenders_are_noted_and_the_others_measured(takes_part, device):
    takes_part(ttlg=lambda i: torch.zeros(4, 3).double(), torch=crash, cannot_be_made="cupy")
    found = measure(CASE, device, 2)
    assert found.failures == {
        "ttlg": "WrongResultError: ttlg gave a wrong result",
        "torch": "RuntimeError: nvrtc: compilation failed\nsource of a kernel",
        "cupy": "ImportError: its library is broken",
    }
    assert found.seconds.keys() == {*COPIES, *OURS, *PEERS, *OUT_OF_PLACE} - found.failures.keys()
    assert (found.faulty, found.lost_device, found.schema) == (True, False, "copy")
    assert json.loads(json.dumps(report.record({}, [found], {})))["results"][0]["failures"]


def test_only_ttlg_is_at_fault_for_its_failures_and_want_of_memory_is_none(takes_part, device):
    takes_part(torch=crash, copy_memcpy=crash, ttlg=oom)
    found = measure(CASE, device, 2)
    assert set(found.failures) == {"torch", "copy-memcpy", "ttlg"}
    assert not found.faulty
    for name in ("copy-ttlg", *baselines.NAMES, *PEERS):
        found = Result(CASE, failures={name: "WrongResultError: wrong"})
        assert found.faulty == (name not in PEERS), "the baselines are ours"


@pytest.mark.parametrize("calls", [3, 1889, 1895])
def test_a_contender_that_fails_later_is_left_out_of_the_times(takes_part, device, calls):
    """In the call curve, when it is warmed up, or in the samples."""
    numbers = itertools.count()
    takes_part(
        torch=lambda i: device.buffers(CASE).inputs[0].t() if next(numbers) < calls else oom(i)
    )
    found = measure(CASE, device, 2, ["torch"])
    assert found.failures == {"torch": "OutOfMemoryError: out of memory"}
    assert found.seconds.keys() == {*COPIES, *OURS, *OUT_OF_PLACE}


def test_reports_of_partial_results(device):
    device.buffers = oom
    failed = measure(CASE, device, 2)
    assert (failed.failures, failed.seconds) == ({"case": "OutOfMemoryError: out of memory"}, {})
    assert not failed.faulty
    assert report.line(failed).endswith("no plan: case failed: OutOfMemoryError: out of memory")
    copied = Result(CASE, failures={"ttlg": "WrongResultError: ttlg"}, seconds={"copy-ttlg": 1e-6})
    compared = Result(CASE, seconds={"copy-ttlg": 1e-6, "torch": 2e-6})
    every = [copied, compared, Result(CASE, "copy", 1.0, {"ttlg": 1.0})]
    lines = report.record({}, every, {})["table"]
    assert "predicted time unknown" in lines[0]
    assert "torch 0 0.50 0.50 0 of 0 A" in [" ".join(line.split()) for line in lines]
    assert lines[-1] == "failed: calls A float64: ttlg: WrongResultError: ttlg"
    assert len(report.failure_lines({str(n): "x\ny" * 300 for n in range(30)})) == 21


@pytest.fixture
def bench(a_gpu, monkeypatch, tmp_path):
    """Run the program on two suites whose cases do what they are told; return status and JSON."""
    monkeypatch.setattr(cli, "Memory", lambda: None)

    def run(measure):
        monkeypatch.setattr(cli, "measure", lambda case, memory, repeats, peers: measure(case))
        file = tmp_path / "results.json"
        status = cli.main(["--suite", "calls", "varying", "--json", str(file)])
        return status, json.loads(file.read_text())

    return run


def test_exit_status_and_what_is_left_out(bench, device, takes_part, capsys):
    wrong = {"ttlg": "WrongResultError: ttlg gave a wrong result"}
    status, found = bench(lambda case: Result(case, failures=wrong if "20" in case.name else {}))
    assert (status, len(found["results"]), found["left_out"]) == (1, 14, {})
    assert "failed: varying 20^6 float64: ttlg: WrongResultError" in capsys.readouterr().out
    assert bench(lambda case: Result(case, failures={"cupy": "CompileException: x"}))[0] == 0

    def crash_for_good(i):
        device.lost = True
        raise RuntimeError("an illegal memory access was encountered")

    takes_part(ttlg=crash_for_good)
    status, found = bench(lambda case: measure(CASE, device, 2))
    assert (status, found["left_out"]) == (1, {"calls": 1, "varying": 12}), "the device is lost"
    assert found["results"][0]["failures"].keys() == {"ttlg", "device"}


def test_results_are_written_as_the_run_goes(bench, monkeypatch, tmp_path):
    now = itertools.count(0, 2)
    monkeypatch.setattr(session.time, "monotonic", lambda: next(now))
    seen = []

    def measure(case):
        file = tmp_path / "results.json"
        seen.append(len(json.loads(file.read_text())["results"]) if file.exists() else 0)
        return Result(case)

    assert bench(measure)[0] == 0
    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    assert seen[-1] >= len(seen) - 4


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    path, lines, replace = tmp_path / "results.json", [], os.replace
    session.write(path, ["old"])
    monkeypatch.setattr(os, "replace", lambda *_: (lines.append(path.read_text()), replace(*_)))
    session.write(path, ["new"])
    assert lines == ['["old"]\n']
    assert json.loads(path.read_text()) == ["new"]
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"], "no other file is left"
    session.JsonFile(None, lambda: 1 / 0).write()


KILLED = """
    import runpy, signal, time
    from ttlg.benchmarks.gpu import device, measure, contenders
    from ttlg.benchmarks.gpu.measure import Result

    device.require = lambda: None
    device.describe = lambda command: {}
    device.Memory = lambda: None
    numbers = iter(range(100))

    def once(case, memory, repeats, peers):
        if next(numbers) == 2:
            signal.raise_signal(signal.SIGTERM)
            time.sleep(30)
        return Result(case)

    measure.measure = once
    runpy.run_module("ttlg.benchmarks.gpu", run_name="__main__", alter_sys=True)
"""


def test_a_program_that_is_terminated_keeps_its_results(run_python, tmp_path):
    file = tmp_path / "results.json"
    run_python(KILLED, "--suite", "varying", "--json", file, status=130)
    assert len(json.loads(file.read_text())["results"]) == 2
