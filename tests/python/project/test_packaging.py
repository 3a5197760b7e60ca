"""What a release states in several places is the same everywhere."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def first(pattern, file):
    return re.search(pattern, (REPOSITORY / file).read_text(), re.MULTILINE).groups()


def test_the_version_is_the_same_everywhere():
    (version,) = first(r'^version = "(.*)"$', "pyproject.toml")
    newest = first(r"^## (\S+) - (\S+)$", "CHANGELOG.md")
    assert first(r"^version: (.*)\ndate-released: (.*)$", "CITATION.cff") == newest
    assert newest[0] == version
