"""Which streams a call with `out=` is ordered on, for arrays of two libraries on a CUDA device."""

import sys

import numpy as np
import pytest

import ttlg
from ttlg import _core

from . import fake_cuda
from .fake_cuda import CupyArray, OnCuda, Tensor
from .test_cuda import DEFAULT


@pytest.mark.parametrize("through_plan", [False, True], ids=["call", "plan"])
@pytest.mark.parametrize(
    ("x", "out", "stream", "ran_on", "goes_on"),
    [
        (Tensor, CupyArray, None, 0x70, 0xC0),
        (CupyArray, Tensor, None, 0xC0, 0x70),
        (Tensor, Tensor, None, 0x70, 0x70),
        (Tensor, OnCuda, None, 0x70, DEFAULT),
        (OnCuda, CupyArray, None, DEFAULT, 0xC0),
        (Tensor, CupyArray, 0x90, 0x90, None),
        (CupyArray, CupyArray, 0x90, 0x90, None),
        (Tensor, Tensor, 0x90, 0x90, None),
    ],
)
def test_the_owner_of_out_follows_on_its_stream(
    monkeypatch, x, out, stream, ran_on, goes_on, through_plan
):
    fake_cuda.install_torch(monkeypatch, current=0x70)
    monkeypatch.setitem(sys.modules, "cupy", fake_cuda.cupy(current=0xC0))
    streams = []

    class Recorder:
        """A plan that notes on which streams it would run."""

        def fits(self, x, out):
            return True

        def run(self, x, out):
            streams.append((x.stream, out.stream, out.owner_stream, x.owner_stream))

    x, out = x(np.zeros((4, 6), "f4")), out(np.zeros((6, 4), "f4"))
    if through_plan:
        monkeypatch.setattr(ttlg.Plan, "_check_device", lambda plan, source: None)
        monkeypatch.setattr(_core, "run_ndarray", lambda core, x, out: None)
        assert ttlg.Plan(Recorder(), "float32")(x, out, stream) is out
    else:
        monkeypatch.setattr("ttlg._libraries.dlpack.call_for", lambda *_: Recorder())
        assert ttlg.transpose(x, out=out, stream=stream) is out
    assert streams == [(ran_on, ran_on, goes_on, None)]
