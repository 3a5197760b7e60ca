"""The benchmark beside busy processes reports what it measured."""

import subprocess

from ttlg.benchmarks import busy


def test_summary_is_in_microseconds_and_counts_calls_in_a_row_that_waited():
    short, long = 1e-6, 4e-3
    found = busy.summary([short, long, short, short, long, long, *[short] * 4])
    waited = {"mean": 1200.7, "p90": 4000.0, "max": 4000.0, "calls": 10, "longest_burst": 2}
    assert found == waited
    assert busy.longest_burst([short] * 9) == 0


def test_others_run_until_the_end(spy):
    started = spy(subprocess, "Popen", lambda process, *arguments: process)
    with busy.others(2, 5):
        assert [process.poll() for process in started] == [None, None]
    assert len(started) == 2
    assert None not in [process.poll() for process in started]
