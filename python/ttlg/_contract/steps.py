"""The steps of a contraction of any number of tensors."""

import math
import time
from typing import Any, NamedTuple

from ttlg import _core
from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.libraries import Products
from ttlg._contract.operands import Extents, in_memory_order
from ttlg._contract.pairs import Pair
from ttlg._contract.runs import Call, Run, elementwise_run, matrix_run, sum_runs

# What is tried on the calls of a contraction that takes longer than so many seconds: runs predicted
# to take up to so many times as long as the best.
_LONG = 3e-5
_WORTH_TRYING = 1.6
_MOST_TRIED = 6
# Each is called so often, the first time to plan transpositions, and the two fastest as often again.
_CALLS = 2


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
        strides = _core.contiguous_byte_strides(shape, costs.itemsize)
        seconds = costs.pass_over(math.prod(squeezed))
    reduction = Reduction(
        None if squeezed == tensor.shape else squeezed,
        None if left == term else f"{term}->{left}",
        seconds + STEP_SECONDS,
    )
    return reduction, Tensor(left, shape, strides)


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
    out_strides : tuple of int, optional
        Strides in bytes of an array that the result of the last step is written to.
    """

    def __init__(
        self,
        tensors: tuple[Tensor, Tensor],
        extents: Extents,
        kept: str,
        costs: Costs,
        is_last: bool,
        out_strides: tuple[int, ...] | None = None,
    ) -> None:
        self.costs = costs
        labels = [{label for label, _, _ in _whole_axes(each, extents)} for each in tensors]
        if not is_last:  # what is broadcast here is whole in a tensor that comes later
            kept = "".join(label for label in kept if label in labels[0] | labels[1])
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
            if pair.are_vectors():
                runs += sum_runs(pair, self.terms, extents)
                runs.sort(key=lambda run: run.seconds)
        ones = "".join(label for label in kept if label not in runs[0].labels)
        term = kept if is_last else ones + runs[0].labels
        self.runs = [run.ordered(term) for run in runs]
        if is_last and out_strides is not None:
            self.runs = [run.delivered(term, out_strides, costs) for run in self.runs]
            self.runs.sort(key=lambda run: run.seconds)
        self.chosen = self.runs[0]
        in_order = _core.contiguous_byte_strides(self.chosen.shape, costs.itemsize)
        in_memory = dict(zip(self.chosen.labels, in_order, strict=True))
        self.result = Tensor(
            term,
            tuple(extents[label] for label in term),
            tuple(in_memory[label] for label in term),
        )
        # Contracts two arrays, into a third one if it is given, and changes while ways are tried.
        self.call = self._reducing(self._compiled(self.chosen))
        if costs.device == "cpu":
            self._trials: list[tuple[Run, Call, list[float]]]
            tried = [
                run for run in self._worth_trying() if is_last or run.labels == self.chosen.labels
            ]
            self._trials = [(run, self._compiled(run), []) for run in tried]
            if len(self._trials) > 1:
                self.call = self._reducing(self._try)

    @property
    def equation(self) -> str:
        """What is done to the two tensors."""
        return ",".join(self.terms) + "->" + self.result.term

    def _compiled(self, run: Run) -> Call:
        return run.compiled(self.costs)

    def _reducing(self, contract: Call) -> Call:
        """Leave one axis for each label that is needed first."""
        if not self.reducing:
            return contract
        first, second = self.reductions
        products = self.costs.products

        def reduce_and_contract(x: Any, y: Any, out: Any) -> Any:
            x = first(products, x) if first else x
            y = second(products, y) if second else y
            return contract(x, y, out)

        return reduce_and_contract

    def _worth_trying(self) -> list[Run]:
        best = self.runs[0].seconds
        if best < _LONG:
            return []
        return [run for run in self.runs if run.seconds <= _WORTH_TRYING * best][:_MOST_TRIED]

    def _try(self, x: Any, y: Any, out: Any) -> Any:
        """Contract by each run twice, by the two fastest twice more, and by the fastest from then on."""
        if not _core.is_learning():
            return self._trials[0][1](x, y, out)
        trials = self._trials
        _, contract, times = min(trials, key=lambda each: len(each[2]))
        start = time.perf_counter()
        result = contract(x, y, out)
        times.append(time.perf_counter() - start)
        fewest = min(len(each[2]) for each in trials)
        if fewest >= _CALLS:
            self._trials = sorted(trials, key=lambda each: min(each[2]))[:2]
        if fewest >= 2 * _CALLS:
            self.chosen, fastest, _ = self._trials[0]
            self.call = self._reducing(fastest)
        return result
