"""What the README and the pages tell people to type works: each block alone, as it is pasted."""

import importlib.util
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ttlg import _cli
from ttlg.benchmarks import cli as bench_cli

REPOSITORY = Path(__file__).parents[3]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
# What a block needs, by what it says, where it may not be installed.
OPTIONAL = {
    "matplotlib": r"schemes\.plot\(",
    "einops": r"ttlg\.rearrange\(",
    "scipy": r"^import scipy\b",
    "sparse": r"^import sparse\b",
    **{
        name: rf"^(?:import|from) (?:ttlg\.)?{name}\b"
        for name in ("cupy", "dask", "jax", "torch", "zarr")
    },
}


def fences(page):
    """List a page's code blocks: language, the line that each starts at, and its text."""
    text = page.read_text()
    found = re.finditer(r"^```(\S*)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(fence[1], text[: fence.start(2)].count("\n") + 1, fence[2]) for fence in found]


def blocks(language):
    """List the blocks of a language on all pages, named after page and line."""
    return [
        pytest.param(page, code, id=f"{page.relative_to(REPOSITORY)}:{line}")
        for page in PAGES
        for each, line, code in fences(page)
        if each == language
    ]


def commands():
    """List the indented command lines of all pages, as arguments of ``python -m ttlg``."""
    return [
        pytest.param(shlex.split(line, comments=True)[3:], id=f"{page.stem}: {line}")
        for page in PAGES
        for line in re.findall(r"^    (python -m ttlg .*)$", page.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_a_block_runs_alone(page, code, run_python, tmp_path, monkeypatch):
    """In a process and a directory of its own; examples show what they print."""
    for name, need in OPTIONAL.items():
        if re.search(need, code, re.MULTILINE) and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if '"c++"' in code and shutil.which("c++") is None:
        pytest.skip("no C++ compiler is installed")
    monkeypatch.chdir(tmp_path)
    if "kernel.cu" in code:
        (source,) = (text for language, _, text in fences(page) if language == "cuda")
        Path("kernel.cu").write_text(source)
    if code.startswith(">>>"):
        Path("examples.txt").write_text(code)
        code = (
            "import doctest\n"
            "result = doctest.testfile('examples.txt', module_relative=False)\n"
            "assert result.attempted > 0 and result.failed == 0\n"
        )
    run_python(code, timeout=120)


def test_every_block_is_run():
    """Here, in .ci/run (sh), in test_the_explained_plan (text) or in test_coalesced_ptr.py (cuda)."""
    for page in PAGES:
        languages = [language for language, _, _ in fences(page)]
        assert page.read_text().count("```") == 2 * len(languages), page
        executed = {"python", "sh", "text", "cuda"}
        directives = {"{eval-rst}", "{toctree}", "{include}"}
        assert set(languages) <= executed | directives, page
        assert languages.count("text") == (page.stem == "plans"), page
        assert languages.count("cuda") == (page.stem == "structures"), page
    assert [language for language, _, _ in fences(PAGES[0])].count("sh") == 2  # as .ci/run counts
    assert len(blocks("python")) > 40


def test_pages_are_whole():
    """No page is cut out of another file by headings, which move."""
    assert not [page for page in PAGES if re.search(":(start|end)-", page.read_text())]


def test_there_are_commands():
    assert {command.values[0][0] for command in commands()} == {
        "demo",
        "transpose",
        "explain",
        "generate",
        "bench",
        "calibrate",
        "info",
    }


@pytest.mark.parametrize("command", commands())
def test_commands(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)
    if command[0] == "transpose":
        np.save(command[1], x)
    if command[0] in ("demo", "calibrate"):
        assert len(command) == 1  # test_cli.py and the tests of the calibration run them
    elif command[0] == "bench":
        assert bench_cli.main([*command[1:], "--list"]) == 0  # parses, and measures nothing
    else:
        assert _cli.main(command) == 0
    if command[0] == "transpose":
        np.testing.assert_array_equal(np.load(command[2]), x.transpose(0, 3, 1, 2))


def test_the_clone_leads_to_what_is_installed(tmp_path):
    """With the address of this checkout for the one that readers know."""
    if not (REPOSITORY / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout")
    (line,) = re.findall(r"^    (git clone .*)$", PAGES[0].read_text(), re.MULTILINE)
    command = line.replace("URL", shlex.quote(str(REPOSITORY))) + " && ls pyproject.toml"
    subprocess.run(["sh", "-ec", command], cwd=tmp_path, check=True, capture_output=True)


def labels(explanation):
    return [line[:12].strip() for line in explanation.splitlines() if line.startswith("  ")]


def test_the_explained_plan(capsys):
    """Blocks and threads depend on the machine; the problem and the kinds of lines do not."""
    ((_, text),) = (each.values for each in blocks("text"))
    command, *shown = text.splitlines()
    assert _cli.main(shlex.split(command)[4:]) == 0
    made = capsys.readouterr().out
    assert made.splitlines()[:2] == shown[:2]
    assert labels(made) == labels("\n".join(shown))
