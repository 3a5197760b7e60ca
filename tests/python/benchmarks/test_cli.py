"""The command lines: what they choose and list, what they refuse, and how a run goes on."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from ttlg.benchmarks import cli, command, machine
from ttlg.benchmarks.ablations import ABLATIONS
from ttlg.benchmarks.suites import DEFAULT_SUITES, SUITES, cases

from .conftest import TINY, main_of


def test_defaults(monkeypatch):
    asked = []

    def no_measure(*given):
        asked.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "measure", no_measure)
    monkeypatch.setattr(cli, "available_cores", lambda: 4)
    assert cli.main([]) == cli.main(["--quick"]) == 1
    every, quick = cases(DEFAULT_SUITES), cases(DEFAULT_SUITES, quick=True)
    assert asked == [(every[0], [1, 4], 5), (quick[0], [1, 4], 3)]


@pytest.mark.parametrize(
    ("options", "count", "first"),
    [
        ("", len(SUITES) + 1 + len(ABLATIONS), r"ttc57 +114 cases "),
        (
            "--suite skinny cubes",
            24 + 135,
            r"skinny 10000000x2 float32: \(10000000, 2\) by \(1, 0\), 80 MB",
        ),
        ("--suite inplace-random --sample 7", 7, "inplace-random "),
        ("--suite inplace-random --full", 1000, "inplace-random "),
        ("--suite inplace-landscape --largest 5", 64, "inplace-landscape "),
        ("--suite inplace-landscape --largest 1", 33, "left out: 32 cases above 1 GiB"),
        ("--suite contractions --only nine", 9, "nine "),
    ],
)
def test_lists(options, count, first, capsys):
    assert cli.main(["--list", *options.split()]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == count
    assert re.match(first, rows[0])
    if not options:
        assert [row.split()[0] for row in rows] == [*SUITES, "ablations", *ABLATIONS]


RUN_OF = '{{"machine": {{"command": "python -m ttlg.benchmarks.{}"}}, "results": []}}'.format
FILES = {
    "nonsense": "{",
    "nothing": "",
    "list": "[]",
    "empty": "{}",
    "number": '{"machine": {}, "results": 1}',
    "busy": RUN_OF("busy"),
    "other": RUN_OF("gpu.structures"),
}


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        ("cli", "--suite nonsense", "invalid choice: 'nonsense'"),
        ("cli", "--threads 0", "'0' is not a number from 1 up"),
        ("cli", "--repeats many", "'many' is not a number from 1 up"),
        ("cli", "--json absent/results.json", "absent is not a directory"),
        ("cli", "--json .", ". is a directory"),
        *(("cli", f"--suite call --json {name}.json", f"{name}.json is ") for name in FILES),
        ("cli", "--ablation nonsense", "invalid choice: 'nonsense'"),
        ("cli", "--ablation loops --suite cubes", "not allowed with argument"),
        ("cli", "--ablation loops --csv a.csv", "--csv is for suites"),
        ("cli", "--suite cubes --only nonsense", "no case's name contains nonsense"),
        ("cli", "--plot shares.nonsense", "shares.nonsense must end in one of"),
        ("cli", "--suite contractions cubes", "contractions are measured alone"),
        ("cli", "--suite contractions --memory", "contractions are measured alone"),
        ("cli", "--suite contractions --only nonsense", "no case's name contains nonsense"),
        *(
            ("redraw", f"{name}.json a.png", f"{name}.json cannot be drawn")
            for name in ("nonsense", "empty", "other")
        ),
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
    for name, text in FILES.items():
        Path(f"{name}.json").write_text(text)
    with pytest.raises(SystemExit) as stopped:
        main_of(program)(options.split())
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert {path.stem: path.read_text() for path in tmp_path.iterdir()} == FILES


def test_plots_without_matplotlib_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(command, "optional", lambda name: None)
    with pytest.raises(SystemExit):
        cli.main(["--plot", "shares.png"])
    assert "pip install 'ttlg[plot]'" in capsys.readouterr().err


@pytest.mark.parametrize("done", range(3))
@pytest.mark.parametrize(
    ("program", "options", "function"),
    [
        ("cli", "--suite tiny --threads 1 2 --repeats 1", "ttlg.transpose"),
        ("cli", "--suite contractions --threads 1 --repeats 1", "ttlg.einsum"),
        ("loops", "--repeats 1", "ttlg.loop_order"),
    ],
)
def test_an_interrupted_run_goes_on(program, options, function, done, tiny, monkeypatch, capsys):
    """Its function is called for every case."""
    measured, terminal, record = {}, io.StringIO(), Path("record.json")
    owner, name = function.split(".")
    right = getattr(sys.modules[owner], name)

    def run(stop=None):
        def call(*arguments, **named):
            measured[str([getattr(each, "shape", each) for each in arguments])] = None
            if len(measured) - 1 == stop:
                raise KeyboardInterrupt
            return right(*arguments, **named)

        measured.clear()
        monkeypatch.setattr(function, call)
        terminal.truncate(0)
        status = main_of(program)([*options.split(), "--json", "record.json"])
        results = json.loads(record.read_text())["results"] if record.exists() else []
        return status, results, len({str(each["case"]) for each in results})

    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    status, first, count = run(stop=done)
    assert (count, record.exists()) == (done, done > 0)
    assert status == 1 or program == "loops"
    assert f"interrupted after {len(first)} results" in terminal.getvalue()
    status, results, every = run()
    assert (status, results[: len(first)]) == (0, first), "not measured again"
    assert len(measured) == every - done > 0
    assert re.findall(rf" (\d)/{every} ", terminal.getvalue())[0] == str(done)
    printed = capsys.readouterr().out
    assert (f"{done} of {every} cases have been measured before" in printed) == (done > 0)
    text = record.read_text()
    assert run() == (0, results, every)
    assert (measured, record.read_text()) == ({}, text), "a whole record is not measured again"


@pytest.mark.parametrize("field", ["commit", "versions", "cpu", "command", "cases"])
def test_another_run_is_not_gone_on_with(field, tiny, monkeypatch, capsys):
    options = ["--suite", "tiny", "--threads", "1", "--repeats", "1", "--json", "record.json"]
    assert cli.main(options) == 0
    text = Path("record.json").read_text()
    why = "has results of other cases"
    if field == "cases":  # as where a suite has changed without a commit
        monkeypatch.setitem(SUITES, "tiny", lambda: iter(TINY[1:]))
    else:
        why = f"is of another run, by its {field}"
        describe = machine.describe
        monkeypatch.setattr(machine, "describe", lambda *given: describe(*given) | {field: "other"})
    with pytest.raises(SystemExit):
        cli.main(options)
    assert f"record.json {why}: remove it to measure again" in capsys.readouterr().err
    assert Path("record.json").read_text() == text
