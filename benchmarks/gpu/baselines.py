"""Transposition on a GPU as it is written first, by kernels that others are measured against.

``naive`` has a thread for each element and works out of place. In place, ``cycles`` follows the
cycles of the permutation, and ``algorithm-1`` is that of Catanzaro, Keller and Garland (PPoPP 2014)
without the optimisations of its section 4.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ttlg.benchmarks.contenders import optional
from ttlg.benchmarks.inplace.libraries import LeftOutError

SOURCE = Path(__file__).with_name("baselines.cu")
OPTIONS = ("-std=c++17",)
OUT_OF_PLACE = ("naive",)
IN_PLACE = ("algorithm-1", "cycles")
NAMES = (*OUT_OF_PLACE, *IN_PLACE)

# Words by the bytes of an element. Those of matrices have the bytes of float32 and float64.
_WORDS = {
    1: "unsigned char",
    2: "unsigned short",
    4: "unsigned int",
    8: "unsigned long long",
    16: "uint4",
}
_MATRIX_BYTES = (4, 8)
_PASSES = ("rotate_columns", "shuffle_rows", "shuffle_columns")
_BLOCK = 256
# Thread blocks that take one row or column after the other: as many as a large device holds.
_WORKERS = 1024
_MARKS = 32  # in a word

# Launches a grid of blocks. An argument is a number of 64 bits or an address.
Kernel = Callable[[tuple[int], tuple[int], tuple[int, ...]], Any]


def kernels() -> dict[tuple[str, int], str]:
    """Name the instances of the kernels in `SOURCE`, by kernel and bytes of an element."""
    found = {("naive", size): f"naive<{word}>" for size, word in _WORDS.items()}
    for name, size in itertools.product(("cycles", *_PASSES), _MATRIX_BYTES):
        found[name, size] = f"{name}<{_WORDS[size]}>"
    return found


def cupy() -> Any:
    """Import CuPy, which compiles the kernels, or raise LeftOutError."""
    library = optional("cupy")
    if library is None:
        raise LeftOutError("CuPy is not installed")
    return library


@functools.cache
def _module(library: Any) -> Any:
    names = list(kernels().values())
    return library.RawModule(code=SOURCE.read_text(), options=OPTIONS, name_expressions=names)


def _compiled(name: str, itemsize: int) -> Kernel:
    """Return a kernel for elements of this size; LeftOutError without CuPy or such a kernel."""
    try:
        instance = kernels()[name, itemsize]
    except KeyError:
        raise LeftOutError(f"it moves no elements of {itemsize} bytes") from None
    kernel: Kernel = _module(cupy()).get_function(instance)
    return kernel


def _blocks(threads: int) -> tuple[int]:
    return (-(-threads // _BLOCK),)


def naive(shape: Sequence[int], axes: Sequence[int], itemsize: int) -> Callable[[int, int], None]:
    """Return a call that permutes the array at an address, C-contiguous, to that of the output."""
    kernel = _compiled("naive", itemsize)
    strides = [math.prod(shape[axis + 1 :]) for axis in axes]
    extents = [shape[axis] for axis in axes]
    geometry = cupy().asarray(np.array([extents, strides], np.int64))
    rank, elements = len(axes), math.prod(shape)

    def permute(x: int, y: int) -> None:
        where = geometry.data.ptr
        arguments = (x, y, where, where + 8 * rank, rank, elements)
        kernel(_blocks(elements), (_BLOCK,), arguments)

    return permute


def cycles(m: int, n: int, itemsize: int) -> Callable[[int], None]:
    """Return a call that transposes the matrix at an address, m by n and row-major, in place."""
    kernel = _compiled("cycles", itemsize)
    library = cupy()

    def transpose(x: int) -> None:
        left = library.zeros((-(-m * n // _MARKS),), np.uint32)
        kernel(_blocks(m * n), (_BLOCK,), (x, left.data.ptr, m, n))

    return transpose


def algorithm_1(m: int, n: int, itemsize: int) -> Callable[[int], None]:
    """Return a call that does what that of `cycles` does, by rows and columns."""
    rotate, rows, columns = (_compiled(name, itemsize) for name in _PASSES)
    c = math.gcd(m, n)
    workers = min(_WORKERS, max(m, n))
    temporary = cupy().empty((workers * max(m, n) * itemsize,), np.uint8)

    def transpose(x: int) -> None:
        matrix = (x, temporary.data.ptr, m, n)
        if c > 1:
            rotate((workers,), (_BLOCK,), (*matrix, n // c))
        rows((workers,), (_BLOCK,), (*matrix, n // c))
        columns((workers,), (_BLOCK,), (*matrix, m // c))

    return transpose
