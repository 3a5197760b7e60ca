"""Errors of the device that ttlg did not cause are told apart from its own."""

import pytest

from .streams import run_script

pytest.importorskip("torch")

LEFT_BEHIND = """
    import cupy
    import torch
    import ttlg

    x = torch.zeros((64, 96), device="cuda")
    out = ttlg.transpose(x)
    stray = cupy.RawKernel('extern "C" __global__ void stray(int* p) { *p = 1; }', "stray")
    stray((1,), (1,), (cupy.uint64(16),))
    try:
        torch.cuda.synchronize()
    except Exception:
        pass
    try:
        ttlg.transpose(x, out=out)
    except ttlg.CudaError as error:
        print(error)
"""

FORKED = """
    import os
    import torch
    import ttlg

    x = torch.zeros((64, 96), device="cuda")
    ttlg.transpose(x)
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            ttlg.transpose(x)
        except Exception as error:
            os.write(write, f"{type(error).__name__} {error}".encode())
        os._exit(0)
    os.wait()
    os.close(write)
    print(os.read(read, 10000).decode())
"""


def test_a_failure_left_behind():
    pytest.importorskip("cupy")
    assert "launched before, by any library" in run_script(LEFT_BEHIND).stdout


def test_a_forked_child_is_told_so():
    output = run_script(FORKED).stdout
    assert "fork" in output
    assert "spawn" in output
