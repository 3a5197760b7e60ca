"""The same result of every kernel for any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import ttlg

from ..arrays import bits, random_array
from .checks import check
from .kernel_cases import CASES, KERNELS, kernels_of, plan_of


def test_the_cases_cover_every_kernel():
    assert {case.kernel for case in CASES} == KERNELS


@pytest.mark.parametrize("threads", range(1, 9))
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kernel}-{case.shape}")
def test_any_number_of_threads(case, threads):
    x = random_array(case.shape, f"V{case.itemsize}")
    workspace = case.limit(threads)
    plan = plan_of(x, case.axes, threads, workspace, case.kernel)
    assert kernels_of(plan) == [case.kernel]
    assert plan.parameters["threads"] == threads
    check(x, case.axes, case.kernel, threads=threads, workspace=workspace)


@pytest.mark.parametrize("threads", [1, 2, 3, 5, 8])
def test_several_steps(threads):
    x = random_array((40, 37, 24, 31), "<u2")
    axes = (1, 0, 3, 2)
    assert len(kernels_of(plan_of(x, axes, threads, x.nbytes // 4))) > 1
    check(x, axes, threads=threads, workspace=x.nbytes // 4)


def test_many_threads_transpose_their_own_arrays():
    shape = (404, 700)
    arrays = [random_array(shape, "<f8", seed=n) for n in range(8)]
    expected = [bits(x.T) for x in arrays]
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(
            lambda x: ttlg.transpose_inplace(x, threads=2, workspace=100_000), arrays
        )
        assert [bits(y) for y in results] == expected


def test_the_plan_is_the_one_asked_for(plans_asked_for):
    asked = plans_asked_for("cpu_inplace_plan_for")
    ttlg.set_num_threads(2)
    check(random_array((900, 700), "<f4"), (1, 0))
    check(random_array((900, 700), "<f4"), (1, 0), threads=3, workspace=300_000)
    assert [plan.parameters["threads"] for plan in asked] == [2, 3]
    default, limited = (plan.workspace_bytes for plan in asked)
    assert 0 < limited <= 300_000 < default
