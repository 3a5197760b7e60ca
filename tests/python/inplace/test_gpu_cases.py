"""The GPU's tests in place, on the host: every case has a plan, and wrong bytes are noticed.

The plans are made for a device, and the CPU carries the permutations out.
"""

import pytest

import ttlg

torch = pytest.importorskip("torch")

from ...gpu import moves, sanitize_cases, test_inplace_calls, test_large

# All tests there, with the fixtures here.
from ...gpu.test_inplace import *


class Host(moves.Gpu):
    """The host in the place of a GPU: plans are made for that, and the CPU carries them out."""

    name = "nvidia-h200"
    torch_device = "cpu"

    def __init__(self):
        super().__init__(lambda raw: moves.TorchMemory(raw, "cpu"))
        self.plans_run = 0

    def run(self, plan, x):
        assert (plan.device, plan.shape) == (self.name, x.shape)
        assert f"torch.{plan.dtype}" == str(x.dtype)
        self.plans_run += 1
        return ttlg.transpose_inplace(x, plan.axes)

    def transpose_inplace(self, x, axes):
        strides = [step * x.itemsize for step in x.stride()]
        options = {"device": self.name, "inplace": True, "strides": strides}
        return self.run(ttlg.plan(x.shape, axes, x.dtype, **options), x)


@pytest.fixture
def device():
    host = Host()
    yield host
    assert host.plans_run > 0


def test_the_last_problem_of_the_calls_has_a_workspace():
    problems = test_inplace_calls.PROBLEMS
    plans = [moves.planned(shape, axes, 4, device=Host.name) for shape, axes in problems]
    taken = [plan.workspace_bytes for plan in plans]
    assert taken[:2] == [0, 0]
    assert taken[-1] > 2 << 20


@pytest.mark.parametrize(("shape", "axes", "dtype"), test_large.INPLACE, ids=str)
def test_large_problems_have_plans(shape, axes, dtype):
    """More than 2^31 bytes each."""
    plan = ttlg.plan(shape, axes, dtype, device=Host.name, inplace=True)
    assert plan.nbytes > 2**31
    assert plan.workspace_bytes < plan.nbytes / 4


def test_every_kernel_is_sanitized_in_every_width(device):
    moved = sanitize_cases.move_inplace(moves, device)
    assert moved.keys() == set(moves.INPLACE_KERNELS)
    # Square matrices by the square kernels, large elements as cells, few rows or columns by skinny,
    # all by C2R and R2C.
    for kernel, count in moved.items():
        problems = {"c2r": 10, "r2c": 10, "cells": 1, "skinny": 2}.get(kernel, 4)
        assert count == problems * len(moves.WIDTHS)


@pytest.mark.parametrize("itemsize", [1, 3, 8])
def test_wrong_bytes_are_noticed(device, itemsize):
    shape, axes = (20, 30), (1, 0)
    right = device.transpose_inplace

    def nothing(x, axes):
        return x.view([x.shape[axis] for axis in axes])

    def also_writing(place):
        def call(x, axes):
            torch.as_strided(x, (1,), (1,), x.storage_offset() + place(x)).add_(1)
            return right(x, axes)

        return call

    moves.check_inplace(device, shape, axes, itemsize)
    for wrong in (
        nothing,
        also_writing(lambda x: -1),
        also_writing(lambda x: 0),
        also_writing(lambda x: x.numel()),
    ):
        device.transpose_inplace = wrong
        with pytest.raises(AssertionError, match="bytes differ"):
            moves.check_inplace(device, shape, axes, itemsize)
    device.transpose_inplace = lambda x, axes: right(x, axes)[1:]
    with pytest.raises(AssertionError, match="shape"):
        moves.check_inplace(device, shape, axes, itemsize)
