"""The time of one contraction within a search over paths, which asks for thousands."""

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.kept import costs_for
from ttlg._contract.operands import contiguous
from ttlg._contract.product_threads import numbers_of
from ttlg._model_files import device_key
from ttlg._settings.planner_cache import on_clear
from ttlg._typing import Device

# Products of fewer multiplications take as long as their calls.
_MIN_MULTIPLICATIONS = 2**12
# Tensors with more do not fit into any memory. Searches come across them before they slice.
_MAX_ELEMENTS = 2**50
# Products in networks have one long side and two short ones.
_LONG_SIDE = 2**14
_SHORT_SIDE = 16


def _groups(
    labels: Sequence[str],
    others: Collection[str],
    kept: Collection[str],
    extents: Mapping[str, int],
) -> tuple[str, tuple[int, ...]]:
    """Join neighbours that are stacked (l), free (f) or summed (s), and return their lengths."""
    groups = ""
    lengths: list[int] = []
    for label in labels:
        extent = extents[label]
        if extent == 1:
            continue
        group = ("l" if label in kept else "s") if label in others else "f"
        if groups.endswith(group):
            lengths[-1] *= extent
        else:
            groups += group
            lengths.append(extent)
    return groups, tuple(lengths)


class _Side(NamedTuple):
    """An operand as its groups of labels."""

    groups: str
    lengths: tuple[int, ...]

    def size(self, group: str) -> int:
        """Return the number of indices of the labels of a group together."""
        return math.prod(
            length for name, length in zip(self.groups, self.lengths, strict=True) if name == group
        )


class NodeCosts:
    """Predicted seconds of contracting two tensors, for labels of any kind.

    Both operands are C-contiguous, and one is transposed where its free and its summed labels do not
    stand together. Unlike `ttlg.einsum` it compares no other ways, so that an answer takes some
    microseconds.
    """

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self._moves: dict[tuple[str, tuple[int, ...]], float] = {}
        self._known: dict[tuple[str, tuple[int, ...], str, tuple[int, ...]], float] = {}

    @functools.cached_property
    def multiplication(self) -> float:
        """Seconds of a multiplication in a network."""
        seconds = self.costs.product(1, _SHORT_SIDE, _LONG_SIDE, _SHORT_SIDE, "fs", "sf")
        return seconds / (_LONG_SIDE * _SHORT_SIDE**2)

    @functools.cached_property
    def element(self) -> float:
        """Seconds to read or write an element."""
        return self.costs.pass_over(1)

    def seconds(
        self,
        left: Sequence[str],
        right: Sequence[str],
        kept: Collection[str],
        extents: Mapping[str, int],
    ) -> float:
        """Return the time of one contraction."""
        one = _groups(left, set(right), kept, extents)
        other = _groups(right, set(left), kept, extents)
        key = (*one, *other)
        if key not in self._known:
            self._known[key] = self._seconds((_Side(*one), _Side(*other)))
        return self._known[key]

    def _seconds(self, sides: tuple[_Side, _Side]) -> float:
        moves = [self._move(side.groups, side.lengths) for side in sides]
        memory = [
            "".join(name for name in "lfs" if name in side.groups) if moved else side.groups
            for side, moved in zip(sides, moves, strict=True)
        ]
        stack, summed = sides[0].size("l"), sides[0].size("s")
        free = [side.size("f") for side in sides]
        product = self._product(stack, free[0], free[1], summed, memory[0], memory[1])
        swapped = self._product(stack, free[1], free[0], summed, memory[1], memory[0])
        seconds = sum(moves) + min(product, swapped)
        for one, other in ((0, 1), (1, 0)):
            # Matrices one after the other in memory, each of which is multiplied by the same one.
            if moves[one] > 0 and sides[one].groups == "fsf":
                repeated, _, rest = sides[one].lengths
                looped = self._product(repeated, free[other], rest, summed, memory[other], "lsf")
                seconds = min(seconds, moves[other] + looped)
        return seconds

    def _move(self, groups: str, lengths: tuple[int, ...]) -> float:
        """Return the time to bring groups of labels together; nothing where BLAS takes a view."""
        if len(set(groups)) == len(groups) and not groups.endswith("l"):
            return 0.0
        elements = math.prod(lengths)
        if elements > _MAX_ELEMENTS:
            return self.costs.pass_over(2 * elements)
        key = (groups, lengths)
        if key not in self._moves:
            names = [group + str(place) for place, group in enumerate(groups)]
            extents = dict(zip(names, lengths, strict=True))
            order = tuple(sorted(names, key=lambda name: "lfs".index(name[0])))
            operand = contiguous(names, extents, self.costs.itemsize)
            self._moves[key] = self.costs.move(operand, order, extents)
        return self._moves[key]

    def _product(self, count: int, m: int, n: int, k: int, first: str, second: str) -> float:
        work = count * m * n * k
        if work <= _MIN_MULTIPLICATIONS or count == k == 1:
            elements = count * (m * k + k * n + m * n)
            return STEP_SECONDS + self.costs.pass_over(elements) + self.costs.least_product(work)
        return STEP_SECONDS + self.costs.product(count, m, n, k, first, second)


@functools.lru_cache(64)
def _node_costs(
    dtype: str,
    device: Any,
    key: Any,
    threads: int | None,
    flops: float | None,
    numbers: tuple[int, int],
) -> NodeCosts:
    """Return the costs of a device that is as `key` tells."""
    return NodeCosts(costs_for(dtype, device, threads, flops))


on_clear(_node_costs.cache_clear)


def node_costs(dtype: str, device: Device, threads: int | None, flops: float | None) -> NodeCosts:
    """Return what has answered such questions before."""
    key: Any = device
    return _node_costs(dtype, key, device_key(device), threads, flops, numbers_of(threads))
