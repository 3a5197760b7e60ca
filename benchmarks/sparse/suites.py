"""The sparse suites: matrices and tensors like published ones, and all ways to sort.

All nonzeros are float64 with indices of 32 bits. What has more than `MOST` nonzeros is scaled down:
of a matrix the extents as well, so that its rows stay as long; of a tensor the nonzeros alone.
"""

import itertools
import random
from collections.abc import Iterator

from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.published import MATRICES, TENSORS

MOST = 10**7
OPTIONS_MOST = 10**6

_DTYPE = "float64"
_DRAWN = 12  # permutations of a tensor of rank 5
_OPTIONS_TENSORS = ("nell-2", "uber", "enron")


def _matrix(suite: str, name: str, most: int) -> SparseCase:
    published = MATRICES[name]
    shape, nnz = published.shape, published.nnz
    if nnz > most:
        rows, columns = (max(1, round(extent * most / nnz)) for extent in shape)
        if published.structure == "kronecker":  # a power of two, with rows about as long
            rows = columns = 1 << (rows - 1).bit_length()
        elif rows < shape[0] < shape[1] // 100:  # a few rows stay as many
            rows = shape[0]
        shape, nnz = (rows, columns), most
    return SparseCase(suite, name, shape, (1, 0), _DTYPE, name, nnz, "csr")


def _tensor(suite: str, name: str, axes: tuple[int, ...], most: int) -> SparseCase:
    published = TENSORS[name]
    label = f"{name} ({','.join(map(str, axes))})"
    nnz = min(published.nnz, most)
    return SparseCase(suite, label, published.shape, axes, _DTYPE, name, nnz, "coo")


def matrices() -> Iterator[SparseCase]:
    """9 matrices in CSR like those of SuiteSparse, of at most 10^7 nonzeros."""
    return (_matrix("sparse-matrices", name, MOST) for name in MATRICES)


def tensors(sample: int | None = None, full: bool = False) -> Iterator[SparseCase]:
    """Tensors in COO like those of FROSTT, of at most 10^7 nonzeros; all permutations, rank 5: 12.

    The copy is left out. `sample` is how many permutations of a tensor of rank 5 are drawn; with
    `full` there are all.
    """
    generator = random.Random(5)
    for name, published in TENSORS.items():
        rank = len(published.shape)
        every = list(itertools.permutations(range(rank)))[1:]
        if rank > 4:
            drawn = len(every) if full and not sample else min(sample or _DRAWN, len(every))
            every = sorted(generator.sample(every, drawn))
        for axes in every:
            yield _tensor("sparse-tensors", name, axes, MOST)


def options() -> Iterator[SparseCase]:
    """Each of COMET's options on matrices and tensors of at most 10^6 nonzeros."""
    for name in MATRICES:
        yield _matrix("sparse-options", name, OPTIONS_MOST)
    for name in _OPTIONS_TENSORS:
        order = range(len(TENSORS[name].shape))
        for axes in ((*order[1:], 0), (*order[:-2], order[-1], order[-2]), tuple(reversed(order))):
            yield _tensor("sparse-options", name, axes, OPTIONS_MOST)


DRAWING_SUITES = {"sparse-tensors": tensors}
SUITES = {"sparse-matrices": matrices, **DRAWING_SUITES, "sparse-options": options}
