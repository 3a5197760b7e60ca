"""Calls leave the thread the context that it had, and create none on a device that has none."""

import ctypes
import threading

import pytest

import ttlg

from .moves import of_unknown_library
from .streams import AXES, run_script, values, zeros

torch = pytest.importorskip("torch")

ON_THE_SECOND_DEVICE = """
    import ctypes
    import sys
    import torch
    import ttlg

    cuda = ctypes.CDLL("libcuda.so.1")

    def has_context(device):
        number, flags, active = ctypes.c_int(), ctypes.c_uint(), ctypes.c_int()
        assert cuda.cuDeviceGet(ctypes.byref(number), device) == 0
        state = cuda.cuDevicePrimaryCtxGetState
        assert state(number, ctypes.byref(flags), ctypes.byref(active)) == 0
        return active.value != 0

    x = torch.arange(64 * 96, dtype=torch.int32, device="cuda:1").view(64, 96)
    out = torch.zeros((96, 64), dtype=torch.int32, device="cuda:1")
    torch.cuda.synchronize(1)
    if has_context(0):
        sys.exit(77)
    y = ttlg.transpose(x)
    assert not has_context(0), "after a call"
    ttlg.transpose(x, out=out)
    assert not has_context(0), "after a call with out="
    ttlg.transpose(x, out=out, stream=torch.cuda.Stream(1))
    ttlg.plan(x.shape, dtype="int32", device="cuda:1")(x, out)
    torch.cuda.synchronize(1)
    assert not has_context(0), "after a plan and on another stream"
    assert torch.equal(y, x.t())
    assert torch.equal(out, y)
"""


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
def test_no_context_is_created_on_another_device():
    done = run_script(ON_THE_SECOND_DEVICE)
    if done.returncode == 77:
        pytest.skip("PyTorch creates a context on the first device itself")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
def test_the_current_device_stays():
    x = torch.arange(64 * 96, dtype=torch.int32, device="cuda:1").view(64, 96)
    with torch.cuda.device(0):
        y = ttlg.transpose(x)
        assert torch.cuda.current_device() == 0
        assert torch.zeros(1, device="cuda").device.index == 0
    torch.cuda.synchronize(1)
    assert torch.equal(y, x.t())


def current_context():
    context = ctypes.c_void_p()
    assert ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context)) == 0
    return context.value


def test_a_thread_without_a_context_stays_without_one():
    x, out = values(), zeros()
    # Exports of PyTorch might make a context current to the thread.
    arrays = of_unknown_library(x), of_unknown_library(out)
    ttlg.transpose(arrays[0], AXES, out=arrays[1])  # asks the driver for what is kept
    torch.cuda.synchronize()
    out.zero_()
    torch.cuda.synchronize()
    found = []

    def work():
        found.append(current_context())
        ttlg.transpose(arrays[0], AXES, out=arrays[1])
        found.append(current_context())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [None, None]
    torch.cuda.synchronize()
    assert torch.equal(out, x.permute(AXES))
