"""Calls run on the right stream, can be captured in graphs, and come from several threads."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import ttlg

from .streams import AXES, SHAPE, late, run_script, values, zeros

torch = pytest.importorskip("torch")

PROBLEMS = [
    ((64, 96), (1, 0)),
    ((33, 17, 40), (2, 1, 0)),
    ((5, 7, 9, 11), (3, 1, 2, 0)),
    ((12, 40, 3), (1, 0, 2)),
    ((12, 40, 64), (1, 0, 2)),
    ((4096,), (0,)),
]


def test_reads_after_what_its_stream_wrote_and_before_what_it_writes_next(stream):
    contents, x = late(stream)
    with torch.cuda.stream(stream):
        y = ttlg.transpose(x, AXES)
        assert not stream.query(), "the call has waited for the stream"
        x.zero_()
        y_then = y.clone()
    stream.synchronize()
    assert torch.equal(y, contents.permute(AXES))
    assert torch.equal(y_then, y)


def test_out_and_plans_are_ordered_on_the_current_stream(stream):
    out, planned = zeros(), zeros()
    plan = ttlg.plan(SHAPE, AXES, "int32", device="cuda")
    contents, x = late(stream)
    with torch.cuda.stream(stream):
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
    out, spelled = zeros(), spelling(stream)
    contents, x = late(stream)
    ttlg.transpose(x, AXES, out=out, stream=spelled)
    assert not stream.query(), "the call has waited for the stream"
    with torch.cuda.stream(stream):
        x.zero_()
    stream.synchronize()
    assert torch.equal(out, contents.permute(AXES))


@pytest.mark.parametrize("default", [0, 1, torch.cuda.default_stream], ids=["0", "1", "torch"])
def test_default_stream_beside_another_current_one(stream, default):
    contents, x = late(stream)
    with torch.cuda.stream(stream):
        y = ttlg.transpose(x, AXES, stream=default if isinstance(default, int) else default())
    torch.cuda.synchronize()
    assert torch.equal(y, contents.permute(AXES))


def test_memory_is_not_reused_before_the_stream_has_read_it(stream):
    contents, x = late(stream)
    y = ttlg.transpose(x, AXES, stream=stream)
    pointer = x.data_ptr()
    del x
    scribbled = [torch.zeros_like(contents) for _ in range(4)]
    assert pointer not in [each.data_ptr() for each in scribbled]
    stream.synchronize()
    assert torch.equal(y, contents.permute(AXES))


def test_graph_replays_on_changed_contents():
    plan, planned = ttlg.plan(*PROBLEMS[0], "int32", device="cuda"), zeros((96, 64))
    ttlg.cache_clear()  # planning takes part in the capture
    inputs = [values(shape) for shape, _ in PROBLEMS]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [ttlg.transpose(x, axes) for x, (_, axes) in zip(inputs, PROBLEMS, strict=True)]
        again = ttlg.transpose(results[0])
        plan(inputs[0], planned)
    for _ in range(3):
        for x in inputs:
            x.random_()
        for result in (*results, again, planned):
            result.fill_(-1)
        graph.replay()
        torch.cuda.synchronize()
        for x, (_, axes), result in zip(inputs, PROBLEMS, results, strict=True):
            assert torch.equal(result, x.permute(axes))
        assert torch.equal(again, inputs[0])
        assert torch.equal(planned, results[0])


def test_first_call_of_a_process_can_be_captured():
    done = run_script("""
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
    """)
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
