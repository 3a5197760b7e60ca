"""The modules of `tools/kernel_budget.py`, and paths through code that is written in the tests."""

import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[4] / "tools"


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents and not TOOLS.is_dir():
            item.add_marker(pytest.mark.skip(reason="needs a checkout"))


@pytest.fixture(scope="package")
def budget():
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module("kernel_budget")
    sys.path.remove(str(TOOLS))


@pytest.fixture(scope="package")
def marks(budget):
    return budget.budget_marks


@pytest.fixture(scope="package")
def sass(budget):
    return importlib.import_module("sass")


@pytest.fixture(scope="package")
def blocks(sass):
    """Parse a function's code, a label or an instruction a line."""

    def parsed(code):
        lines = [".text.copy:"]
        for line in code.strip().splitlines():
            text = line.strip()
            lines.append(text if text.endswith(":") else f"        /*0010*/        {text} ;")
        return sass.parse(lines, lambda name: name == "copy")["copy"]

    return parsed


@pytest.fixture(scope="package")
def path_through(sass, blocks):
    """Find the heaviest path through a function's code."""

    def found(code, trips=len, is_avoided=lambda instruction: False):
        return sass.heaviest_path(blocks(code), trips, is_avoided)

    return found
