"""What a measurement was made on and with."""

import importlib.metadata
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ttlg
from ttlg._machine.processor import cpu_model
from ttlg.benchmarks.contenders import PEERS, available_cores


def _caches() -> dict[str, str]:
    """Sizes of the caches that the first core sees, as the kernel writes them: 48K, 32768K."""
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ("level", "type", "size")
        )
        caches[f"L{level}" if kind == "Unified" else f"L{level} {kind.lower()}"] = size
    return caches


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Commit of the checkout that these benchmarks run from, or None if they are installed."""
    here = Path(__file__).resolve()
    try:
        # An installed package may lie inside a checkout of something else.
        for command in (
            ["ls-files", "--error-unmatch", here.name],
            ["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"],
        ):
            done = subprocess.run(
                ["git", *command], cwd=here.parent, check=True, capture_output=True, text=True
            )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def describe(command: str, libraries: Sequence[str] = ()) -> dict[str, Any]:
    """Describe the machine, the versions and the command of a measurement.

    The versions are those of the peers and of other `libraries` that are measured; None for one
    that is absent. ``cores`` are logical ones that this process may use, and ``commit`` is None
    where this does not run from a checkout.
    """
    versions = {name: _version(name) for name in (*PEERS, *libraries)}
    return {
        "command": command,
        "cpu": cpu_model(),
        "cores": available_cores(),
        "caches": _caches(),
        "versions": {"python": platform.python_version(), "ttlg": ttlg.__version__, **versions},
        "commit": _commit(),
    }
