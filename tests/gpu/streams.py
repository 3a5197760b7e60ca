"""Work that comes late on a stream, so that what does not wait for it shows; and allocations."""

import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

# About 50 ms at 2 GHz: long enough that a launch on another stream would read and write before.
SLEEP_CYCLES = 100_000_000
SHAPE = (31, 64, 45)
AXES = (2, 0, 1)
OUT_SHAPE = tuple(SHAPE[axis] for axis in AXES)


def values(shape=SHAPE, dtype=torch.int32):
    result = torch.empty(shape, dtype=dtype, device="cuda").random_()
    torch.cuda.synchronize()
    return result


def filled_late(x, contents):
    """Queue on the current stream: a long wait, and then the contents that count."""
    torch.cuda._sleep(SLEEP_CYCLES)
    x.copy_(contents)


def zeros(shape=OUT_SHAPE):
    return torch.zeros(shape, dtype=torch.int32, device="cuda")


def late(stream, shape=SHAPE):
    """Fill an array late on a stream, when all else is done; return the contents and the array."""
    contents, x = values(shape), zeros(shape)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        filled_late(x, contents)
    return contents, x


def allocations():
    return torch.cuda.memory_stats()["allocation.all.allocated"]


def run_script(script):
    """Run a script in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, check=False, timeout=120, capture_output=True, text=True)
