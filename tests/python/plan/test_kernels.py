"""Every kernel, forced by name and with edited parameters, moves the same bits."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg
from ttlg import _core

from ..arrays import SIZES, bits, layouts, problems, random_array, random_raw, shapes
from ..blocks import blocks_of, edited

KERNELS = _core.CPU_KERNELS
MAX_RANK = 12


def force(kernel, x, axes):
    """Return the plan with this kernel, or None, having seen it refused, where it cannot apply."""
    try:
        return ttlg.plan(x.shape, axes, x.dtype, strides=x.strides, kernel=kernel)
    except ValueError as error:
        if f"kernel '{kernel}' does not apply: it needs" not in str(error):
            raise
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
        assert (plans["copy"] is None) == (plans["strided_copy"] is not None)
        if plans["shuffle"]:
            assert itemsize < 16
        for kernel, plan in plans.items():
            assert plan is None or bits(plan(x)) == expected, (kernel, axes)


@pytest.mark.parametrize("kernel", ["tile", "shuffle", "strided_copy"])
@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 6, 8, 12, 16])
def test_every_extent_around_a_vector(kernel, itemsize):
    count = 0
    for rows, columns in itertools.product((*range(2, 20), 31, 32, 33, 47, 48, 49), repeat=2):
        x = random_array((rows, columns), f"V{itemsize}")
        plan = force(kernel, x, (1, 0))
        if plan is not None:
            assert bits(plan(x)) == bits(x.T), x.shape
            count += 1
    vectors = set(_core.WIDTHS if kernel == "tile" else _core.WIDTHS[:-1])
    assert (count > 300) == (kernel == "strided_copy" or itemsize in vectors)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_shuffles_of_many_short_modes(itemsize):
    random = np.random.default_rng(itemsize)
    shuffled = 0
    for _ in range(100):
        x = random_array(random.integers(2, 6, random.integers(3, 8)), f"V{itemsize}")
        axes = tuple(random.permutation(x.ndim))
        if plan := force("shuffle", x, axes):
            assert bits(plan(x)) == bits(x.transpose(axes)), (x.shape, axes)
            shuffled += 1
    assert shuffled > 20


def test_inputs_walked_backwards_and_repeated():
    base = random_array((40, 5), "<f4")
    windows = np.lib.stride_tricks.sliding_window_view(base.ravel(), 6)
    for x in (base[::-1], base[:, ::-1], np.broadcast_to(base, (3, 40, 5)), windows):
        for axes in itertools.permutations(range(x.ndim)):
            for kernel in KERNELS:
                if plan := force(kernel, x, axes):
                    assert bits(plan(x)) == bits(x.transpose(axes)), (x.strides, axes, kernel)


limits = st.lists(
    st.sampled_from((1, 2, 3, 5, 7, 8, 16, 17, 33, 64, 1 << 40)),
    min_size=MAX_RANK,
    max_size=MAX_RANK,
)
orders = st.permutations(range(MAX_RANK))


def streamed_if_possible(plan, **parameters):
    """Edit a plan; without streaming where its blocks do not allow it."""
    try:
        return edited(plan, **parameters)
    except ValueError as error:
        if "streaming " not in str(error) and "staged block" not in str(error):
            raise
        return edited(plan, **parameters | {"staged": False, "streaming": False})


@given(
    problem=problems(max_rank=5, max_elements=20000),
    limits=limits,
    order=orders,
    rest=st.fixed_dictionaries(
        {
            "staged": st.booleans(),
            "streaming": st.booleans(),
            "prefetch": st.integers(0, 4),
            "threads": st.integers(1, 3),
        }
    ),
    offset=st.integers(0, 65),
)
def test_edited_parameters(problem, limits, order, rest, offset):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    # Random bytes around the output, which must stay.
    before = random_raw(offset + x.nbytes + 64, seed=1)
    expected = before.copy()
    expected[offset : offset + x.nbytes] = np.frombuffer(bits(x.transpose(axes)), "u1")
    for kernel in ("copy", "tile", "shuffle", "strided_copy"):
        plan = force(kernel, x, axes)
        if plan is None:
            continue
        blocks = blocks_of(plan, limits, order)
        plan = streamed_if_possible(plan, **blocks, **rest)
        assert list(plan.parameters["block"]) == blocks["block"]
        assert list(plan.parameters["loop_order"]) == blocks["loop_order"]
        raw = before.copy()
        plan(x, np.ndarray([x.shape[axis] for axis in axes], x.dtype, raw, offset))
        assert raw.tobytes() == expected.tobytes(), kernel


@given(
    data=st.data(),
    shape=shapes(max_rank=4, max_elements=20000),
    itemsize=st.sampled_from(SIZES),
    staged=st.booleans(),
    streaming=st.booleans(),
)
def test_edited_parameters_into_any_layout(data, shape, itemsize, staged, streaming):
    x = random_array(shape, f"V{itemsize}")
    axes = tuple(data.draw(st.permutations(range(x.ndim))))
    expected = x.transpose(axes)
    layout = data.draw(layouts(expected.shape, itemsize, broadcast=False))
    raw = random_raw(layout.count, seed=1)
    wanted = raw.copy()
    layout.of(wanted)[...] = expected
    out = layout.of(raw)
    # What ttlg.transpose(out=) plans for a strided output.
    planned = ttlg.Plan(
        _core.cpu_plan_for(_core.view(x, "x"), axes, _core.view(out, "out"), 2), "V"
    )
    edited(planned, out_byte_strides=out.strides, kernel="reference")(x, out)
    assert raw.tobytes() == wanted.tobytes()
    if planned.kernel == "copy":
        return
    blocks = blocks_of(planned, data.draw(limits), data.draw(orders))
    plan = streamed_if_possible(
        planned, out_byte_strides=out.strides, **blocks, staged=staged, streaming=streaming
    )
    raw[:] = random_raw(layout.count, seed=1)
    plan(x, out)
    assert raw.tobytes() == wanted.tobytes(), plan


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", ["copy", "tile", "shuffle", "strided_copy"])
@pytest.mark.parametrize("dtype", ["u1", "<u2", "V3", "<f4", "<f8", "<c16", "V24"])
def test_streaming_at_every_alignment(kernel, dtype, threads):
    # Blocks along the longest axis continue one another: lines are carried from one to the next.
    x = random_array((400, 3, 31), dtype)
    axes = (0, 1, 2) if kernel == "copy" else (2, 1, 0)
    plan = force(kernel, x, axes)
    if plan is None:
        pytest.skip(f"{kernel} is not for elements of {x.itemsize} bytes")
    blocks = {"block": [1000], "loop_order": []}
    if kernel != "copy":
        blocks = blocks_of(plan, (5, 3, 131), (0, 1, 2))
    plan = edited(plan, **blocks, staged=True, streaming=True, prefetch=1, threads=threads)
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
    plan = force("strided_copy", x, (1, 0, 2))
    plan = edited(plan, staged=False, streaming=True, block=[2, 3], loop_order=[1, 0])
    raw = np.empty(x.nbytes + 64, np.uint8)
    for offset in (0, 1, 63):
        out = np.ndarray((7, 9, run_bytes), "u1", raw, offset)
        assert bits(plan(x, out)) == bits(x.transpose(1, 0, 2))


def test_streaming_is_chosen_for_outputs_beyond_the_caches():
    small = ttlg.plan((256, 256), (1, 0), "u4")
    large = ttlg.plan((4096, 4096), (1, 0), "u4")
    assert not small.parameters["streaming"]
    assert large.parameters["streaming"]
    x = random_array(large.shape, "u4")
    assert np.array_equal(large(x), x.T)
