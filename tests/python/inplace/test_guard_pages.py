"""No kernel touches a byte before or after the array."""

import os
import pathlib
import subprocess
import sys

from .kernel_cases import KERNELS

HERE = pathlib.Path(__file__).parent


def test_between_guard_pages():
    # A child, so that a fault is one red test and not the end of the session.
    modules = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, HERE / "guarded.py"],
        env=os.environ | {"PYTHONPATH": modules},
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )
    *_, last = result.stdout.splitlines() or [""]
    assert result.returncode == 0, f"died in case: {last}\n{result.stderr[-2000:]}"
    assert last == " ".join(["kernels", *sorted(KERNELS)])
