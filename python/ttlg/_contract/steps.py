"""The steps of a contraction of any number of tensors."""

import math
import time
from typing import Any, NamedTuple

from ttlg import _core
from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.cuts import Cut, label_to_cut
from ttlg._contract.libraries import Products
from ttlg._contract.operands import Extents, distinct_elements, in_memory_order
from ttlg._contract.pairs import Pair
from ttlg._contract.ways import Call, Way, elementwise_way, matrix_way, sum_ways

# What is tried on the calls of a contraction that takes longer than this many seconds: ways predicted
# to take up to so many times as long as the best.
_MIN_TRIED_SECONDS = 3e-5
_WORTH_TRYING = 1.6
_MAX_TRIED_WAYS = 6
# Each is called so often, the first time to plan transpositions, and the two fastest as often again.
_CALLS = 2
# Bytes that may be allocated beside a result: a multiple of those of the result and of the memory
# of the operands, whose elements may share it. What needs more is done in parts of a number of bytes
# that stays in caches, or of a share of what is allowed; or of fewer by a factor where memory runs
# out, down to a least number.
_MAX_TIMES_OPERAND = 2
_BYTES_OF_PART = 2**23
_PARTS = 4
_SMALLER_PARTS = 8
_MIN_BYTES = 2**12


class Tensor(NamedTuple):
    """An operand or intermediate result without its data: labels, shape and strides in bytes."""

    term: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Reduction(NamedTuple):
    """Diagonals, sums and broadcast axes of one tensor: a new shape, and an equation.

    `workspace` are the bytes of sums; all else is a view.
    """

    shape: tuple[int, ...] | None
    equation: str | None
    seconds: float
    workspace: int

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
        seconds, workspace = 0.0, 0
    else:
        strides = _core.contiguous_byte_strides(shape, costs.itemsize)
        seconds = costs.pass_over(math.prod(squeezed))
        workspace = math.prod(shape) * costs.itemsize
    reduction = Reduction(
        None if squeezed == tensor.shape else squeezed,
        None if left == term else f"{term}->{left}",
        seconds + STEP_SECONDS,
        workspace,
    )
    return reduction, Tensor(left, shape, strides)


def _axes_of(tensor: Tensor, label: str, extent: int) -> tuple[int, ...]:
    """Return the axes of a label that are not broadcast."""
    both = zip(tensor.term, tensor.shape, strict=True)
    return tuple(axis for axis, each in enumerate(both) if each == (label, extent))


def _distinct_elements(tensor: Tensor) -> int:
    return distinct_elements(tensor.shape, tensor.strides)


def _shared_elements(tensor: Tensor) -> tuple[int, int]:
    """Return how many elements lie where others do, and how many there are in all."""
    number = math.prod(tensor.shape)
    return number - _distinct_elements(tensor), number


def _most_allocated(
    tensors: tuple[Tensor, Tensor], kept: str, extents: Extents, costs: Costs
) -> int:
    """Return the bytes that a contraction may allocate beside its result."""
    elements = math.prod(extents[label] for label in kept) + sum(map(_distinct_elements, tensors))
    return max(_MAX_TIMES_OPERAND * elements * costs.itemsize, _BYTES_OF_PART)


def _with_extent(tensor: Tensor, label: str, whole: int, extent: int) -> Tensor:
    """Leave fewer indices of the axes of a label that are not broadcast."""
    shape = list(tensor.shape)
    for axis in _axes_of(tensor, label, whole):
        shape[axis] = extent
    return tensor._replace(shape=tuple(shape))


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
    most : int, optional
        Bytes that may be allocated beside the result. By default a multiple of those of the result
        and of the memory that the tensors share among their elements.
    """

    def __init__(
        self,
        tensors: tuple[Tensor, Tensor],
        extents: Extents,
        kept: str,
        costs: Costs,
        is_last: bool,
        out_strides: tuple[int, ...] | None = None,
        most: int | None = None,
    ) -> None:
        self.costs = costs
        self._tensors, self._extents = tensors, extents
        labels = [{label for label, _, _ in _whole_axes(each, extents)} for each in tensors]
        if not is_last:  # what is broadcast here is whole in a tensor that comes later
            kept = "".join(label for label in kept if label in labels[0] | labels[1])
        self._most = _most_allocated(tensors, kept, extents, costs) if most is None else most
        reduced = [
            reduce(tensor, extents, others.union(kept), costs)
            for tensor, others in zip(tensors, labels[::-1], strict=True)
        ]
        self.reductions = [reduction for reduction, _ in reduced]
        first, second = (tensor for _, tensor in reduced)
        self.terms = (first.term, second.term)
        ways, left_out = self._bounded_ways(first, second, kept)
        ones = "".join(label for label in kept if ways and label not in ways[0].labels)
        term = kept if is_last or not ways else ones + ways[0].labels
        reducing = sum(each.seconds for each in self.reductions if each)
        self.ways = [way.ordered(term)._replace(product=way.product + reducing) for way in ways]
        if left_out:
            self.ways.append(self._cut_way(term, left_out, self._most_of_part()))
        if is_last and out_strides is not None:
            self.ways = [way.delivered(term, out_strides, costs) for way in self.ways]
        self.ways.sort(key=lambda way: way.seconds)
        self.chosen = self.ways[0]
        in_order = _core.contiguous_byte_strides(self.chosen.shape, costs.itemsize)
        in_memory = dict(zip(self.chosen.labels, in_order, strict=True))
        self.result = Tensor(
            term,
            tuple(extents[label] for label in term),
            tuple(in_memory[label] for label in term),
        )
        # Contracts two arrays, into a third one if it is given, and changes while ways are tried.
        self.call = self._compiled(self.chosen)
        if costs.device == "cpu":
            self._trials: list[tuple[Way, Call, list[float]]]
            tried = [
                way for way in self._worth_trying() if is_last or way.labels == self.chosen.labels
            ]
            self._trials = [(way, self._compiled(way), []) for way in tried]
            if len(self._trials) > 1:
                self.call = self._try

    @property
    def equation(self) -> str:
        """What is done to the two tensors."""
        return ",".join(self.terms) + "->" + self.result.term

    def _bounded_ways(self, first: Tensor, second: Tensor, kept: str) -> tuple[list[Way], int]:
        """Return the ways that allocate no more than allowed, by their time.

        Then the bytes that another one would need which is likely to be faster, or 0.
        """
        terms, extents, costs = self.terms, self._extents, self.costs
        reduced = sum(each.workspace for each in self.reductions if each)
        if reduced > self._most:
            return [], reduced
        operands = (
            in_memory_order(first.term, first.strides, extents),
            in_memory_order(second.term, second.strides, extents),
        )
        if frozenset(operands[0].labels) & frozenset(operands[1].labels) <= frozenset(kept):
            way = elementwise_way(operands, terms, extents, costs)
            way = way._replace(workspace=reduced + way.workspace)
            return ([way], 0) if way.workspace <= self._most else ([], way.workspace)
        pair = Pair(operands, extents, frozenset(kept), costs, self._most - reduced)
        ways = [matrix_way(each, terms, extents) for each in pair.best()]
        if pair.are_vectors() or pair.left_out:
            ways += sum_ways(pair, terms, extents)
            ways.sort(key=lambda way: way.seconds)
        ways = [way._replace(workspace=reduced + way.workspace) for way in ways]
        return ways, reduced + pair.left_out if pair.left_out else 0

    def _most_of_part(self) -> int:
        """Return the bytes of a part: few, but calls take time, and may lay the other operand out."""
        other = min(self._tensors, key=_shared_elements)
        again = _MAX_TIMES_OPERAND * _distinct_elements(other) * self.costs.itemsize
        return min(self._most, max(_BYTES_OF_PART, self._most // _PARTS, again))

    def _cut_way(self, term: str, needed: int, most: int) -> Way:
        """Do in parts of at most `most` bytes what needs more beside a result of these labels."""
        tensor = max(self._tensors, key=_shared_elements)
        label, extent = label_to_cut(_whole_axes(tensor, self._extents), term, -(-needed // most))
        number = -(-extent // max(1, extent * most // needed))
        step = -(-extent // number)
        parts = [self._part(label, step, term, most)]
        parts.append(self._part(label, extent % step, term, most) if extent % step else parts[0])
        counts = extent // step, int(extent % step > 0)
        axes = [_axes_of(each, label, extent) for each in self._tensors]
        joined = term.index(label) if label in term else None
        cut = Cut(label, extent, step, (axes[0], axes[1]), joined, (parts[0], parts[1]))
        return parts[0].chosen._replace(
            labels=term,
            shape=tuple(self._extents[each] for each in term),
            axes=None,
            moving=sum(n * part.chosen.moving for n, part in zip(counts, parts, strict=True)),
            product=sum(n * part.chosen.product for n, part in zip(counts, parts, strict=True)),
            cut=cut,
        )

    def _part(self, label: str, extent: int, term: str, most: int) -> "Pairing":
        """Contract the first `extent` indices of a label alone."""
        whole = self._extents[label]
        first, second = (_with_extent(each, label, whole, extent) for each in self._tensors)
        extents = {**self._extents, label: extent}
        return Pairing((first, second), extents, term, self.costs, True, None, most)

    def _compiled(self, way: Way) -> Call:
        """Return what contracts by this way, or another one where memory runs out."""
        products = self.costs.products
        cut = way.cut
        if cut is None:
            contract = self._reducing(way.compiled(self.costs))
        else:

            def contract(x: Any, y: Any, out: Any) -> Any:
                return cut.contract(products, x, y, out)

        def attempt(x: Any, y: Any, out: Any) -> Any:
            try:
                return contract(x, y, out)
            except (MemoryError, RuntimeError) as error:
                if not products.is_out_of_memory(error) or not self._leave_out(way):
                    raise
            # Out of the block, which keeps alive what was allocated.
            return self.call(x, y, out)

        return attempt

    def _leave_out(self, way: Way) -> bool:
        """Choose a way that allocates less from now on; whether there is one."""
        less = [each for each in self.ways if each.workspace < way.workspace]
        if not less:
            most = way.workspace // _SMALLER_PARTS
            if most < _MIN_BYTES:
                return False
            less = [self._cut_way(self.result.term, way.workspace, most)]
        self.ways = less
        self.chosen = less[0]
        self.call = self._compiled(self.chosen)
        return True

    def _reducing(self, contract: Call) -> Call:
        """Leave one axis for each label that is needed first."""
        if not any(self.reductions):
            return contract
        first, second = self.reductions
        products = self.costs.products

        def reduce_and_contract(x: Any, y: Any, out: Any) -> Any:
            x = first(products, x) if first else x
            y = second(products, y) if second else y
            return contract(x, y, out)

        return reduce_and_contract

    def _worth_trying(self) -> list[Way]:
        best = self.ways[0].seconds
        if best < _MIN_TRIED_SECONDS:
            return []
        return [way for way in self.ways if way.seconds <= _WORTH_TRYING * best][:_MAX_TRIED_WAYS]

    def _try(self, x: Any, y: Any, out: Any) -> Any:
        """Contract by each way twice, by the two fastest twice more, and by the fastest from then on."""
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
            self.call = fastest
        return result
