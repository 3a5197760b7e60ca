"""Transposition of ``.npy`` files: right to the byte, whatever the array and the pieces."""

import math
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttlg
from ttlg._files import npy as _npy

from ..arrays import random_array, saved

DTYPES = [
    *("?", "u1", "<u2", ">i4", "<f4", "<f8", "<c16", "<M8[us]", "S5", "<U3", "V3", "V24"),
    [("a", "<f4"), ("b", "u1")],
    np.dtype([("a", "u1"), ("b", "<f8")], align=True),
    [("x", [("y", ">i2", (3,)), ("z", "?")], (2,))],
    [(("title", "name"), "<i4")],
    [("größe", "<f4")],
    [("長さ", "<f4")],
]
SHAPE = (40, 30, 20)

pytestmark = pytest.mark.usefixtures("small_pieces")


def array_of(shape, dtype, order):
    return random_array(shape, dtype) if order == "C" else random_array(shape[::-1], dtype).T


def elements(path, dtype, shape, order):
    """Read the elements of a file as raw bytes: NumPy's copies need not keep a struct's padding."""
    raw = np.dtype(f"V{np.dtype(dtype).itemsize}")
    content = path.read_bytes()
    start = len(content) - math.prod(shape) * raw.itemsize
    return np.ndarray(shape, raw, content, start, order=order)


@pytest.fixture
def expected():
    return saved(random_array(SHAPE, "<f4").transpose(2, 0, 1))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_array_in_any_pieces(data):
    shape = data.draw(st.lists(st.integers(0, 7), max_size=5))
    axes = data.draw(st.permutations(range(len(shape))))
    dtype = np.dtype(data.draw(st.sampled_from(["u1", ">f4", "<c16", "V3", "S7"])))
    order = data.draw(st.sampled_from("CF"))
    memory = data.draw(st.integers(2 * dtype.itemsize, 40 * dtype.itemsize))
    x = array_of(shape, dtype, order)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npy"), Path(folder, "out.npy")
        np.save(source, x)
        ttlg.transpose_file(source, target, axes, memory=memory)
        assert target.read_bytes() == saved(x.transpose(axes))


@pytest.mark.filterwarnings("ignore:Stored array in format 3.0")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_any_dtype(tmp_path, dtype, order):
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(source, array_of((6, 5, 4), dtype, order))
    x = elements(source, dtype, (6, 5, 4), order)
    ttlg.transpose_file(source, target, (1, 2, 0), memory=20 * x.itemsize)
    y = elements(target, dtype, (5, 4, 6), "C")
    assert y.tobytes() == x.transpose(1, 2, 0).tobytes()
    loaded = np.load(target)
    assert (loaded.shape, loaded.dtype) == (y.shape, np.load(source).dtype)
    assert loaded.flags.c_contiguous


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("source", [">f4", "<f8", ">i2", "u1", "?", "<c16"])
@pytest.mark.parametrize("target", ["float16", "float64", "uint8", "complex64"])
def test_elements_are_converted(tmp_path, source, target, order):
    x = array_of((6, 5, 4), source, order)
    x[...] = np.arange(120).reshape(x.shape) - 20
    np.save(tmp_path / "in.npy", x)
    memory = 20 * max(x.itemsize, np.dtype(target).itemsize)
    ttlg.transpose_file(
        tmp_path / "in.npy", tmp_path / "out.npy", (1, 2, 0), dtype=target, memory=memory
    )
    expected = saved(ttlg.transform(x, (1, 2, 0), dtype=target))
    assert (tmp_path / "out.npy").read_bytes() == expected


@pytest.mark.parametrize("rank", [32, 64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_high_rank(tmp_path, rank, order):
    if rank > 32 and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy 1 has arrays of up to 32 axes")
    shape = [2 if axis % (rank // 8) == 0 else 1 for axis in range(rank)]
    axes = np.random.default_rng(rank).permutation(rank).tolist()
    x = array_of(shape, "<u2", order)
    np.save(tmp_path / "in.npy", x)
    ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy", axes, memory=64)
    assert (tmp_path / "out.npy").read_bytes() == saved(x.transpose(axes))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2)])
@pytest.mark.parametrize("dtype", ["<f4", "S0"])
def test_zero_dimensions_and_empty_arrays(tmp_path, shape, dtype):
    x = random_array(shape, dtype)
    np.save(tmp_path / "in.npy", x)
    ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy")
    assert (tmp_path / "out.npy").read_bytes() == saved(x.T)


@pytest.mark.parametrize("writer", ["write_array_header_1_0", "write_array_header_2_0"])
def test_header_versions(tmp_path, writer):
    x = random_array((3, 4), "<i2")
    fields = {"descr": "<i2", "fortran_order": False, "shape": x.shape}
    with open(tmp_path / "in.npy", "wb") as file:
        getattr(np.lib.format, writer)(file, fields)
        x.tofile(file)
    ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy")
    assert (tmp_path / "out.npy").read_bytes() == saved(x.T)


def test_header_longer_than_version_1_can_say(tmp_path):
    x = random_array((2, 3), [(f"field{i:05}", "u1") for i in range(4000)])
    with pytest.warns(UserWarning, match=r"format 2\.0"):
        np.save(tmp_path / "in.npy", x)
    ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy")
    y = np.load(tmp_path / "out.npy", max_header_size=1 << 20)
    assert y.dtype == x.dtype
    assert y.tobytes() == x.T.tobytes()


def test_data_after_the_array_are_ignored(source, tmp_path, expected):
    with open(source, "ab") as file:
        file.write(b"another array")
    ttlg.transpose_file(source, tmp_path / "out.npy", (2, 0, 1))
    assert (tmp_path / "out.npy").read_bytes() == expected


class Recorder:
    """Replaces preadv or pwritev, does half of what it is asked, and notes what it did."""

    def __init__(self, call):
        self.call = call
        self.done = []

    def __call__(self, fd, buffers, position):
        count = self.call(fd, [buffers[0][: max(1, len(buffers[0]) // 2)]], position)
        self.done.append((position, count))
        return count


def test_every_byte_is_read_and_written_once(monkeypatch, source, tmp_path, expected):
    recorders = {}
    for name in ("preadv", "pwritev"):
        recorders[name] = Recorder(getattr(os, name))
        monkeypatch.setattr(os, name, recorders[name])
    ttlg.transpose_file(source, tmp_path / "out.npy", (2, 0, 1), memory=5000)
    assert (tmp_path / "out.npy").read_bytes() == expected
    for recorder in recorders.values():
        position = len(expected) - 4 * math.prod(SHAPE)
        for start, count in sorted(recorder.done):
            assert start == position
            position += count
        assert position == len(expected)


def test_adjacent_runs_are_moved_at_once(spy, source, tmp_path):
    calls = []
    spy(os, "preadv", lambda count, *_: calls.append(("preadv", count)))
    spy(os, "pwritev", lambda count, *_: calls.append(("pwritev", count)))
    ttlg.transpose_file(source, tmp_path / "out.npy", (0, 2, 1), memory=2 * 4 * 10 * 30 * 20)
    assert calls == [("preadv", 24_000), ("pwritev", 24_000)] * 4


@pytest.mark.parametrize(
    ("shape", "axes", "memory", "tile"),
    [
        ((100, 100), (1, 0), 2 * 4 * 400, (20, 20)),  # runs of 20 elements on both sides
        ((1000, 1000), (1, 0), 2 * 4 * 10**6, (1000, 1000)),  # all of it fits
        ((50, 1000, 3), (0, 2, 1), 2 * 4 * 300, (1, 100, 3)),  # the short axis whole
        ((50, 1000, 3), (0, 2, 1), 2 * 4 * 9000, (3, 1000, 3)),  # whole images
        ((8, 9, 7), (1, 0, 2), 2 * 4 * 28, (2, 2, 7)),  # a common run first
        ((10**6,), (0,), 2 * 4 * 1000, (1000,)),
        ((5, 6), (1, 0), 2 * 4, (1, 1)),
        ((), (), 8, ()),
    ],
)
def test_tiles_have_the_longest_runs_that_fit(shape, axes, memory, tile):
    assert _npy.choose_tile(shape, axes, 4, memory) == tile


def test_runs_are_long_where_the_file_is_large():
    itemsize, memory = 4, _npy.DEFAULT_MEMORY
    for shape, axes in [
        ((40_000, 40_000), (1, 0)),
        ((1000, 50_000, 3), (0, 2, 1)),
        ((25, 50, 30, 40, 20, 50), (5, 0, 4, 2, 1, 3)),
    ]:
        tile = _npy.choose_tile(shape, axes, itemsize, memory)
        assert 2 * itemsize * math.prod(tile) <= memory
        for order in (range(len(shape)), axes):
            run = itemsize
            for axis in reversed(order):
                run *= tile[axis]
                if tile[axis] < shape[axis]:
                    break
            assert run >= 16 << 10


def test_axes_and_memory_may_be_any_integers(source, tmp_path, expected):
    for axes in (iter([2, 0, 1]), np.array([2, 0, 1]), range(-1, 2)):
        ttlg.transpose_file(source, tmp_path / "out.npy", axes, memory=np.int64(5000))
        assert (tmp_path / "out.npy").read_bytes() == expected


def test_a_block_limits_the_threads(spy, source, tmp_path):
    seen = spy(_npy, "transpose", lambda *_, threads, **out: (threads, ttlg.get_num_threads()))
    with ttlg.threads(3):
        ttlg.transpose_file(source, tmp_path / "out.npy")
    ttlg.transpose_file(source, tmp_path / "out.npy", threads=2)
    assert [threads or default for threads, default in seen] == [3, 2]
