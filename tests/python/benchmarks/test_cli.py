"""The command line of the benchmarks."""

import re

import pytest

from ttlg.benchmarks import cli
from ttlg.benchmarks.ablations import ABLATIONS
from ttlg.benchmarks.contraction.suites import PARTS
from ttlg.benchmarks.inplace.suites import RANDOM_SUITES
from ttlg.benchmarks.suites import DEFAULT_SUITES, SUITES, cases


@pytest.fixture
def listed(capsys):
    def lines(*options):
        assert cli.main(["--list", *options]) == 0
        return capsys.readouterr().out.splitlines()

    return lines


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


def test_help_has_a_line_for_each_suite_in_place_and_for_each_part_of_contractions(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    printed = capsys.readouterr().out
    for name, suite in (RANDOM_SUITES | PARTS).items():
        line = re.escape(suite.__doc__.splitlines()[0])
        assert re.search(rf"^  {name} +{line}$", printed, re.MULTILINE)
