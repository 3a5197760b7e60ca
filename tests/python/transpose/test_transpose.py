"""`ttlg.transpose` moves the same bits as `numpy.transpose`, whatever the shape and layout."""

import itertools
import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg

from ..arrays import (
    EXTENTS,
    available_bytes,
    bits,
    equal_by_blocks,
    layouts,
    problems,
    random_array,
    random_raw,
    repeated_raw,
)


def check(x, axes, **keywords):
    result = ttlg.transpose(x, axes, **keywords)
    expected = np.transpose(x, axes)
    assert type(result) is np.ndarray
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert result.flags.c_contiguous
    assert result.flags.writeable
    assert bits(result) == bits(expected)


@given(problems())
def test_any_layout(problem):
    layout, axes = problem
    raw = random_raw(layout.count)
    before = raw.tobytes()
    check(layout.of(raw), axes)
    assert raw.tobytes() == before


@given(problems(), st.data())
def test_any_layout_into_any_layout(problem, data):
    layout, axes = problem
    x = layout.of(random_raw(layout.count))
    out_shape = tuple(x.shape[axis] for axis in axes)
    out_layout = data.draw(layouts(out_shape, layout.itemsize, broadcast=False))
    raw = random_raw(out_layout.count, seed=1)
    expected = raw.copy()
    out_layout.of(expected)[...] = x.transpose(axes)
    out = out_layout.of(raw)
    assert ttlg.transpose(x, axes, out=out) is out
    # The whole buffer: bytes between the elements keep what they held.
    assert raw.tobytes() == expected.tobytes()


@given(
    st.lists(st.sampled_from(EXTENTS), max_size=4),
    st.sampled_from(["<f4", ">f8", "<c16", "<f2", "?", "<M8[us]"]),
    st.randoms(use_true_random=False),
)
def test_negative_axes_and_axes_containers(shape, dtype, random):
    x = random_array(shape, dtype)
    axes = random.sample(range(x.ndim), x.ndim)
    expected = bits(x.transpose(axes))
    negative = [axis - x.ndim if random.random() < 0.5 else axis for axis in axes]
    for given_axes in (axes, tuple(negative), np.array(negative, int), iter(negative)):
        assert bits(ttlg.transpose(x, given_axes)) == expected


@pytest.mark.parametrize("rank", range(13))
def test_axes_default_to_reversed(rank):
    x = random_array((2, 3, 1, 2, 1, 3, 2, 1, 1, 2, 2, 1)[:rank], np.int16)
    check(x, None)
    assert bits(ttlg.transpose(x)) == bits(x.T)


@pytest.mark.parametrize("rank", [16, 31, 32, 33, 63, 64])
def test_high_rank(rank):
    if rank > 32 and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("this NumPy stops at rank 32")
    rng = np.random.default_rng(rank)
    shape = np.ones(rank, int)
    shape[rng.choice(rank, 12, replace=False)] = 2
    x = random_array(tuple(shape), np.int32)
    for _ in range(5):
        check(x, tuple(rng.permutation(rank)))
    check(random_array((1,) * rank, "V5"), tuple(rng.permutation(rank)))


@pytest.mark.parametrize("x", [np.array(-0.0), random_array((4, 5), "<f4")], ids=["0-d", "2-d"])
def test_result_is_new_memory_even_for_the_identity(x):
    y = ttlg.transpose(x, range(x.ndim))
    assert y.shape == x.shape
    assert not np.shares_memory(x, y)
    assert bits(y) == bits(x)


def test_permute_dims_needs_axes():
    x = random_array((2, 3, 4), "<f8")
    assert bits(ttlg.permute_dims(x, axes=[-1, 1, 0])) == bits(x.transpose(2, 1, 0))
    with pytest.raises(TypeError, match="needs axes"):
        ttlg.permute_dims(x, None)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_strides_beyond_32_bits(axes):
    # Reserved address space: only the few pages that hold an element ever become memory.
    reserve = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    step = (1 << 32) + 8
    try:
        memory = mmap.mmap(-1, 5 * step, flags=reserve)
    except OSError as error:
        pytest.skip(f"cannot reserve address space: {error}")
    strides = (2 * step, 8, step - 400)
    shape = (2, 50, 3)
    x = np.ndarray(shape, "<i8", memory, strides=strides)
    x[...] = random_array(shape, "<i8")
    check(x, axes)
    out = np.ndarray(shape, "<i8", memory, offset=800, strides=strides).transpose(axes)
    source = x.copy()
    assert bits(ttlg.transpose(source, axes, out=out)) == bits(source.transpose(axes))


@pytest.mark.slow
def test_more_than_2_to_31_elements():
    if available_bytes() < 8 << 30:
        pytest.skip("needs 8 GB of free memory")
    x = repeated_raw(2 * 46341 * 23171).reshape(2, 46341, 23171)
    assert x.size > 1 << 31
    for axes in ((2, 1, 0), (1, 2, 0), (0, 2, 1)):
        assert equal_by_blocks(ttlg.transpose(x, axes), x.transpose(axes)), axes
