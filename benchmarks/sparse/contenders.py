"""How each library, and each way of calling ttlg, transposes a sparse tensor."""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import ttlg
from ttlg import sparse
from ttlg.benchmarks.contenders import Array, Contender, optional
from ttlg.benchmarks.inplace.libraries import LeftOutError
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.generate import Nonzeros

FRESH = "ttlg-fresh"
PEERS = ("scipy", "pydata")
OPTIONS = sparse.algorithms[1:]

# pydata's library and PyTorch number all entries of a tensor in 64 bits.
_LARGEST_NUMBER = 2**63


@dataclass(frozen=True)
class SparseContender(Contender):
    """A name and a call that returns a new sparse tensor.

    `parts` takes the result apart: the coordinates of each mode, of CSR the row pointers and the
    columns, and then the values.
    """

    parts: Callable[[Any], Sequence[Array]] = tuple
    returns: bool = True


def _library(name: str) -> ModuleType:
    library = optional(name)
    if library is None:
        raise LeftOutError(f"{name} is not installed")
    return library


def _rows_of(x: Any) -> Sequence[Array]:
    return x.indptr, x.indices, x.data


def _modes_of(x: Any) -> Sequence[Array]:
    return *x.coords, x.data


def _raw_modes_of(x: tuple[Sequence[Array], Array, Any]) -> Sequence[Array]:
    return *x[0], x[1]


def _torch_rows_of(x: Any) -> Sequence[Array]:
    return [each.numpy() for each in (x.crow_indices(), x.col_indices(), x.values())]


def _torch_modes_of(x: Any) -> Sequence[Array]:
    return *x.indices().numpy(), x.values().numpy()


def _scipy_rows(nonzeros: Nonzeros) -> Any:
    """Build an array in CSR whose columns are sorted, as its flag says."""
    arrays = nonzeros.values, nonzeros.coords[1], nonzeros.row_pointers
    array = _library("scipy.sparse").csr_array(arrays, shape=nonzeros.shape)
    array.has_canonical_format = True
    return array


def _forget_memory() -> None:
    """Let ttlg give back the memory of freed results, which it keeps for a second."""
    with ttlg.set_result_pool(0):
        pass


def ours(case: SparseCase, nonzeros: Nonzeros, threads: int) -> Iterator[SparseContender]:
    """ttlg, of SciPy's CSR, and of coordinates as arrays: as it chooses, or by each option."""
    if case.format == "csr":
        x, parts = _scipy_rows(nonzeros), _rows_of
    else:
        x, parts = (nonzeros.coords, nonzeros.values, nonzeros.shape), _raw_modes_of

    def by(algorithm: str) -> Callable[[], Any]:
        return lambda: sparse.transpose(x, case.axes, algorithm=algorithm, threads=threads)

    names = {"ttlg": "auto"}
    if case.suite == "sparse-options":
        names |= {name: name for name in OPTIONS}
    for name, algorithm in names.items():
        yield SparseContender(name, by(algorithm), parts=parts, prepare=by(algorithm))
    if case.suite != "sparse-options":
        yield SparseContender(FRESH, by("auto"), parts=parts, prepare=_forget_memory)


def scipy(case: SparseCase, nonzeros: Nonzeros, threads: int) -> Iterator[SparseContender]:
    """SciPy, on one thread whatever `threads`; of COO it sorts where it looks for duplicates."""
    library = _library("scipy.sparse")
    if case.format == "csr":
        rows = _scipy_rows(nonzeros)
        yield SparseContender("scipy", lambda: rows.T.tocsr(), parts=_rows_of)
        return
    try:
        x = library.coo_array((nonzeros.values, nonzeros.coords), shape=nonzeros.shape)
    except (TypeError, ValueError) as error:
        raise LeftOutError(f"this SciPy has no COO of rank {len(case.shape)}") from error
    x.has_canonical_format = True

    def call() -> Any:
        moved = x.transpose(case.axes)
        moved.sum_duplicates()
        return moved

    yield SparseContender("scipy", call, parts=_modes_of)


def pydata(case: SparseCase, nonzeros: Nonzeros, threads: int) -> Iterator[SparseContender]:
    """Sort coordinates by pydata's library, on one thread whatever `threads`.

    Its GCXS in the place of CSR is left out: it takes tens of times as long as SciPy.
    """
    if case.format == "csr":
        raise LeftOutError("pydata's library has no CSR")
    library = _library("sparse")
    _check_number(case)
    coords = np.stack(nonzeros.coords)
    x = library.COO(
        coords, nonzeros.values, shape=nonzeros.shape, has_duplicates=False, sorted=True
    )
    yield SparseContender("pydata", lambda: x.transpose(case.axes), parts=_modes_of)


def torch(case: SparseCase, nonzeros: Nonzeros, threads: int) -> Iterator[SparseContender]:
    """PyTorch, whose COO has indices of 64 bits, and ttlg of its tensors; sets its threads."""
    _check_number(case)
    library = _library("torch")
    library.set_num_threads(threads)
    values = library.from_numpy(nonzeros.values.copy())
    if case.format == "csr":
        indices = (nonzeros.row_pointers, nonzeros.coords[1].copy())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that CSR is in beta
            x = library.sparse_csr_tensor(
                *map(library.from_numpy, indices), values, nonzeros.shape, check_invariants=False
            )
        parts = _torch_rows_of
    else:
        indices = library.from_numpy(np.stack(nonzeros.coords).astype(np.int64))
        x = library.sparse_coo_tensor(
            indices, values, nonzeros.shape, is_coalesced=True, check_invariants=False
        )
        parts = _torch_modes_of

    def ours() -> Any:
        return sparse.transpose(x, case.axes, threads=threads)

    yield SparseContender("ttlg-torch", ours, parts=parts, prepare=ours)
    if case.format == "csr":
        yield SparseContender("torch", lambda: x.t().to_sparse_csr(), parts=parts)
    else:
        # Of a coalesced tensor PyTorch takes a permutation that keeps axis 0 for coalesced, too,
        # and does not sort it.
        loose = library.sparse_coo_tensor(
            x.indices(), x.values(), nonzeros.shape, is_coalesced=False, check_invariants=False
        )
        yield SparseContender("torch", lambda: loose.permute(case.axes).coalesce(), parts=parts)


def _check_number(case: SparseCase) -> None:
    if math.prod(case.shape) >= _LARGEST_NUMBER:
        raise LeftOutError(f"{case.shape} has more entries than 64 bits can number")


def contenders(case: SparseCase, nonzeros: Nonzeros, threads: int) -> Iterator[SparseContender]:
    """List ttlg and the libraries that are installed and can do it; of the options ttlg alone."""
    yield from ours(case, nonzeros, threads)
    if case.suite == "sparse-options":
        return
    for make in (scipy, pydata, torch):
        with contextlib.suppress(LeftOutError):
            yield from make(case, nonzeros, threads)
