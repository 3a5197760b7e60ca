"""Calls run on the right stream, can be captured in graphs, and come from several threads."""

import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

import ttlg

from .moves import of_unknown_library

torch = pytest.importorskip("torch")

# About 50 ms at 2 GHz: long enough that a launch on another stream would read and write before.
SLEEP_CYCLES = 100_000_000
SHAPE = (31, 64, 45)
AXES = (2, 0, 1)
PROBLEMS = [
    ((64, 96), (1, 0)),
    ((33, 17, 40), (2, 1, 0)),
    ((5, 7, 9, 11), (3, 1, 2, 0)),
    ((12, 40, 3), (1, 0, 2)),
    ((12, 40, 64), (1, 0, 2)),
    ((4096,), (0,)),
]


@pytest.fixture
def stream():
    """Make a stream that does not wait for the default one, when all kernels have been loaded."""
    ttlg.transpose(torch.zeros(SHAPE, dtype=torch.int32, device="cuda"), AXES).zero_()
    torch.cuda._sleep(1)
    torch.cuda.synchronize()
    return torch.cuda.Stream()


def values(shape=SHAPE, dtype=torch.int32):
    result = torch.empty(shape, dtype=dtype, device="cuda").random_()
    torch.cuda.synchronize()
    return result


def filled_late(x, contents):
    """Queue on the current stream: a long wait, and then the contents that count."""
    torch.cuda._sleep(SLEEP_CYCLES)
    x.copy_(contents)


def test_reads_after_what_its_stream_wrote_and_before_what_it_writes_next(stream):
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        filled_late(x, contents)
        y = ttlg.transpose(x, AXES)
        assert not stream.query(), "the call has waited for the stream"
        x.zero_()
        y_then = y.clone()
    stream.synchronize()
    assert torch.equal(y, contents.permute(AXES))
    assert torch.equal(y_then, y)


def test_out_and_plans_are_ordered_on_the_current_stream(stream):
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    out = torch.zeros([SHAPE[axis] for axis in AXES], dtype=torch.int32, device="cuda")
    planned = torch.zeros_like(out)
    plan = ttlg.plan(SHAPE, AXES, "int32", device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        filled_late(x, contents)
        ttlg.transpose(x, AXES, out=out)
        plan(x, planned)
        x.zero_()
    stream.synchronize()
    assert torch.equal(out, contents.permute(AXES))
    assert torch.equal(planned, out)


def cupy_stream(stream):
    cupy = pytest.importorskip("cupy")
    return cupy.cuda.ExternalStream(stream.cuda_stream)


@pytest.mark.parametrize(
    "spelling",
    [lambda stream: stream, lambda stream: stream.cuda_stream, cupy_stream],
    ids=["torch.cuda.Stream", "handle", "cupy.cuda.Stream"],
)
def test_stream_argument(stream, spelling):
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    out = torch.zeros([SHAPE[axis] for axis in AXES], dtype=torch.int32, device="cuda")
    spelled = spelling(stream)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        filled_late(x, contents)
    ttlg.transpose(x, AXES, out=out, stream=spelled)
    assert not stream.query(), "the call has waited for the stream"
    with torch.cuda.stream(stream):
        x.zero_()
    stream.synchronize()
    assert torch.equal(out, contents.permute(AXES))


@pytest.fixture
def cupy_beside(stream):
    """Give CuPy, and a stream of it that waits neither for PyTorch's nor for the default one."""
    cupy = pytest.importorskip("cupy")
    # What the tests call, so that nothing is compiled or loaded while one stream sleeps.
    source = cupy.zeros(SHAPE, "i4")
    ttlg.transpose(source, AXES)[...] = cupy.full([SHAPE[axis] for axis in AXES], 1, "i4")
    source[...] = cupy.full(SHAPE, 2, "i4")
    source[...] = 0
    cupy.cuda.Device().synchronize()
    return cupy, cupy.cuda.Stream(non_blocking=True)


@pytest.mark.parametrize("planned", [False, True], ids=["call", "plan"])
def test_cupy_reads_what_was_written_to_out_on_the_stream_of_pytorch(stream, cupy_beside, planned):
    cupy, other = cupy_beside
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    out = cupy.full([SHAPE[axis] for axis in AXES], -1, "i4")
    read = cupy.zeros_like(out)
    call = ttlg.plan(SHAPE, AXES, "int32", device="cuda") if planned else None
    torch.cuda.synchronize()
    with other, torch.cuda.stream(stream):
        filled_late(x, contents)
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
    out = cupy.full([SHAPE[axis] for axis in AXES], -1, "i4")
    read = cupy.zeros_like(out)
    torch.cuda.synchronize()
    with other, torch.cuda.stream(stream):
        with torch.cuda.stream(torch.cuda.ExternalStream(other.ptr)):
            torch.cuda._sleep(SLEEP_CYCLES)
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
    out = torch.full([SHAPE[axis] for axis in AXES], -1, dtype=torch.int32, device="cuda")
    read = torch.zeros_like(out)
    torch.cuda.synchronize()
    with other, torch.cuda.stream(stream):
        with torch.cuda.stream(torch.cuda.ExternalStream(other.ptr)):
            torch.cuda._sleep(SLEEP_CYCLES)
        x[...] = contents
        ttlg.transpose(x, AXES, out=out)
        read.copy_(out)
    assert not stream.query(), "PyTorch has not waited"
    stream.synchronize()
    assert torch.equal(read, torch.as_tensor(contents).permute(AXES))


def test_only_the_named_stream_is_ordered(stream, cupy_beside):
    cupy, other = cupy_beside
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    out = cupy.full([SHAPE[axis] for axis in AXES], -1, "i4")
    torch.cuda.synchronize()
    with other, torch.cuda.stream(stream):
        filled_late(x, contents)
        ttlg.transpose(x, AXES, out=out, stream=stream)
    assert other.done, "CuPy's stream waits, although the caller has named another one"
    assert not stream.query()
    stream.synchronize()
    assert torch.equal(torch.as_tensor(out), contents.permute(AXES))


@pytest.mark.parametrize("default", [0, 1, torch.cuda.default_stream], ids=["0", "1", "torch"])
def test_default_stream_beside_another_current_one(stream, default):
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        filled_late(x, contents)
        y = ttlg.transpose(x, AXES, stream=default if isinstance(default, int) else default())
    torch.cuda.synchronize()
    assert torch.equal(y, contents.permute(AXES))


def test_memory_is_not_reused_before_the_stream_has_read_it(stream):
    contents, x = values(), torch.zeros(SHAPE, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        filled_late(x, contents)
    y = ttlg.transpose(x, AXES, stream=stream)
    pointer = x.data_ptr()
    del x
    scribbled = [torch.zeros_like(contents) for _ in range(4)]
    assert pointer not in [each.data_ptr() for each in scribbled]
    stream.synchronize()
    assert torch.equal(y, contents.permute(AXES))


def test_graph_replays_on_changed_contents():
    ttlg.cache_clear()  # planning takes part in the capture
    inputs = [values(shape) for shape, _ in PROBLEMS]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [ttlg.transpose(x, axes) for x, (_, axes) in zip(inputs, PROBLEMS, strict=True)]
        again = ttlg.transpose(results[0])
    for _ in range(3):
        for x in inputs:
            x.random_()
        for result in (*results, again):
            result.fill_(-1)
        graph.replay()
        torch.cuda.synchronize()
        for x, (_, axes), result in zip(inputs, PROBLEMS, results, strict=True):
            assert torch.equal(result, x.permute(axes))
        assert torch.equal(again, inputs[0])


def test_graph_of_plans_into_given_outputs():
    x = values()
    out = torch.zeros([SHAPE[axis] for axis in AXES], dtype=torch.int32, device="cuda")
    plan = ttlg.plan(SHAPE, AXES, "int32", device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        plan(x, out)
    x.random_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, x.permute(AXES))


def test_graph_of_a_call_into_an_array_of_cupy():
    cupy = pytest.importorskip("cupy")
    x = values()
    out = cupy.zeros([SHAPE[axis] for axis in AXES], "i4")
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
    x = values()
    out = torch.zeros([SHAPE[axis] for axis in AXES], dtype=torch.int32, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # Its library counts as using the default stream, which is not captured.
        with pytest.raises(ttlg.CudaError, match="captured in a CUDA graph"):
            ttlg.transpose(x, AXES, out=of_unknown_library(out))
        current = torch.cuda.current_stream()
        ttlg.transpose(x, AXES, out=of_unknown_library(out), stream=current)
    x.random_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, x.permute(AXES))


FIRST_CALL_CAPTURED = """
    import torch
    import ttlg

    x = torch.arange(64 * 96, dtype=torch.int32, device="cuda").view(64, 96)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = ttlg.transpose(x)
    y.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, x.t())
"""


def test_first_call_of_a_process_can_be_captured():
    script = textwrap.dedent(FIRST_CALL_CAPTURED)
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, timeout=120, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_threads_on_streams_of_their_own():
    def wrong(seed):
        draw = random.Random(seed)
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(40):
                shape, axes = draw.choice(PROBLEMS)
                x = torch.empty(shape, dtype=torch.int16, device="cuda").random_()
                if not torch.equal(ttlg.transpose(x, axes), x.permute(axes)):
                    return shape, axes
        return None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(wrong, range(8))) == [None] * 8
