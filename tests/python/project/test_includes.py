"""Which room of `cpp` includes which: CONTRIBUTING, "Where things are"."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CPP = Path(__file__).parents[3] / "cpp"
# By room: those below it.
BELOW = {
    "tensor": (),
    "plan": ("tensor",),
    "plan/cpu": ("tensor", "plan"),
    "plan/cuda": ("tensor", "plan"),
    "cpu": ("tensor", "plan", "plan/cpu"),
    "cuda": ("tensor", "plan", "plan/cuda"),
    "generate": ("tensor", "plan", "plan/cpu"),
    "sparse": ("tensor", "plan", "plan/cpu", "cpu"),
}
BELOW["call"] = tuple(BELOW)
BELOW["xla"] = BELOW["capi"] = (*BELOW["call"], "call")
BELOW["bindings"] = (*BELOW["xla"], "xla")


def room_of(file):
    """Return the innermost room of a file, whose path is relative to `cpp`."""
    folders = [folder.as_posix() for folder in file.parents]
    return next(folder for folder in folders if folder in BELOW)


def included(sources):
    """List the files of `cpp` with each that it includes; those written by the build are not there."""
    for file in sources.rglob("*"):
        if file.suffix in {".hpp", ".cpp", ".cu", ".cuh"}:
            for name in re.findall(r'^#include "(\w+/.+)"', file.read_text(), re.MULTILINE):
                yield file.relative_to(sources), Path(name)


def arrows_up(sources):
    """List what includes a file of a room that is not below its own."""
    rooms = ((file, other, room_of(file), room_of(other)) for file, other in included(sources))
    return [f"{a} includes {b}" for a, b, own, of in rooms if of not in (own, *BELOW[own])]


def check_circles(sources):
    """Take a header and the source of its name as one; a `.cu` file, which launches, as another."""
    units = TopologicalSorter()
    for pair in included(sources):
        file, other = (each if each.suffix == ".cu" else each.with_suffix("") for each in pair)
        if file != other:
            units.add(file.as_posix(), other.as_posix())
    units.prepare()


def test_no_include_goes_up():
    assert not arrows_up(CPP)


def test_no_circle():
    check_circles(CPP)


def test_what_the_checks_find(tmp_path):
    for name, other in {"plan/cpu/a.hpp": "plan/b.hpp", "plan/b.cpp": "plan/cpu/a.hpp"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'#pragma once\n#include <vector>\n#include "{other}"\n')
    assert arrows_up(tmp_path) == ["plan/b.cpp includes plan/cpu/a.hpp"]
    with pytest.raises(CycleError, match="plan/b"):
        check_circles(tmp_path)
