"""Links in Markdown files lead to files and headings of the repository that exist."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

REPOSITORY = Path(__file__).parents[3]
PAGES = sorted(REPOSITORY.glob("*.md")) + sorted((REPOSITORY / "docs").rglob("*.md"))
pytestmark = pytest.mark.skipif(
    not (REPOSITORY / "benchmarks/results").exists(),
    reason="a source distribution has no measurements, to which pages link",
)
FENCE = re.compile(r"^(`{3,}|~{3,}|:{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


def prose(text):
    """Leave out code, in which brackets are no links and # is no heading."""
    return re.sub(r"^ {4}.*$", "", FENCE.sub("", text), flags=re.MULTILINE)


def links(page):
    """List the targets of a page's links to other places than web sites."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text()))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page):
    """List a page's headings as GitHub and MyST name them: lower case, hyphens, numbered if twice."""
    slugs, found = [], []
    for heading in re.findall(r"^#+ (.*)$", prose(page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        earlier = slugs.count(slug)
        slugs.append(slug)
        found.append(f"{slug}-{earlier}" if earlier else slug)
    return found


def broken(page):
    wrong = []
    for target in links(page):
        name, _, anchor = unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        if (
            not file.is_relative_to(REPOSITORY)
            or not file.exists()
            or (anchor and anchor not in anchors(file))
        ):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_the_readme_links_to_what_a_source_distribution_has():
    left_out = ("benchmarks/results", ".ci")  # sdist.exclude in pyproject.toml
    assert not [each for each in links(REPOSITORY / "README.md") if each.startswith(left_out)]


def test_there_are_links_to_files_and_headings():
    targets = [target for page in PAGES for target in links(page)]
    assert len(targets) > 100
    assert sum("#" in target for target in targets) > 5
    assert "docs/hardware.md#the-instruction-budget" in targets
