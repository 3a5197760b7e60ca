"""The structures that matrices are drawn by.

Each function takes the shape, how many nonzeros there will be, and a generator; it returns a
function that draws about as many coordinates as asked for, repeated ones among them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ttlg.benchmarks.contenders import Array
from ttlg.benchmarks.sparse.skew import skewed

Draw = Callable[[int], Sequence[Array]]
Shape = tuple[int, int]

# Of the radius within which points are joined, so that some pairs can be dropped.
_WIDER = 1.02


def power_law(
    shape: Shape,
    nnz: int,
    generator: np.random.Generator,
    *,
    rows: float,
    columns: float,
    local: float,
    reach: float,
) -> Draw:
    """Rows and columns with skews; a share of the nonzeros is `local`, `reach` from the diagonal.

    Networks are like that, and the links of web pages, most of which lead to the same host.
    """
    row, column = skewed(shape[0], rows, generator), skewed(shape[1], columns, generator)

    def draw(count: int) -> Sequence[Array]:
        ours, theirs = row(count), column(count)
        near = generator.random(count) < local
        offsets = generator.laplace(0, reach, int(near.sum()))
        theirs[near] = np.clip(ours[near] + np.rint(offsets), 0, shape[1] - 1)
        return ours, theirs

    return draw


def diagonals(shape: Shape, nnz: int, generator: np.random.Generator, *, count: int) -> Draw:
    """Draw from a number of diagonals, denser towards the middle; each row has a part of them."""
    largest = np.log(max(shape[1] // 2, 2))
    offsets = np.rint(np.exp(generator.uniform(0, largest, count)))
    offsets = np.concatenate((-offsets, offsets, [0])).astype(np.int64)

    def draw(wanted: int) -> Sequence[Array]:
        rows = generator.integers(shape[0], size=wanted)
        columns = rows + offsets[generator.integers(len(offsets), size=wanted)]
        inside = (columns >= 0) & (columns < shape[1])
        return rows[inside], columns[inside]

    return draw


def blocks(
    shape: Shape, nnz: int, generator: np.random.Generator, *, block: int, reach: float
) -> Draw:
    """Small dense blocks in a band of about `reach` blocks, as finite elements have."""
    nodes = shape[0] // block + 1

    def draw(wanted: int) -> Sequence[Array]:
        count = wanted // block**2 + 1
        row = np.arange(count) * nodes // count  # as many in all rows, about
        column = row + np.rint(generator.normal(0, reach, count)).astype(np.int64)
        inner = np.arange(block)
        rows = np.add.outer(row * block, np.repeat(inner, block)).reshape(-1)
        columns = np.add.outer(column * block, np.tile(inner, block)).reshape(-1)
        inside = (columns >= 0) & (columns < shape[1]) & (rows < shape[0])
        return rows[inside], columns[inside]

    return draw


def geometric(shape: Shape, nnz: int, generator: np.random.Generator) -> Draw:
    """Points in the unit square, joined where they are near, numbered by strips of the square.

    The radius follows from the number of nonzeros. All pairs are returned at once, however many are
    asked for: where they do not suffice, other points are drawn.
    """
    count = shape[0]
    mean = max(nnz, 1) / count

    def draw(wanted: int) -> Sequence[Array]:
        radius = _WIDER * np.sqrt(mean / (np.pi * count))
        cells = max(1, int(1 / radius))
        points = generator.random((2, count))
        x, y = np.minimum((points * cells).astype(np.int64), cells - 1)
        order = np.argsort(x * cells + y, kind="stable")
        x, y, points = x[order], y[order], points[:, order]
        starts = np.searchsorted(x * cells + y, np.arange(cells**2 + 1))
        found = []
        for across in (-1, 0, 1):
            strip = x + across
            inside = np.flatnonzero((strip >= 0) & (strip < cells))
            strip = strip[inside] * cells
            first = starts[strip + np.maximum(y[inside] - 1, 0)]
            counts = starts[strip + np.minimum(y[inside] + 1, cells - 1) + 1] - first
            rows = np.repeat(inside, counts)
            columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts - first, counts)
            near = ((points[:, rows] - points[:, columns]) ** 2).sum(0) < radius**2
            near &= rows != columns
            found.append((rows[near], columns[near]))
        return [np.concatenate(mode) for mode in zip(*found, strict=True)]

    return draw


def kronecker(
    shape: Shape, nnz: int, generator: np.random.Generator, *, a: float, b: float, c: float
) -> Draw:
    """Bit for bit of row and column, drawn with the probabilities a, b, c and the rest (R-MAT)."""
    bits = max(1, (max(shape) - 1).bit_length())
    labels = generator.permutation(2**bits)

    def draw(wanted: int) -> Sequence[Array]:
        rows, columns = np.zeros((2, wanted), np.int32)
        for _ in range(bits):
            chance = generator.random(wanted, np.float32)
            below = chance >= a + b
            right = (chance >= a) & ~below | (chance >= a + b + c)
            rows += rows + below
            columns += columns + right
        rows, columns = labels[rows], labels[columns]
        inside = (rows < shape[0]) & (columns < shape[1])
        return rows[inside], columns[inside]

    return draw


STRUCTURES: dict[str, Callable[..., Draw]] = {
    "power_law": power_law,
    "diagonals": diagonals,
    "blocks": blocks,
    "geometric": geometric,
    "kronecker": kronecker,
}
