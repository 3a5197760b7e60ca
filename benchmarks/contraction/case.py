"""One contraction to be measured."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class ContractionCase:
    """One contraction of two C-contiguous tensors, with the extent of each label.

    `part` is the part of the suite that it belongs to. No label is twice in a term, and those of
    one operand alone are in the result.
    """

    part: str
    name: str
    equation: str
    extents: dict[str, int]
    dtype: str

    @property
    def terms(self) -> list[str]:
        """The labels of both operands."""
        return self.equation.partition("->")[0].split(",")

    @property
    def output(self) -> str:
        """The labels of the result."""
        return self.equation.partition("->")[2]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of both operands."""
        return [tuple(self.extents[label] for label in term) for term in self.terms]

    @property
    def multiplications(self) -> int:
        """The number of products of two elements."""
        return math.prod(self.extents.values())

    @property
    def summed(self) -> int:
        """How many products each element of the result is the sum of."""
        return self.multiplications // math.prod(self.extents[label] for label in self.output)

    @property
    def sizes(self) -> list[int]:
        """Bytes of both operands and of the result."""
        return [self._bytes(term) for term in (*self.terms, self.output)]

    def _bytes(self, term: str) -> int:
        return math.prod(self.extents[label] for label in term) * np.dtype(self.dtype).itemsize

    @property
    def moves(self) -> bool:
        """Whether elements have to move before one product of matrices contracts the operands.

        They have not where each operand is a matrix as it lies, or one for each index of a label
        that both and the result have, and both have the summed labels in one order. Whether several
        products, of parts of the operands, would do without is not asked.
        """
        first, second = ([x for x in term if self.extents[x] > 1] for term in self.terms)
        shared = set(first) & set(second)
        stacked = shared & set(self.output)
        summed = shared - stacked
        orders = [[label for label in term if label in summed] for term in (first, second)]
        return orders[0] != orders[1] or not all(
            _is_matrix(["l" if x in stacked else "s" if x in summed else "f" for x in term])
            for term in (first, second)
        )

    @property
    def label(self) -> str:
        """Part, name and dtype, unique in the suite."""
        return f"{self.part} {self.name} {self.dtype}"

    @property
    def described(self) -> str:
        """The case in a line."""
        extents = " ".join(f"{label}{extent}" for label, extent in self.extents.items())
        sizes = ", ".join(f"{size / 1e6:.3g}" for size in self.sizes)
        work = f"{2 * self.multiplications / 1e9:.3g} GFlop"
        moves = ", elements have to move" if self.moves else ""
        return f"{self.label}: {self.equation} of {extents}, {sizes} MB, {work}{moves}"

    def cut(self, limit: int) -> "ContractionCase":
        """Shorten the tensors until none has more than `limit` bytes.

        The longest extent of the largest tensor is reduced by four, or halved below eight; of
        several the first in that tensor.
        """
        extents = dict(self.extents)
        case = self
        while max(case.sizes) > limit:
            largest = max((*case.terms, case.output), key=case._bytes)
            longest = max(largest, key=lambda label: extents[label])
            extents[longest] -= 4 if extents[longest] >= 8 else extents[longest] // 2
            case = replace(case, extents=dict(extents))
        return case


def _is_matrix(kinds: list[str]) -> bool:
    """Whether axes, the slowest first, stacked (l), free (f) or summed (s), are those of matrices.

    The free axes must lie next to each other, and the summed ones as well, and the rows or the
    columns without gaps. A vector may have gaps.
    """
    groups = [kind for kind, _ in itertools.groupby(kinds)]
    of_matrix = [kind for kind in groups if kind != "l"]
    if len(of_matrix) > len(set(of_matrix)):
        return False
    return len(of_matrix) < 2 or groups[-1] != "l"
