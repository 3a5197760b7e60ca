"""The benchmark beside busy processes verifies, takes turns, and reports what it measured."""

import json
import subprocess

import pytest

from ttlg.benchmarks import busy


@pytest.mark.parametrize("case", [busy.CASES[0], busy.CASES[6]])
def test_every_contender_is_timed(case):
    taken = busy.measure(case, 0.01)
    assert {"default", "one", "numpy"} <= set(taken)
    for calls in taken.values():
        assert min(calls) > 0
        assert sum(calls) >= 0.01


def test_cases_are_small_and_large_and_of_few_and_many_axes():
    for inplace in (False, True):
        chosen = [case for case in busy.CASES if case.inplace == inplace]
        assert {2, 6} == {len(case.shape) for case in chosen}
    assert len(set(busy.CASES)) == len(busy.CASES)


def test_bursts_are_calls_in_a_row_that_waited():
    short, long = 1e-4, 8e-3
    assert busy.longest_burst([short] * 9) == 0
    assert busy.longest_burst([short, long, short, short, long, long, short, short]) == 2


def test_summary_is_in_microseconds():
    figures = busy.summary([1e-6] * 9 + [1e-3])
    assert figures["mean"] == pytest.approx(100.9)
    assert figures["max"] == 1000
    assert (figures["calls"], figures["longest_burst"]) == (10, 0)


def test_others_run_until_the_end(spy):
    started = spy(subprocess, "Popen", lambda process, *arguments: process)
    with busy.others(2, 5):
        assert [process.poll() for process in started] == [None, None]
    assert len(started) == 2
    assert None not in [process.poll() for process in started]


def test_command_writes_what_it_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(busy, "CASES", busy.CASES[:1])
    pytest.importorskip("matplotlib")
    file, image = tmp_path / "busy.json", tmp_path / "busy.png"
    options = ["--busy", "0", "--seconds", "0.01", "--json", str(file), "--plot", str(image)]
    assert busy.main(options) == 0
    assert image.exists()
    assert "32x32 float32 out=: of one thread's mean" in capsys.readouterr().out
    record = json.loads(file.read_text())
    assert record["machine"]["command"].startswith("python -m ttlg.benchmarks.busy --busy 0")
    assert set(record["results"][0]["microseconds"]["one"]) == {
        "mean",
        "p90",
        "max",
        "calls",
        "longest_burst",
    }
