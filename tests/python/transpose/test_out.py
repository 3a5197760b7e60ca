"""`out=`: any writable layout; what overlaps is refused before a byte is written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import ttlg

from ..arrays import bits, random_array, random_raw


def bytes_of(view, raw):
    """Return the positions in `raw` of all bytes of the elements of `view`."""
    start = view.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
    elements = np.full(view.shape, start)
    for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        steps = np.arange(extent) * stride
        elements += steps.reshape((extent,) + (1,) * (view.ndim - axis - 1))
    return (elements.reshape(-1, 1) + np.arange(view.itemsize)).ravel()


def refused(x, axes, out, raw, match):
    before = raw.tobytes()
    with pytest.raises(ValueError, match=match):
        ttlg.transpose(x, axes, out=out)
    assert raw.tobytes() == before


BUFFER = 4000


def place(shape, order, signs, gaps, itemsize):
    """Return start and strides of an array whose axes are nested in an order, with gaps."""
    strides = [0] * len(shape)
    reach = itemsize
    start = 0
    for axis, sign, gap in zip(order, signs, gaps, strict=True):
        strides[axis] = sign * (reach + gap)
        if sign < 0:
            start += (reach + gap) * (shape[axis] - 1)
        reach += (reach + gap) * (shape[axis] - 1)
    return start, tuple(strides)


@st.composite
def places(draw, shape, gaps):
    """Draw the arguments of `place`, but for the element's size."""
    rank = len(shape)
    return (
        shape,
        draw(st.permutations(range(rank))),
        draw(st.lists(st.sampled_from([1, -1]), min_size=rank, max_size=rank)),
        draw(st.lists(gaps, min_size=rank, max_size=rank)),
    )


small_shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
sizes = st.sampled_from([1, 2, 3, 4, 8])


@given(small_shapes, sizes, st.data())
def test_two_layouts_on_one_buffer(shape, itemsize, data):
    # Gaps below zero make axes collide.
    gaps = st.sampled_from([0, 0, 1, itemsize, -1, -itemsize])
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    out_shape = tuple(shape[axis] for axis in axes)
    raw = random_raw(BUFFER)
    before = raw.tobytes()
    start, strides = place(*data.draw(places(shape, gaps)), itemsize)
    x = np.ndarray(shape, f"V{itemsize}", raw, BUFFER // 4 + start, strides)
    start, strides = place(*data.draw(places(out_shape, gaps)), itemsize)
    start += data.draw(st.sampled_from([0, 1, itemsize, x.nbytes // 2, x.nbytes, 2 * x.nbytes]))
    out = np.ndarray(out_shape, f"V{itemsize}", raw, BUFFER // 4 + start, strides)

    written = bytes_of(out, raw)
    expected = raw.copy()
    if np.unique(written).size < written.size:
        return refused(x, axes, out, raw, "hold several elements at one place")
    if np.intersect1d(written, bytes_of(x, raw)).size:
        return refused(x, axes, out, raw, "hold several elements|overlaps x")
    # Apart: NumPy's answer, or a refusal where an axis folds back between the others' elements.
    expected[written] = np.frombuffer(bits(x.transpose(axes)), "u1")
    try:
        assert ttlg.transpose(x, axes, out=out) is out
    except ValueError as error:
        if "may hold several elements" not in str(error):
            raise
        assert raw.tobytes() == before
    else:
        assert raw.tobytes() == expected.tobytes()
    return None


@given(small_shapes, sizes, st.data())
def test_meshed_without_touching(shape, itemsize, data):
    # The output is the input's lattice, moved into the gaps.
    lattice = data.draw(places(shape, st.sampled_from([itemsize, itemsize + 1])))
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    raw = random_raw(BUFFER)
    start, strides = place(*lattice, itemsize)
    x = np.ndarray(shape, f"V{itemsize}", raw, itemsize + start, strides)
    shift = data.draw(st.sampled_from([0, 2 * itemsize]))
    out = np.ndarray(shape, f"V{itemsize}", raw, shift + start, strides).transpose(axes)
    expected = raw.copy()
    expected[bytes_of(out, raw)] = np.frombuffer(bits(x.transpose(axes)), "u1")
    assert ttlg.transpose(x, axes, out=out) is out
    assert raw.tobytes() == expected.tobytes()


def test_the_input_itself():
    x = random_array((4, 4), "<f8")
    for out in (x, x.T, x[::-1]):
        refused(x, (1, 0), out, x, r"out of shape \(4, 4\) overlaps x of shape \(4, 4\).*copy x")
    refused(x[:2], (1, 0), x[1:3].reshape(4, 2), x, "overlaps x")


def test_layouts_too_tangled_to_tell_apart_are_refused():
    # Whether these two share a byte takes NumPy more steps than a check may take.
    raw = np.zeros(62 << 20, np.uint8)
    x = as_strided(raw, (50, 50, 50), (36674, 61119, 85569))
    out = as_strided(raw[1000003:], (50, 50, 50), (24446, 1222301, 7))
    x[...] = 1
    out[...] = 2
    with pytest.raises(ValueError, match="overlaps x"):
        ttlg.transpose(x, (0, 1, 2), out=out)
    assert (out == 2).all()


@pytest.mark.parametrize("shape", [(3, 4), (4,), (4, 3, 1), (12,), (4, 2), ()])
def test_wrong_shape(shape):
    x = random_array((3, 4), "<f4")
    out = np.zeros(shape, "<f4")
    refused(
        x, (1, 0), out, out, r"x of shape \(3, 4\) permuted by axes \(1, 0\).*pass out of shape"
    )
