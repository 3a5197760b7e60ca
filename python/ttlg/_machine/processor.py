"""What tells this machine from another: its processor, its SIMD level and its caches."""

import functools
import platform
from typing import Any

from ttlg import _core

# The first processor's entry fits; on machines of hundreds, the whole list takes milliseconds.
_PAGE_BYTES = 4096


@functools.cache
def _first_processor() -> dict[str, str]:
    """Read what the system says of the first processor; empty where it says nothing."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(_PAGE_BYTES).decode(errors="replace")
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def cpu_model() -> str:
    """Name the processor as the system does, or its architecture where the system has no name."""
    return _first_processor().get("model name") or platform.machine()  # AArch64 has none


def machine_key() -> dict[str, Any]:
    """Return all of this machine and version that decides which plan is the fastest."""
    build = _core.build_config()
    machine = ("simd_used", "l1_cache_bytes", "l2_cache_bytes", "last_level_cache_bytes")
    return {
        "ttlg": _core.__version__,
        "cpu": cpu_model(),
        **{name: build[name] for name in machine},
    }


def machine_facts() -> dict[str, Any]:
    """Return what a shipped model may ask for: vendor, family and model of the CPU, and the key."""
    names = {"vendor": "vendor_id", "family": "cpu family", "model": "model"}
    found = {fact: _first_processor().get(name, "") for fact, name in names.items()}
    numbers = {fact: int(text) for fact, text in found.items() if text.isdecimal()}
    return found | numbers | machine_key()
