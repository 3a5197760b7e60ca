"""`transpose_file` by the names of its files: those that are kept, and what is no file."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import ttlg
from ttlg import _cli
from ttlg._files import replacing

from .conftest import names


def assert_transposed(source, target):
    np.testing.assert_array_equal(np.load(target), np.load(source).T)


@pytest.mark.parametrize(
    "put",
    [
        lambda target: target.write_bytes(b"mine"),
        lambda target: target.symlink_to("in.npy"),
        lambda target: target.symlink_to("nowhere"),
        lambda target: target.mkdir(),
    ],
    ids=["file", "link", "broken link", "folder"],
)
def test_what_is_there_is_kept(source, put, monkeypatch):
    there = source.with_name("out.npy")
    put(there)
    monkeypatch.setattr(replacing, "_reserve", None)  # refused before any work
    before = source.read_bytes(), names(source.parent), there.lstat()
    with pytest.raises(FileExistsError, match="is not to be replaced") as caught:
        ttlg.transpose_file(source, there, overwrite=False)
    assert caught.value.filename == str(there)
    assert (source.read_bytes(), names(source.parent), there.lstat()) == before


@pytest.fixture(params=["unnamed", "named", "no links"])
def file_system(request, monkeypatch):
    def fail(*arguments, **options):
        raise PermissionError

    if request.param != "unnamed":
        monkeypatch.setattr(replacing, "_open_unnamed", fail)
    if request.param == "no links":
        monkeypatch.setattr(os, "link", fail)


def test_a_new_file_where_none_may_be_replaced(source, tmp_path, file_system):
    ttlg.transpose_file(source, tmp_path / "out.npy", overwrite=False)
    assert_transposed(source, tmp_path / "out.npy")
    assert names(tmp_path) == ["in.npy", "out.npy"]


def test_a_file_that_appears_during_the_work_is_kept(source, tmp_path, file_system, monkeypatch):
    target = tmp_path / "out.npy"
    reserve = replacing._reserve

    def another_writes(fd, size):
        reserve(fd, size)
        target.write_bytes(b"theirs")

    monkeypatch.setattr(replacing, "_reserve", another_writes)
    with pytest.raises(FileExistsError, match="is not to be replaced"):
        ttlg.transpose_file(source, target, overwrite=False)
    assert target.read_bytes() == b"theirs"
    assert names(tmp_path) == ["in.npy", "out.npy"]
    ttlg.transpose_file(source, target)
    assert_transposed(source, target)


def test_no_clobber(source, tmp_path, capsys):
    line = ["transpose", str(source), str(tmp_path / "out.npy"), "--no-clobber"]
    assert _cli.main(line) == 0
    assert _cli.main(line) == 1
    assert "File exists" in capsys.readouterr().err
    assert _cli.main(line[:-1]) == 0
    with pytest.raises(SystemExit):
        _cli.main(["transpose", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "--no-clobber fail rather than replace a file that is there" in text
    assert "replaces a file that is there" in text


class BytesPath:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return os.fsencode(self.path)


@pytest.mark.parametrize("kind", [str, os.fsencode, pathlib.Path, BytesPath])
def test_every_kind_of_path(source, tmp_path, kind):
    ttlg.transpose_file(kind(source), kind(tmp_path / "out.npy"))
    assert_transposed(source, tmp_path / "out.npy")
    with pytest.raises(FileNotFoundError, match="none"):
        ttlg.transpose_file(kind(tmp_path / "none"), kind(tmp_path / "out.npy"))


@pytest.mark.parametrize("wrong", [3, None, ["in.npy"]])
def test_names_that_are_no_paths(source, tmp_path, wrong):
    message = re.escape("expected str, bytes or os.PathLike object")
    for paths in ((wrong, tmp_path / "out.npy"), (source, wrong)):
        with pytest.raises(TypeError, match=message):
            ttlg.transpose_file(*paths)


def test_pipes_are_refused_and_not_waited_for(source, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match=r"pipe is not a regular file.* to a file first"):
        ttlg.transpose_file(tmp_path / "pipe", tmp_path / "out.npy")
    for name in (tmp_path / "pipe", tmp_path / "folder", "/dev/null"):
        with pytest.raises(ValueError, match=r"exists and is not a regular file.* name another"):
            ttlg.transpose_file(source, name)
    with pytest.raises(ValueError, match="/dev/zero is not a regular file"):
        ttlg.transpose_file("/dev/zero", tmp_path / "out.npy")
    assert names(tmp_path) == ["folder", "in.npy", "pipe"]


def run(source, target, **streams):
    command = [sys.executable, "-m", "ttlg", "transpose", source, target]
    return subprocess.run(command, check=False, capture_output=True, timeout=120, **streams)


def test_standard_streams(source, tmp_path):
    target = tmp_path / "out.npy"
    piped = run("/dev/stdin", target, input=source.read_bytes())
    assert piped.returncode == 1
    assert piped.stderr.startswith(b"ttlg: /dev/stdin is not a regular file")
    piped = run(source, "/dev/stdout")
    assert (piped.returncode, piped.stdout) == (1, b"")
    assert piped.stderr.startswith(b"ttlg: /dev/stdout exists and is not a regular file")
    with source.open("rb") as stdin:  # A file is one by this name too.
        done = run("/dev/stdin", target, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    assert_transposed(source, target)
