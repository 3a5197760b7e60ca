"""How two tensors are contracted: as stacks of matrices, moved to be so or seen as such.

The candidates of one contraction differ in which modes are looped over, in the order of the modes
that are summed, in which operands are transposed and which are taken as they lie, and in which of
the two is the first factor. The time of each is that of its transpositions, as `predict_time`
gives it, and of its matrix product.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.operands import Extents, Operand, distinct_elements, fuse, is_one_axis

# Candidates whose product is looked up or measured.
_MAX_TIMED_FORMS = 12
# A guess of how an extent slows a product down, and of what a call takes, to time first what is
# likely to be fast.
_EXTENT_OF_HALF_SPEED = 8
_PRODUCT_SECONDS = 2e-7
# A library's sum of products that it has written reads them from memory again, and is slow where the
# runs are short.
_SUM_PASSES = 4
# Up to so many multiplications the choice would take longer than it can save.
_MIN_MULTIPLICATIONS = 2**14


class Factor(NamedTuple):
    """An operand as a stack of matrices of free and summed indices.

    Attributes
    ----------
    labels : tuple of str
        Those looped over, then the free and then the summed ones, slowest first.
    memory : str
        The order in memory of the stack (l), the free (f) and the summed indices (s).
    moved : tuple of str or None
        The labels in the order that they are transposed to, or None for what lies in memory so.
    seconds : float
        Of the transposition.
    """

    labels: tuple[str, ...]
    memory: str
    moved: tuple[str, ...] | None
    seconds: float


class MatrixForm(NamedTuple):
    """A way to contract two tensors.

    Attributes
    ----------
    factors : tuple of Factor
        Of the first and the second operand.
    swapped : bool
        Whether the second operand is the first factor.
    loops, summed_loops : tuple of str
        The labels that matrix products are repeated for, and those of them that are summed
        afterwards.
    free : tuple of tuple of str
        The free labels of the first and the second operand, in the order of the result.
    summed : tuple of str
        The summed labels of the matrix product.
    moving, product : float
        Seconds of the transpositions and of the matrix product with all that follows.
    workspace : int
        Bytes of what is transposed, and of products that are summed afterwards.
    """

    factors: tuple[Factor, Factor]
    swapped: bool
    loops: tuple[str, ...]
    summed_loops: tuple[str, ...]
    free: tuple[tuple[str, ...], tuple[str, ...]]
    summed: tuple[str, ...]
    moving: float
    product: float
    workspace: int

    @property
    def seconds(self) -> float:
        """Predicted time of the whole in seconds."""
        return self.moving + self.product

    @property
    def result(self) -> tuple[str, ...]:
        """The labels of the result in memory, slowest first."""
        first, second = self.free[::-1] if self.swapped else self.free
        loops = tuple(label for label in self.loops if label not in self.summed_loops)
        return loops + first + second


class Pair:
    """Two operands and the labels that their contraction keeps.

    Attributes
    ----------
    left_out : int
        The bytes that the likely fastest candidate would allocate, where they are more than `most`,
        else 0.
    """

    def __init__(
        self,
        operands: tuple[Operand, Operand],
        extents: Extents,
        kept: frozenset[str],
        costs: Costs,
        most: float = math.inf,
    ) -> None:
        fused, self.extents, self.kept = fuse(operands, extents, kept)
        self.operands = (fused[0], fused[1])
        self.costs = costs
        first, second = self.operands
        self.shared = frozenset(first.labels) & frozenset(second.labels)
        self._most = most
        self.left_out = 0
        self._moved: dict[tuple[int, tuple[str, ...]], float] = {}

    def size(self, labels: tuple[str, ...]) -> int:
        """Return the number of indices of all these labels together."""
        return math.prod(self.extents[label] for label in labels)

    def distinct_elements(self, number: int) -> int:
        """Return the number of elements of memory that an operand reaches."""
        labels, strides = self.operands[number]
        return distinct_elements([self.extents[label] for label in labels], strides)

    def are_vectors(self) -> bool:
        """Whether both operands have the same labels, and indices enough for a choice to matter."""
        first, second = (set(operand.labels) for operand in self.operands)
        return first == second and self.size(tuple(first)) > _MIN_MULTIPLICATIONS

    def best(self) -> list[MatrixForm]:
        """Return the candidates that were timed, the fastest first.

        In the order of the least time that each can take, until no other can be faster. None of them
        allocates more than allowed.
        """
        if self.size(tuple(self.extents)) <= _MIN_MULTIPLICATIONS:
            return [self._quick()]
        timed: list[MatrixForm] = []
        allowed = self._allowed()
        least = math.inf
        shortest = self.costs.least_product(self.size(tuple(self.extents)))
        for candidate in allowed[:_MAX_TIMED_FORMS]:
            if candidate.moving + shortest < least:
                timed.append(candidate._replace(product=self._product_seconds(candidate)))
                least = min(least, timed[-1].seconds)
        return sorted(timed, key=lambda each: each.seconds)

    def _allowed(self) -> list[MatrixForm]:
        """Return the candidates that allocate no more than allowed, the likely fastest first."""
        candidates = sorted(self._untimed(), key=lambda each: each.seconds)
        if candidates[0].workspace > self._most:
            self.left_out = candidates[0].workspace
        return [each for each in candidates if each.workspace <= self._most]

    def _quick(self) -> MatrixForm:
        """Take the first that comes, by the order of the operand with more elements."""
        loops = self._needed()
        larger = max((0, 1), key=lambda number: self.size(self.operands[number].labels))
        summed = self._summed(larger, loops)
        first, second = (next(self._factors(number, loops, summed, False)) for number in (0, 1))
        moving = sum(STEP_SECONDS for factor in (first, second) if factor.moved)
        free = self._free(0, loops), self._free(1, loops)
        product = self.costs.least_product(self.size(tuple(self.extents))) + STEP_SECONDS
        workspace = self._workspace((first, second), loops, (), free)
        return MatrixForm(
            (first, second), False, loops, (), free, summed, moving, product, workspace
        )

    def _needed(self) -> tuple[str, ...]:
        """Return the labels that matrix products have to be repeated for."""
        shared = self.shared & self.kept
        return tuple(label for label in self.operands[0].labels if label in shared)

    def _untimed(self) -> Iterator[MatrixForm]:
        """Give all candidates with a guess of the time of their product."""
        shortest = self.costs.least_product(self.size(tuple(self.extents)))
        for loops, summed in self._forms():
            factors = [list(self._factors(number, loops, summed)) for number in (0, 1)]
            free = self._free(0, loops), self._free(1, loops)
            again = tuple(label for label in loops if label not in self.kept)
            product = shortest + self.size(loops) * _PRODUCT_SECONDS
            for labels in (*free, summed):
                product += shortest * _EXTENT_OF_HALF_SPEED / self.size(labels)
            if again:
                product += self._sum_seconds(loops, again, free)
            for first, second in itertools.product(*factors):
                moving = first.seconds + second.seconds
                both = (first, second)
                workspace = self._workspace(both, loops, again, free)
                for swapped in (False, True):
                    yield MatrixForm(
                        both, swapped, loops, again, free, summed, moving, product, workspace
                    )

    def _forms(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Give what is looped over, and the order of what is summed.

        More than the labels that have to be looped over are, up to three, where an operand need not
        be moved then.
        """
        needed = self._needed()
        found: dict[tuple[str, ...], set[int]] = {}
        others = [
            label
            for label in dict.fromkeys(self.operands[0].labels + self.operands[1].labels)
            if label not in needed
        ]
        for number in range(4):
            for more in itertools.combinations(others, number):
                loops = needed + more
                if number > 0 and not self.costs.products.loops_over(len(loops)):
                    continue
                orders = dict.fromkeys(self._summed(each, loops) for each in (0, 1))
                for summed in orders:
                    views = {each for each in (0, 1) if self._view(each, loops, summed)}
                    if number > 0 and any(
                        views <= before and set(fewer) < set(loops)
                        for fewer, before in found.items()
                    ):
                        continue
                    found.setdefault(loops, set()).update(views)
                    yield loops, summed

    def _free(self, number: int, loops: tuple[str, ...]) -> tuple[str, ...]:
        labels = self.operands[number].labels
        return tuple(label for label in labels if label not in self.shared and label not in loops)

    def _summed(self, number: int, loops: tuple[str, ...]) -> tuple[str, ...]:
        labels = self.operands[number].labels
        return tuple(
            label
            for label in labels
            if label in self.shared and label not in self.kept and label not in loops
        )

    def _view(self, number: int, loops: tuple[str, ...], summed: tuple[str, ...]) -> str | None:
        """Return the order in memory of what matrix products take as it lies, or None."""
        operand = self.operands[number]
        free = self._free(number, loops)
        if not all(is_one_axis(operand, each, self.extents) for each in (free, summed)):
            return None
        strides = {
            name: operand.stride(labels[-1])
            for name, labels in (("f", free), ("s", summed))
            if labels
        }
        if not self.costs.takes(
            strides.get("f"), strides.get("s"), self.size(free), self.size(summed)
        ):
            return None
        own = [operand.stride(label) for label in loops if label in operand.labels]
        if own:
            strides["l"] = min(map(abs, own))
        return "".join(sorted(strides, key=lambda name: -strides[name]))

    def _factors(
        self, number: int, loops: tuple[str, ...], summed: tuple[str, ...], timed: bool = True
    ) -> Iterator[Factor]:
        """Give the ways to make stacks of matrices of an operand."""
        operand = self.operands[number]
        own = tuple(label for label in loops if label in operand.labels)
        free = self._free(number, loops)
        memory = self._view(number, loops, summed)
        if memory is not None:
            yield Factor(own + free + summed, memory, None, 0.0)
            if not memory.endswith("l"):
                return
        groups = {"l": own, "f": free, "s": summed}
        names = [name for name in groups if groups[name]]
        for order in itertools.permutations(names):
            if len(order) == 1 or order[-1] != "l":
                moved = tuple(label for name in order for label in groups[name])
                seconds = self._move_seconds(number, moved) if timed else 0.0
                yield Factor(own + free + summed, "".join(order), moved, seconds)

    def _workspace(
        self,
        factors: tuple[Factor, Factor],
        loops: tuple[str, ...],
        again: tuple[str, ...],
        free: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> int:
        """Return the bytes that are allocated beside the result."""
        elements = sum(self.size(factor.labels) for factor in factors if factor.moved is not None)
        if again:
            elements += self.size(loops) * self.size(free[0]) * self.size(free[1])
        if not self.costs.products.loops_over(len(loops)):  # which copies both into one stack
            own = {label for factor in factors for label in factor.labels}
            elements += self.size(tuple(own.difference(free[0]))) + self.size(
                tuple(own.difference(free[1]))
            )
        return elements * self.costs.itemsize

    def _move_seconds(self, number: int, moved: tuple[str, ...]) -> float:
        key = (number, moved)
        if key not in self._moved:
            operand = self.operands[number]
            self._moved[key] = self.costs.move(operand, moved, self.extents)
        return self._moved[key]

    def _product_seconds(self, candidate: MatrixForm) -> float:
        order = (1, 0) if candidate.swapped else (0, 1)
        factors = [candidate.factors[each] for each in order]
        free = [self.size(candidate.free[each]) for each in order]
        seconds = self.costs.product(
            self.size(candidate.loops),
            free[0],
            free[1],
            self.size(candidate.summed),
            factors[0].memory,
            factors[1].memory,
        )
        if candidate.summed_loops:
            seconds += self._sum_seconds(candidate.loops, candidate.summed_loops, candidate.free)
        return seconds + STEP_SECONDS

    def _sum_seconds(
        self,
        loops: tuple[str, ...],
        summed: tuple[str, ...],
        free: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> float:
        products = self.size(loops) * self.size(free[0]) * self.size(free[1])
        return self.costs.pass_over(_SUM_PASSES * products)
