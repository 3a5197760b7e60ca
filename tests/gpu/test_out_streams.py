"""What is written to the array of another library is ordered on the stream of that library too."""

import pytest

import ttlg

from .moves import of_unknown_library
from .streams import AXES, OUT_SHAPE, SHAPE, SLEEP_CYCLES, late, values, zeros

torch = pytest.importorskip("torch")


@pytest.fixture
def cupy_beside(stream):
    """Give CuPy, and a stream of it that waits neither for PyTorch's nor for the default one."""
    cupy = pytest.importorskip("cupy")
    # What the tests call, so that nothing is compiled or loaded while one stream sleeps.
    source = cupy.zeros(SHAPE, "i4")
    ttlg.transpose(source, AXES)[...] = cupy.full(OUT_SHAPE, 1, "i4")
    source[...] = cupy.full(SHAPE, 2, "i4")
    source[...] = 0
    cupy.cuda.Device().synchronize()
    return cupy, cupy.cuda.Stream(non_blocking=True)


def sleep_on(other):
    """Let a stream of CuPy wait long, when all else is done."""
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.ExternalStream(other.ptr)):
        torch.cuda._sleep(SLEEP_CYCLES)


def test_cupy_on_its_own_stream(cupy_beside):
    cupy, other = cupy_beside
    contents, x = cupy.asarray(values()), cupy.zeros(SHAPE, "i4")
    sleep_on(other)
    with other:
        x[...] = contents
        y = ttlg.transpose(x, AXES)
        x[...] = 0
    other.synchronize()
    assert bool((y == contents.transpose(AXES)).all())


@pytest.mark.parametrize("planned", [False, True], ids=["call", "plan"])
def test_cupy_reads_what_was_written_to_out_on_the_stream_of_pytorch(stream, cupy_beside, planned):
    cupy, other = cupy_beside
    out = cupy.full(OUT_SHAPE, -1, "i4")
    read = cupy.zeros_like(out)
    call = ttlg.plan(SHAPE, AXES, "int32", device="cuda") if planned else None
    contents, x = late(stream)
    with other, torch.cuda.stream(stream):
        if planned:
            call(x, out)
        else:
            ttlg.transpose(x, AXES, out=out)
        read[...] = out
    assert not other.done, "CuPy has not waited, or something has waited for the device"
    other.synchronize()
    assert torch.equal(torch.as_tensor(read), contents.permute(AXES))


def test_out_is_written_to_after_what_cupy_had_queued(stream, cupy_beside):
    cupy, other = cupy_beside
    x = values()
    out = cupy.full(OUT_SHAPE, -1, "i4")
    read = cupy.zeros_like(out)
    sleep_on(other)
    with other, torch.cuda.stream(stream):
        read[...] = out
        ttlg.transpose(x, AXES, out=out)
    assert not stream.query(), "the stream of PyTorch has not waited"
    torch.cuda.synchronize()
    assert bool((read == -1).all())
    assert torch.equal(torch.as_tensor(out), x.permute(AXES))


def test_pytorch_reads_what_was_written_to_out_on_the_stream_of_cupy(stream, cupy_beside):
    cupy, other = cupy_beside
    contents = cupy.asarray(values())
    x = cupy.zeros(SHAPE, "i4")
    out = torch.full(OUT_SHAPE, -1, dtype=torch.int32, device="cuda")
    read = torch.zeros_like(out)
    sleep_on(other)
    with other, torch.cuda.stream(stream):
        x[...] = contents
        ttlg.transpose(x, AXES, out=out)
        read.copy_(out)
    assert not stream.query(), "PyTorch has not waited"
    stream.synchronize()
    assert torch.equal(read, torch.as_tensor(contents).permute(AXES))


def test_only_the_named_stream_is_ordered(stream, cupy_beside):
    cupy, other = cupy_beside
    out = cupy.full(OUT_SHAPE, -1, "i4")
    contents, x = late(stream)
    with other, torch.cuda.stream(stream):
        ttlg.transpose(x, AXES, out=out, stream=stream)
    other.synchronize()
    assert not stream.query(), "CuPy's stream waits, although the caller has named another one"
    stream.synchronize()
    assert torch.equal(torch.as_tensor(out), contents.permute(AXES))


def test_graph_of_a_call_into_an_array_of_cupy():
    cupy = pytest.importorskip("cupy")
    x = values()
    out = cupy.zeros(OUT_SHAPE, "i4")
    cupy.cuda.Device().synchronize()
    graph = torch.cuda.CUDAGraph()
    with (
        torch.cuda.graph(graph),
        cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream),
    ):
        ttlg.transpose(x, AXES, out=out)
    x.random_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(torch.as_tensor(out), x.permute(AXES))


def test_a_capture_of_one_stream_of_two_is_refused():
    x, out = values(), zeros()
    # Its library counts as using the default stream, which is not captured.
    unknown = of_unknown_library(out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(ttlg.CudaError, match="captured in a CUDA graph"):
            ttlg.transpose(x, AXES, out=unknown)
        ttlg.transpose(x, AXES, out=unknown, stream=torch.cuda.current_stream())
    x.random_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, x.permute(AXES))
