"""The notebooks run from top to bottom, and are committed as they ran: with output, without paths."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))


def code_cells(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def test_notebooks_are_numbered_from_1_without_gaps():
    assert len(NOTEBOOKS) >= 5
    numbers = [f"{number:02}-" for number in range(1, len(NOTEBOOKS) + 1)]
    assert [path.name[:3] for path in NOTEBOOKS] == numbers


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_its_number_and_links_to_notebooks_that_exist(path):
    text = "".join(
        "".join(cell["source"]) + "\n"
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "markdown"
    )
    assert text.startswith(f"# {int(path.name[:2])}. ")
    links = re.findall(r"\]\(([^)#:]+\.(?:ipynb|md))\)", text)
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.slow
@pytest.mark.rotating
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    pytest.importorskip("opt_einsum")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120).execute()  # raises what a cell raises
    kinds = [
        output["output_type"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
    ]
    assert "stream" in kinds
    assert "error" not in kinds


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_with_its_output(path):
    cells = code_cells(path)
    # Run once, in order, in a fresh kernel.
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert [output for output in outputs if output.get("name") == "stderr"] == []
    # As matplotlib writes pictures; most are committed with fewer colours.
    assert path.stat().st_size < 260_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_no_place_of_its_author(path):
    pictures = re.compile(r'"image/png": "[^"]*"')
    text = pictures.sub("", path.read_text())
    assert (
        re.findall(r"(?<![\w.])/(?:home|root|tmp|usr|opt|work|Users)/\S*|site-packages", text) == []
    )
