"""Arrays to test with: random bytes in every layout that NumPy can describe."""

import io
import itertools
import math
import os
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

SIZES = (*range(1, 17), 17, 24, 33, 100)
EXTENTS = (1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65)


def random_raw(count, seed=0):
    """Return `count` random bytes: every bit pattern, NaN payloads and invalid bools included."""
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def repeated_raw(count):
    """Return `count` random bytes, made quickly, that repeat after some millions of them.

    Their period is prime, which keeps equal neighbourhoods from lining up with any extent.
    """
    return np.resize(random_raw(8388593), count)


def available_bytes():
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def random_array(shape, dtype, seed=0):
    """Return a C-contiguous array of random bytes."""
    dtype = np.dtype(dtype)
    return np.ndarray(shape, dtype, random_raw(math.prod(shape) * dtype.itemsize, seed))


def zeros_in_line(begin, shape, dtype):
    """Return a C-contiguous array of zeros that begins at byte `begin` of a cache line."""
    dtype = np.dtype(dtype)
    raw = np.zeros(math.prod(shape) * dtype.itemsize + 64, np.uint8)
    return np.ndarray(shape, dtype, raw, (begin - raw.ctypes.data) % 64)


def bits(x):
    """Return the elements of `x` in C order as raw bytes, padding inside structures included."""
    # In one dimension: the tobytes of NumPy 2.2 refuses more than 32.
    return np.asarray(x).view(f"V{x.dtype.itemsize}").reshape(-1).tobytes()


def equal_by_blocks(y, expected):
    """Compare large arrays block by block; the caches hold a block of either.

    Short axes are taken element by element, which leaves long loops to NumPy.
    """
    long = sum(extent >= 16 for extent in y.shape)
    steps = [1 if extent < 16 else 1 << 18 // long for extent in y.shape]
    starts = itertools.product(*map(range, [0] * y.ndim, y.shape, steps))
    blocks = (tuple(map(slice, start, np.add(start, steps))) for start in starts)
    return y.shape == expected.shape and all(
        np.array_equal(y[block], expected[block]) for block in blocks
    )


@dataclass(frozen=True)
class Layout:
    """Where the elements of an array lie in a buffer of raw bytes.

    The buffer holds elements of `itemsize` bytes, `lead` bytes after the start of a cell of
    `cell` bytes, in a C-contiguous block of `block` cells that starts at byte `offset`. The array
    is that block with its axes sliced, then put in `order`, then broadcast to `shape`.
    """

    itemsize: int
    offset: int
    lead: int
    cell: int
    block: tuple[int, ...]
    slices: tuple[slice, ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def count(self):
        """Bytes of the buffer."""
        return self.offset + math.prod(self.block) * self.cell + self.cell

    def of(self, raw):
        """View a buffer through this layout."""
        cell = {"names": ["e"], "formats": [f"V{self.itemsize}"], "offsets": [self.lead]}
        block = np.ndarray(self.block, np.dtype({**cell, "itemsize": self.cell}), raw, self.offset)
        view = block["e"][(*self.slices, ...)].transpose(self.order)
        if view.shape != self.shape:
            view = np.broadcast_to(view, self.shape)
        return view


@st.composite
def shapes(draw, max_rank=12, max_elements=3000):
    """Draw a shape; about one in ten is empty."""
    shape = []
    budget = max_elements
    for _ in range(draw(st.integers(0, max_rank))):
        extent = draw(st.sampled_from([e for e in EXTENTS if e <= budget]))
        shape.append(extent)
        budget //= extent
    if shape and draw(st.integers(0, 9)) == 9:
        shape[draw(st.integers(0, len(shape) - 1))] = 0
    return tuple(draw(st.permutations(shape)))


@st.composite
def layouts(draw, shape, itemsize, broadcast=True):
    """Draw a layout: misaligned, padded, stepped, backwards, in any memory order, broadcast."""
    rank = len(shape)
    order = draw(st.one_of(st.just(tuple(range(rank))), st.permutations(range(rank)).map(tuple)))
    extents = [0] * rank
    for axis, place in enumerate(order):
        extents[place] = shape[axis]
    odd = draw(st.sets(st.sampled_from(range(rank)), max_size=3)) if rank else set()
    block, slices = [], []
    for place, extent in enumerate(extents):
        kind = draw(st.sampled_from(["step", "back", "pad", "zero"])) if place in odd else "plain"
        if kind == "zero" and broadcast:
            block.append(1)
            slices.append(slice(None))
        elif kind == "plain" or extent == 0 or kind == "zero":
            block.append(extent)
            slices.append(slice(None))
        elif kind == "pad":
            before, after = draw(st.integers(0, 2)), draw(st.integers(0, 2))
            block.append(before + extent + after)
            slices.append(slice(before, before + extent))
        else:
            step = draw(st.integers(1, 3))
            block.append((extent - 1) * step + 1)
            slices.append(slice(None, None, step if kind == "step" else -step))
    lead, trail = draw(st.sampled_from([(0, 0)] * 6 + [(1, 0), (0, 3), (4, 4)]))
    return Layout(
        itemsize=itemsize,
        offset=draw(st.integers(0, 17)),
        lead=lead,
        cell=lead + itemsize + trail,
        block=tuple(block),
        slices=tuple(slices),
        order=order,
        shape=shape,
    )


@st.composite
def problems(draw, broadcast=True, **limits):
    """Draw a layout for an input, and axes to permute it by."""
    shape = draw(shapes(**limits))
    itemsize = draw(st.sampled_from(SIZES) | st.sampled_from((1, 2, 4, 8, 16)))
    x = draw(layouts(shape, itemsize, broadcast))
    return x, tuple(draw(st.permutations(range(len(shape)))))


def saved(x):
    """Return the bytes that NumPy saves a C-contiguous `x` as."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream,
        {"descr": np.lib.format.dtype_to_descr(x.dtype), "fortran_order": False, "shape": x.shape},
    )
    return stream.getvalue() + bits(x)


def examples(count):
    """Return how many examples of Hypothesis to run: fewer than its profile asks for by default."""
    factor = {"brief": 0.25, "thorough": 20}.get(os.environ.get("HYPOTHESIS_PROFILE"), 1)
    return max(int(count * factor), 5)
