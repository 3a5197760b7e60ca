"""The plans that calls have settled on, and what they took, kept from one process to the next."""

import atexit
import contextlib
from typing import Any

from ttlg import _core
from ttlg._machine.cache_file import Entry, TuneFile
from ttlg._machine.processor import machine_key
from ttlg._plan.json import build_with_measured, builder, read_request, request_record
from ttlg._settings.threads import get_num_threads

# Building all takes some 10 ms of an import.
_MAX_ENTRIES = 256


def keep_between_processes() -> None:
    """Begin with the plans in ``TTLG_CACHE_DIR``, and write those of this process there at its end.

    Nothing happens where the variable is not set, or where calls do not learn.
    """
    file = TuneFile.from_environment("ttlg-learned.json")
    if file is not None and _core.is_learning():
        restore(file)
        atexit.register(keep, file)


def restore(file: TuneFile) -> None:
    """Put the plans of a file into the planner cache, and correct the time model.

    Those of such a machine and this version.
    """
    with contextlib.suppress(ValueError):
        entries, machine = file.entries(), _machine()
        for entry in entries:
            # One that no version has written, or another one, is learned again.
            with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):
                if entry["key"] == _factors_key(machine):
                    _core.set_cpu_time_factors(entry["factors"])
                elif machine.items() <= entry["key"].items():
                    _restore_plan(entry["key"], entry)


def keep(file: TuneFile) -> None:
    """Write what was learned to a file; not if its directory cannot be written to."""
    machine = _machine()
    entries = [_entry(machine, *each) for each in _core.measured_plans()[-_MAX_ENTRIES:]]
    factors, trials = _core.cpu_time_factors()
    if trials:
        entries.append({"key": _factors_key(machine), "factors": factors})
    if entries:
        with contextlib.suppress(ValueError):
            file.update(entries, _MAX_ENTRIES)


def _machine() -> Entry:
    return {**machine_key(), "model": _core.cpu_time_model().name}


def _factors_key(machine: Entry) -> Entry:
    return {**machine, "threads": get_num_threads()}


def _entry(machine: Entry, plan: _core.CpuPlan, threads: int, warm: float, fresh: float) -> Entry:
    own = plan.kernel, plan.parameters
    # The first is the planner's choice.
    timed = [row for n, row in enumerate(plan.measured) if n == 0 or row[:2] == own]
    return {
        "key": {**machine, **request_record(plan), "threads": threads},
        "kernel": plan.kernel,
        "parameters": plan.parameters,
        "measured": timed,
        "predicted": [warm, fresh],
    }


def _restore_plan(key: dict[str, Any], entry: Entry) -> None:
    build = builder(read_request(key), inplace=False, machine=None)
    plan = build_with_measured(build, entry["kernel"], entry["parameters"], entry["measured"])
    _core.cache_learned(plan, key["threads"], *entry["predicted"])
