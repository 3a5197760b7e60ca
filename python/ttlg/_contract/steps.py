"""The steps of a contraction of any number of tensors."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from ttlg import _core
from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.libraries import Products
from ttlg._contract.operands import Extents, in_memory_order
from ttlg._contract.pairs import Pair
from ttlg._contract.runs import Run, elementwise_run, matrix_run

# What is tried on the calls of a contraction: runs predicted to take up to so many times as long as
# the best, each so many times, where they take longer than so many seconds.
_WORTH_TRYING = 1.6
_MOST_TRIED = 5
_TRIALS = 2
_LONG = 2e-4


class Tensor(NamedTuple):
    """An operand or intermediate result without its data: labels, shape and strides in bytes."""

    term: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Reduction(NamedTuple):
    """Diagonals, sums and broadcast axes of one tensor: a new shape, and an equation."""

    shape: tuple[int, ...] | None
    equation: str | None
    seconds: float

    def __call__(self, products: Products, x: Any) -> Any:
        """Return the tensor with one axis for each label that is needed."""
        if self.shape is not None:
            x = x.reshape(self.shape)
        return x if self.equation is None else products.einsum(self.equation, x)


def _whole_axes(tensor: Tensor, extents: Extents) -> list[tuple[str, int, int]]:
    """Return label, extent and stride of the axes that are not broadcast."""
    axes = zip(*tensor, strict=True)
    return [(label, extent, stride) for label, extent, stride in axes if extent == extents[label]]


def reduce(
    tensor: Tensor, extents: Extents, needed: set[str], costs: Costs
) -> tuple[Reduction | None, Tensor]:
    """Leave one axis for each label that is needed, and say how."""
    axes = _whole_axes(tensor, extents)
    term = "".join(label for label, _, _ in axes)
    left = "".join(label for label in dict.fromkeys(term) if label in needed)
    shape = tuple(extents[label] for label in left)
    if left == tensor.term:
        return None, tensor
    squeezed = tuple(extent for _, extent, _ in axes)
    if set(left) == set(term):
        strides = tuple(sum(each[2] for each in axes if each[0] == label) for label in left)
        seconds = 0.0
    else:
        strides = _new(left, extents, costs.itemsize)
        elements = 1
        for extent in squeezed:
            elements *= extent
        seconds = costs.pass_over(elements)
    reduction = Reduction(
        None if squeezed == tensor.shape else squeezed,
        None if left == term else f"{term}->{left}",
        seconds + STEP_SECONDS,
    )
    return reduction, Tensor(left, shape, strides)


def _new(term: str, extents: Extents, itemsize: int) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array of these axes."""
    strides, stride = [], itemsize
    for label in reversed(term):
        strides.append(stride)
        stride *= extents[label]
    return tuple(reversed(strides))


class Pairing:
    """A contraction of two tensors, which tries what is predicted to be about as fast.

    Parameters
    ----------
    tensors : tuple of Tensor
        What is contracted.
    extents : dict
        The extent of each label.
    kept : str
        The labels of the result.
    costs : Costs
        By which the best way is chosen.
    is_last : bool
        Whether the axes of the result have to be in the order `kept`.
    """

    def __init__(
        self,
        tensors: tuple[Tensor, Tensor],
        extents: Extents,
        kept: str,
        costs: Costs,
        is_last: bool,
    ) -> None:
        self.costs = costs
        labels = [{label for label, _, _ in _whole_axes(each, extents)} for each in tensors]
        reduced = [
            reduce(tensor, extents, others.union(kept), costs)
            for tensor, others in zip(tensors, labels[::-1], strict=True)
        ]
        self.reductions = [reduction for reduction, _ in reduced]
        self.reducing = sum(each.seconds for each in self.reductions if each)
        first, second = (tensor for _, tensor in reduced)
        self.terms = (first.term, second.term)
        operands = (
            in_memory_order(first.term, first.strides, extents),
            in_memory_order(second.term, second.strides, extents),
        )
        if frozenset(operands[0].labels) & frozenset(operands[1].labels) <= frozenset(kept):
            runs = [elementwise_run(operands, self.terms, extents, costs)]
        else:
            pair = Pair(operands, extents, frozenset(kept), costs)
            runs = [matrix_run(each, self.terms, extents) for each in pair.best()]
        ones = "".join(label for label in kept if label not in runs[0].labels)
        term = kept if is_last else ones + runs[0].labels
        self.runs = [run.ordered(term) for run in runs]
        self.chosen = self.runs[0]
        in_memory = dict(
            zip(self.chosen.labels, _new(self.chosen.labels, extents, costs.itemsize), strict=True)
        )
        self.result = Tensor(
            term,
            tuple(extents[label] for label in term),
            tuple(in_memory[label] for label in term),
        )
        self._trials = self._worth_trying() if costs.device == "cpu" else []

    @property
    def equation(self) -> str:
        """What is done to the two tensors."""
        return ",".join(self.terms) + "->" + self.result.term

    def __call__(self, operands: Sequence[Any], threads: int | None) -> Any:
        """Contract two arrays."""
        if self.reducing:
            operands = [
                reduction(self.costs.products, x) if reduction else x
                for reduction, x in zip(self.reductions, operands, strict=True)
            ]
        if self._trials and _core.is_learning():
            return self._try(operands, threads)
        return self.chosen(self.costs.products, operands, threads)

    def _worth_trying(self) -> list[tuple[Run, list[float]]]:
        best = self.runs[0].seconds
        tried = [run for run in self.runs if run.seconds <= _WORTH_TRYING * best][:_MOST_TRIED]
        return [(run, []) for run in tried] if best > _LONG and len(tried) > 1 else []

    def _try(self, operands: Sequence[Any], threads: int | None) -> Any:
        """Contract by the run with the fewest trials, and keep the fastest in the end."""
        run, times = min(self._trials, key=lambda each: len(each[1]))
        start = time.perf_counter()
        result = run(self.costs.products, operands, threads)
        times.append(time.perf_counter() - start)
        if len(self._trials[-1][1]) == _TRIALS:
            self.chosen = min(self._trials, key=lambda each: min(each[1]))[0]
            self._trials = []
        return result
