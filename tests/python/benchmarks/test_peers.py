"""Peer libraries that are there by name and cannot be used: left out, and the user is told."""

import re
import sys
import warnings

import pytest

from ttlg.benchmarks import cli
from ttlg.benchmarks.contenders import optional

NAME = "peer_of_this_test"


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Look for modules in a folder of this test alone, with none of the peers loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("hptt", NAME):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("hptt", NAME):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        *(
            (f"raise {error}('it is\\nbroken')", f"importing it raises {error}: .*it is")
            for error in ("ImportError", "OSError", "AttributeError", "SyntaxError", "KeyError")
        ),
        ("import no_such_module", "importing it raises ModuleNotFoundError: .*no_such_module"),
    ],
)
def test_what_cannot_be_imported_is_left_out(elsewhere, program, why):
    (elsewhere / f"{NAME}.py").write_text(program)
    with pytest.warns(RuntimeWarning, match=f"{NAME} is left out: {why}"):
        assert optional(NAME) is None


def test_an_absent_library_is_no_news(elsewhere):
    (elsewhere / f"{NAME}.py").write_text("")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert optional("no_module_of_this_name") is None
        assert optional("no_module_of_this_name.part") is None
        assert optional(NAME).__name__ == NAME


def test_the_benchmarks_run_beside_a_folder_of_a_peer_s_name(elsewhere, capsys, tiny):
    (elsewhere / "hptt").mkdir()
    line = "--suite tiny --threads 1 --repeats 1"
    with pytest.warns(
        RuntimeWarning, match=f"hptt is left out: the folder '{re.escape(str(elsewhere))}/hptt'"
    ):
        assert cli.main(line.split()) == 0
    assert "numpy" in capsys.readouterr().out
