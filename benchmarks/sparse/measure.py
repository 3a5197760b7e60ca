"""Verify and time all contenders of a sparse case in one run."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import ttlg
from ttlg._arguments.words import count_of
from ttlg.benchmarks.contenders import Array, Contender, copies
from ttlg.benchmarks.measure import Result, WrongResultError, time_calls, verify
from ttlg.benchmarks.sparse.case import SparseCase
from ttlg.benchmarks.sparse.contenders import SparseContender, contenders
from ttlg.benchmarks.sparse.generate import Nonzeros, generate
from ttlg.benchmarks.sparse.memory import extra_bytes

# Distributions whose versions belong to a result, besides those of dense contenders.
LIBRARIES = ("scipy", "sparse")


@dataclass(frozen=True)
class SparseResult(Result):
    """The median time of a call for each contender, and the memory that ttlg needs besides.

    `extra_bytes` are those per nonzero, at the most that a call has at once, without input and
    result; None where they have not been measured.
    """

    case: SparseCase
    extra_bytes: float | None = field(default=None)


def _rows_of_pointers(pointers: Array, count: int) -> Array:
    counts = np.diff(pointers)
    if (counts < 0).any() or pointers[0] or pointers[-1] != count:
        raise WrongResultError("has row pointers that do not fit")
    return np.repeat(np.arange(len(counts)), counts)


def check(parts: Sequence[Array], case: SparseCase, nonzeros: Nonzeros) -> None:
    """Compare a result with the nonzeros that were there before.

    Each value tells which nonzero it was of: all must be there, each at its permuted coordinates,
    and these must ascend. Raises WrongResultError.
    """
    *coords, values = parts
    shape = case.out_shape
    lengths = {len(mode) for mode in (*coords[1:], values)}
    if lengths != {case.nnz}:
        raise WrongResultError(f"has arrays of {sorted(lengths)} nonzeros")
    if case.format == "csr":
        if len(coords[0]) != shape[0] + 1:
            raise WrongResultError(f"has {len(coords[0])} row pointers for {shape[0]} rows")
        coords = [_rows_of_pointers(coords[0], case.nnz), *coords[1:]]
    with np.errstate(invalid="ignore"):
        before = values.astype(np.int64) - 1
    inside = values.dtype == nonzeros.values.dtype and case.nnz > 0
    if not inside or before.min() < 0 or before.max() >= case.nnz:
        raise WrongResultError("has values that were not there")
    if not np.array_equal(nonzeros.values[before], values) or (np.bincount(before) != 1).any():
        raise WrongResultError("has lost values")
    for axis, mode in zip(case.axes, coords, strict=True):
        if not np.array_equal(nonzeros.coords[axis][before], mode):
            raise WrongResultError("has values at other coordinates")
    ascends = np.zeros(case.nnz - 1, np.bool_)
    for mode in reversed(coords):
        ascends = (mode[1:] > mode[:-1]) | (mode[1:] == mode[:-1]) & ascends
    if not ascends.all():
        raise WrongResultError("is not sorted")


def _same(ours: Sequence[Array], theirs: Sequence[Array]) -> bool:
    """Whether indices are equal, of any width, and values bit for bit."""
    values, others = ours[-1], theirs[-1]
    return (
        len(ours) == len(theirs)
        and all(map(np.array_equal, ours[:-1], theirs[:-1]))
        and values.dtype == others.dtype
        and np.array_equal(values.view(np.uint8), np.ascontiguousarray(others).view(np.uint8))
    )


def verify_all(entrants: Sequence[SparseContender], case: SparseCase, nonzeros: Nonzeros) -> None:
    """Let each work once: compare the first with the input, and the others with the first.

    Raises WrongResultError.
    """
    first: Sequence[Array] = ()
    for entrant in entrants:
        parts = entrant.parts(entrant.call())
        try:
            if not first:
                check(parts, case, nonzeros)
                first = parts
            elif not _same(first, parts):
                raise WrongResultError(f"differs from that of {entrants[0].name}")
        except WrongResultError as error:
            raise WrongResultError(f"{entrant.name} gave a wrong result, which {error}") from None


def _prepared(entrant: Contender, results: list[Any]) -> Contender:
    """Keep a result until the next call is prepared, as freeing it takes time, too."""

    def call() -> None:
        results[:] = [entrant.call()]

    def prepare() -> None:
        results.clear()
        if entrant.prepare:
            entrant.prepare()

    return replace(entrant, call=call, prepare=prepare)


@ttlg.learning(False)
def measure(
    case: SparseCase, threads: Sequence[int], repeats: int, *, memory: bool = False
) -> list[SparseResult]:
    """Verify and time all contenders of a case, for each number of threads.

    The median of `repeats` samples counts. Every call returns a new tensor, which is freed before
    the next one is timed. A call of ttlg's follows another, whose memory it may have, and ``ttlg-fresh``
    has none of it. The copies move the bytes of the nonzeros, of one array to another that has been
    written to. With `memory` ttlg's peak is measured in another process. Raises
    WrongResultError.
    """
    nonzeros = generate(case)
    x = np.random.default_rng(0).integers(0, 256, case.bytes, np.uint8)
    out = np.empty_like(x)

    def on(count: int) -> SparseResult:
        entrants = [*contenders(case, nonzeros, count)]
        copying = [*copies(x, out, count)]
        try:
            verify_all(entrants, case, nonzeros)
            for entrant in copying:
                verify(entrant, out, x)
        except WrongResultError as error:
            raise WrongResultError(f"{error}; for {case} on {count_of(count, 'thread')}") from None
        results: list[Any] = []
        seconds = time_calls([*copying, *(_prepared(each, results) for each in entrants)], repeats)
        results.clear()
        extra = extra_bytes(case, count) if memory else None
        return SparseResult(case, count, "auto", seconds, extra)

    return [on(count) for count in threads]
