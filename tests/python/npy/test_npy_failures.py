"""What is left on disk when the transposition of a ``.npy`` file fails."""

import errno
import itertools
import os
import signal
import stat

import numpy as np
import pytest

import ttlg

from .conftest import names

MEMORY = 5000  # about forty tiles
OLD = b"what was there before"

pytestmark = pytest.mark.usefixtures("small_pieces")


@pytest.fixture(params=["unnamed", "named"])
def kind(request, monkeypatch):
    """Write to a file without a name, or to a named one as where the file system has no others."""
    if request.param == "named":
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # what old systems take it for
    return request.param


@pytest.fixture(params=[False, True], ids=["new", "old"])
def target(request, tmp_path):
    """Return a file in a folder of its own, which is there before or not."""
    path = tmp_path / "folder" / "out.npy"
    path.parent.mkdir()
    if request.param:
        path.write_bytes(OLD)
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def fail_at(monkeypatch, name, count, error, *, done=False):
    """Let the `count`-th call of os.`name` raise `error`: of all, or of those that are `done`."""
    real, calls = getattr(os, name), itertools.count(1)

    def call(*args, **options):
        if not done and next(calls) == count:
            raise error
        result = real(*args, **options)
        if done and next(calls) == count:
            raise error
        return result

    monkeypatch.setattr(os, name, call)


@pytest.mark.parametrize(
    ("name", "count", "error", "blamed"),
    [
        ("posix_fallocate", 1, OSError(errno.ENOSPC, "No space left"), "folder/out.npy"),
        ("preadv", 5, OSError(errno.EIO, "Input/output error"), "in.npy"),
        ("pwritev", 100, OSError(errno.EDQUOT, "Quota exceeded"), "folder/out.npy"),
        ("pwrite", 1, OSError(errno.EIO, "Input/output error"), "folder/out.npy"),
        ("fsync", 1, OSError(errno.EIO, "Input/output error"), "folder/out.npy"),
        ("replace", 1, OSError(errno.EIO, "Input/output error"), None),
        ("pwritev", 100, KeyboardInterrupt(), None),
    ],
)
def test_a_failure_leaves_nothing(
    monkeypatch, tmp_path, source, target, kind, name, count, error, blamed
):
    before = contents(target.parent)
    fail_at(monkeypatch, name, count, error)
    with pytest.raises(type(error)) as caught:
        ttlg.transpose_file(source, target, (2, 0, 1), memory=MEMORY)
    if blamed:
        assert caught.value.filename == str(tmp_path / blamed)
    assert contents(target.parent) == before


def test_a_file_that_gets_no_name_at_the_end(monkeypatch, tmp_path, source):
    fail_at(monkeypatch, "link", 2, OSError(errno.EDQUOT, "Quota exceeded"))  # the first only tries
    with pytest.raises(OSError, match=r"Quota exceeded: '.*out\.npy'"):
        ttlg.transpose_file(source, tmp_path / "out.npy", memory=MEMORY)
    assert names(tmp_path) == ["in.npy"]


@pytest.mark.parametrize(
    ("kind", "name", "count"),
    [
        *(("unnamed", *call) for call in [("open", 1), ("link", 1), ("open", 2), ("link", 2)]),
        ("unnamed", "replace", 1),
        ("named", "open", 1),
        ("named", "replace", 1),
    ],
    indirect=["kind"],
)
def test_an_interrupt_just_after_a_call(monkeypatch, tmp_path, source, kind, name, count):
    fail_at(monkeypatch, name, count, KeyboardInterrupt(), done=True)
    with pytest.raises(KeyboardInterrupt):
        ttlg.transpose_file(source, tmp_path / "out.npy", memory=MEMORY)
    done = name == "replace"
    assert names(tmp_path) == (["in.npy", "out.npy"] if done else ["in.npy"])
    if done:
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.load(source).T)


def test_signals_are_left_alone(spy, tmp_path, source):
    # That is for the program to decide, as the docstring says.
    signals = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(each) for each in signals]
    seen = spy(os, "pwrite", lambda *_: [signal.getsignal(each) for each in signals])
    ttlg.transpose_file(source, tmp_path / "out.npy")
    assert seen == [before]


def test_a_source_that_is_cut_while_it_is_read(monkeypatch, tmp_path, source):
    real = os.preadv

    def preadv(fd, buffers, position):
        os.truncate(source, 1000)
        return real(fd, buffers, position)

    monkeypatch.setattr(os, "preadv", preadv)
    with pytest.raises(OSError, match=r"ends at byte \d+.*in\.npy"):
        ttlg.transpose_file(source, tmp_path / "out.npy", memory=MEMORY)
    assert names(tmp_path) == ["in.npy"]


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS])
def test_a_file_system_that_cannot_reserve_space(monkeypatch, tmp_path, source, code):
    fail_at(monkeypatch, "posix_fallocate", 1, OSError(code, "unsupported"))
    ttlg.transpose_file(source, tmp_path / "out.npy", memory=MEMORY)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.load(source).T)


@pytest.mark.parametrize(("call", "code"), [("open", errno.EOPNOTSUPP), ("link", errno.ENOENT)])
def test_a_system_without_unnamed_files(monkeypatch, spy, tmp_path, source, call, code):
    # A file system that has none, such as NFS, or a container without /proc, to name them by.
    fail_at(monkeypatch, call, 1, OSError(code, "unsupported"))
    seen = spy(os, "pwrite", lambda *_: names(tmp_path))
    ttlg.transpose_file(source, tmp_path / "out.npy", memory=MEMORY)
    ((partial, given),) = seen
    assert partial.endswith(".partial")
    assert given == "in.npy"
    assert names(tmp_path) == ["in.npy", "out.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.load(source).T)


def test_source_and_target_may_be_the_same(source):
    x = np.load(source)
    ttlg.transpose_file(source, source, (2, 0, 1), memory=MEMORY)
    np.testing.assert_array_equal(np.load(source), x.transpose(2, 0, 1))


def test_a_link_keeps_pointing(tmp_path, source):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.npy"
    link.symlink_to("folder/out.npy")
    for _ in range(2):  # first dangling, then pointing to a file
        ttlg.transpose_file(source, link)
        assert link.is_symlink()
        np.testing.assert_array_equal(np.load(tmp_path / "folder/out.npy"), np.load(source).T)
    assert names(tmp_path / "folder") == ["out.npy"]


def test_the_mode_follows_the_umask_or_the_old_file(tmp_path, source):
    target = tmp_path / "out.npy"
    umask = os.umask(0o027)
    try:
        ttlg.transpose_file(source, target)
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        target.chmod(0o606)
        ttlg.transpose_file(source, target)
        assert stat.S_IMODE(target.stat().st_mode) == 0o606
    finally:
        os.umask(umask)


def test_a_read_only_target_is_kept(tmp_path, source):
    target = tmp_path / "out.npy"
    target.write_bytes(OLD)
    target.chmod(0o444)
    if os.access(target, os.W_OK):
        pytest.skip("root may write to read-only files")
    with pytest.raises(PermissionError, match=r"out\.npy"):
        ttlg.transpose_file(source, target)
    assert target.read_bytes() == OLD


def test_a_missing_folder_is_named(tmp_path, source):
    with pytest.raises(FileNotFoundError, match=r"nowhere/out\.npy'"):
        ttlg.transpose_file(source, tmp_path / "nowhere" / "out.npy")


def test_a_long_name(tmp_path, source):
    target = tmp_path / ("ü" * 125 + ".npy")
    ttlg.transpose_file(source, target)
    np.testing.assert_array_equal(np.load(target), np.load(source).T)
