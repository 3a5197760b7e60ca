"""The benchmark beside busy processes verifies, takes turns, and reports what it measured."""

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
