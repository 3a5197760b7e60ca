"""Repeated calls find their plan, allocate their result and nothing else."""

import pytest

import ttlg

from .streams import allocations

torch = pytest.importorskip("torch")

SHAPE, AXES = (60, 70, 80), (2, 0, 1)


@pytest.fixture
def x():
    return torch.empty(SHAPE, dtype=torch.float32, device="cuda").normal_()


def test_second_call_hits_the_cache(x):
    ttlg.cache_clear()
    for _ in range(5):
        ttlg.transpose(x, AXES)
    assert (ttlg.cache_info().hits, ttlg.cache_info().misses) == (4, 1)


def test_a_call_allocates_its_result_alone(x):
    y = ttlg.transpose(x, AXES)
    before, count = torch.cuda.memory_allocated(), allocations()
    again = ttlg.transpose(x, AXES)
    assert torch.cuda.memory_allocated() - before == y.numel() * y.itemsize
    assert allocations() - count == 1
    del again
    assert torch.cuda.memory_allocated() == before


def test_a_prediction_is_no_less_than_moving_takes():
    plan = ttlg.plan(SHAPE, AXES, "float32", device="cuda")
    model = plan._compiled.model.to_dict()
    moving = 2 * plan.nbytes / model["memory_bytes_per_second"]
    assert plan.predicted_time > model["launch_seconds"] + moving


def test_calls_into_out_allocate_nothing_on_the_device(x):
    out = torch.empty([SHAPE[axis] for axis in AXES], device="cuda")
    plan = ttlg.plan(SHAPE, AXES, "float32", device="cuda")
    ttlg.transpose(x, AXES, out=out)
    plan(x, out)
    torch.cuda.synchronize()
    free, count = torch.cuda.mem_get_info()[0], allocations()
    for _ in range(200):
        ttlg.transpose(x, AXES, out=out)
        plan(x, out)
    torch.cuda.synchronize()
    assert allocations() == count
    assert torch.cuda.mem_get_info()[0] == free
