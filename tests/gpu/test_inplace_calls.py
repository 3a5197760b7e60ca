"""Calls in place run on the right stream, take the memory that they say, and fail beforehand."""

import pytest

import ttlg

from .moves import planned
from .streams import allocations, filled_late, late, values

torch = pytest.importorskip("torch")

# A square matrix; a matrix by C2R; several steps; large elements, some of which go through a
# workspace.
PROBLEMS = [
    ((300, 300), (1, 0)),
    ((210, 150), (1, 0)),
    ((30, 24, 20, 18), (3, 1, 0, 2)),
    ((458, 241, 512), (1, 0, 2)),
]
problems = pytest.mark.parametrize(("shape", "axes"), PROBLEMS, ids=str)


@pytest.fixture
def loaded_stream(stream):
    """Give the stream when the kernels in place have been loaded too."""
    for shape, axes in PROBLEMS:
        ttlg.transpose_inplace(values(shape), axes)
    torch.cuda.synchronize()
    return stream


@problems
@pytest.mark.parametrize("given", ["current", "argument", "plan"])
def test_streams(loaded_stream, shape, axes, given):
    plan = planned(shape, axes, 4)
    contents, x = late(loaded_stream, shape)
    if given == "current":
        with torch.cuda.stream(loaded_stream):
            y = ttlg.transpose_inplace(x, axes)
    elif given == "argument":
        y = ttlg.transpose_inplace(x, axes, stream=loaded_stream.cuda_stream)
    else:
        y = plan(x, stream=loaded_stream)
    assert not loaded_stream.query(), "the call has waited for the stream"
    with torch.cuda.stream(loaded_stream):
        y_then = y.clone()
        y.zero_()
    loaded_stream.synchronize()
    assert torch.equal(y_then, contents.permute(axes))


def test_stream_of_cupy(loaded_stream):
    cupy = pytest.importorskip("cupy")
    shape, axes = PROBLEMS[1]
    contents = values(shape)
    x = cupy.zeros(shape, "i4")
    cupy.cuda.Device().synchronize()
    with torch.cuda.stream(loaded_stream):
        filled_late(torch.as_tensor(x), contents)
    with cupy.cuda.ExternalStream(loaded_stream.cuda_stream):
        y = ttlg.transpose_inplace(x, axes)
    assert not loaded_stream.query(), "the call has waited for the stream"
    loaded_stream.synchronize()
    assert torch.equal(torch.as_tensor(y), contents.permute(axes))


@problems
def test_graph_replays_on_changed_contents(shape, axes):
    x, contents = values(shape), values(shape)
    plan = planned(shape, axes, 4)
    plan(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = plan(x)
    for _ in range(2):
        contents.random_()
        x.copy_(contents)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, contents.permute(axes))


@problems
def test_a_call_takes_its_workspace_alone(shape, axes):
    x, plan = values(shape), planned(shape, axes, 4)
    plan(x)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before, count = torch.cuda.memory_allocated(), allocations()
    plan(x)
    torch.cuda.synchronize()
    # PyTorch counts in blocks of 512 bytes.
    taken = -(-plan.workspace_bytes // 512) * 512
    assert torch.cuda.max_memory_allocated() - before == taken
    assert allocations() - count == int(plan.workspace_bytes > 0)
    assert torch.cuda.memory_allocated() == before


def test_an_array_is_as_it_was_without_memory_for_the_workspace():
    shape, axes = PROBLEMS[-1]
    x, plan = values(shape), planned(shape, axes, 4)
    assert plan.workspace_bytes > 2 << 20, "too little to be left over in the blocks of others"
    kept, version = x.clone(), x._version
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.0)
    try:
        with pytest.raises(torch.cuda.OutOfMemoryError):
            plan(x)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert torch.equal(x, kept)
    assert x._version == version


def test_calls_take_nothing_from_the_driver():
    x = values((512, 512))
    ttlg.transpose_inplace(x)
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    for _ in range(100):
        ttlg.transpose_inplace(x)
    torch.cuda.synchronize()
    assert torch.cuda.mem_get_info()[0] == free


def test_autograd_learns_of_the_write():
    x = values((64, 48)).float()
    version = x._version
    ttlg.transpose_inplace(x)
    assert x._version == version + 1
    planned((64, 48), (1, 0), 4)(x.view(torch.int32))
    assert x._version == version + 2


def test_an_array_is_as_it_was_after_an_error():
    x = values((64, 48))
    kept, version = x.clone(), x._version
    for call, error, message in (
        (lambda: ttlg.transpose_inplace(x.float().requires_grad_()), BufferError, "grad"),
        (lambda: ttlg.transpose_inplace(x[:, ::2]), ValueError, "fill its memory"),
        (lambda: planned((48, 64), (1, 0), 4)(x), ValueError, "shape"),
    ):
        with pytest.raises(error, match=message):
            call()
    assert torch.equal(x, kept)
    assert x._version == version
