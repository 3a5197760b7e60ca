"""The GPU's tests in place, on the host: every case has a plan, and wrong bytes are noticed.

The plans are made for a device, and the CPU carries the permutations out.
"""

import itertools

import pytest

import ttlg

torch = pytest.importorskip("torch")

from ...gpu import moves, sanitize_cases, test_inplace, test_inplace_calls, test_large

DEVICE = "nvidia-h200"
# These make arrays themselves.
ON_DEVICE = {
    "test_a_plan_takes_arrays_of_any_alignment",
    "test_c_and_fortran_order",
    "test_orders_and_fields",
}
TESTS = {name for name in vars(test_inplace) if name.startswith("test_")} - ON_DEVICE

plan_for, read, transpose_inplace = ttlg.plan, ttlg.Plan.from_json, ttlg.transpose_inplace


class OnHost:
    """A plan for the device that the CPU carries out."""

    def __init__(self, plan):
        self._plan = plan

    def __getattr__(self, name):
        return getattr(self._plan, name)

    def __call__(self, x):
        assert (x.shape, str(x.dtype)) == (self._plan.shape, f"torch.{self._plan.dtype}")
        return transpose_inplace(x, self._plan.axes)


@pytest.fixture(autouse=True)
def arrays(monkeypatch):
    """Take memory of the host, and plans for the device; give a list of all arrays."""
    made = []

    def keep(memory, raw):
        memory._tensor = torch.from_numpy(raw.copy())
        made.append(memory)

    def plan(*args, device, **options):
        assert device == "cuda"
        return OnHost(plan_for(*args, device=DEVICE, **options))

    def transpose(x, axes):
        strides = [step * x.itemsize for step in x.stride()]
        return plan(x.shape, axes, x.dtype, device="cuda", inplace=True, strides=strides)(x)

    monkeypatch.setattr(moves.TorchMemory, "__init__", keep)
    monkeypatch.setattr(ttlg, "plan", plan)
    monkeypatch.setattr(ttlg.Plan, "from_json", lambda text: OnHost(read(text)))
    monkeypatch.setattr(ttlg, "transpose_inplace", transpose)
    return made


def cases_of(test):
    """List the arguments that pytest calls a test with."""
    choices = []
    for mark in getattr(test, "pytestmark", ()):
        names, values = mark.args
        rows = values if isinstance(names, tuple) else [(each,) for each in values]
        names = names if isinstance(names, tuple) else (names,)
        choices.append([tuple(zip(names, row, strict=True)) for row in rows])
    return [dict(itertools.chain(*chosen)) for chosen in itertools.product(*choices)]


@pytest.mark.parametrize("name", sorted(TESTS))
def test_every_case_has_a_plan(arrays, name):
    test = getattr(test_inplace, name)
    for arguments in cases_of(test):
        before = len(arrays)
        test(**arguments)
        assert len(arrays) > before


def test_the_last_problem_of_the_calls_has_a_workspace():
    problems = test_inplace_calls.PROBLEMS
    taken = [moves.planned(shape, axes, 4).workspace_bytes for shape, axes in problems]
    assert taken[:2] == [0, 0]
    assert taken[-1] > 2 << 20


def test_large_problems_have_plans():
    """More than 2^31 bytes each."""
    for each in cases_of(test_large.test_in_place_beyond_32_bits):
        plan = ttlg.plan(*each.values(), device="cuda", inplace=True)
        assert plan.nbytes > 2**31
        assert plan.workspace_bytes < plan.nbytes / 4


def test_orders_of_axes_and_fields_are_those_of_the_library():
    library = test_inplace.torch_library("cpu")
    for axes in itertools.permutations(range(3)):
        test_inplace.test_c_and_fortran_order(library, axes)
    test_inplace.test_orders_and_fields(library)


def test_every_kernel_is_sanitized_in_every_width():
    moved = sanitize_cases.move_inplace(moves, moves.TorchMemory)
    assert moved.keys() == set(moves.INPLACE_KERNELS)
    # Square matrices by the square kernels, large elements as cells, all by C2R and R2C.
    for kernel, count in moved.items():
        problems = {"c2r": 9, "r2c": 9, "cells": 1}.get(kernel, 4)
        assert count == problems * len(moves.WIDTHS)


@pytest.mark.parametrize("itemsize", [1, 3, 8])
def test_wrong_bytes_are_noticed(itemsize):
    shape, axes = (20, 30), (1, 0)

    def nothing(x, axes):
        return x.view([x.shape[axis] for axis in axes])

    def also_writing(place):
        def call(x, axes):
            torch.as_strided(x, (1,), (1,), x.storage_offset() + place(x)).add_(1)
            return transpose_inplace(x, axes)

        return call

    moves.check_inplace(shape, axes, itemsize, transpose_inplace)
    for wrong in (
        nothing,
        also_writing(lambda x: -1),
        also_writing(lambda x: 0),
        also_writing(lambda x: x.numel()),
    ):
        with pytest.raises(AssertionError, match="bytes differ"):
            moves.check_inplace(shape, axes, itemsize, wrong)
    with pytest.raises(AssertionError, match="shape"):
        moves.check_inplace(shape, axes, itemsize, lambda x, axes: transpose_inplace(x, axes)[1:])
