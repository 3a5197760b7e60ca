"""The benchmark of generated functions compiles, counts and compares; times are stand-ins."""

import shutil
import tempfile
from dataclasses import replace

import numpy as np
import pytest

from ttlg import _core
from ttlg._planning.generate import generate_with_counts
from ttlg.benchmarks.case import Case, named
from ttlg.benchmarks.generated import __main__ as cli
from ttlg.benchmarks.generated import compiled, ends, figures, measure
from ttlg.benchmarks.generated.figures import FIGURES, LOOPS, UNROLLED

TINY = (
    named("twos", (2,) * 4, (1, 3, 0, 2), "float32"),
    named("general", (5, 3, 7, 24), (3, 0, 2, 1), "float32"),
)

needs_compiler = pytest.mark.skipif(compiled.compiler() is None, reason="there is no C++ compiler")


@needs_compiler
def test_functions_are_compiled_and_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    x, out = np.arange(6, dtype=np.float64).reshape(2, 3), np.zeros((3, 2))
    text = compiled.loops(Case("", "", (2, 3), (1, 0), "float64"), "permute")
    compiled.load({"permute": text}, ("-O1",))["permute"](x.ctypes.data, out.ctypes.data, 1, 6, 3)
    assert out.tolist() == x.T.tolist()
    with pytest.raises(RuntimeError, match=r"failed: .*error"):
        compiled.load({"permute": "nonsense"}, ())
    assert list(tmp_path.iterdir()) == []


def test_without_compilers_only_programs_are_counted(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = list(measure.count(TINY[:1]))
    assert [each.isa for each in found] == list(_core.isas())
    assert {each.compiled for each in found} == {None}
    assert min(each.program for each in found) > 0
    with pytest.raises(SystemExit):
        cli.main(["shapes"])
    assert "there is no g++ or c++ here" in capsys.readouterr().err


def test_figures_are_the_papers():
    """The steps are all that vectors allow, to none; the tile of Fig. 7 needs few registers."""
    groups = [case.suite for case in figures.shapes()]
    assert groups == ["twos"] * 6 + ["powers"] * 6 + ["general"] * 6
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


def test_ends_differ_in_one_thing_each():
    """The same program where blocks fit and where they overlap; three quarters in use where padded."""
    fit, overlap, *padded = (figures.Variant("").generate(case, "permute") for case in ends.cases())
    for name in ("lanes", "elements", "loads", "stores", "shuffles", "instructions"):
        assert fit[name] == overlap[name]
    sides = [extent % fit["lanes"] for case in ends.cases()[:2] for extent in case.shape[1:]]
    assert sides == [0, 0, fit["lanes"] - 1, fit["lanes"] - 1]
    used = [
        [made["elements"] / made["lanes"] / made[name] for name in ("loads", "stores")]
        for made in (fit, overlap, *padded)
    ]
    assert used[:2] == [[1, 1], [1, 1]]
    assert fit["lanes"] != 16 or used[2:] == [[0.75, 1], [1, 0.75]]


@needs_compiler
@pytest.mark.parametrize("offset", [0, 4])
def test_ends_begin_where_they_say_and_take_turns_in_one_run(offset, monkeypatch, spy):
    places = spy(ends, "place", lambda both, *_: [array.ctypes.data % 64 for array in both])
    monkeypatch.setattr(ends, "_STARTS", {"here": offset})
    monkeypatch.setattr(
        ends, "time_calls", lambda entrants, *_: {x.name: at for at, x in enumerate(entrants, 1)}
    )
    rows = ends.measure(1)
    assert places == [[offset, offset]] * 4
    for at, (case, each) in enumerate(zip(ends.cases(), rows, strict=True), 1):
        calls = ends.CALL_BYTES // case.bytes
        assert (each.case, each.seconds) == (case, {"here": pytest.approx(at / calls)})


@needs_compiler
def test_a_figure_has_times_of_one_call_of_all_contenders(monkeypatch):
    """And rows of several arrays in a call, where a call weighs."""
    monkeypatch.setattr(measure, "time_calls", lambda entrants, _: {x.name: 2.0 for x in entrants})
    found = measure.measure(replace(FIGURES["steps"], cases=lambda: TINY), 1)
    assert [each.batch for each in found] == [1, (1 << 16) // 64, 1]
    assert [each.case.shape[-4:] for each in found] == [(2,) * 4, (2,) * 4, (5, 3, 7, 24)]
    for each in found:
        assert set(each.seconds) >= {"ttlg-plan", "numpy", LOOPS, *each.counts}
        assert all(counts["loads"] > 0 for counts in each.counts.values())
    calls = measure.CALL_BYTES // found[0].case.bytes
    assert found[0].seconds["numpy"] == 2.0
    assert found[0].seconds["generated"] == found[0].seconds[LOOPS] == 2.0 / calls
