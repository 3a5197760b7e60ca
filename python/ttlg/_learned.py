"""The plans that calls have settled on, kept from one process to the next."""

import atexit
import contextlib
from typing import Any

from ttlg import _core
from ttlg._machine.cache_file import Entry, TuneFile
from ttlg._machine.processor import machine_key
from ttlg._plan.json import build_measured

# Building all takes some 10 ms of an import.
_MAX_PLANS = 256


def keep_between_processes() -> None:
    """Begin with the plans in ``TTLG_CACHE_DIR``, and write those of this process there at its end.

    Nothing happens where the variable is not set, or where calls do not learn.
    """
    file = TuneFile.from_environment("ttlg-learned.json")
    if file is not None and _core.is_learning():
        restore(file)
        atexit.register(keep, file)


def restore(file: TuneFile) -> None:
    """Put the plans of a file into the planner cache, those of such a machine and this version."""
    with contextlib.suppress(ValueError):
        for entry in file.entries():
            # One that no version has written, or another one, is learned again.
            with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):
                _restore_plan(dict(entry["key"]), entry)


def keep(file: TuneFile) -> None:
    """Write the plans that were measured to a file; not if its directory cannot be written to."""
    entries = [_entry(*measured) for measured in _core.measured_plans()]
    if entries:
        with contextlib.suppress(ValueError):
            file.check_writable()
            file.update(entries[-_MAX_PLANS:], _MAX_PLANS)


def _machine() -> Entry:
    return {**machine_key(), "model": _core.cpu_time_model().name}


def _entry(plan: _core.CpuPlan, threads: int, warm: float, fresh: float) -> Entry:
    own = plan.kernel, plan.parameters
    # The first is the planner's choice.
    timed = [row for n, row in enumerate(plan.measured) if n == 0 or row[:2] == own]
    key: dict[str, Any] = {
        **_machine(),
        "shape": list(plan.shape),
        "byte_strides": list(plan.byte_strides),
        "axes": list(plan.axes),
        "itemsize": plan.itemsize,
        "out_byte_strides": None if plan.out_byte_strides is None else list(plan.out_byte_strides),
        "out_alignment": plan.out_alignment,
        "threads": threads,
    }
    return {
        "key": key,
        "kernel": plan.kernel,
        "parameters": plan.parameters,
        "measured": timed,
        "predicted": [warm, fresh],
    }


def _restore_plan(key: dict[str, Any], entry: Entry) -> None:
    machine = _machine()
    if {name: key.get(name) for name in machine} != machine:
        return
    request = _core.Request(
        key["shape"],
        key["byte_strides"],
        key["itemsize"],
        key["axes"],
        key["out_byte_strides"],
        out_alignment=key["out_alignment"],
    )
    plan = build_measured(request, entry["kernel"], entry["parameters"], entry["measured"])
    _core.cache_learned(plan, key["threads"], *entry["predicted"])
