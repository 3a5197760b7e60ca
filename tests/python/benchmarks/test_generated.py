"""The benchmark of generated functions compiles, verifies and compares; times are stand-ins."""

import json
import re
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


@pytest.fixture
def tiny(monkeypatch):
    """Let every figure have two small cases, one of them for calls that weigh; take no time."""
    for name, figure in FIGURES.items():
        monkeypatch.setitem(FIGURES, name, replace(figure, cases=lambda: TINY))
    monkeypatch.setattr(
        measure, "time_calls", lambda entrants, repeats: {each.name: 2.0 for each in entrants}
    )


def test_full_measures_the_cubes_of_the_paper(monkeypatch):
    measured = []

    def measure_nothing(figure, repeats):
        measured.append([case.shape[0] for case in figure.cases()])
        return []

    monkeypatch.setattr(cli, "measure", measure_nothing)
    monkeypatch.setattr(cli.compiled, "compiler", lambda: "c++")
    monkeypatch.setattr(cli.compiled, "version", lambda path: path)
    monkeypatch.setattr(cli.report, "table", lambda figure, rows, counts: [])
    assert cli.main(["cubes"]) == cli.main(["cubes", "--full"]) == 0
    assert [max(sides) for sides in measured] == [256, 2048]
    assert measured[1][: len(measured[0])] == measured[0]


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
@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_verifies_and_records_all_contenders(name, tiny, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_core, "isas", lambda: ("ssse3", "avx2", "avx512", "avx512vbmi", "neon"))
    path = tmp_path / "record.json"
    assert cli.main([name, "--repeats", "1", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    peer = FIGURES[name].peer
    assert f"times as fast as {peer} in the median" in out.splitlines()[-1]
    record = json.loads(path.read_text())
    assert record["machine"]["command"].startswith(f"python -m ttlg.benchmarks.generated {name}")
    assert record["compiler"]
    assert [each["batch"] for each in record["rows"]] == [1, (1 << 16) // 64, 1]
    assert [each["case"]["shape"][-4:] for each in record["rows"]] == [
        [2, 2, 2, 2],
        [2, 2, 2, 2],
        [5, 3, 7, 24],
    ]
    for each in record["rows"]:
        assert set(each["seconds"]) >= PEERS | set(each["counts"])
        assert all(counts["loads"] > 0 for counts in each["counts"].values())
    assert bool(record["counts"]) == (name == "levels")


@needs_compiler
def test_seconds_are_those_of_one_call(tiny):
    found = measure.measure(FIGURES["steps"], 1)[0]
    calls = measure.CALL_BYTES // found.case.bytes
    assert found.seconds["numpy"] == 2.0
    assert found.seconds["generated"] == found.seconds[LOOPS] == 2.0 / calls


@needs_compiler
def test_wrong_functions_are_found(tiny, monkeypatch, capsys):
    right = compiled.loops
    monkeypatch.setattr(
        compiled, "loops", lambda case, name: right(replace(case, axes=(0, 1, 2, 3)), name)
    )
    assert cli.main(["shapes", "--repeats", "1"]) == 1
    assert "gcc loops gave a wrong result" in capsys.readouterr().err


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


def test_a_missing_compiler_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["shapes"])
    assert stopped.value.code == 2
    assert "there is no g++ or c++ here" in capsys.readouterr().err


def test_without_compilers_only_programs_are_counted(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = list(measure.count(TINY[:1]))
    assert [each.isa for each in found] == list(_core.isas())
    assert {each.compiled for each in found} == {None}
    assert min(each.program for each in found) > 0


def test_shapes_are_the_papers_in_three_groups():
    cases = figures.shapes()
    assert len(cases) == 18
    assert [case.suite for case in cases[::6]] == ["twos", "powers", "general"]
    assert {case.shape for case in cases if case.suite == "general"} == {
        (7, 32, 32, 3),
        (5, 3, 7, 8, 4, 4),
    }


def test_steps_go_down_to_none():
    programs = [figures.Variant("").generate(case, "permute") for case in FIGURES["steps"].cases()]
    steps = [made["shuffles"] / made["loads"] for made in programs]
    assert steps == list(range(len(steps)))[::-1]
    assert 2 ** (len(steps) - 1) == programs[0]["lanes"]
    assert programs[-1]["self_shuffles"] == 0


def test_the_papers_map_needs_few_registers_in_the_order_of_numpy():
    case = figures.few_registers()[0]
    assert (case.shape, case.axes) == ((64, 32, 32, 4), (2, 1, 0, 3))
    tile = generate_with_counts(case.shape, case.axes, isa="avx512", unroll=1)
    assert tile["live_registers"] == 5


def test_unrollings_differ_and_end_with_the_compilers_and_the_default():
    variants = figures.unrollings(figures.few_registers()[0])
    *ours, by_gcc, default = variants
    programs = [each.generate(TINY[1], "permute")["program"] for each in ours]
    assert len(programs) >= 2
    assert ours[0].name == "1, in order"
    assert (by_gcc.name, by_gcc.flags) == (UNROLLED, ("-O2", "-funroll-loops"))
    assert (default.name, default.options) == ("generated", {})


def test_instruction_sets_of_this_machine_end_with_the_one_in_use(monkeypatch):
    assert figures.machine_isas()[-1] == _core.isa_in_use()
    monkeypatch.setattr(_core, "isa_in_use", lambda: "avx2")
    assert figures.machine_isas() == ["ssse3", "avx2"]
    monkeypatch.setattr(_core, "isa_in_use", lambda: "neon")
    assert figures.machine_isas() == ["neon"]


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


def test_the_figure_has_a_curve_for_each_contender():
    rows = [
        row("A", generated=1e-6, numpy=4e-6),
        row("B", generated=1e-6, numpy=2e-6, torch=4e-6),
    ]
    machine = {"command": "python -m ttlg.benchmarks.generated shapes --plot shapes.png"}
    (panel,) = report.panels({"machine": machine, "rows": [asdict(each) for each in rows]})
    assert panel.values == {"generated": [4, 2], "numpy": [1, 1], "torch": [None, 0.5]}
    assert panel.labels == ["A", "B"]
    assert panel.ylabel == "times as fast as numpy"


@needs_compiler
def test_ends_take_turns_and_are_recorded(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    turns = []

    def stand_in(entrants, repeats, sample_seconds):
        turns.append([each.name for each in entrants])
        return {name: float(at + 1) for at, name in enumerate(turns[0])}

    monkeypatch.setattr(ends, "time_calls", stand_in)
    path, image = tmp_path / "record.json", tmp_path / "ends.png"
    assert cli.main(["ends", "--repeats", "1", "--json", str(path), "--plot", str(image)]) == 0
    assert image.read_bytes().startswith(b"\x89PNG")
    assert len(turns) == 1, "all in one run"
    assert len(set(turns[0])) == 8
    rows = json.loads(path.read_text())["ends"]
    names = ["blocks fit", "last blocks overlap", "loads padded", "stores padded"]
    assert [each["case"]["name"] for each in rows] == names
    for at, each in enumerate(rows):
        calls = measure.CALL_BYTES // Case(**each["case"]).bytes
        took = [value * calls for value in each["seconds"].values()]
        assert took == pytest.approx([2 * at + 1, 2 * at + 2])
    shown = capsys.readouterr().out.splitlines()
    assert re.search(r"blocks fit .* \(1\.00\) .* \(2\.00\)$", shown[3])


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
def test_ends_begin_where_they_say(offset, monkeypatch):
    places = []
    placed = ends.place

    def noting(*arguments):
        both = placed(*arguments)
        places.append([array.ctypes.data % 64 for array in both])
        return both

    monkeypatch.setattr(ends, "place", noting)
    monkeypatch.setattr(ends, "_STARTS", {"here": offset})
    monkeypatch.setattr(ends, "time_calls", lambda entrants, *_: {x.name: 1.0 for x in entrants})
    ends.measure(1)
    assert places == [[offset, offset]] * 4


def test_table_of_ends_compares_with_the_first():
    counts = {"elements": 256, "lanes": 16, "loads": 16, "stores": 32, "instructions": 96}
    cases = ends.cases()[:2]
    seconds = [
        {"at a line": 2e-6, "4 bytes behind": 3e-6},
        {"at a line": 4e-6, "4 bytes behind": 5e-6},
    ]
    same = replace(cases[0], name="other")
    rows = [
        asdict(ends.Row(case, counts, each))
        for case, each in zip((cases[0], same), seconds, strict=True)
    ]
    lines = [" ".join(line.split()) for line in ends.table({"ends": rows})]
    rate = 2 * cases[0].bytes / 1e9
    assert (
        lines[3]
        == f"blocks fit 1x48x48 100% 50% 6.0 {rate / 2e-6:.0f} (1.00) {rate / 3e-6:.0f} (1.50)"
    )
    assert lines[4].endswith(f"{rate / 4e-6:.0f} (2.00) {rate / 5e-6:.0f} (2.50)")
