"""Comments `[budget: ...]` in the kernels' sources say how often loops run and what is rare."""

import pytest

SOURCE = """\
// [budget: 4 times] A slice of four modes.
for (int m = 0; m < modes; ++m) {
// [budget: once]
  fill_end(row);
while (true) {
// [budget: rare] The end of the array.
  copy_rest();
// [budget: first warp]
  announce(0);
"""
FOUR_TIMES, ONCE, UNMARKED, RARE, FIRST_WARP = 2, 4, 5, 7, 9


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "copy.hpp"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def stemming_from(sass, source):
    """Make an instruction of these lines of the source, that of the innermost call first."""

    def made(*numbers, opcode="IMAD"):
        lines = tuple(sass.Line(str(source), number) for number in numbers)
        return sass.Instruction("", opcode, "R8, [R2]", lines)

    return made


@pytest.fixture
def trip_count(budget, sass):
    block = budget.ThreadBlock(256, 16384, 0)
    return lambda *loop: budget.trip_count([sass.Step(each, 1) for each in loop], block)


def test_loops_that_move_nothing_run_as_often_as_they_are_marked(stemming_from, trip_count):
    assert trip_count(stemming_from(UNMARKED), stemming_from(FOUR_TIMES)) == 4
    assert trip_count(stemming_from(ONCE)) == trip_count(stemming_from(UNMARKED, ONCE)) == 1
    with pytest.raises(ValueError, match=r"none of the lines of this loop .*'while \(true\) {'"):
        trip_count(stemming_from(UNMARKED))
    with pytest.raises(ValueError, match=r"different counts, \[1, 4\]"):
        trip_count(stemming_from(ONCE), stemming_from(FOUR_TIMES))


def test_loops_that_move_ends_of_lines_run_as_often_as_their_call_is_marked(
    stemming_from, trip_count
):
    end = stemming_from(UNMARKED, ONCE, opcode="STG.E.128")
    word = stemming_from(UNMARKED, opcode="STG.E.128")
    assert trip_count(end, end) == 1
    assert trip_count(end, word) == 2
    assert trip_count(stemming_from(ONCE, opcode="STG.E.128")) == trip_count(word) == 4


def test_marked_calls_are_rare_or_of_the_first_warp(budget, stemming_from):
    called = stemming_from(UNMARKED, RARE)
    assert budget.is_rare(called)
    assert not budget.is_of_first_warp(called)
    assert not budget.is_rare(stemming_from(RARE, UNMARKED))
    assert not budget.is_rare(stemming_from(UNMARKED, RARE, opcode="BSYNC"))
    called = stemming_from(UNMARKED, FIRST_WARP)
    assert budget.is_of_first_warp(called)
    assert not budget.is_rare(called)


@pytest.mark.parametrize(
    ("mark", "mistake"),
    [("rare", "is missed: no instruction comes from the line"), ("often", "is unknown: once")],
)
def test_a_wrong_mark_fails_the_check(budget, monkeypatch, capsys, tmp_path, mark, mistake):
    header = tmp_path / "cpp/copy.hpp"
    header.parent.mkdir()
    header.write_text(f"// [budget: {mark}]\n")
    monkeypatch.setattr(budget, "ROOT", tmp_path)
    monkeypatch.setattr(budget.shutil, "which", lambda name: name)
    monkeypatch.setattr(budget, "thread_blocks", lambda work: {})
    assert budget.main(["--check"]) == 1
    assert f"copy.hpp:1: [budget: {mark}] {mistake}" in capsys.readouterr().out


def test_marks_are_no_mistakes_if_an_instruction_comes_from_their_lines(marks, sass, source):
    compiled = {sass.Line(str(source), line) for line in (FOUR_TIMES, ONCE, UNMARKED, FIRST_WARP)}
    assert len(list(marks.mistakes([source], compiled))) == 1
    assert list(marks.mistakes([source], compiled | {sass.Line(str(source), RARE)})) == []


def test_the_kernels_marks_are_known(budget, marks):
    sources = list((budget.ROOT / "cpp").rglob("*.hpp"))
    assert list(marks.mistakes(sources)) == []
    assert sum(source.read_text().count("[budget: ") for source in sources) > 20
