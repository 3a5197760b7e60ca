"""The tools that read disassembled kernels, and such code in short."""

import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"


@pytest.fixture(scope="module")
def budget():
    if not TOOLS.is_dir():
        pytest.skip("needs a checkout")
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module("kernel_budget")
    sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def marks(budget):
    return budget.budget_marks


@pytest.fixture(scope="module")
def sass(budget):
    return importlib.import_module("sass")


@pytest.fixture
def blocks(sass):
    """Parse a function's code, a label or an instruction a line."""

    def parsed(code):
        lines = [".text.kernel:"]
        for line in code.strip().splitlines():
            text = line.strip()
            lines.append(text if text.endswith(":") else f"        /*0010*/        {text} ;")
        return sass.parse(lines, lambda name: name == "kernel")["kernel"]

    return parsed


@pytest.fixture
def heaviest_path(sass, blocks):
    """Find the heaviest path through a function's code; loops run as often as they have steps."""

    def path(code, trips=len, avoid=lambda instruction: False):
        return sass.heaviest_path(blocks(code), trips, avoid)

    return path
