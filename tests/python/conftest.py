"""What all tests share: Hypothesis profiles, and settings put back after each test."""

import fcntl
import gc
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import zlib
from types import SimpleNamespace

import hypothesis
import pytest

# Read by OpenMP when PyTorch loads it: threads that spin while they wait would slow every test on a
# machine with other work to do.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Neither a model that was calibrated on this machine nor plans that were measured.
os.environ["XDG_CACHE_HOME"] = os.devnull
os.environ.pop("TTLG_CACHE_DIR", None)

# Which plan a call has must not depend on how long others took.
os.environ["TTLG_LEARN"] = "0"

import ttlg
from ttlg import _core
from ttlg._machine import cgroups as _cgroups
from ttlg._machine import memory as _memory

from .gpu_tools.nvrtc import load as load_nvrtc

# HYPOTHESIS_PROFILE=thorough for a long search, brief where every step is slow, as under a
# sanitizer; the default keeps the whole suite quick.
hypothesis.settings.register_profile("brief", deadline=None, max_examples=30)
hypothesis.settings.register_profile("default", deadline=None, max_examples=200)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=5000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser):
    parser.addoption(
        "--part", default="1/1", metavar="K/N", help="run part K of N of the tests that are chosen"
    )


def pytest_collection_modifyitems(config, items):
    """Keep the tests of one part: by their names, so that other tests change nothing."""
    part = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", config.getoption("--part"))
    if part is None or int(part[1]) > int(part[2]):
        raise pytest.UsageError("--part needs K/N, with K from 1 to N")
    number, count = map(int, part.groups())
    kept = [zlib.crc32(item.nodeid.encode()) % count == number - 1 for item in items]
    config.hook.pytest_deselected(
        items=[item for item, keep in zip(items, kept, strict=True) if not keep]
    )
    items[:] = [item for item, keep in zip(items, kept, strict=True) if keep]


@pytest.fixture(autouse=True)
def _default_settings():
    yield
    ttlg.set_num_threads(None)
    ttlg.cache_resize(4096)


@pytest.fixture(autouse=True)
def _only_new_garbage():
    """Let a collection look at what this test has made, not at the libraries that are loaded."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def nvrtc():
    """Return CUDA's compiler at run time, which needs no GPU."""
    found = load_nvrtc()
    return found or pytest.skip("there is no libnvrtc (pip install nvidia-cuda-nvrtc)")


@pytest.fixture
def default_signals():
    """Let children start with the default actions of signals that this process ignores.

    A process starts with those ignored that its parent ignores, as SIGHUP under nohup and SIGINT in
    the background of a script, but never with a handler. So this one goes on ignoring them, by a
    handler that does nothing.
    """
    ending = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    ignored = [number for number in ending if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, lambda *_: None)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def run_python(tmp_path, default_signals):
    """Run a script in a fresh interpreter; a hang or another exit status counts as a failure."""

    def run(script, *arguments, timeout=60, status=0, **environment):
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(script))
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TTLG_")}
        process = subprocess.Popen(
            [sys.executable, program, *arguments],
            env=inherited | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                # Children that it forked hang with it.
                os.killpg(process.pid, signal.SIGKILL)
                raise
        assert process.returncode == status, f"{process.returncode}: {out[-2000:]}{err[-2000:]}"
        return SimpleNamespace(stdout=out, stderr=err)

    return run


@pytest.fixture
def terminal():
    """Run a program whose errors go to a terminal; return its exit status and what it printed there."""
    shown, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))

    def run(*arguments):
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, stderr=end, timeout=60, check=False)
        os.write(end, b".")
        return done.returncode, os.read(shown, 1 << 16).decode()

    yield run
    os.close(shown)
    os.close(end)


FORKS = """
import os
import threading

def fork_and_wait():
    child = os.fork()
    if child == 0:
        os._exit(0 if right() and right() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def fork_beside_threads(count):
    stop = threading.Event()
    def keep_going():
        while not stop.is_set():
            assert right()
    workers = [threading.Thread(target=keep_going) for _ in range(2)]
    for worker in workers: worker.start()
    codes = {fork_and_wait() for _ in range(count)}
    stop.set()
    for worker in workers: worker.join()
    assert codes == {0}, codes
"""


@pytest.fixture
def run_forking(run_python):
    """Run a script whose function `right` is called in forked children, and how it forks."""

    def run(script, forking):
        # A child that waits for threads it does not have would hang, which is a failure too.
        run_python(textwrap.dedent(script) + FORKS + forking)

    return run


@pytest.fixture
def plain_malloc():
    """Skip a test that AddressSanitizer's allocator disturbs.

    It keeps freed memory back, finds leaks itself, and is not made for a fork while other threads
    allocate.
    """
    maps = pathlib.Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("needs Linux's /proc")
    if "libasan" in maps.read_text() or "clang_rt.asan" in maps.read_text():
        pytest.skip("AddressSanitizer replaces the allocator")


@pytest.fixture
def control_groups(monkeypatch, tmp_path):
    """Let this process be in the control groups that a file of a folder tells of, if it is there."""
    monkeypatch.setattr(_cgroups, "_CGROUPS", str(tmp_path))
    monkeypatch.setattr(_cgroups, "_MEMBERSHIP", str(tmp_path / "membership"))
    _memory._cgroup_files.cache_clear()
    yield tmp_path
    _memory._cgroup_files.cache_clear()


@pytest.fixture
def spy(monkeypatch):
    """Note something of every call of a function, which does its work as before.

    `note` takes what the function has returned, and then its arguments.
    """

    def on(owner, name, note):
        noted, function = [], getattr(owner, name)

        def call(*arguments, **options):
            result = function(*arguments, **options)
            noted.append(note(result, *arguments, **options))
            return result

        monkeypatch.setattr(owner, name, call)
        return noted

    return on


@pytest.fixture
def plans_asked_for(spy):
    """Note the plans that a function of the core returns from now on, by the function's name."""
    return lambda name: spy(_core, name, lambda plan, *arguments: plan)
