"""Every kernel, forced by name and with edited parameters, moves the same bits."""

import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg

from .arrays import SIZES, bits, layouts, problems, random_array, random_raw, shapes

KERNELS = ("copy", "tile", "run", "reference")


def edited(plan, *, out_byte_strides=None, **parameters):
    """Rebuild a plan with other parameters than the planner's."""
    data = json.loads(plan.to_json())
    data["parameters"].update(parameters)
    data["out_byte_strides"] = out_byte_strides
    return ttlg.Plan.from_json(json.dumps(data))


def force(kernel, x, axes):
    """Return the plan with this kernel, or None where the planner's own table says no."""
    free = ttlg.plan(x.shape, axes, x.dtype, strides=x.strides)
    row = next(line for line in free.explain().splitlines() if f" {kernel:10} " in line)
    if row.removeprefix("->").split()[0] == "yes":
        return ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, kernel=kernel)
    with pytest.raises(ValueError, match=f"kernel '{kernel}' does not apply: it needs"):
        ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, kernel=kernel)
    return None


@given(problems())
def test_every_kernel_in_any_layout(problem):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    expected = bits(x.transpose(axes))
    for kernel in KERNELS:
        if plan := force(kernel, x, axes):
            assert plan.kernel == kernel
            assert bits(plan(x)) == expected, kernel


@pytest.mark.parametrize("itemsize", SIZES)
@pytest.mark.parametrize("shape", [(35,), (33, 18), (5, 17, 19), (3, 16, 4, 9)])
def test_every_kernel_agrees_on_every_permutation(shape, itemsize):
    x = random_array(shape, f"V{itemsize}")
    for axes in itertools.permutations(range(x.ndim)):
        expected = bits(x.transpose(axes))
        plans = {kernel: force(kernel, x, axes) for kernel in KERNELS}
        assert plans["reference"] is not None
        assert (plans["copy"] is None) == (plans["run"] is not None)
        for kernel, plan in plans.items():
            assert plan is None or bits(plan(x)) == expected, (kernel, axes)


@pytest.mark.parametrize("kernel", ["tile", "run"])
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_every_extent_around_a_vector(kernel, itemsize):
    for rows, columns in itertools.product((*range(2, 20), 31, 32, 33, 47, 48, 49), repeat=2):
        x = random_array((rows, columns), f"V{itemsize}")
        plan = ttlg.plan(x.shape, (1, 0), x.dtype, kernel=kernel)
        assert bits(plan(x)) == bits(x.T), x.shape


blocks = st.sampled_from((1, 2, 3, 5, 7, 8, 16, 17, 33, 64, 1 << 40))


@given(
    problem=problems(max_rank=5, max_elements=20000),
    parameters=st.fixed_dictionaries(
        {
            "block_in": blocks,
            "block_out": blocks,
            "streaming": st.booleans(),
            "threads": st.integers(1, 3),
        }
    ),
    offset=st.integers(0, 65),
)
def test_edited_parameters(problem, parameters, offset):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    # Random bytes around the output, which must stay.
    before = random_raw(offset + x.nbytes + 64, seed=1)
    expected = before.copy()
    expected[offset : offset + x.nbytes] = np.frombuffer(bits(x.transpose(axes)), "u1")
    for kernel in ("copy", "tile", "run"):
        plan = force(kernel, x, axes)
        if plan is None:
            continue
        try:
            plan = edited(plan, **parameters)
        except ValueError as error:
            if not (parameters["streaming"] and "a block of at most" in str(error)):
                raise
            continue
        assert plan.parameters == parameters
        raw = before.copy()
        plan(x, np.ndarray([x.shape[axis] for axis in axes], x.dtype, raw, offset))
        assert raw.tobytes() == expected.tobytes(), kernel


@given(
    data=st.data(),
    shape=shapes(max_rank=4, max_elements=20000),
    itemsize=st.sampled_from(SIZES),
    streaming=st.booleans(),
    block=st.sampled_from((1, 3, 8)),
)
def test_edited_parameters_into_any_layout(data, shape, itemsize, streaming, block):
    x = random_array(shape, f"V{itemsize}")
    axes = tuple(data.draw(st.permutations(range(x.ndim))))
    expected = x.transpose(axes)
    layout = data.draw(layouts(expected.shape, itemsize, broadcast=False))
    raw = random_raw(layout.count, seed=1)
    wanted = raw.copy()
    layout.of(wanted)[...] = expected
    out = layout.of(raw)
    # A plan for a strided output is one that ttlg.transpose(out=) makes; JSON reaches it too.
    plan = edited(ttlg.plan(shape, axes, x.dtype, kernel="reference"), out_byte_strides=out.strides)
    plan(x, out)
    assert raw.tobytes() == wanted.tobytes()
    for kernel in ("tile", "run"):
        record = json.loads(plan.to_json()) | {"kernel": kernel}
        record["parameters"] = {
            "block_in": block,
            "block_out": block,
            "streaming": streaming,
            "threads": 2,
        }
        try:
            forced = ttlg.Plan.from_json(json.dumps(record))
        except ValueError as error:
            if not re.search("does not apply|streaming needs", str(error)):
                raise
            continue
        raw[:] = random_raw(layout.count, seed=1)
        forced(x, out)
        assert raw.tobytes() == wanted.tobytes(), kernel


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", ["copy", "tile", "run"])
@pytest.mark.parametrize("dtype", ["u1", "<u2", "<f4", "<f8", "<c16", "V24"])
def test_streaming_at_every_alignment(kernel, dtype, threads):
    x = random_array((67, 3, 131), dtype)
    axes = (0, 1, 2) if kernel == "copy" else (2, 1, 0)
    plan = force(kernel, x, axes)
    if plan is None:
        pytest.skip(f"{kernel} is not for elements of {x.itemsize} bytes")
    plan = edited(plan, streaming=True, block_in=13, block_out=29, threads=threads)
    expected = bits(x.transpose(axes))
    raw = np.empty(x.nbytes + 128, np.uint8)
    for offset in range(64):
        raw.fill(0xA5)
        plan(x, np.ndarray(x.transpose(axes).shape, x.dtype, raw, offset))
        assert raw[offset : offset + x.nbytes].tobytes() == expected, offset
        assert (raw[:offset] == 0xA5).all()
        assert (raw[offset + x.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("run_bytes", [1000, 1023, 1024, 1025, 4096, 5000])
def test_long_runs_stream_directly(run_bytes):
    x = random_array((9, 7, run_bytes), "u1")
    plan = edited(ttlg.plan(x.shape, (1, 0, 2), x.dtype), streaming=True, block_in=2, block_out=3)
    assert plan.kernel == "run"
    raw = np.empty(x.nbytes + 64, np.uint8)
    for offset in (0, 1, 63):
        out = np.ndarray((7, 9, run_bytes), "u1", raw, offset)
        assert bits(plan(x, out)) == bits(x.transpose(1, 0, 2))


def test_streaming_is_chosen_for_outputs_beyond_the_caches():
    cache = ttlg.show_config()["cpu"]["last_level_cache_bytes"]
    rows = cache // 4096
    small = ttlg.plan((rows // 2, 4096), (1, 0), "u1")
    large = ttlg.plan((2 * rows, 4096), (1, 0), "u1")
    assert not small.parameters["streaming"]
    assert large.parameters["streaming"]
    if cache <= 64 << 20:
        x = random_array(large.shape, "u1")
        assert np.array_equal(large(x), x.T)
