"""`ttlg.transpose_inplace` on the GPU moves the same bytes as NumPy, and no others."""

import itertools
import random

import pytest

import ttlg

from .moves import (
    INPLACE_KERNELS,
    ODD_WIDTHS,
    SQUARE_KERNELS,
    WIDTHS,
    Gpu,
    by_units,
    check_inplace,
    planned,
)

torch = pytest.importorskip("torch")

# Tiles have 32 to 128 elements on a side.
ORDERS = (2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 257)
# The square matrices of a cube: rows of the last two axes, of the outer two, and whole rows.
INVOLUTIONS = {"T_yxz": (0, 2, 1), "T_zyx": (2, 1, 0), "T_xzy": (1, 0, 2)}
LEADS = (1, 2, 4, 8, 15)


@pytest.fixture
def device():
    return Gpu()


def square_shape(axes, n, other):
    """Return a shape of two axes of n elements that change places, and a third of others."""
    return tuple(other if axes[axis] == axis else n for axis in range(3))


def check_kernel(device, shape, axes, itemsize, kernel, lead=0):
    """Permute by a plan of one kernel, and compare as `check_inplace` does."""
    unit, unit_shape, unit_axes = by_units(shape, axes, itemsize, lead)
    plan = ttlg.plan(unit_shape, unit_axes, unit, device=device.name, inplace=True, kernel=kernel)
    assert {step["kernel"] for step in plan.parameters["steps"]} == {kernel}
    check_inplace(device, shape, axes, itemsize, plan, lead=lead)


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("kernel", [*SQUARE_KERNELS, "runs"])
def test_square_kernels_beside_their_tiles(device, kernel, itemsize):
    for n in ORDERS:
        check_kernel(device, (n, n), (1, 0), itemsize, kernel)
    # As many tiles as several bands have.
    shape = (1111, 1111)
    check_kernel(device, shape, (1, 0), itemsize, kernel)


@pytest.mark.parametrize("axes", INVOLUTIONS.values(), ids=INVOLUTIONS)
@pytest.mark.parametrize("kernel", SQUARE_KERNELS)
def test_square_kernels_in_three_dimensions(device, kernel, axes):
    for n, other, itemsize in itertools.product((65, 130), (1, 2, 3, 5), (1, 4, 8)):
        # Rows that are not the fastest axis are elements, which these kernels have up to 16 bytes.
        width = other * itemsize if axes == (1, 0, 2) else itemsize
        if width in WIDTHS:
            shape = square_shape(axes, n, other)
            check_kernel(device, shape, axes, itemsize, kernel)


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
@pytest.mark.parametrize("axes", INVOLUTIONS.values(), ids=INVOLUTIONS)
def test_involutions(device, axes, itemsize):
    for n, other in ((100, 3), (64, 64), (33, 50)):
        check_inplace(device, square_shape(axes, n, other), axes, itemsize)


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
def test_widths_and_batches(device, itemsize):
    for shape, axes in (
        ((70, 70), (1, 0)),
        ((70, 90), (1, 0)),
        ((96, 36), (1, 0)),
        ((5, 66, 66), (0, 2, 1)),
        ((5, 66, 48), (0, 2, 1)),
        ((3, 40, 2, 40, 3), (0, 3, 2, 1, 4)),
        ((1000, 3), (1, 0)),
        ((3, 1000), (1, 0)),
        ((64, 7, 9), (1, 2, 0)),
    ):
        check_inplace(device, shape, axes, itemsize)


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("kernel", ["c2r", "r2c"])
def test_c2r_and_r2c_on_random_sizes(device, kernel, itemsize):
    draw = random.Random(itemsize)
    shapes = [(draw.randint(2, 700), draw.randint(2, 700)) for _ in range(20)]
    # Greatest common divisors of 1, of the shorter side, and between.
    shapes += [(257, 256), (100, 700), (700, 100), (128, 128), (180, 300), (2, 999), (999, 2)]
    for shape in shapes:
        check_kernel(device, shape, (1, 0), itemsize, kernel)
    shape = (6, 90, 35)
    check_kernel(device, shape, (0, 2, 1), itemsize, kernel)


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("kernel", ["c2r", "r2c"])
def test_rows_and_columns_beyond_shared_memory(device, kernel, itemsize):
    long = 240_000 // itemsize + 7
    wide, tall = (41, long), (long, 41)
    long_rows, long_columns = (wide, tall) if kernel == "c2r" else (tall, wide)
    # As the planner chooses, or two rows or a line of all columns in the workspace at a time.
    for shape, limits in ((long_rows, (None, 500_000)), (long_columns, (None, 128 * long))):
        for limit in limits:
            plan = planned(shape, (1, 0), itemsize, kernel, device=device.name, workspace=limit)
            assert 0 < plan.workspace_bytes <= (limit or 20_000_000)
            check_inplace(device, shape, (1, 0), itemsize, plan)


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
def test_cells(device, itemsize):
    for shape in ((40, 7, 300), (3, 211, 64), (900, 801, 32), (6, 5, 20_011)):
        check_kernel(device, shape, (1, 0, 2), itemsize, "cells")
    shape, axes = (5, 60, 4, 70), (0, 2, 1, 3)
    check_kernel(device, shape, axes, itemsize, "cells")


@pytest.mark.parametrize("fields", [2, 3, 7, 8, 16, 31])
def test_structures_and_arrays(device, fields):
    for itemsize, shape in itertools.product((1, 4, 8), ((60_013, fields), (fields, 60_013))):
        check_inplace(device, shape, (1, 0), itemsize)


@pytest.mark.parametrize("itemsize", [*WIDTHS, *ODD_WIDTHS])
def test_skinny_matrices_of_every_number_of_fields(device, itemsize):
    for fields in range(2, 32):
        for shape in ((20_011, fields), (fields, 20_011)):
            check_kernel(device, shape, (1, 0), itemsize, "skinny")
    check_kernel(device, (50, 1009, 9), (0, 2, 1), itemsize, "skinny")


@pytest.mark.parametrize("itemsize", [1, 4, 16])
def test_random_permutations(device, itemsize):
    draw = random.Random(itemsize)
    for _ in range(40):
        rank = draw.randint(3, 5)
        most = {3: 60, 4: 24, 5: 12}[rank]
        shape = tuple(draw.randint(2, most) for _ in range(rank))
        check_inplace(device, shape, tuple(draw.sample(range(rank), rank)), itemsize)


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("kernel", INPLACE_KERNELS)
def test_misaligned_arrays(device, kernel, itemsize):
    """One element past an aligned address, and at addresses that are no multiple of it."""
    matrices = [((130, 130), (1, 0)), ((64, 64), (1, 0))]
    others = {"cells": [((13, 11, 64), (1, 0, 2))], "skinny": [((9001, 7), (1, 0))]}
    problems = others.get(kernel, matrices)
    for lead in {itemsize, *LEADS}:
        for shape, axes in problems:
            check_kernel(device, shape, axes, itemsize, kernel, lead)


def test_a_plan_takes_arrays_of_any_alignment(device):
    n = 150
    plan = planned((n, n), (1, 0), 4, device=device.name)
    flat = torch.empty(n * n + 3, dtype=torch.int32, device=device.torch_device).random_()
    for start in (0, 1, 3, 0):
        x = flat[start : start + n * n].view(n, n)
        expected, before, after = x.t().clone(), flat[:start].clone(), flat[start + n * n :].clone()
        result = device.run(plan, x)
        assert result.data_ptr() == x.data_ptr()
        assert torch.equal(result, expected)
        assert torch.equal(flat[:start], before)
        assert torch.equal(flat[start + n * n :], after)


@pytest.mark.parametrize("axes", [*itertools.permutations(range(3))], ids=str)
def test_c_and_fortran_order(device, axes):
    for shape in ((40, 40, 40), (30, 41, 52)):
        for order in ((0, 1, 2), (2, 1, 0)):
            stored = [shape[axis] for axis in order]
            flat = torch.empty(stored, dtype=torch.int32, device=device.torch_device).random_()
            x = flat.permute(order)
            expected = x.permute(axes).clone(memory_format=torch.contiguous_format)
            result = device.transpose_inplace(x, axes)
            assert result.data_ptr() == flat.data_ptr()
            assert torch.equal(result, expected)


def test_every_candidate_moves_the_same_bytes(device):
    from ttlg.benchmarks.gpu.calibrate import plan_of

    shape, axes = (24, 36, 20, 30), (3, 1, 0, 2)
    plan = planned(shape, axes, 4, device=device.name)
    found = plan.candidates()
    assert found
    for each in found:
        check_inplace(device, shape, axes, 4, plan_of(plan, each))


@pytest.mark.parametrize("itemsize", WIDTHS)
@pytest.mark.parametrize("kernel", ["square_v1b", "square_sg", "square_tw", "runs"])
def test_bands_regions_and_thread_blocks_of_any_size(device, kernel, itemsize):
    sizes = [(700, {"threads": threads}) for threads in (64, 128, 256, 512, 1024)]
    if kernel in ("square_v1b", "square_sg") and itemsize == 4:
        sizes += [(1300, {"width": width}) for width in (1, 2, 3, 4, 8, 16)]
    for n, given in sizes:
        plan = planned((n, n), (1, 0), itemsize, kernel, device=device.name, parameters=given)
        check_inplace(device, (n, n), (1, 0), itemsize, plan)
