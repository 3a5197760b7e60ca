"""Every program runs once on tiny cases: it measures, prints, records, draws, and draws again."""

import importlib
import itertools
import json
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import ttlg
from ttlg._calibrate.problems import Problem
from ttlg.benchmarks import cli, command, redraw
from ttlg.benchmarks.ablations import ABLATIONS, Ablation
from ttlg.benchmarks.case import Case, named
from ttlg.benchmarks.contenders import Contender
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.generated import compiled
from ttlg.benchmarks.generated.figures import FIGURES
from ttlg.benchmarks.inplace.suites import RANDOM_SUITES
from ttlg.benchmarks.report import Report
from ttlg.benchmarks.suites import SUITES

from .. import time_models
from .test_sparse import TENSOR

TINY = [Case("tiny", str(n), (n, 3, 2), (1, 2, 0), "float32") for n in (4, 5, 6)]
IN_PLACE = [name for name in SUITES if name.startswith("inplace-")]
CONTRACTION = ContractionCase("nine", "first", "ab,bc->ca", {"a": 4, "b": 5, "c": 6}, "float64")
ONCE = "--threads 1 --repeats 1"
BENCHMARKS = "ttlg.benchmarks"


def module(name):
    return importlib.import_module(f"{BENCHMARKS}.{name}")


def main_of(program):
    if program.startswith("gpu"):
        pytest.importorskip("torch")
    return module(f"{program}.__main__" if program in ("generated", "loops") else program).main


@dataclass(frozen=True)
class Program:
    """A command line, what it prints and records, and what it needs."""

    module: str
    options: str
    printed: str
    records: str = "results"
    needs: str = ""

    @property
    def line(self):
        program = "ttlg bench" if self.module == "cli" else f"python -m {BENCHMARKS}.{self.module}"
        return f"{program} {self.options}"


def rotating(*arguments, **options):
    """Return one that takes seconds; a faster test has what it measures."""
    return pytest.param(Program(*arguments, **options), marks=pytest.mark.rotating)


PROGRAMS = [
    Program("cli", "--suite tiny --threads 1 2 --repeats 1", "^tiny, 2 threads, 3 cases$"),
    rotating("cli", f"--suite latency gentt cubes --quick {ONCE}", "^cubes, 1 thread, 8 cases$"),
    rotating("cli", f"--suite {' '.join(IN_PLACE)} {ONCE}", r"^  ttlg-back +\d"),
    Program(
        "cli", f"--suite sparse-options --only uber {ONCE}", "^sparse-tensors, 1 thread, 1 case"
    ),
    rotating("cli", f"--suite sparse-options --only uber --memory {ONCE}", "extra bytes/nonzero"),
    Program("cli", f"--suite contractions --only first {ONCE}", "^nine first .*; ratio "),
    Program("cli", "--ablation loops --threads 1 2 --repeats 1", r"^  -> \w+ ", "ablations"),
    Program("busy", "--busy 0 --seconds 0.01", "^32x32 float32 out=: of one thread's mean"),
    Program("learning", "--models zen5 --threads 1 --problems 1 --calls 1", "^zen5 +1 +1 "),
    Program(
        "learning",
        "--models zen5 --threads 1 --problems 1 --calls 1 --unseen 1",
        "^zen5, learned +1 +1 ",
    ),
    Program("loops", "--repeats 1", "^  all +4 "),
    Program("zarr_io", "--repeats 1", "^all reordered, raw, field, 1 case", needs="zarr"),
    rotating(
        "dask_store",
        "--folder . --shape 6 20 30 3 --axes 0 3 1 2 --chunks 4 20 30 3",
        "^copy .*100% of the copy",
        "runs",
        needs="dask.array",
    ),
    rotating("contraction.networks", "--trials 1 --repeats 1", "^grid of bond", needs="cotengra"),
    *(
        rotating("generated", f"{name} --repeats 1", "times as fast as .* in the median", "rows")
        for name in FIGURES
    ),
    rotating("generated", "ends --repeats 1", "^  blocks fit ", "ends"),
]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Let programs measure few and small cases, in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(TINY))
    monkeypatch.setitem(SUITES, "sparse-options", lambda: iter([TENSOR]))
    for name in IN_PLACE:
        made = [Case(name, str(n), (30 + n, 20), (1, 0), "float64") for n in range(2)]
        for suites in (SUITES, RANDOM_SUITES):
            monkeypatch.setitem(suites, name, lambda *_, made=made: iter(made))
    parts = {"nine": lambda *_: iter([CONTRACTION]), "tccg": lambda *_: (), "random": lambda *_: ()}
    monkeypatch.setattr(f"{BENCHMARKS}.contraction.suites.PARTS", parts)
    loops = Ablation("", (TINY[0],), ABLATIONS["kernels"].variants)
    monkeypatch.setitem(ABLATIONS, "loops", loops)
    monkeypatch.setattr(f"{BENCHMARKS}.busy.CASES", module("busy").CASES[:1])
    drawn = [Problem((300, 400), (1, 0), "f4")] * 2
    monkeypatch.setattr(f"{BENCHMARKS}.learning.draw_problems", lambda seed, count: drawn[:count])
    shapes = {3: (5, 6, 7), 4: (3, 4, 5, 6), 5: (2, 3, 2, 3, 4)}
    monkeypatch.setattr(f"{BENCHMARKS}.loops.measure.SHAPES", shapes)
    loops = importlib.import_module(f"{BENCHMARKS}.loops.measure").cases
    monkeypatch.setattr(f"{BENCHMARKS}.loops.__main__.cases", lambda: [*loops()][::20])
    figure = named("few", (5, 3, 7, 24), (3, 0, 2, 1), "float32")
    for name, each in FIGURES.items():
        monkeypatch.setitem(FIGURES, name, replace(each, cases=lambda: (figure,)))
    monkeypatch.setattr(f"{BENCHMARKS}.measure.calls_in_a_sample", lambda timer, seconds: 1)
    for owner in ("loops.measure", "generated.measure", "generated.ends"):
        monkeypatch.setattr(
            f"{BENCHMARKS}.{owner}.time_calls", lambda entrants, *_: {e.name: 2.0 for e in entrants}
        )
    with time_models.restored():
        yield


def shrink_optional(monkeypatch, program):
    if program.module == "zarr_io":
        monkeypatch.setattr(module("zarr_io"), "_MIN_ARRAY_MB", 2)
        cases = [module("zarr_io").Case("F", "u1", False, 1)]
        monkeypatch.setattr(module("zarr_io"), "cases", lambda quick: cases)
    if program.module == "contraction.networks":
        networks = module("contraction.networks")
        made = (
            networks.Network("tiny", 2, 8, 3, seed=1),
            networks.Network("grid", 2, lattice=(2, 3)),
        )
        monkeypatch.setattr(networks, "NETWORKS", made)
    if program.module == "generated" and compiled.compiler() is None:
        pytest.skip("there is no C++ compiler")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.line)
def test_it_measures_prints_records_and_draws(program, tiny, monkeypatch, capsys):
    for name in ("matplotlib", *program.needs.split()):
        pytest.importorskip(name)
    shrink_optional(monkeypatch, program)
    more = " --json 'a b.json' --plot figure.png"
    assert main_of(program.module)(shlex.split(program.options + more)) == 0
    printed = capsys.readouterr()
    assert re.search(program.printed, printed.out, re.MULTILINE), printed.out
    assert "it/s" not in printed.err, "a progress bar, but it is no terminal"
    record = json.loads(Path("a b.json").read_text())
    assert record["machine"]["command"] == program.line + more
    assert record[program.records]
    image = Path("figure.png").read_bytes()
    assert image.startswith(b"\x89PNG")
    assert redraw.main(["a b.json", "again.png"]) == 0
    assert Path("again.png").read_bytes() == image


def wrong_nest(plan, order):
    return lambda x, out: out.fill(0)


def wrong_loops(case, name, right=compiled.loops):
    return right(replace(case, axes=tuple(range(len(case.shape)))), name)


def wrong_contraction(*arguments, right=ttlg.contraction, **options):
    """Return one whose result differs from that along the tree before."""
    made = right(*arguments, **options)
    made.run = lambda operands, out: np.float64(next(wrong_contraction.results))
    return made


wrong_contraction.results = itertools.count()


@pytest.mark.parametrize(
    ("program", "options", "owner", "lie", "message"),
    [
        (
            "cli",
            "--suite tiny --threads 1 --json record.json",
            "ttlg.benchmarks.measure.contenders",
            lambda *_: [Contender("liar", lambda: None)],
            "ttlg bench: liar gave a wrong result for Case(",
        ),
        (
            "cli",
            "--suite contractions --threads 1 --json record.json",
            "ttlg.einsum",
            lambda *_: np.zeros((6, 4)),
            "ttlg bench: ttlg gave a wrong result, off by",
        ),
        (
            "contraction.networks",
            "--trials 1 --repeats 1",
            "ttlg.contraction",
            wrong_contraction,
            "the results along the two trees differ",
        ),
        (
            "generated",
            "shapes --repeats 1",
            "ttlg.benchmarks.generated.compiled.loops",
            wrong_loops,
            "gcc loops gave a wrong result",
        ),
        (
            "loops",
            "--json record.json",
            "ttlg.benchmarks.loops.measure._nest",
            wrong_nest,
            "nests 0 1 2 gave a wrong result",
        ),
    ],
)
def test_a_wrong_result_fails_it(program, options, owner, lie, message, tiny, monkeypatch, capsys):
    shrink_optional(monkeypatch, Program(program, options, ""))
    monkeypatch.setattr(owner, lie)
    assert main_of(program)(options.split()) == 1
    assert message in capsys.readouterr().err
    assert not Path("record.json").exists()


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        ("cli", "--suite nonsense", "invalid choice: 'nonsense'"),
        ("cli", "--threads 0", "'0' is not a number from 1 up"),
        ("cli", "--repeats many", "'many' is not a number from 1 up"),
        ("cli", "--json absent/results.json", "absent is not a directory"),
        ("cli", "--json .", ". is a directory"),
        ("cli", "--ablation nonsense", "invalid choice: 'nonsense'"),
        ("cli", "--ablation loops --suite cubes", "not allowed with argument"),
        ("cli", "--ablation loops --csv a.csv", "--csv is for suites"),
        ("cli", "--suite cubes --only nonsense", "no case's name contains nonsense"),
        ("cli", "--plot shares.nonsense", "shares.nonsense must end in one of"),
        ("cli", "--suite contractions cubes", "contractions are measured alone"),
        ("cli", "--suite contractions --memory", "contractions are measured alone"),
        ("cli", "--suite contractions --only nonsense", "no case's name contains nonsense"),
        ("redraw", "nonsense.json a.png", "nonsense.json cannot be drawn"),
        ("redraw", "empty.json a.png", "empty.json cannot be drawn"),
        ("redraw", "other.json a.png", "other.json cannot be drawn"),
        ("gpu.draw", "nonsense.json a.png", "Expecting"),
        ("gpu.draw", "empty.json a.png", "is no record of ttlg.benchmarks.gpu, ttlg.benchmarks"),
        ("gpu.draw", "busy.json a.png", "is no record of"),
        ("gpu.draw", "other.json a.png", "has no results"),
        ("gpu.draw", "absent.json a.png", "No such file"),
    ],
)
def test_wrong_options_and_files_are_refused(
    program, options, message, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    of = '{{"machine": {{"command": "python -m ttlg.benchmarks.{}"}}, "results": []}}'.format
    texts = {"nonsense": "{", "empty": "{}", "busy": of("busy"), "other": of("gpu.structures")}
    for name, text in texts.items():
        Path(f"{name}.json").write_text(text)
    with pytest.raises(SystemExit) as stopped:
        main_of(program)(options.split())
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_plots_without_matplotlib_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(command, "optional", lambda name: None)
    with pytest.raises(SystemExit):
        cli.main(["--plot", "shares.png"])
    assert "pip install 'ttlg[plot]'" in capsys.readouterr().err


def test_suites_write_rows_and_who_takes_part_in_place(tiny):
    options = f"--suite inplace-random {ONCE} --json a.json --csv a.csv"
    assert cli.main(options.split()) == 0
    report = Report.from_json(Path("a.json").read_text())
    assert [result.case for result in report.results] == list(SUITES["inplace-random"]())
    assert {"OpenBLAS", "FFTW float64", "fastremap", "forced kernels"} <= {
        *report.machine["inplace"]
    }
    assert Path("a.csv").read_text() == report.to_csv()
