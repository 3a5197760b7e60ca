"""Kernels that users might write with the public header: every byte, with and without whole warps."""

from pathlib import Path

import numpy as np
import pytest

import ttlg

cupy = pytest.importorskip("cupy")

SOURCE = Path(__file__).with_name("coalesced_ptr.cu").read_text()
OPTIONS = ("-std=c++17", f"-I{ttlg.get_include()}")
# Words of 4 bytes, and the alignment of the structure.
SHAPES = [(words, 4) for words in (1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 33, 48, 63, 64)]
SHAPES += [(6, 8), (10, 8), (64, 8), (4, 16), (12, 16), (64, 16)]


@pytest.fixture(scope="module")
def moves():
    names = {
        (operation, *shape): f"{operation}<{shape[0]}, {shape[1]}>"
        for operation in ("gather", "scatter")
        for shape in SHAPES
    }
    module = cupy.RawModule(code=SOURCE, options=OPTIONS, name_expressions=list(names.values()))
    return {key: module.get_function(name) for key, name in names.items()}


def order(name, n):
    """Return by thread the number of its structure, -1 where it does nothing."""
    at = np.arange(n, dtype=np.int32)
    if name == "random":
        np.random.default_rng(n).shuffle(at)
    elif name == "nearly unit stride":
        pairs = at[: n - n % 100].reshape(-1, 100)
        pairs[:, :2] = pairs[:, 1::-1].copy()
    elif name == "diverged":
        at[::3] = -1
    return at


# The last warp is whole, has a lane too few, or a single one.
@pytest.mark.parametrize("n", [32 * 100, 32 * 100 - 1, 32 * 100 + 1])
@pytest.mark.parametrize("name", ["unit stride", "random", "nearly unit stride", "diverged"])
@pytest.mark.parametrize("operation", ["gather", "scatter"])
@pytest.mark.parametrize("block", [(128,), (16, 8)], ids=str)
def test_moves(moves, operation, name, n, block):
    at = order(name, n)
    active = at >= 0
    for words, alignment in SHAPES:
        x = np.random.default_rng(words).integers(0, 2**32, (n, words), np.uint32)
        expected = np.full_like(x, 0xA5A5A5A5)
        if operation == "gather":
            expected[active] = x[at[active]]
        else:
            expected[at[active]] = x[active]
        y = cupy.full((n, words), 0xA5A5A5A5, np.uint32)
        arguments = (cupy.asarray(x), y, cupy.asarray(at), np.int32(n))
        moves[operation, words, alignment]((-(-n // 128),), block, arguments)
        np.testing.assert_array_equal(y.get(), expected, f"{words} words, aligned to {alignment}")


@pytest.mark.parametrize("n", [1, 1000, 4096])
def test_fields_of_an_array_of_structures(n):
    module = cupy.RawModule(code=SOURCE, options=OPTIONS)
    layout = np.dtype([("mass", "f8"), ("position", "f4", 3), ("kind", "i4")], align=True)
    random = np.random.default_rng(n)
    particles = np.zeros(n, layout)
    particles["mass"] = random.random(n)
    particles["position"] = random.random((n, 3))
    particles["kind"] = random.integers(0, 9, n)
    raw = cupy.asarray(particles.view(np.uint8))
    mass, kind = cupy.zeros(n), cupy.zeros(n, np.int32)
    position = cupy.zeros((3, n), np.float32)
    grid, block = (-(-n // 256),), (256,)
    module.get_function("advance")(grid, block, (raw, np.int32(n), np.float32(2)))
    module.get_function("split")(grid, block, (raw, np.int32(n), mass, position, kind))
    np.testing.assert_array_equal(mass.get(), particles["mass"])
    np.testing.assert_array_equal(kind.get(), particles["kind"])
    np.testing.assert_array_equal(position.get(), particles["position"].T + np.float32(2))
