"""Plans that are tried on the calls of a process, and timed by CUDA events."""

import pytest

import ttlg

torch = pytest.importorskip("torch")

SHAPE, AXES = (300, 400, 500), (2, 0, 1)
# More than trials take where each call is over before the next one.
CALLS = 400


@pytest.fixture(autouse=True)
def _learning():
    ttlg.cache_clear()
    with ttlg.learning(True):
        yield
    ttlg.cache_clear()


@pytest.fixture
def x():
    return torch.empty(SHAPE, dtype=torch.float32, device="cuda").normal_()


def tried(x):
    return len(ttlg.plan_for(x, AXES)._compiled.measured)


def calls_until_settled(x):
    expected = x.permute(AXES).contiguous()
    for number in range(CALLS):
        assert torch.equal(ttlg.transpose(x, AXES), expected), "which waits for the call"
        if tried(x):
            return number + 1
    return None


def test_calls_settle_on_a_plan_and_move_the_same_bytes(x):
    predicted = ttlg.predict_time(SHAPE, AXES, "float32", device="cuda")
    calls = calls_until_settled(x)
    assert calls is not None, f"{CALLS} calls"
    assert calls > 10
    plan = ttlg.plan_for(x, AXES)
    assert plan.gain >= 1
    times = [each.measured_seconds for each in plan.candidates() if each.measured_seconds]
    assert len(times) == tried(x)
    assert times[0] <= min(times) / 0.97
    assert "measured, the fastest of" in plan.explain()
    assert ttlg.predict_time(SHAPE, AXES, "float32", device="cuda") == predicted
    with ttlg.learning(False):
        assert tried(x) == 0


def test_captured_calls_are_left_alone(x):
    for _ in range(8):
        ttlg.transpose(x, AXES)
    torch.cuda.synchronize()
    out = torch.empty_like(x.permute(AXES).contiguous())
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(3):
            ttlg.transpose(x, AXES, out=out)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, x.permute(AXES).contiguous())
    assert calls_until_settled(x)


def test_calls_that_run_ahead_of_the_device_settle_too(x):
    out = torch.empty([SHAPE[axis] for axis in AXES], device="cuda")
    for number in range(20 * CALLS):
        ttlg.transpose(x, AXES, out=out)
        if number % 20 == 0:
            torch.cuda.synchronize()
        if len(ttlg.plan_for(x, AXES, out=out)._compiled.measured):
            break
    else:
        pytest.fail("no plan was kept")
    assert torch.equal(out, x.permute(AXES).contiguous())
