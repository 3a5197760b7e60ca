"""Reports say what was measured."""

import csv
import json
import platform
import re
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks import machine
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import available_cores
from ttlg.benchmarks.inplace.rule import with_rule
from ttlg.benchmarks.measure import Result
from ttlg.benchmarks.report import Report, line, table

A = Case("big", "A", (1000, 500), (1, 0), "float32")
B = Case("big", "B", (1000, 250), (1, 0), "float64")
SMALL = Case("latency", "C", (8, 8), (1, 0), "float32")


def times(copy, ttlg, **peers):
    copies = {"copy-numpy": 2 * copy, "copy-plain": 4 * copy, "copy-streaming": copy}
    return {"ttlg-plan": ttlg, "ttlg": ttlg, "ttlg-cold": 2 * ttlg, **copies, **peers}


REPORT = Report(
    {
        "command": "ttlg bench --suite big",
        "cpu": "Some CPU",
        "cores": 2,
        "caches": {"L1 data": "48K", "L2": "1024K"},
        "versions": {"numpy": "2.0", "hptt": None},
        "commit": None,
    },
    (
        Result(A, 1, "tile", times(1e-4, 2e-4, numpy=1e-3, hptt=1e-4)),
        Result(B, 1, "strided_copy", times(1e-4, 4e-4, numpy=5e-4)),
        Result(A, 2, "tile", times(5e-5, 1e-4, numpy=1e-3, jax=5e-5)),
        Result(SMALL, 1, "tile", times(2e-7, 1e-6, numpy=5e-7)),
    ),
)


def test_table_and_lines():
    """Numbers of threads are kept apart; latencies are in nanoseconds."""
    text = table(REPORT)
    assert "Some CPU, 2 cores, L1 data 48K, L2 1024K" in text
    assert "numpy 2.0, hptt -; commit -" in text
    assert "$ ttlg bench --suite big" in text
    found = {}
    for block in text.split("\n\n"):
        heading, *rows = (" ".join(row.split()) for row in block.splitlines())
        found[heading] = rows
    assert {
        "copy ceiling 40.0 GB/s in the median",
        "ttlg 15.0 38% 25% B float64",
        "ttlg-cold 7.5 19% 12% B float64",
        "numpy 6.0 15% 10% A float32 0 of 2 1.25x at B float64",
        "hptt 40.0 100% 100% A float32 1 of 1 0.50x at A float32",
        "copy-plain 10.0 25% 25% A float32",
    } <= set(found["big, 1 thread, 2 cases"])
    assert {
        "numpy 4.0 5% 5% A float32 0 of 1 10.00x at A float32",
        "jax 80.0 100% 100% A float32 1 of 1 0.50x at A float32",
    } <= set(found["big, 2 threads, 1 case"])
    assert {
        "ttlg 1000 ns 1000 ns C float32",
        "numpy 500 ns 500 ns C float32 1 of 1 0.50x at C float32",
    } <= set(found["latency, 1 thread, 1 case"])
    assert line(REPORT.results[1]) == (
        "big B float64, 1 thread, strided_copy: copy 40.0 GB/s; "
        "ttlg-plan 25%, ttlg 25%, ttlg-cold 12%, numpy 20%"
    )
    assert line(REPORT.results[3]) == (
        "latency C float32, 1 thread, tile: copy 200 ns; "
        "ttlg-plan 1000, ttlg 1000, ttlg-cold 2000, numpy 500"
    )


def test_table_in_place_has_the_papers_rule_beside_both_kernels():
    """C2R where there are more rows than columns, else R2C."""
    tall, wide = (
        Case("inplace-random", name, shape, (1, 0), "float64")
        for name, shape in (("tall", (1000, 500)), ("wide", (500, 1000)))
    )
    square = Case("inplace-random", "square", (700, 700), (1, 0), "float64")
    fast, slow = 2e-4, 8e-4
    results = (
        Result(tall, 1, "c2r", times(1e-4, 3e-4, c2r=fast, r2c=slow)),
        Result(wide, 1, "c2r", times(1e-4, 3e-4, c2r=fast, r2c=slow)),
        Result(square, 1, "r2c", times(1e-4, 3e-4, c2r=slow, r2c=fast)),
    )
    taken = [with_rule(result).seconds["m > n"] for result in results]
    assert taken == [fast, slow, fast]
    text = table(Report(REPORT.machine, results))
    assert re.search(r"  c2r +\S+ +50% +12% +square float64 +2 of 3 ", text)
    assert re.search(r"  m > n +\S+ +50% +12% +wide float64 +2 of 3 ", text)
    assert with_rule(REPORT.results[0]) == REPORT.results[0]


def test_csv_has_a_row_for_each_contender():
    assert Report.from_json(json.dumps(asdict(REPORT))) == REPORT
    rows = list(csv.DictReader(REPORT.to_csv().splitlines()))
    assert len(rows) == sum(len(result.seconds) for result in REPORT.results)
    assert rows[1] == {
        "suite": "big",
        "shape": "1000 500",
        "axes": "1 0",
        "dtype": "float32",
        "threads": "1",
        "kernel": "tile",
        "contender": "ttlg",
        "seconds": "0.0002",
        "GB/s": "20",
        "share of copy": "0.5",
    }


def test_machine_description():
    found = machine.describe("ttlg bench")
    assert found["command"] == "ttlg bench"
    assert found["cores"] == available_cores()
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["ttlg"] == ttlg.__version__
    assert found["versions"]["python"] == platform.python_version()
    assert json.loads(json.dumps(found)) == found
    if "model name" in Path("/proc/cpuinfo").read_text():
        assert f": {found['cpu']}\n" in Path("/proc/cpuinfo").read_text()


def test_commit_is_of_the_checkout_that_tracks_the_benchmarks(monkeypatch, tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")

    def git(*args):
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *identity, *args], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit():
        return machine.describe("ttlg bench")["commit"]

    copied = tmp_path / "machine.py"
    copied.write_text("")
    monkeypatch.setattr(machine, "__file__", str(copied))
    assert commit() is None
    git("init")
    git("commit", "--allow-empty", "-m", "of another project")
    assert commit() is None  # as if installed below another project's checkout
    git("add", "machine.py")
    git("commit", "-m", "ours")
    git("tag", "-a", "v1", "-m", "a tag stands for no hash")
    assert commit() == git("rev-parse", "HEAD")
    copied.write_text("# changed\n")
    assert commit() == git("rev-parse", "HEAD") + "-dirty"
