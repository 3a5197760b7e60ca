"""Plans for arrays on CUDA devices, and what they run for an `out` of other strides."""

import numpy as np
import pytest

import ttlg
from ttlg import _core

from .fake_cuda import MODEL, OnCuda
from .test_cuda import check_launch_fails, check_refused

pytestmark = pytest.mark.usefixtures("imaginary_devices")


def on_cuda(*shape):
    return OnCuda(np.arange(np.prod(shape), dtype="f4").reshape(shape))


def test_plan_for_takes_device_layout_and_address():
    x, out = on_cuda(40, 60), OnCuda(np.zeros((60, 80), "f4")[:, ::2])
    plan = ttlg.plan_for(x, (1, 0))
    assert (plan.device, plan.shape, plan.strides) == (MODEL.name, (40, 60), (240, 4))
    assert (plan.dtype, plan.threads, plan.nbytes) == ("float32", None, 9600)
    view = _core.view(x, "x")
    assert plan._compiled == _core.cuda_plan_for(view, (1, 0), None, MODEL)
    assert ttlg.plan_for(x, (1, 0), out=out).out_strides == (320, 8)
    forced = ttlg.plan_for(x, (1, 0), kernel="orthogonal_arbitrary")
    assert forced.schema == "orthogonal_arbitrary"
    check_refused(
        lambda: ttlg.plan_for(x, threads=2),
        ValueError,
        match="threads= is for device 'cpu', not 'cuda:0': leave it out",
    )
    check_refused(
        lambda: ttlg.plan_for(x, tune="learn"),
        ValueError,
        match="tune='learn' is for device 'cpu', not 'cuda:0'",
    )
    check_refused(
        lambda: ttlg.plan_for(x, (1, 0), kernel="tile"), ValueError, match="unknown kernel 'tile'"
    )


@pytest.mark.parametrize("kernel", [None, "orthogonal_arbitrary", "orthogonal_distinct"])
def test_an_output_of_other_strides_gets_a_plan_of_its_own(plans_asked_for, kernel):
    x, out = on_cuda(400, 600), OnCuda(np.zeros((600, 800), "f4")[:, ::2])
    plan = ttlg.plan_for(x, (1, 0), kernel=kernel)
    asked = plans_asked_for("cuda_plan_for")
    check_launch_fails(lambda: plan(x, on_cuda(600, 400)), x)
    assert asked == []
    check_launch_fails(lambda: plan(x, out), x, out)
    assert asked[-1].out_byte_strides == (3200, 8)
    if kernel is not None:  # else each layout has the one that suits it
        assert asked[-1].kernel == plan.kernel == kernel


def test_a_kernel_that_cannot_write_there_makes_way(plans_asked_for):
    x = on_cuda(40, 60)
    plan = ttlg.plan_for(x, (1, 0), kernel="orthogonal_distinct")
    # Transposed in memory, the result is a copy.
    out = OnCuda(np.zeros((40, 60), "f4"), shape=(60, 40), strides=(1, 60))
    asked = plans_asked_for("cuda_plan_for")
    check_launch_fails(lambda: plan(x, out), x, out)
    assert [each.kernel for each in asked] == ["copy"]
