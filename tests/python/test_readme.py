"""What the README tells people to type works: its Python, its commands and its explained plan."""

import doctest
import importlib.util
import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ttlg import _cli
from ttlg.benchmarks import cli as bench_cli

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text()


def blocks(language):
    """List the code blocks of a language: the line each starts at, and its text."""
    fences = re.finditer(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return [(TEXT[: fence.start(1)].count("\n"), fence[1]) for fence in fences]


def programs():
    return [(line, code) for line, code in blocks("python") if not code.startswith(">>>")]


def commands():
    """List the indented command lines, as arguments of ``python -m ttlg``."""
    lines = re.findall(r"^    (python -m ttlg .*)$", TEXT, re.MULTILINE)
    return [shlex.split(line, comments=True)[3:] for line in lines]


def test_python_blocks(run_python):
    """In one program, from the top, as a reader types them."""
    program, absent = "", set()
    for line, code in programs():
        libraries = re.findall(r"^import (dask|jax|torch|zarr)\b", code, re.MULTILINE)
        libraries += ["matplotlib"] * ("schemes.plot(" in code)
        missing = {name for name in libraries if importlib.util.find_spec(name) is None}
        absent |= missing
        if not missing:
            # Empty lines in between make tracebacks show the README's line numbers.
            program += "\n" * (line - program.count("\n")) + code
    done = run_python(program, timeout=120)
    assert done.returncode == 0, done.stderr
    if absent:
        pytest.skip(f"the other blocks passed; not installed: {', '.join(sorted(absent))}")


def test_examples_with_their_output():
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_block_is_run():
    """In test_python_blocks, test_examples_with_their_output, .ci/run and test_the_explained_plan."""
    languages = re.findall(r"^```(\w*)\n.*?^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert TEXT.count("```") == 2 * len(languages)
    assert Counter(languages) == {"python": 12, "sh": 2, "text": 1}
    assert len(programs()) == 10


def test_there_are_commands():
    assert {command[0] for command in commands()} == {
        "demo",
        "transpose",
        "explain",
        "bench",
        "calibrate",
        "info",
    }


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)
    np.save("IN.npy", x)
    if command[0] in ("demo", "calibrate"):
        assert len(command) == 1  # test_cli.py and the tests of the calibration run them
    elif command[0] == "bench":
        assert bench_cli.main([*command[1:], "--list"]) == 0  # parses, and measures nothing
    else:
        assert _cli.main(command) == 0
    if command[0] == "transpose":
        np.testing.assert_array_equal(np.load("OUT.npy"), x.transpose(0, 3, 1, 2))


def labels(explanation):
    return [line[:12].strip() for line in explanation.splitlines() if line.startswith("  ")]


def test_the_explained_plan(capsys):
    """Blocks and threads depend on the machine; the problem and the kinds of lines do not."""
    command, *shown = blocks("text")[0][1].splitlines()
    assert _cli.main(shlex.split(command)[4:]) == 0
    made = capsys.readouterr().out
    assert made.splitlines()[:2] == shown[:2]
    assert labels(made) == labels("\n".join(shown))
