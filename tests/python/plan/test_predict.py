"""Predicted times: those of the plans, for anything that can be described, and nothing is run."""

import functools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttlg
from ttlg import _core

from .. import time_models
from ..arrays import problems

H200 = "nvidia-h200"
SHAPE, AXES = (30, 40, 50), (2, 0, 1)
warm = functools.partial(ttlg.predict_time, output="warm")


@pytest.fixture(autouse=True)
def _time_model():
    with time_models.installed():
        yield


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems(max_elements=50_000), st.sampled_from([1, 2, 8]))
def test_it_is_the_time_of_the_plan(problem, threads):
    layout, axes = problem
    x = layout.of(np.zeros(layout.count, np.uint8))
    for options in ({"threads": threads}, {"device": H200}):
        plan = ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, **options)
        seconds = warm(x.shape, axes, x.dtype, strides=x.strides, **options)
        assert seconds == plan.predicted_time > 0
        packed = ttlg.plan(x.shape, axes, x.dtype, **options)
        assert warm(x.shape, axes, x.dtype, **options) == packed.predicted_time


@pytest.mark.parametrize("device", ["cpu", "nvidia-h100", H200, "tesla-k40c"])
def test_beyond_the_memory(device):
    tracemalloc.start()
    try:
        terabytes = ttlg.predict_time((10**6, 10**6), device=device)
        ttlg.predict_times([((10**6, 10**6), (1, 0))], device=device)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert 0.1 < terabytes < 1e6
    assert ttlg.predict_time((10**4, 10**4), device=device) < terabytes / 100


@pytest.mark.parametrize("device", ["cpu", H200])
@pytest.mark.parametrize(
    ("shape", "axes"), [((28, 28, 64), (0, 3, 1, 2)), ((100, 3), (0, 2, 1)), ((7, 8, 9), None)]
)
def test_more_takes_longer(shape, axes, device):
    counts = [1, 64, 1 << 12, 1 << 18, 1 << 24]
    times = [warm((count, *shape), axes, "float64", device=device) for count in counts]
    assert times == sorted(times)
    assert times[-1] > 1000 * times[0]


def test_no_call_takes_less_than_a_call():
    for shape in ((), (1,), (0,), (5, 0, 3), (2, 2)):
        for output in ("fresh", "warm"):
            assert ttlg.predict_time(shape, output=output) >= time_models.CALL
    assert warm((0, 3)) < 2 * time_models.CALL


def test_a_new_array_takes_longer_than_one_in_use():
    big = (4000, 4000)
    pages = 4 * math.prod(big) / 4096
    assert ttlg.predict_time(big) == ttlg.predict_time(big, output="fresh")
    assert ttlg.predict_time(big) - warm(big) > 0.5e-7 * pages / ttlg.get_num_threads()
    assert ttlg.predict_time(big, device=H200) == warm(big, device=H200)


def test_threads():
    big = (4000, 4000)
    one, two = (warm(big, threads=n) for n in (1, 2))
    assert two < one
    with ttlg.threads(1):
        assert warm(big) == one
        assert ttlg.predict_times([(big, None)], output="warm") == [one]


def test_only_the_size_of_a_dtype_matters():
    fields = [("a", "u1"), ("b", "<f4", (2,)), ("c", "V7")]
    for dtype in ("V16", np.dtype("c16"), np.complex128, fields, np.dtype(fields), ("f8", (2,))):
        assert warm(SHAPE, AXES, dtype) == warm(SHAPE, AXES, "complex128")
    assert warm(SHAPE, AXES) == warm(SHAPE, AXES, "torch.float32") == warm(SHAPE, AXES, "i4")
    assert warm(SHAPE, AXES, "u1") != warm(SHAPE, AXES)


def test_strides():
    plan = ttlg.plan((64, 30), (1, 0), "f8", strides=(480, 8))
    assert warm((64, 30), (1, 0), "f8", strides=(480, 8)) == plan.predicted_time
    assert warm((64, 30), (1, 0), "f8", element_strides=(60, 1)) == plan.predicted_time
    assert warm((64, 30), (1, 0), "f8", strides=[240, 8]) == warm((64, 30), (1, 0), "f8")


def test_shapes_and_axes_of_any_kind():
    expected = warm(SHAPE, AXES)
    for kind in (list, np.array, iter, lambda values: tuple(map(np.int64, values))):
        assert warm(kind(SHAPE), kind(AXES)) == expected
    assert warm(SHAPE, (-1, 0, 1)) == expected
    assert warm(SHAPE) == warm(SHAPE, None) == warm(SHAPE, (2, 1, 0))


def test_conversions():
    shape, axes = (64, 224, 224, 3), (0, 3, 1, 2)
    moved = ttlg.predict_time(shape, axes, "uint8", output="warm")
    seconds = [
        ttlg.predict_time(shape, axes, "uint8", out_dtype=name, output="warm")
        for name in ("uint8", "float16", "float32", "float64")
    ]
    assert moved < seconds[0] < seconds[1] < seconds[2] < seconds[3]
    answer = ttlg.predict_time(shape, axes, "uint8", out_dtype="float32", full=True)
    assert answer.seconds > seconds[2]
    assert math.isnan(answer.low)
    assert math.isnan(answer.high)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"inplace": True}, ValueError, "inplace="),
        ({"device": "nvidia-h200"}, ValueError, "'cpu' so far"),
        ({"dtype": "M8[s]"}, TypeError, "datetime64"),
        ({"out_dtype": "V3"}, TypeError, "out_dtype="),
    ],
)
def test_conversions_that_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        ttlg.predict_time((3, 4), **{"dtype": "float32", "out_dtype": "float64", **options})


def test_the_whole_answer():
    found = warm(SHAPE, AXES, "float64", full=True)
    plan = ttlg.plan(SHAPE, AXES, "float64")
    seconds = plan.predicted_time
    own = ttlg.Prediction(seconds, 0.75 * seconds, 1.5 * seconds, plan.kernel, "cpu-test")
    assert found == own
    on_gpu = ttlg.predict_time(SHAPE, AXES, device=H200, full=True)
    plan = ttlg.plan(SHAPE, AXES, device=H200)
    assert (on_gpu.seconds, on_gpu.kernel) == (plan.predicted_time, plan.schema)
    assert on_gpu.source == f"{H200}, physical terms, uncalibrated"
    assert math.isnan(on_gpu.low)
    assert math.isnan(on_gpu.high)


@pytest.mark.parametrize("device", ["cpu", H200])
def test_the_planner_cache_answers_again(device):
    ttlg.cache_clear()
    first = warm(SHAPE, AXES, device=device)
    assert ttlg.cache_info()[:2] == (0, 1)
    plan = ttlg.plan(SHAPE, AXES, device=device)
    assert warm(SHAPE, AXES, device=device, full=True).seconds == first == plan.predicted_time
    assert warm(SHAPE, AXES, device=device) == first
    assert ttlg.cache_info()[:2] == (3, 1)


def test_many_at_once_push_no_plan_out():
    ttlg.cache_resize(1)
    ttlg.predict_time(SHAPE, AXES)
    before = ttlg.cache_info()
    for device in ("cpu", H200):
        ttlg.predict_times([((2, n), (1, 0)) for n in range(2, 300)], device=device)
    assert ttlg.cache_info() == before
    ttlg.predict_time(SHAPE, AXES)
    assert ttlg.cache_info().hits == before.hits + 1


def test_a_tuned_plan_counts():
    model, threads = ttlg.plan((64, 30)), ttlg.get_num_threads()
    other = ttlg.plan((64, 30), kernel="reference")
    assert other.predicted_time != model.predicted_time
    _core.cache_put(other._compiled, threads, None)
    assert warm((64, 30)) == ttlg.predict_times([((64, 30), None)], output="warm")
    assert warm((64, 30), full=True).kernel == "reference"


def test_a_new_model_answers_at_once():
    plan = ttlg.plan(SHAPE, AXES)
    before = warm(SHAPE, AXES)
    double = {name: 2 * seconds for name, seconds in time_models.fields()["coefficients"].items()}
    with time_models.installed(coefficients=double):
        assert plan.predicted_time == warm(SHAPE, AXES) == pytest.approx(2 * before, rel=1e-12)
    assert plan.predicted_time == warm(SHAPE, AXES) == before


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (((2**40, 2**40),), {}, ValueError, "exceeds the 64-bit range"),
        (((3, 4), (1, 0), object), {}, TypeError, "holds Python objects"),
        (((3, 4), (1, 0), None), {}, TypeError, "None is no dtype"),
        (((3, 4), (1, 0), [("a", "f33")]), {}, TypeError, "is no dtype"),
        (((3, 4),), {"device": "tpu"}, ValueError, "cannot plan for device 'tpu'; .*'nvidia-h200'"),
        (((3, 4),), {"threads": 0}, ValueError, "threads must be from 1 to"),
        (((3, 4),), {"threads": "2"}, TypeError, "threads must be an integer"),
        (((3, 4),), {"threads": 2, "device": H200}, ValueError, "for device 'cpu'"),
        (((3, 4),), {"output": "cold"}, ValueError, "unknown output 'cold'; choose one of 'fresh'"),
        (((3, 4),), {"strides": (4, 1)}, ValueError, "look like strides in elements"),
        (((3, 4),), {"strides": (16, 4), "element_strides": (4, 1)}, ValueError, "pass one"),
    ],
    ids=repr,
)
def test_errors(arguments, options, error, message):
    for full in (False, True):
        with pytest.raises(error, match=message):
            ttlg.predict_time(*arguments, **options, full=full)


@pytest.mark.parametrize("device", ["cpu", H200])
@pytest.mark.parametrize("output", ["fresh", "warm"])
def test_many_at_once(device, output):
    shapes = [(), (5,), (0, 3), (64, 64), (7, 1, 5), (3, 4, 5, 6), (2,) * 12, (10**6, 10**6)]
    asked = [(shape, axes) for shape in shapes for axes in (None, tuple(range(len(shape))))] * 20
    options = {"device": device, "output": output}
    found = ttlg.predict_times(iter(asked), "float64", **options)
    assert (found.dtype, found.shape) == (np.float64, (len(asked),))
    assert found.flags.writeable
    assert found.tolist() == [ttlg.predict_time(*each, "float64", **options) for each in asked]


@pytest.mark.parametrize("output", ["fresh", "warm"])
def test_problems_of_any_kind(output):
    shape = (300, 400, 500)
    expected = [ttlg.predict_time(shape, AXES, output=output)] * 4
    asked = [(shape, AXES), [list(shape), list(AXES)], np.array([shape, AXES]), (shape, iter(AXES))]
    assert ttlg.predict_times(asked, output=output).tolist() == expected
    assert ttlg.predict_times([]).shape == (0,)
    one, two = (ttlg.predict_times([((4000, 4000), None)], threads=n)[0] for n in (1, 2))
    assert two < one


@pytest.mark.parametrize(
    ("problem", "options", "error", "message"),
    [
        (((3, 4), (0, 0)), {}, ValueError, r"problems\[2\]: .*axis 0 appears twice"),
        (((3, -4), None), {}, ValueError, r"problems\[2\]: .*negative extent"),
        (((3, 4), "ab"), {}, TypeError, r"problems\[2\]: .*sequence of 2 integers"),
        (
            ((3, 4),),
            {},
            ValueError,
            r"problems\[2\] must be a pair of shape and axes, not \(\(3, 4",
        ),
        (7, {}, TypeError, r"problems\[2\] must be a pair of shape and axes, not 7"),
        (((3, 4), None), {"threads": 2, "device": H200}, ValueError, "for device 'cpu'"),
        (((3, 4), None), {"threads": 0}, ValueError, "threads must be from 1 to"),
        (((3, 4), None), {"device": "tpu"}, ValueError, "cannot plan for device 'tpu'"),
        (((3, 4), None), {"output": "cold"}, ValueError, "unknown output 'cold'"),
        (((3, 4), None), {"dtype": "float33"}, TypeError, "'float33' is no dtype"),
    ],
    ids=repr,
)
def test_errors_name_the_problem(problem, options, error, message):
    asked = [(SHAPE, AXES), (SHAPE, None), problem]
    with pytest.raises(error, match=message):
        ttlg.predict_times(asked, **options)


def test_fork_while_other_threads_predict(run_forking):
    script = """
        import os
        import threading
        import ttlg

        asked = [((n, 3, 4, 5), (3, 1, 0, 2)) for n in range(2, 300)]
        expected = {device: ttlg.predict_times(asked, device=device).tolist()
                    for device in ("cpu", "nvidia-h200")}

        def right():
            return all(ttlg.predict_times(asked, device=device).tolist() == found
                       for device, found in expected.items())
    """
    run_forking(script, "fork_beside_threads(3)")
