"""Reports say what was measured."""

import json
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from platform import python_version

import numpy as np
import pytest

import ttlg
from ttlg.benchmarks import ablations, machine, report
from ttlg.benchmarks.case import Case, named
from ttlg.benchmarks.contenders import COPIES, available_cores
from ttlg.benchmarks.contraction import report as contractions
from ttlg.benchmarks.contraction.measure import ContractionResult
from ttlg.benchmarks.generated import ends
from ttlg.benchmarks.generated import report as generated
from ttlg.benchmarks.generated.figures import FIGURES
from ttlg.benchmarks.generated.measure import Count
from ttlg.benchmarks.generated.measure import Row as GeneratedRow
from ttlg.benchmarks.loops import report as loops
from ttlg.benchmarks.loops.measure import Row as LoopsRow
from ttlg.benchmarks.measure import Result
from ttlg.benchmarks.report import Report
from ttlg.benchmarks.sparse.measure import SparseResult

from .conftest import NINE, TENSOR

MACHINE = {"command": "bench", "cpu": "A CPU", "cores": 2, "caches": {"L2": "1024K"}}
MACHINE |= {"versions": {"numpy": "2.0", "hptt": None}, "commit": None}
A = Case("big", "A", (1000, 500), (1, 0), "float32")
B = Case("big", "B", (1000, 250), (1, 0), "float64")
SMALL = Case("latency", "C", (8, 8), (1, 0), "float32")


def times(copy, ttlg, **peers):
    copies = {"copy-numpy": 2 * copy, "copy-plain": 4 * copy, "copy-streaming": copy}
    return {"ttlg-plan": ttlg, "ttlg": ttlg, "ttlg-cold": 2 * ttlg, **copies, **peers}


REPORT = Report(
    MACHINE,
    (
        Result(A, 1, "tile", times(1e-4, 2e-4, numpy=1e-3, hptt=1e-4)),
        Result(B, 1, "strided_copy", times(1e-4, 4e-4, numpy=5e-4)),
        Result(A, 2, "tile", times(5e-5, 1e-4, numpy=1e-3, jax=5e-5)),
        Result(SMALL, 1, "tile", times(2e-7, 1e-6, numpy=5e-7)),
    ),
)


def text_of(lines):
    return "\n".join(lines)


def dense():
    lines = (report.line(REPORT.results[number]) for number in (1, 3))
    rows = """
        A CPU, 2 cores, L2 1024K
        numpy 2.0, hptt -; commit -
        big, 1 thread, 2 cases
        copy ceiling 40.0 GB/s in the median
        ttlg 15.0 38% 25% B float64
        ttlg-cold 7.5 19% 12% B float64
        numpy 6.0 15% 10% A float32 0 of 2 1.25x at B float64
        hptt 40.0 100% 100% A float32 1 of 1 0.50x at A float32
        copy-plain 10.0 25% 25% A float32
        big, 2 threads, 1 case
        numpy 4.0 5% 5% A float32 0 of 1 10.00x at A float32
        jax 80.0 100% 100% A float32 1 of 1 0.50x at A float32
        latency, 1 thread, 1 case
        ttlg 1000 ns 1000 ns C float32
        numpy 500 ns 500 ns C float32 1 of 1 0.50x at C float32
        big B float64, 1 thread, strided_copy: copy 40.0 GB/s; ttlg-plan 25%, ttlg 25%, ttlg-cold 12%, numpy 20%
        latency C float32, 1 thread, tile: copy 200 ns; ttlg-plan 1000, ttlg 1000, ttlg-cold 2000, numpy 500"""
    return text_of([report.table(REPORT), *lines]), rows


def in_place():
    """Add the paper's rule: C2R where there are more rows than columns, else R2C."""
    fast, slow = {"c2r": 2e-4, "r2c": 8e-4}, {"c2r": 8e-4, "r2c": 2e-4}
    shapes = {"tall": (1000, 500), "wide": (500, 1000), "square": (700, 700)}
    results = [
        Result(
            Case("inplace-random", name, shape, (1, 0), "float64"), 1, "", times(1e-4, 3e-4, **took)
        )
        for (name, shape), took in zip(shapes.items(), (fast, fast, slow), strict=True)
    ]
    rows = """
        c2r 40.0 50% 12% square float64 2 of 3 0.67x at tall float64
        m > n 39.2 50% 12% wide float64 2 of 3 0.67x at square float64"""
    return report.table(Report(MACHINE, tuple(results))), rows


def sparse():
    seconds = dict.fromkeys(COPIES, 0.5) | {"ttlg": 1.0, "ttlg-fresh": 4.0}
    one = SparseResult(TENSOR, 1, "auto", seconds | {"scipy": 2.0})
    two = SparseResult(TENSOR, 1, "auto", seconds | {"ttlg": 2.0, "ttlg-fresh": 2.0}, 12.34)
    rows = """
        ttlg 0.0 37.5% 25.0% uber (2,0,3,1) float64
        uber (2,0,3,1) float64 50.0% 2.00x 4.00x
        uber (2,0,3,1) float64 25.0% 1.00x 12.3
        median 37.5% 2.00x 2.50x 12.3
        worst 25.0% 2.00x 1.00x 12.3"""
    return report.table(Report(MACHINE, (one, two))), rows


def contracted():
    moving = replace(NINE[0], equation="abcd,dbea->ec", extents=dict.fromkeys("abcde", 3))
    third, other = (
        replace(moving, name="third"),
        replace(NINE[1], part="other", equation="ab,bc->ac"),
    )
    results = [
        ContractionResult(case, 1, seconds, 0.2, predicted, "")
        for case, seconds, predicted in (
            (moving, {"ttlg": 0.1, "numpy": 0.4, "torch": 0.3}, 0.08),
            (third, {"ttlg": 0.1, "numpy": 0.2}, 0.11),
            (other, {"ttlg": 0.1, "numpy": 0.09, "torch": 0.5}, 0.13),
        )
    ]
    rows = """
        nine first float64 yes 100 200 0.80 400 300 3.00 torch
        other second float64 100 200 1.30 90 500 0.90 numpy
        nine 2.50 of 2 2.00 at nine third float64 0 of 2 0.15
        other - 0.90 at other second float64 1 of 1 0.30
        all 2.50 of 2 0.90 at other second float64 1 of 3 0.20
        nine first float64, 1 thread: ttlg 100 ms (first 200, predicted 0.80), numpy 400, torch 300; ratio 3.00"""
    record = {"results": [*map(contractions.to_entry, results)]}
    curves = {"numpy": [2, 4], "torch": [None, 3]}, {"numpy": [0.9], "torch": [5]}
    text = [contractions.table(MACHINE, results), contractions.line(results[0])]
    return text_of(text), rows, contractions.panels(record), curves


def loop_orders():
    """Of nests with COMET's first."""

    def row(axes, orders, blocks, nests):
        case, comet = named("", (4,) * len(axes), axes, "float32"), next(iter(nests))
        return LoopsRow(case, "", comet, *orders, 1, blocks, {}, nests)

    nests = {"1 2 0": 9.0, "1 0 2": 6.0, "2 1 0": 12.0}
    found = (
        row((2, 1, 0), ("0 2", "2 0"), {"0 2": 3.0, "2 0": 2.0}, nests),
        row((0, 2, 1), ("0 1", "0 1"), {"0 1": 4.0, "1 0": 5.0}, {"0 2 1": 8.0, "0 1 2": 8.0}),
        row((4, 2, 1, 0, 3), ("1", "1"), {"1": 3.0}, {"2 1 0 4 3": 9.0}),
    )
    rows = """
        3 2 1 25.0% (50%) 0.0% (0%) 25.0% (50%) 2.5 (2.0 to 3.0)
        5 1 1 - - - 3.0 (3.0 to 3.0)
        all 3 2 25.0% (50%) 0.0% (0%) 25.0% (50%) 3.0 (2.0 to 3.0)
        0.6 25.0% (50%) 0.0% (0%)
        1.01 0.0% (0%) 25.0% (50%)"""
    return text_of(loops.table(found)), rows


def ablated():
    seconds = dict(zip((*COPIES, "a", "bc"), (2e-6, 1e-6, 3e-6, 2e-6, 4e-6), strict=True))
    row = ablations.Row("loops", A, 2, seconds, "bc", {"a": 2.5e-6, "bc": 1e-6})
    rows = """
        loops: A float32, threads 2, copy 4000.0 GB/s
        a 50.0% predicted 40.0%
        -> bc 25.0% predicted 100.0%"""
    panels = ablations.panels({"ablations": [asdict(row)]})
    assert panels[0].labels == ["a", "bc (chosen)"]
    return ablations.table(row), rows, panels, [{"measured": [0.5, 0.25], "predicted": [0.4, 1]}]


def functions():
    counts = {
        "shuffles": 8,
        "self_shuffles": 0,
        "loads": 4,
        "live_registers": 5,
        "vector_bytes": 64,
    }
    measured = [
        GeneratedRow(
            Case("squares", name, (side, side), (1, 0), "float32"), 1, {"generated": counts}, took
        )
        for name, side, took in (
            ("D", 8, {"generated": 1e-6, "numpy": 4e-6}),
            ("A", 64, {"generated": 1e-6, "numpy": 4e-6}),
            ("B", 64, {"generated": 1e-6, "numpy": 2e-6, "torch": 1e-6}),
            ("C", 64, {"generated": 1e-6, "numpy": 9e-6}),
        )
    ]
    twos = named("twos", (2,) * 4, (1, 3, 0, 2), "float32")
    found = (("avx2", 8, 5, 6), ("avx2", 8, 7, 8), ("neon", 4, 4, None))
    passes = [Count(isa, twos, *numbers) for isa, *numbers in found]
    rows = """
        A 5 2 32.8 (4.00) 8.2 (1.00)
        squares generated 4.00 2.00 9.00 B
        squares torch 2.00 2.00 2.00 B
        squares, a call each generated 4.00 4.00 4.00 D
        twos avx2 12.0 14.0
        twos neon 16.0 -
        generated is 4.00 times as fast as numpy in the median, 2.00 at least, where calls do not weigh"""
    record = {"machine": {"command": "python -m ttlg.benchmarks.generated levels"}}
    panels = generated.panels(record | {"rows": [*map(asdict, measured)]})
    curves = {"generated": [4, 4, 2, 9], "numpy": [1] * 4, "torch": [None, None, 2, None]}
    return text_of(generated.table(FIGURES["levels"], measured, passes)), rows, panels, [curves]


def ends_of_rows():
    case = Case("ends", "blocks fit", (1, 48, 48), (0, 2, 1), "float32")
    counts = {"elements": 256, "lanes": 16, "loads": 16, "stores": 32, "instructions": 96}
    byte = case.bytes / 1e10
    seconds = [{"at a line": at * byte, "4 bytes behind": 2 * at * byte} for at in (1, 2)]
    record = {"ends": [asdict(ends.Row(case, counts, each)) for each in seconds]}
    rows = """
        blocks fit 1x48x48 100% 50% 6.0 20 (1.00) 10 (2.00)
        blocks fit 1x48x48 100% 50% 6.0 10 (2.00) 5 (4.00)"""
    curves = {"at a line": [20, 10], "4 bytes behind": [10, 5]}
    return text_of(ends.table(record)), rows, generated.panels(record), [curves]


@pytest.mark.parametrize(
    "table",
    [dense, in_place, sparse, contracted, loop_orders, ablated, functions, ends_of_rows],
)
def test_tables_and_panels(table):
    """Numbers of threads are kept apart; latencies are in nanoseconds."""
    *texts, panels, curves = (*table(), (), ())[:4]
    text, rows = ([" ".join(line.split()) for line in each.splitlines()] for each in texts)
    assert {*rows} <= {*text, ""}, "\n".join(text)
    for panel, expected in zip(panels, curves, strict=True):
        assert {name: pytest.approx(values) for name, values in expected.items()} == panel.values


def test_csv_has_a_row_for_each_contender():
    heading, *rows = REPORT.to_csv().splitlines()
    assert heading == "suite,shape,axes,dtype,threads,kernel,contender,seconds,GB/s,share of copy"
    assert len(rows) == sum(len(result.seconds) for result in REPORT.results)
    assert rows[1] == "big,1000 500,1 0,float32,1,tile,ttlg,0.0002,20,0.5"


def test_machine_description():
    found = machine.describe("ttlg bench")
    assert (found["command"], found["cores"]) == ("ttlg bench", available_cores())
    versions = {"numpy": np.__version__, "ttlg": ttlg.__version__, "python": python_version()}
    assert found["versions"].items() >= versions.items()
    assert json.loads(json.dumps(found)) == found
    if "model name" in Path("/proc/cpuinfo").read_text():
        assert f": {found['cpu']}\n" in Path("/proc/cpuinfo").read_text()


def test_commit_is_of_the_checkout_that_tracks_the_benchmarks(monkeypatch, tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")

    def git(*args):
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *args]
        return subprocess.check_output(command, cwd=tmp_path, text=True).strip()

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
