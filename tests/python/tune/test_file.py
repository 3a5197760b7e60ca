"""The file that keeps measured plans: which calls find them, and what becomes of a damaged one."""

import errno
import fcntl
import json
import os
import subprocess
import sys

import pytest

import ttlg
from ttlg._machine.cache_file import TuneFile

from .conftest import AXES, SHAPE, tuned

ROUND_TRIP = """
    import sys, ttlg
    from ttlg import _tune
    if sys.argv[1] == "find":
        _tune._measure = None
    plan = ttlg.plan((40, 50, 60), (2, 0, 1), "f8", threads=2, tune="measure")
    assert ttlg.plan((40, 50, 60), (2, 0, 1), "f8", threads=2) == plan
    print(plan.to_json())
"""


def test_the_next_process_finds_it(run_python, tmp_path):
    environment = {"TTLG_CACHE_DIR": str(tmp_path / "cache")}
    first = run_python(ROUND_TRIP, "measure", **environment)
    assert first.stderr == ""  # no progress bar: it is no terminal
    second = run_python(ROUND_TRIP, "find", **environment)
    assert second.stdout == first.stdout
    names = {path.name for path in (tmp_path / "cache").iterdir()}
    assert names == {"ttlg-tuned.json", "ttlg-learned.json"}


def test_without_a_directory_each_call_measures(measured, monkeypatch):
    tuned()
    monkeypatch.setenv("TTLG_CACHE_DIR", "")
    tuned()
    assert len(measured) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (40, 50, 61)},
        {"axes": (1, 2, 0)},
        {"dtype": "f8"},
        {"strides": (24000, 480, 8)},
        {"threads": 1},
        {"kernel": "strided_copy"},
    ],
    ids=str,
)
def test_what_decides_is_in_the_key(measured, directory, change):
    plan = tuned()
    tuned(**change)
    assert len(measured) == 2
    assert tuned() == plan
    assert len(measured) == 2


@pytest.mark.parametrize(
    "name",
    ["ttlg", "cpu", "simd_used", "l1_cache_bytes", "l2_cache_bytes", "last_level_cache_bytes"],
)
def test_what_another_machine_or_version_measured_does_not_count(measured, directory, name):
    tuned()
    file = directory / "ttlg-tuned.json"
    (entry,) = json.loads(file.read_text())
    entry["key"][name] = "another"
    file.write_text(json.dumps([entry]))
    tuned()
    assert len(measured) == 2
    before, after = json.loads(file.read_text())  # machines may share a directory
    assert before["key"] == after["key"] | {name: "another"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: text.encode()[:-5],
        lambda text: b"\xff\xfe\x00",
        lambda text: b"[" * 100_000,
        lambda text: b'{"plans": []}',
        lambda text: b'[1, null, {"key": 3}, {"other": 4}]',
        lambda text: text.replace('"kernel": "strided_copy",', "").encode(),
        lambda text: text.replace('"kernel": "strided_copy"', '"kernel": "copy"').encode(),
        lambda text: text.replace('"block": [', '"block": [0, ').encode(),
        lambda text: text.replace('"measured": []', '"measured": [["tile", {}, 1]]').encode(),
        lambda text: text.replace(', "measured": []', "").encode(),
        lambda text: text.replace('"parameters": {', '"parameters": {"unknown": 1, ').encode(),
    ],
)
def test_a_damaged_file_is_replaced(measured, directory, damage):
    plan = tuned()
    assert plan.kernel == "strided_copy"
    file = directory / "ttlg-tuned.json"
    file.write_bytes(damage(file.read_text()))
    assert tuned() == plan
    assert len(measured) == 2
    assert tuned() == plan
    assert len(measured) == 2
    assert list(directory.iterdir()) == [file]


def test_two_processes_lose_nothing(tmp_path):
    script = """
import sys
from ttlg._machine.cache_file import TuneFile
for number in range(60):
    TuneFile(sys.argv[1]).save({"process": sys.argv[2], "number": number}, {"kernel": "strided_copy"})
"""
    file = tmp_path / "ttlg-tuned.json"
    writers = [subprocess.Popen([sys.executable, "-c", script, tmp_path, name]) for name in "ab"]
    try:
        while any(writer.poll() is None for writer in writers):
            if file.exists():
                assert json.loads(file.read_text())  # whole at any time
    finally:
        codes = [writer.wait(60) for writer in writers]
    assert codes == [0, 0]
    keys = [tuple(each["key"].values()) for each in json.loads(file.read_text())]
    assert sorted(keys) == [(name, number) for name in "ab" for number in range(60)]
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("place", ["file", "file/cache", "/proc/ttlg-cache", "read-only"])
def test_an_unusable_directory_is_refused_before_measuring(measured, monkeypatch, tmp_path, place):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "read-only").mkdir(0o500)
    unusable = tmp_path / place
    if os.access(unusable, os.W_OK) and unusable.is_dir():
        pytest.skip("this user may write anywhere")
    monkeypatch.setenv("TTLG_CACHE_DIR", str(unusable))
    model = ttlg.plan(SHAPE, AXES, threads=2)
    with pytest.raises(
        ValueError, match=rf"directory '{unusable}' cannot be used: \w+.*set TTLG_CACHE_DIR"
    ):
        tuned()
    assert not measured
    assert ttlg.plan(SHAPE, AXES, threads=2) == model


def test_a_hit_needs_no_right_to_write(measured, directory, monkeypatch):
    plan = tuned()
    monkeypatch.setattr(TuneFile, "check_writable", None)
    monkeypatch.setattr(TuneFile, "save", None)
    assert tuned() == plan


def failing(error):
    """Return a function that raises."""

    def fail(*arguments):
        raise error

    return fail


def test_a_failed_write_leaves_nothing_behind(measured, directory, monkeypatch):
    tuned((5, 6), (1, 0))
    file = directory / "ttlg-tuned.json"
    before = file.read_text()
    model = ttlg.plan(SHAPE, AXES, threads=2)

    monkeypatch.setattr(os, "replace", failing(OSError(28, "No space left on device")))
    with pytest.raises(ValueError, match="cannot be used: No space left on device"):
        tuned()
    assert list(directory.iterdir()) == [file]
    assert file.read_text() == before
    assert ttlg.plan(SHAPE, AXES, threads=2) == model


def test_a_file_system_without_locks(measured, directory, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", failing(OSError(errno.ENOLCK, "No locks available")))
    tuned()
    tuned()
    assert len(measured) == 1
