"""The benchmark of generated functions compiles, verifies and compares; times are stand-ins."""

import shutil
import tempfile
from dataclasses import asdict, replace

import numpy as np
import pytest

from ttlg import _core
from ttlg._planning.generate import generate_with_counts
from ttlg.benchmarks.case import Case, named
from ttlg.benchmarks.generated import __main__ as cli
from ttlg.benchmarks.generated import compiled, ends, figures, measure, report
from ttlg.benchmarks.generated.figures import FIGURES, LOOPS, UNROLLED
from ttlg.benchmarks.generated.measure import Count, Row

TINY = (
    named("twos", (2,) * 4, (1, 3, 0, 2), "float32"),
    named("general", (5, 3, 7, 24), (3, 0, 2, 1), "float32"),
)
PEERS = {"ttlg-plan", "numpy", LOOPS}

needs_compiler = pytest.mark.skipif(compiled.compiler() is None, reason="there is no C++ compiler")


def row(name, batch=1, **seconds):
    counts = {
        "shuffles": 8,
        "self_shuffles": 0,
        "loads": 4,
        "live_registers": 5,
        "vector_bytes": 64,
    }
    shape = (64, 64) if batch == 1 else (8, 8)
    case = Case("squares", name, shape, (1, 0), "float32")
    return Row(case, batch, {"generated": counts}, seconds)


@needs_compiler
def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    out = np.zeros((3, 2))
    text = compiled.loops(Case("", "", (2, 3), (1, 0), "float64"), "permute")
    functions = compiled.load({"permute": text}, ("-O1",))
    functions["permute"](x.ctypes.data, out.ctypes.data, 1, 6, 3)
    assert out.tolist() == x.T.tolist()
    assert list(tmp_path.iterdir()) == []


@needs_compiler
def test_errors_of_the_compiler_are_shown():
    with pytest.raises(RuntimeError, match=r"failed: .*error"):
        compiled.load({"permute": "nonsense"}, ())


def test_without_compilers_only_programs_are_counted(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = list(measure.count(TINY[:1]))
    assert [each.isa for each in found] == list(_core.isas())
    assert {each.compiled for each in found} == {None}
    assert min(each.program for each in found) > 0


def test_figures_are_the_papers():
    cases = figures.shapes()
    assert [case.suite for case in cases[::6]] == ["twos", "powers", "general"]
    assert (len(cases), {case.shape for case in cases if case.suite == "general"}) == (
        18,
        {(7, 32, 32, 3), (5, 3, 7, 8, 4, 4)},
    )
    programs = [figures.Variant("").generate(case, "permute") for case in FIGURES["steps"].cases()]
    steps = [made["shuffles"] / made["loads"] for made in programs]
    assert steps == list(range(len(steps)))[::-1]
    assert 2 ** (len(steps) - 1) == programs[0]["lanes"]
    assert programs[-1]["self_shuffles"] == 0
    case = figures.few_registers()[0]
    assert (case.shape, case.axes) == ((64, 32, 32, 4), (2, 1, 0, 3)), "in the order of NumPy"
    tile = generate_with_counts(case.shape, case.axes, isa="avx512", unroll=1)
    assert tile["live_registers"] == 5


def test_unrollings_and_instruction_sets_end_with_the_default(monkeypatch):
    *ours, by_gcc, default = figures.unrollings(figures.few_registers()[0])
    assert len(ours) >= 2
    assert ours[0].name == "1, in order"
    assert (by_gcc.name, by_gcc.flags) == (UNROLLED, ("-O2", "-funroll-loops"))
    assert (default.name, default.options) == ("generated", {})
    assert figures.machine_isas()[-1] == _core.isa_in_use()
    for used, listed in (("avx2", ["ssse3", "avx2"]), ("neon", ["neon"])):
        monkeypatch.setattr(_core, "isa_in_use", lambda used=used: used)
        assert figures.machine_isas() == listed


def test_the_longest_of_the_innermost_loops_counts():
    lines = """.L2:
\tmov\tx0, x1
.L3:
\tldr\tq0, [x0]
\t.loc 1
\tstr\tq0, [x1]
\tb.ne\t.L3
.L4:
\tldr\tq0, [x0]
\tjne\t.L4
\tadd\tx0, x0, 1
\tcbnz\tx0, .L2
\tb\t.L9
\tret""".splitlines()
    assert compiled._longest_loop(lines) == 3
    assert compiled._longest_loop(["\tret"]) == 0


def test_table_ends_with_the_median_and_the_least():
    rows = [
        row("A", generated=1e-6, numpy=4e-6),
        row("B", generated=1e-6, numpy=2e-6, torch=1e-6),
        row("C", generated=1e-6, numpy=9e-6),
    ]
    small = replace(rows[0], case=replace(rows[0].case, name="D", shape=(8, 8)))
    lines = list(report.table(FIGURES["shapes"], [small, *rows], []))
    table = "\n".join(" ".join(line.split()) for line in lines)
    assert "A 5 2 32.8 (4.00) 8.2 (1.00)" in table
    assert "squares generated 4.00 2.00 9.00 B" in table
    assert "squares torch 2.00 2.00 2.00 B" in table
    assert "squares, a call each generated 4.00 4.00 4.00 D" in table
    assert lines[-1] == (
        "generated is 4.00 times as fast as numpy in the median, 2.00 at least, "
        "where calls do not weigh"
    )


def test_counts_are_of_16_elements():
    case = TINY[0]
    counts = [
        Count("avx2", case, 8, 5, 6),
        Count("avx2", case, 8, 7, 8),
        Count("neon", case, 4, 4, None),
    ]
    lines = report.table(FIGURES["levels"], [row("A", generated=1e-6, numpy=4e-6)], counts)
    table = "\n".join(" ".join(line.split()) for line in lines)
    assert "twos avx2 12.0 14.0" in table
    assert "twos neon 16.0 -" in table


def test_ends_differ_in_one_thing_each():
    """The same program where blocks fit and where they overlap; three quarters in use where padded."""
    fit, overlap, loads, stores = (
        figures.Variant("").generate(case, "permute") for case in ends.cases()
    )
    for name in ("lanes", "elements", "loads", "stores", "shuffles", "instructions"):
        assert fit[name] == overlap[name]
    sides = [case.shape[1:] for case in ends.cases()]
    assert all(extent % fit["lanes"] == 0 for extent in sides[0])
    assert all(extent % fit["lanes"] == fit["lanes"] - 1 for extent in sides[1])

    def used(made):
        return [made["elements"] / made["lanes"] / made[name] for name in ("loads", "stores")]

    assert used(fit) == used(overlap) == [1, 1]
    if fit["lanes"] == 16:
        assert used(loads) == [0.75, 1]
        assert used(stores) == [1, 0.75]


@needs_compiler
@pytest.mark.parametrize("offset", [0, 4])
def test_ends_begin_where_they_say_and_take_turns_in_one_run(offset, monkeypatch, spy):
    places = spy(ends, "place", lambda both, *_: [array.ctypes.data % 64 for array in both])
    monkeypatch.setattr(ends, "_STARTS", {"here": offset})
    turns = []

    def stand_in(entrants, *_):
        turns.append([each.name for each in entrants])
        return {name: float(at) for at, name in enumerate(turns[0], 1)}

    monkeypatch.setattr(ends, "time_calls", stand_in)
    rows = ends.measure(1)
    assert places == [[offset, offset]] * 4
    assert [len(names) for names in turns] == [4]
    names = ["blocks fit", "last blocks overlap", "loads padded", "stores padded"]
    assert [each.case.name for each in rows] == names
    for at, each in enumerate(rows, 1):
        calls = measure.CALL_BYTES // each.case.bytes
        assert each.seconds == {"here": pytest.approx(at / calls)}


@needs_compiler
def test_a_figure_has_times_of_one_call_of_all_contenders(monkeypatch):
    """And rows of several arrays in a call, where a call weighs."""
    monkeypatch.setattr(measure, "time_calls", lambda entrants, _: {x.name: 2.0 for x in entrants})
    found = measure.measure(replace(FIGURES["steps"], cases=lambda: TINY), 1)
    assert [each.batch for each in found] == [1, (1 << 16) // 64, 1]
    assert [each.case.shape[-4:] for each in found] == [(2,) * 4, (2,) * 4, (5, 3, 7, 24)]
    for each in found:
        assert set(each.seconds) >= PEERS | set(each.counts)
        assert all(counts["loads"] > 0 for counts in each.counts.values())
    calls = measure.CALL_BYTES // found[0].case.bytes
    assert found[0].seconds["numpy"] == 2.0
    assert found[0].seconds["generated"] == found[0].seconds[LOOPS] == 2.0 / calls


def test_full_measures_the_cubes_of_the_paper(monkeypatch):
    measured = []
    monkeypatch.setattr(cli, "measure", lambda figure, _: measured.append(figure.cases()) or [])
    monkeypatch.setattr(cli.compiled, "compiler", lambda: "c++")
    monkeypatch.setattr(cli.compiled, "version", lambda path: path)
    monkeypatch.setattr(cli.report, "table", lambda figure, rows, counts: [])
    assert cli.main(["cubes"]) == cli.main(["cubes", "--full"]) == 0
    assert [max(case.shape[0] for case in cases) for cases in measured] == [256, 2048]
    assert measured[1][: len(measured[0])] == measured[0]


def test_a_missing_compiler_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit):
        cli.main(["shapes"])
    assert "there is no g++ or c++ here" in capsys.readouterr().err


def test_panels_and_table_of_ends():
    rows = [
        row("A", generated=1e-6, numpy=4e-6),
        row("B", generated=1e-6, numpy=2e-6, torch=4e-6),
    ]
    machine = {"command": "python -m ttlg.benchmarks.generated shapes --plot shapes.png"}
    (panel,) = report.panels({"machine": machine, "rows": [asdict(each) for each in rows]})
    assert panel.values == {"generated": [4, 2], "numpy": [1, 1], "torch": [None, 0.5]}
    assert (panel.labels, panel.ylabel) == (["A", "B"], "times as fast as numpy")
    counts = {"elements": 256, "lanes": 16, "loads": 16, "stores": 32, "instructions": 96}
    case = ends.cases()[0]
    record = [
        asdict(ends.Row(case, counts, {"at a line": first, "4 bytes behind": second}))
        for first, second in ((2e-6, 3e-6), (4e-6, 5e-6))
    ]
    lines = [" ".join(line.split()) for line in ends.table({"ends": record})]
    rates = [f"{2 * case.bytes / 1e9 / seconds:.0f}" for seconds in (2e-6, 3e-6, 4e-6, 5e-6)]
    assert lines[3] == f"blocks fit 1x48x48 100% 50% 6.0 {rates[0]} (1.00) {rates[1]} (1.50)"
    assert lines[4].endswith(f" {rates[2]} (2.00) {rates[3]} (2.50)")
