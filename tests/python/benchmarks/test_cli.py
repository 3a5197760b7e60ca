"""The command line of the benchmarks."""

import re

import pytest

from ttlg.benchmarks import cli, command, measure
from ttlg.benchmarks.ablations import ABLATIONS
from ttlg.benchmarks.case import Case
from ttlg.benchmarks.contenders import Contender
from ttlg.benchmarks.inplace.suites import RANDOM_SUITES
from ttlg.benchmarks.report import Report
from ttlg.benchmarks.suites import DEFAULT_SUITES, SUITES, cases

TINY = [Case("tiny", str(n), (n, 3, 2), (1, 2, 0), "float32") for n in (4, 5, 6)]


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(SUITES, "tiny", lambda: iter(TINY))


def test_run_writes_json_table_and_plot(tiny, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    data, image = tmp_path / "a b.json", tmp_path / "shares.png"
    options = ["--suite", "tiny", "--threads", "1", "2", "--repeats", "1"]
    options += ["--json", str(data), "--plot", str(image)]
    assert cli.main(options) == 0
    report = Report.from_json(data.read_text())
    assert [(result.case, result.threads) for result in report.results] == [
        (case, threads) for case in TINY for threads in (1, 2)
    ]
    assert report.machine["command"] == (
        f"ttlg bench --suite tiny --threads 1 2 --repeats 1 --json '{data}' --plot {image}"
    )
    assert image.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr()
    assert re.search(r"tiny 4 float32, 1 thread, \w+: copy ", printed.out)
    assert "tiny, 1 thread, 3 cases\n" in printed.out
    assert "tiny, 2 threads, 3 cases\n" in printed.out
    assert printed.err == ""  # no progress bar: it is no terminal


@pytest.mark.parametrize("suite", ["latency", "gentt", "cubes"])
def test_suites_of_small_cases_run(suite, capsys):
    assert cli.main(["--suite", suite, "--quick", "--threads", "1", "--repeats", "1"]) == 0
    assert f"{suite}, 1 thread, 8 cases\n" in capsys.readouterr().out


@pytest.fixture
def tiny_inplace(monkeypatch):
    """Small cases in the place of those that the suites in place draw."""

    def drawing(name):
        suite, axes = f"inplace-{name}", (1, 0)
        made = [Case(suite, str(n), (30 + n, 20), axes, "float64") for n in range(2)]
        return lambda sample=None, full=False: iter(made)

    for name in ("random", "square", "aos", "tensors", "landscape"):
        monkeypatch.setitem(SUITES, f"inplace-{name}", drawing(name))
        monkeypatch.setitem(RANDOM_SUITES, f"inplace-{name}", drawing(name))


def test_suites_in_place_run(tiny_inplace, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    data, table, image = (tmp_path / f"results.{end}" for end in ("json", "csv", "png"))
    names = [name for name in SUITES if name.startswith("inplace-")]
    options = ["--suite", *names, "--threads", "1", "--repeats", "1"]
    options += ["--json", str(data), "--csv", str(table), "--plot", str(image)]
    assert cli.main(options) == 0
    report = Report.from_json(data.read_text())
    assert len(report.results) == 5 * 2
    assert {"OpenBLAS", "FFTW float64", "fastremap", "forced kernels"} <= set(
        report.machine["inplace"]
    )
    assert table.read_text() == report.to_csv()
    assert image.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    for name in names:
        assert f"{name}, 1 thread, 2 cases\n" in printed
    assert re.search(r"^  ttlg-back +\d", printed, re.MULTILINE)


def test_help_has_a_line_for_each_suite_in_place(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    printed = capsys.readouterr().out
    for name, suite in RANDOM_SUITES.items():
        assert re.search(
            rf"^  {name} +{re.escape(suite.__doc__.splitlines()[0])}$", printed, re.MULTILINE
        )


@pytest.fixture
def listed(capsys):
    def lines(*options):
        assert cli.main(["--list", *options]) == 0
        return capsys.readouterr().out.splitlines()

    return lines


def test_sample_and_full_set_what_is_drawn(listed):
    assert len(listed("--suite", "inplace-random", "--sample", "7")) == 7
    assert len(listed("--suite", "inplace-random", "--full")) == 1000


def test_arrays_that_are_too_large_are_left_out(listed):
    options = ("--suite", "inplace-landscape", "--largest")
    first, *few = listed(*options, "1")
    assert first == f"left out: {64 - len(few)} cases above 1 GiB"
    assert 0 < len(few) < 64
    assert len(listed(*options, "5")) == 64


def test_defaults(monkeypatch):
    asked = []

    def no_measure(case, threads, repeats):
        asked.append((case, tuple(threads), repeats))
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "measure", no_measure)
    monkeypatch.setattr(cli, "available_cores", lambda: 4)
    assert cli.main([]) == 1
    assert cli.main(["--quick"]) == 1
    assert [entry[1:] for entry in asked] == [((1, 4), 5), ((1, 4), 3)]
    assert asked[0][0] == cases(DEFAULT_SUITES)[0]
    assert asked[1][0] == cases(DEFAULT_SUITES, quick=True)[0]


def test_list_of_suites(listed):
    rows = listed()
    assert [row.split()[0] for row in rows] == [*SUITES, "ablations", *ABLATIONS]
    assert rows[0].split()[1:3] == ["114", "cases"]


def test_list_of_cases(listed):
    rows = listed("--suite", "skinny", "cubes")
    assert len(rows) == 24 + 135
    assert rows[0] == "skinny 10000000x2 float32: (10000000, 2) by (1, 0), 80 MB"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "nonsense"], "invalid choice: 'nonsense'"),
        (["--threads", "0"], "'0' is not a number from 1 up"),
        (["--repeats", "many"], "'many' is not a number from 1 up"),
        (["--json", "absent/results.json"], "absent is not a directory"),
        (["--json", "."], ". is a directory"),
        (["--ablation", "nonsense"], "invalid choice: 'nonsense'"),
        (["--ablation", "loops", "--suite", "cubes"], "not allowed with argument"),
        (["--suite", "cubes", "--only", "nonsense"], "no case's name contains nonsense"),
        (["--plot", "shares.nonsense"], "shares.nonsense must end in one of"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(options, message, capsys):
    if "--plot" in options:
        pytest.importorskip("matplotlib")
    with pytest.raises(SystemExit) as stopped:
        cli.main(options)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_plot_without_matplotlib_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(command, "optional", lambda name: None)
    with pytest.raises(SystemExit):
        cli.main(["--plot", "shares.png"])
    assert "pip install 'ttlg[plot]'" in capsys.readouterr().err


def test_wrong_contender_fails_the_run(tiny, monkeypatch, tmp_path, capsys):
    liar = Contender("liar", lambda: None)
    monkeypatch.setattr(measure, "contenders", lambda *_: [liar])
    results = tmp_path / "results.json"
    assert cli.main(["--suite", "tiny", "--threads", "1", "--json", str(results)]) == 1
    assert "ttlg bench: liar gave a wrong result for Case(" in capsys.readouterr().err
    assert not results.exists()


def test_interrupt_keeps_what_was_measured(tiny, monkeypatch, tmp_path, capsys):
    def interrupted(case, threads, repeats):
        if case == TINY[1]:
            raise KeyboardInterrupt
        return measure.measure(case, threads, repeats)

    monkeypatch.setattr(cli, "measure", interrupted)
    results = tmp_path / "results.json"
    options = ["--suite", "tiny", "--threads", "1", "--repeats", "1", "--json", str(results)]
    assert cli.main(options) == 1
    assert [result.case for result in Report.from_json(results.read_text()).results] == [TINY[0]]
    assert "interrupted after 1 results" in capsys.readouterr().err
