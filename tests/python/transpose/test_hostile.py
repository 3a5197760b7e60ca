"""No kernel reads or writes a byte outside its arrays."""

import pathlib
import subprocess
import sys

import pytest

from ttlg import _core

SCRIPT = pathlib.Path(__file__).parents[1] / "guard_pages.py"


def guarded(argument):
    # A child, so that a fault is one red test and not the end of the session.
    return subprocess.run(
        [sys.executable, SCRIPT, argument], check=False, capture_output=True, text=True, timeout=240
    )


@pytest.mark.parametrize(
    "kernel",
    [*_core.CPU_KERNELS[:-1], pytest.param("reference", marks=pytest.mark.rotating), "transpose"],
)
def test_between_guard_pages(kernel):
    result = guarded(kernel)
    *_, last = result.stdout.splitlines() or [""]
    assert result.returncode == 0, f"died in case: {last}\n{result.stderr[-2000:]}"
    assert last.startswith("transpositions ")
    assert int(last.split()[1]) > 500


@pytest.mark.parametrize("side", ["before", "after"])
def test_guard_pages_catch_one_stray_byte(side):
    result = guarded(side)
    assert result.returncode != 0
    assert "unharmed" not in result.stdout
