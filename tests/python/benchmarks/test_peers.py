"""Peer libraries that are there by name and cannot be used: left out, and the user is told."""

import re
import sys
import warnings

import pytest

from ttlg.benchmarks import cli
from ttlg.benchmarks.contenders import optional


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Look for modules in a folder of this test alone, with none of the peers loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("hptt", "peer_of_this_test"):
            monkeypatch.delitem(sys.modules, name)
    yield tmp_path
    sys.modules.pop("hptt", None)
    sys.modules.pop("peer_of_this_test", None)


def left_out(name, why):
    return pytest.warns(RuntimeWarning, match=re.escape(f"{name} is left out: ") + why)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (None, "the folder '.*/peer_of_this_test'"),
        *(
            (f"raise {error}('it is\\nbroken')", f"importing it raises {error}: .*it is")
            for error in ("ImportError", "OSError", "AttributeError", "SyntaxError", "KeyError")
        ),
        ("import no_such_module", "importing it raises ModuleNotFoundError: .*no_such_module"),
    ],
)
def test_what_cannot_be_imported_is_left_out(elsewhere, program, why):
    if program is None:
        (elsewhere / "peer_of_this_test").mkdir()
    else:
        (elsewhere / "peer_of_this_test.py").write_text(program)
    with left_out("peer_of_this_test", why):
        assert optional("peer_of_this_test") is None


def test_an_absent_library_is_no_news(elsewhere):
    (elsewhere / "peer_of_this_test.py").write_text("")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert optional("no_module_of_this_name") is None
        assert optional("no_module_of_this_name.part") is None
        assert optional("peer_of_this_test").__name__ == "peer_of_this_test"


def test_the_benchmarks_run_beside_a_folder_of_a_peer_s_name(elsewhere, capsys, monkeypatch):
    (elsewhere / "hptt").mkdir()
    for name in ("torch", "jax"):  # They take seconds to import.
        monkeypatch.setitem(sys.modules, name, None)
    line = "--suite latency --only 4^3 --threads 1 --repeats 1"
    with left_out("hptt", "the folder"):
        assert cli.main(line.split()) == 0
    assert "numpy" in capsys.readouterr().out
