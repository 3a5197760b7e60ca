"""An interrupted run goes on where it stopped, and its record is that of a run in one go."""

import io
import itertools
import json
import re

import pytest

from ttlg.benchmarks import cli, command, machine
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import COPIES
from ttlg.benchmarks.contraction import run as contractions
from ttlg.benchmarks.contraction import suites as contraction_suites
from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.measure import ContractionResult
from ttlg.benchmarks.measure import Result
from ttlg.benchmarks.suites import SUITES

TINY = [Case("tiny", str(n), (n, 3, 2), (1, 2, 0), "float32") for n in (4, 5, 6, 7)]
COMMAND = ["--suite", "tiny", "--threads", "1", "2", "--repeats", "1", "--json", "record.json"]


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(TINY))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "record.json"


@pytest.fixture
def measured(monkeypatch):
    """List the cases that are measured; `stop` is the one at which the user interrupts.

    Times are stand-ins, and never the same.
    """
    found = []
    clock = itertools.count(1)

    def measure(case, threads, repeats):
        names = ("ttlg", "numpy", *COPIES)
        return [
            Result(case, count, "tile", {name: next(clock) / 7 for name in names})
            for count in threads
        ]

    def stopping(case, *arguments):
        if case == stopping.stop:
            raise KeyboardInterrupt
        found.append(case)
        return measure(case, *arguments)

    stopping.stop = None

    def run(stop=None):
        found.clear()
        stopping.stop = stop
        return cli.main(COMMAND), list(found)

    monkeypatch.setattr(cli, "measure", stopping)
    return run


def without_times(path):
    record = json.loads(path.read_text())
    for result in record["results"]:
        result["seconds"] = [*result["seconds"]]
    return record


@pytest.mark.parametrize("done", range(len(TINY)))
def test_an_interrupted_run_goes_on(tiny, measured, done, capsys):
    assert measured() == (0, TINY)
    whole = without_times(tiny)
    text = tiny.read_text()
    assert measured() == (0, []), "a whole record is not measured again"
    assert tiny.read_text() == text
    tiny.unlink()
    assert measured(TINY[done]) == (1, TINY[:done])
    assert tiny.exists() == (done > 0)
    first = json.loads(tiny.read_text())["results"] if done else []
    assert len(first) == 2 * done
    if done:
        assert f"interrupted after {2 * done} results" in capsys.readouterr().err
    assert measured() == (0, TINY[done:])
    assert without_times(tiny) == whole
    assert json.loads(tiny.read_text())["results"][: 2 * done] == first, "not measured again"
    printed = capsys.readouterr().out
    assert (f"{done} of 4 cases have been measured before" in printed) == (done > 0)
    assert "tiny, 2 threads, 4 cases\n" in printed


def test_the_record_is_json_after_every_case(tiny, measured, monkeypatch):
    lengths = []
    measure = cli.measure

    def looking(*arguments):
        lengths.append(len(json.loads(tiny.read_text())["results"]) if tiny.exists() else 0)
        return measure(*arguments)

    monkeypatch.setattr(cli, "measure", looking)
    cli.main(COMMAND)
    assert lengths == [0, 2, 4, 6]


@pytest.mark.parametrize("field", ["commit", "versions", "cpu", "command"])
def test_another_run_is_not_gone_on_with(tiny, measured, monkeypatch, field, capsys):
    measured(TINY[2])
    text = tiny.read_text()
    describe = machine.describe
    monkeypatch.setattr(machine, "describe", lambda *given: describe(*given) | {field: "other"})
    with pytest.raises(SystemExit):
        measured()
    error = capsys.readouterr().err
    assert f"record.json is of another run, by its {field}: remove it to measure again" in error
    assert tiny.read_text() == text


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"machine": {}, "results": 1}'])
def test_other_files_are_refused(tiny, measured, text, capsys):
    tiny.write_text(text)
    with pytest.raises(SystemExit):
        measured()
    assert "record.json is " in capsys.readouterr().err
    assert tiny.read_text() == text


def test_other_cases_are_refused(tiny, measured, monkeypatch, capsys):
    """As where a suite has changed without a commit."""
    measured(TINY[2])
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(TINY[1:]))
    with pytest.raises(SystemExit):
        measured()
    assert "record.json has results of other cases: remove it" in capsys.readouterr().err


def test_contractions_go_on(tiny, monkeypatch):
    """Their cases have dictionaries, which cannot be hashed."""
    every = [
        ContractionCase("part", name, "ab,bc->ac", {"a": 2, "b": 3, "c": 4}, "float64")
        for name in "xyz"
    ]
    parts = {"nine": every, "tccg": [], "random": []}
    made = {name: lambda *_, part=part: iter(part) for name, part in parts.items()}
    monkeypatch.setattr(contraction_suites, "PARTS", made)
    stops = [every[1]]
    found = []

    def measure(case, threads, repeats):
        if case in stops:
            raise KeyboardInterrupt
        found.append(case)
        return [ContractionResult(case, 1, {"ttlg": 1.0, "numpy": 2.0}, 1.0, 1.0, "")]

    monkeypatch.setattr(contractions, "measure", measure)
    command = ["--suite", "contractions", "--threads", "1", "--repeats", "1", "--json", str(tiny)]
    assert cli.main(command) == 1
    stops.clear()
    assert cli.main(command) == 0
    assert found == every
    names = [result["case"]["name"] for result in json.loads(tiny.read_text())["results"]]
    assert names == ["x", "y", "z"]


def test_the_progress_bar_counts_what_is_done(measured, monkeypatch):
    """On a terminal, as it is shown nowhere else."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True

    class OnTerminal(command.tqdm):
        def __init__(self, cases, **options):
            super().__init__(cases, file=terminal, ncols=80, mininterval=0, **options)

    monkeypatch.setattr(command, "tqdm", OnTerminal)
    measured(TINY[3])
    assert " 3/4 " in terminal.getvalue()
    terminal.truncate(0)
    measured()
    assert re.findall(r" (\d)/4 ", terminal.getvalue())[:1] == ["3"]
    assert " 4/4 " in terminal.getvalue()
