"""Sparse tensors to test with, and what NumPy makes of them."""

import numpy as np
from hypothesis import strategies as st

from ttlg import sparse

from ..arrays import bits, random_array

ALGORITHMS = sparse.algorithms
# Elements of every width that is moved in its own way, and of axes of their own.
ELEMENTS = [("V1", ()), ("V2", ()), ("V3", ()), ("V4", ()), ("V8", ()), ("V12", ()), ("V16", ())]
ELEMENTS += [("<f4", (3,)), (">i2", (2, 1)), ("V5", (4, 2))]
EXTENTS = (1, 2, 3, 4, 7, 16, 100, 300, 70_000, 2**31 - 1, 2**31 + 5, 2**40)


def random_coords(shape, nnz, seed, skewed=False):
    """Return coordinates in no order, in a quarter of the cases drawn from few, as (modes, nnz).

    Skewed ones lie in one slice of the first mode by nine parts of ten.
    """
    random = np.random.default_rng(seed)
    coords = np.empty((len(shape), nnz), np.int64)
    for mode, extent in enumerate(shape):
        coords[mode] = random.integers(0, extent, nnz)
    if skewed and nnz:
        coords[0, random.random(nnz) < 0.9] = shape[0] // 2
    return coords


def transposed(tensor, axes):
    """Transpose a tuple of coordinates, values and shape by NumPy's stable sort."""
    coords, values, shape = tensor
    moved = np.array([coords[axis] for axis in axes]).reshape(len(axes), -1)
    order = np.lexsort(moved[::-1]) if len(axes) else np.arange(len(values))
    return moved[:, order], values[order], tuple(shape[axis] for axis in axes)


def dense(tensor):
    """Add the nonzeros of a tuple of coordinates, values and shape into a dense array."""
    coords, values, shape = tensor
    result = np.zeros((*shape, *values.shape[1:]), values.dtype)
    np.add.at(result, tuple(np.asarray(coords)), values)
    return result


def check(result, expected, index_dtype=None):
    """Compare tuples of coordinates, values and shape bit for bit."""
    coords, values, shape = result
    assert shape == expected[2]
    np.testing.assert_array_equal(coords, expected[0])
    assert coords.shape == (len(shape), len(values))
    if index_dtype is not None:
        assert coords.dtype == index_dtype
    assert values.dtype == expected[1].dtype
    assert values.shape == expected[1].shape
    assert bits(values) == bits(np.ascontiguousarray(expected[1]))


@st.composite
def tensors(draw, max_rank=6, extents=EXTENTS, elements=ELEMENTS):
    """Draw coordinates, values and shape, sorted or not, with duplicates or without."""
    shape = tuple(draw(st.lists(st.sampled_from(extents), min_size=1, max_size=max_rank)))
    nnz = draw(st.sampled_from((0, 1, 2, 3, 10, 100, 1000)))
    if nnz and draw(st.integers(0, 9)) == 0:
        mode = draw(st.integers(0, len(shape) - 1))
        shape, nnz = (*shape[:mode], 0, *shape[mode + 1 :]), 0
    seed = draw(st.integers(0, 2**16))
    coords = random_coords(shape, nnz, seed, skewed=draw(st.booleans()))
    if nnz and draw(st.integers(0, 3)) == 0:  # many duplicates
        coords = coords[:, np.random.default_rng(seed).integers(0, min(nnz, 9), nnz)]
    if draw(st.booleans()):
        coords = coords[:, np.lexsort(coords[::-1])]
    if max(shape) <= 2**31 and draw(st.booleans()):
        coords = coords.astype(np.int32)
    dtype, inner = draw(st.sampled_from(elements))
    return np.ascontiguousarray(coords), random_array((nnz, *inner), dtype, seed), shape


@st.composite
def problems(draw, **options):
    """Draw a tensor, and axes to permute it by."""
    tensor = draw(tensors(**options))
    return tensor, tuple(draw(st.permutations(range(len(tensor[2])))))
