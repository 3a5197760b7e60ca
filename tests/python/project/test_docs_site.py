"""What the documentation shows: every public name, pictures, and the committed measurements."""

import importlib
import re
import sys
from pathlib import Path

import pytest

import ttlg

REPOSITORY = Path(__file__).parents[3]
DOCS = REPOSITORY / "docs"
PAGES_OF_NUMBERS = ("index.md", "performance.md")
README = (REPOSITORY / "README.md").read_text()


def documented(page):
    """List the names that a page of the reference documents."""
    text = (DOCS / "reference" / page).read_text()
    return re.findall(r"^\.\. (?:auto|py:)\w+:: (\w+)(?:\(.*\))?$", text, re.MULTILINE)


def test_the_reference_has_every_public_name_once():
    pages = [page.name for page in (DOCS / "reference").glob("*.rst")]
    modules = {"images", "schemes", "sparse"}
    separate = {"index.rst", "integrations.rst", *(f"{module}.rst" for module in modules)}
    names = [name for page in pages if page not in separate for name in documented(page)]
    assert sorted(names) == sorted(set(ttlg.__all__) - modules)
    for module in modules:
        assert sorted(documented(f"{module}.rst")) == sorted(getattr(ttlg, module).__all__)


@pytest.mark.parametrize("module", ["cotengra", "dask", "opt_einsum", "zarr"])
def test_the_reference_has_the_names_of_optional_modules(module):
    """As the module's source lists them, since what it imports may not be installed."""
    source = (REPOSITORY / f"python/ttlg/{module}.py").read_text()
    names = re.search(r"^__all__ = \[(.*?)\]", source, re.MULTILINE | re.DOTALL)[1]
    sections = (DOCS / "reference/integrations.rst").read_text().split(".. automodule:: ttlg.")
    section = next(each for each in sections if each.startswith(module))
    shown = re.findall(r"^\.\. auto(?:function|class):: (\w+)", section, re.MULTILINE)
    assert sorted(shown) == sorted(re.findall(r'"(\w+)"', names))


def test_the_list_of_the_reference_has_every_function():
    listed = re.findall(r"^   (\w+)$", (DOCS / "reference/index.rst").read_text(), re.MULTILINE)
    functions = [name for name in ttlg.__all__ if type(getattr(ttlg, name)).__name__ == "function"]
    assert set(functions) <= set(listed)


@pytest.fixture
def measured(monkeypatch):
    if not (REPOSITORY / "benchmarks/results").exists():
        pytest.skip("a source distribution has no measurements")
    monkeypatch.syspath_prepend(DOCS)
    yield importlib.import_module("measured")
    sys.modules.pop("measured")


def test_the_readme_and_the_results_agree(measured):
    """Its tables are those that are made of the measurements."""
    assert measured.first_table() in README
    assert measured.new_results_table() in README


def test_the_readme_is_a_first_page():
    assert len(README.split()) <= 1500


def test_pictures_have_a_text():
    """Those that are drawn for the pages, and those that pages and notebooks link to."""
    pages = [REPOSITORY / "README.md", *DOCS.rglob("*.md")]
    drawn = [text for page in pages for text in page.read_text().split(".. plot::")[1:]]
    assert len(drawn) > 5
    assert not [text for text in drawn if not re.match(r".*\n   :alt: \S", text)]
    linked = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=)")
    notebooks = (REPOSITORY / "notebooks").glob("*.ipynb")
    assert not [page for page in (*pages, *notebooks) if linked.search(page.read_text())]


def test_measurements_of_two_machines_are_not_drawn_together(measured):
    assert len(measured.of_one_machine(measured.ZEN5)) == len(measured.ZEN5)
    with pytest.raises(ValueError, match="different machines"):
        measured.of_one_machine(["zen5-ttc57", "granite-rapids-inplace-random"])


def test_the_legend_of_shares_hides_no_case(measured):
    """It is one of the figure, which makes room for it, and not in a panel among the dots."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figures = importlib.import_module("figures")
    figures.zen5_shares()
    figure = pyplot.gcf()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ttlg", "NumPy"]
    assert not [axes for axes in figure.axes if axes.get_legend()]
    pyplot.close(figure)
    sys.modules.pop("figures")


def test_every_table_is_shown(measured):
    text = "".join((DOCS / page).read_text() for page in PAGES_OF_NUMBERS)
    shown = re.findall(r"\{\{ (\w+) \}\}", text)
    assert set(shown) == set(measured.substitutions())


@pytest.fixture
def claims(measured):
    yield importlib.import_module("claims.pages")
    for name in [name for name in sys.modules if name.partition(".")[0] == "claims"]:
        sys.modules.pop(name)


@pytest.mark.parametrize("page", ["ttlg", "catanzaro", "gorawski-lorek", "gentt"])
def test_pages_on_papers_end_with_what_records_say(claims, page):
    """`python -m claims`, in docs, writes the tables."""
    assert page in claims.PAGES
    text = (DOCS / "papers" / f"{page}.md").read_text()
    assert text.endswith(f"\n\n{claims.table(page)}\n")


def test_prose_says_what_records_say(claims):
    """Numbers in sentences, which `claims.prose` writes of the records."""
    missing = [
        (page, sentence)
        for page, sentences in importlib.import_module("claims.prose").sentences().items()
        for sentence in sentences
        if sentence not in " ".join((REPOSITORY / page).read_text().split())
    ]
    assert missing == []


def test_tables_of_papers_name_a_command_in_each_row(claims):
    commands = [claim.cells[-1] for page in claims.PAGES.values() for claim in page()]
    known = re.compile(r"`(ttlg bench|python -m ttlg\.|python -c )[^`]+`")
    assert [command for command in commands if not known.fullmatch(command)] == []


def test_what_took_no_part_is_said(claims):
    """Of the paper's experiment out of place, beside which the record has the planner's plans alone."""
    (ours,) = (each.ours for each in claims.PAGES["gorawski-lorek"]() if "Figs. 12" in each.where)
    assert "not measured: bands of 8 tiles and NVIDIA's order" in ours


def test_the_costs_of_ends_are_those_of_the_record(claims):
    assert claims.gentt.ends_table() in (DOCS / "papers/gentt.md").read_text()
