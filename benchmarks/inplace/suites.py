"""The suites in place: those of Catanzaro, Keller and Garland (PPoPP 2014), squares and tensors.

Suites that draw their cases draw a few by default. With `full` they draw as many as the paper, in
its way; `sample` sets the number.
"""

import itertools
import math
import random
from collections.abc import Iterable, Iterator

from ttlg.benchmarks.case import Case, named, shape_text

LANDSCAPE_EXTENTS = (1000, 25000)
LANDSCAPE_SIDE = 8  # cells of the grid along each extent

_AOS_FIELDS = (2, 31)
_AOS_COUNTS = (10**4, 10**7 - 1)
_TENSOR_BYTES = (10e6, 200e6)
_SQUARES = (1000, 1024, 2000, 2047, 2048, 3001, 4096, 5000, 6007, 8191, 8192, 10000, 12345, 16384)


def _matrix(suite: str, shape: tuple[int, int], dtype: str = "float64") -> Case:
    return Case(suite, shape_text(shape), shape, (1, 0), dtype)


def _log_uniform(generator: random.Random, least: float, most: float) -> float:
    return math.exp(generator.uniform(math.log(least), math.log(most)))


def random_matrices(sample: int | None = None, full: bool = False) -> Iterator[Case]:
    """30 matrices of random extents from 1000 to 10000, drawn once, in float64 (Fig. 3: 1000)."""
    generator = random.Random(2)
    for _ in range(sample or (1000 if full else 30)):
        shape = generator.randint(1000, 10000), generator.randint(1000, 10000)
        yield _matrix("inplace-random", shape)


def squares() -> Iterator[Case]:
    """Square matrices of 1000 to 16384 rows, powers of two and odd ones too: float32, float64."""
    for dtype in ("float32", "float64"):
        for n in _SQUARES:
            yield _matrix("inplace-square", (n, n), dtype)


def structures(sample: int | None = None, full: bool = False) -> Iterator[Case]:
    """24 arrays of structures of 2 to 31 fields to arrays and back, in float64 (Fig. 7: 10000).

    There are 10^4 to 10^7 structures: the logarithm is uniform, with `full` the number, as in the
    paper.
    """
    generator = random.Random(7)
    for _ in range(sample or (10000 if full else 24)):
        fields = generator.randint(*_AOS_FIELDS)
        if full:
            count = generator.randint(*_AOS_COUNTS)
        else:
            count = round(_log_uniform(generator, *_AOS_COUNTS))
        yield _matrix("inplace-aos", (count, fields))
        yield _matrix("inplace-aos", (fields, count))


def _random_shape(generator: random.Random, rank: int, itemsize: int) -> tuple[int, ...]:
    """Draw extents from 2 up, none much longer than the others, within the limits of bytes."""
    while True:
        volume = _log_uniform(generator, *_TENSOR_BYTES) / itemsize
        weights = [generator.uniform(1, 3) for _ in range(rank)]
        shape = tuple(max(2, round(volume ** (each / sum(weights)))) for each in weights)
        if _TENSOR_BYTES[0] <= math.prod(shape) * itemsize <= _TENSOR_BYTES[1]:
            return shape


def tensors(sample: int | None = None, full: bool = False) -> Iterator[Case]:
    """24 random permutations of rank 4 and 5, of 10 to 200 MB, in float32 and float64."""
    generator = random.Random(45)
    kinds = itertools.product((4, 5), (("float32", 4), ("float64", 8)))
    drawn = itertools.islice(itertools.cycle(kinds), sample or (240 if full else 24))
    for rank, (dtype, itemsize) in drawn:
        shape = _random_shape(generator, rank, itemsize)
        identity = axes = list(range(rank))
        while axes == identity:
            axes = generator.sample(identity, rank)
        yield named("inplace-tensors", shape, axes, dtype)


def landscape(sample: int | None = None, full: bool = False) -> Iterator[Case]:
    """C2R and R2C over 64 float64 matrices of 1000 to 25000 rows and columns (Figs. 4, 5: 25000).

    One is drawn from each cell of a grid; with `full` all are drawn from the whole range.
    """
    generator = random.Random(45)
    least, most = LANDSCAPE_EXTENTS
    cells: Iterable[tuple[tuple[int, int], ...]]
    if full:
        cells = itertools.repeat((LANDSCAPE_EXTENTS, LANDSCAPE_EXTENTS), sample or 25000)
    else:
        side = math.isqrt(sample or LANDSCAPE_SIDE**2)
        limits = [least + (most - least) * i // side for i in range(side + 1)]
        cells = itertools.product(itertools.pairwise(limits), repeat=2)
    for rows, columns in cells:
        yield _matrix("inplace-landscape", (generator.randint(*rows), generator.randint(*columns)))


RANDOM_SUITES = {
    "inplace-random": random_matrices,
    "inplace-aos": structures,
    "inplace-tensors": tensors,
    "inplace-landscape": landscape,
}
SUITES = {"inplace-square": squares, **RANDOM_SUITES}
