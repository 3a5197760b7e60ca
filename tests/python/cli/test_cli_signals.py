"""What a signal leaves of ``ttlg transpose``: no file, and a process that died of the signal."""

import os
import pty
import signal
import subprocess
import sys

import numpy as np
import pytest

from ttlg import _cli

SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
any_signal = pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)

SEND = """
import os, signal, sys

def send(number, name):
    real = getattr(os, name)
    def call(*args):
        setattr(os, name, real)
        os.kill(os.getpid(), number)
        return real(*args)
    setattr(os, name, call)
"""
# What systems without unnamed files take it for: the result is written to a file with a name.
NAMED = "os.O_TMPFILE = os.O_DIRECTORY\n"
MAIN = """
from ttlg._cli import main
sys.exit(main())
"""


def sending(number, name):
    """Let the first call of os.`name` send a signal to its own process before it does its work."""
    return f"send({int(number)}, {name!r})\n"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    np.save(path / "in.npy", np.arange(2 * 30 * 40 * 3, dtype="<f4").reshape(2, 30, 40, 3))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@any_signal
@pytest.mark.parametrize("kind", ["", NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("call", ["open", "preadv", "pwritev", "fsync"])
def test_a_signal_leaves_nothing(run_python, folder, number, call, kind):
    program = SEND + kind + sending(number, call) + MAIN
    done = run_python(program, "transpose", folder / "in.npy", folder / "out.npy")
    assert (done.returncode, done.stdout) == (-number, "")
    assert done.stderr == f"ttlg: interrupted by {number.name}\n"
    assert names(folder) == ["in.npy"]


def test_a_kill_leaves_nothing(run_python, folder):
    program = SEND + sending(signal.SIGKILL, "pwritev") + MAIN
    done = run_python(program, "transpose", folder / "in.npy", folder / "out.npy")
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert names(folder) == ["in.npy"]


@any_signal
def test_a_second_signal_waits_for_the_cleaning_up(run_python, folder, number):
    signals = sending(signal.SIGTERM, "pwritev") + sending(number, "unlink")
    program = SEND + NAMED + signals + MAIN
    done = run_python(program, "transpose", folder / "in.npy", folder / "out.npy")
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "ttlg: interrupted by SIGTERM\n")
    assert names(folder) == ["in.npy"]


@pytest.fixture(params=SIGNALS, ids=lambda number: number.name)
def ignored(request):
    """Ignore a signal, as nohup does SIGHUP, and a shell SIGINT of what runs in the background."""
    before = signal.signal(request.param, signal.SIG_IGN)
    yield request.param
    signal.signal(request.param, before)


# The fixture that is named last decides what children inherit.
def test_ignored_signals_stay_ignored(run_python, folder, ignored):
    program = SEND + sending(ignored, "pwritev") + MAIN
    done = run_python(program, "transpose", folder / "in.npy", folder / "out.npy")
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_array_equal(np.load(folder / "out.npy"), np.load(folder / "in.npy").T)


@any_signal
def test_handlers_of_the_program_stay(run_python, folder, number):
    own = f"signal.signal({int(number)}, lambda *_: print('own'))"
    program = SEND + sending(number, "pwritev") + own + MAIN
    done = run_python(program, "transpose", folder / "in.npy", folder / "out.npy")
    assert (done.returncode, done.stdout, done.stderr) == (0, "own\n", "")


def test_signals_end_the_children_of_tests_that_ignore_them(ignored, run_python):
    assert run_python(f"import signal\nsignal.raise_signal({int(ignored)})").returncode == -ignored
    assert signal.raise_signal(ignored) is None


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
    done = run_python(SEND + sending(signal.SIGINT, "cpu_count") + MAIN, "info")
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")
    assert done.stderr == "ttlg: interrupted by SIGINT\n"
