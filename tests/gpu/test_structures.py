"""The kernels of the benchmarks of structures: every byte, with and without whole warps."""

import itertools

import numpy as np
import pytest

import ttlg

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")

from ttlg.benchmarks.gpu import conversion, structures

COUNTS = (3 * structures.THREADS, 3 * structures.THREADS - 1, 3 * structures.THREADS + 1)
# Few, as they take long to compile; test_coalesced_ptr.py has what goes without shared memory.
WORDS = (1, 3, 8, 31, 64)
WAYS = ("shared", "shared-16")
POISON = 0xA5A5A5A5


def ways(words):
    return [way for way in structures.ways(words) if way in WAYS]


@pytest.fixture(scope="module")
def kernels():
    names = [
        structures.kernel(operation, way, words)
        for operation, words in itertools.product(structures.OPERATIONS, WORDS)
        for way in ways(words)
    ]
    for words in WORDS:
        names += conversion.kernels(words).values()
    options = (*structures.OPTIONS, f"-I{ttlg.get_include()}")
    code = structures.SOURCE.read_text()
    module = cupy.RawModule(code=code, options=options, name_expressions=names)
    return {name: module.get_function(name) for name in names}


def launch(kernel, count, *arguments):
    kernel((-(-count // structures.THREADS),), (structures.THREADS,), (*arguments, np.int32(count)))


def arrays(count, words):
    random = np.random.default_rng(count + words)
    x = random.integers(0, 2**32, (count, words), np.uint32)
    return x, random.permutation(count).astype(np.int32)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("operation", structures.OPERATIONS)
def test_ways(kernels, operation, words, count):
    x, at = arrays(count, words)
    tensors = torch.from_numpy(x.view(np.int32)), torch.from_numpy(at)
    expected = structures.expected(operation, *tensors).numpy().view(np.uint32)
    for way in ways(words):
        y = cupy.full(x.shape, POISON, np.uint32)
        kernel = kernels[structures.kernel(operation, way, words)]
        launch(kernel, count, cupy.asarray(x), y, cupy.asarray(at))
        np.testing.assert_array_equal(y.get(), expected, f"{way}, {words} words")


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("words", WORDS)
def test_accesses_beside_a_conversion(kernels, words, count):
    x, at = arrays(count, words)
    for (operation, way), name in conversion.kernels(words).items():
        array = np.ascontiguousarray(x.T) if way == conversion.CONVERTED else x
        stored, sums = cupy.asarray(array), cupy.full((count,), POISON, np.uint32)
        updates = operation == "update"
        launch(kernels[name], count, stored, stored if updates else sums, cupy.asarray(at))
        np.testing.assert_array_equal(stored.get(), array + np.uint32(updates), name)
        if not updates:
            np.testing.assert_array_equal(sums.get(), x.sum(1, dtype=np.uint32)[at], name)
