"""What a signal leaves of ``ttlg transpose``: no file, and a process that died of the signal."""

import os
import pty
import signal
import subprocess
import sys

import numpy as np
import pytest

import ttlg
from ttlg import _cli

SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
any_signal = pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)

SEND = """
import os, signal, sys

def send(number, name, count):
    real, calls = getattr(os, name), iter(range(1, 10**6))
    def call(*args, **options):
        if next(calls) == count:
            os.kill(os.getpid(), number)
        return real(*args, **options)
    setattr(os, name, call)
"""
# What systems without unnamed files take it for: the result is written to a file with a name.
NAMED = "os.O_TMPFILE = os.O_DIRECTORY\n"
MAIN = """
from ttlg._cli import main
sys.exit(main())
"""


def sending(number, name, count=1):
    """Let one call of os.`name` send a signal to its own process before it does its work."""
    return f"send({int(number)}, {name!r}, {count})\n"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    np.save(path / "in.npy", np.arange(2 * 30 * 40 * 3, dtype="<f4").reshape(2, 30, 40, 3))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def transpose(run_python, folder):
    """Run ``ttlg transpose`` after the lines of a prelude; return what it printed."""

    def run(prelude, status=0):
        files = (folder / "in.npy", folder / "out.npy")
        done = run_python(SEND + prelude + MAIN, "transpose", *files, status=status)
        return done.stdout, done.stderr

    return run


@any_signal
@pytest.mark.parametrize("kind", ["", NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("call", ["open", "preadv", "pwritev", "fsync"])
def test_a_signal_leaves_nothing(transpose, folder, number, call, kind):
    printed = transpose(kind + sending(number, call), status=-number)
    assert printed == ("", f"ttlg: interrupted by {number.name}\n")
    assert names(folder) == ["in.npy"]


@pytest.mark.parametrize("old", [[], ["out.npy"]], ids=["new", "old"])
@pytest.mark.parametrize(
    ("call", "count"),
    [("preadv", 1), ("pwritev", 1), ("pwrite", 1), ("link", 1), ("fsync", 1), ("link", 2)],
)
def test_a_kill_leaves_nothing(transpose, folder, call, count, old):
    for name in old:
        (folder / name).write_bytes(b"what was there before")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    printed = transpose(sending(signal.SIGKILL, call, count), status=-signal.SIGKILL)
    assert printed == ("", "")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("call", ["preadv", "pwritev", "pwrite"])
def test_a_kill_leaves_no_file_that_looks_whole(transpose, folder, call):
    transpose(NAMED + sending(signal.SIGKILL, call), status=-signal.SIGKILL)
    (left,) = folder.glob(".out.npy.*.partial")
    with pytest.raises(ValueError, match="not a readable"):
        ttlg.transpose_file(left, folder / "other.npy")
    with pytest.raises(ValueError, match="pickle"):
        np.load(left)
    transpose("")  # which it does not disturb
    np.testing.assert_array_equal(np.load(folder / "out.npy"), np.load(folder / "in.npy").T)


@any_signal
def test_a_second_signal_waits_for_the_cleaning_up(transpose, folder, number):
    signals = sending(signal.SIGTERM, "pwritev") + sending(number, "unlink")
    _, error = transpose(NAMED + signals, status=-signal.SIGTERM)
    assert error == "ttlg: interrupted by SIGTERM\n"
    assert names(folder) == ["in.npy"]


@pytest.fixture(params=SIGNALS, ids=lambda number: number.name)
def ignored(request):
    """Ignore a signal, as nohup does SIGHUP, and a shell SIGINT of what runs in the background."""
    before = signal.signal(request.param, signal.SIG_IGN)
    yield request.param
    signal.signal(request.param, before)


# The fixture that is named last decides what children inherit.
def test_ignored_signals_stay_ignored(transpose, folder, ignored):
    _, error = transpose(sending(ignored, "pwritev"))
    assert error == ""
    np.testing.assert_array_equal(np.load(folder / "out.npy"), np.load(folder / "in.npy").T)


@any_signal
def test_handlers_of_the_program_stay(transpose, number):
    own = f"signal.signal({int(number)}, lambda *_: print('own'))"
    assert transpose(sending(number, "pwritev") + own) == ("own\n", "")


def test_a_terminal_that_has_hung_up(default_signals, folder):
    program = SEND + sending(signal.SIGHUP, "pwritev") + MAIN
    terminal, stderr = pty.openpty()
    os.close(terminal)  # from now on writing to stderr fails
    try:
        files = (folder / "in.npy", folder / "out.npy")
        command = [sys.executable, "-c", program, "transpose", *files]
        done = subprocess.run(command, check=False, stderr=stderr, timeout=60)
    finally:
        os.close(stderr)
    assert done.returncode == -signal.SIGHUP
    assert names(folder) == ["in.npy"]


@any_signal
def test_handlers_are_put_back(folder, number):
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert _cli.main(["transpose", str(folder / "in.npy"), str(folder / "out.npy")]) == 0
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_ctrl_c_ends_any_command(run_python):
    program = SEND + sending(signal.SIGINT, "cpu_count") + MAIN
    done = run_python(program, "info", status=-signal.SIGINT)
    assert (done.stdout, done.stderr) == ("", "ttlg: interrupted by SIGINT\n")
