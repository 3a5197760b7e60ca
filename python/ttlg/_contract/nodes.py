"""The time of one contraction within a search over paths, which asks for thousands."""

import functools
import math
from collections.abc import Collection, Mapping, Sequence

from ttlg._contract.costs import STEP_SECONDS, Costs
from ttlg._contract.functions import costs_for
from ttlg._contract.operands import contiguous
from ttlg._settings.planner_cache import on_clear

# Products of fewer multiplications take as long as their calls.
_SMALL = 2**12


class NodeCosts:
    """Predicted seconds of contracting two tensors, for labels of any kind.

    Both operands are C-contiguous, and one is transposed where its free and its summed labels do not
    stand together. Unlike `ttlg.einsum` it compares no other ways, so that an answer takes some
    microseconds.
    """

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self._moves: dict[tuple[str, tuple[int, ...]], float] = {}
        self._products: dict[tuple[int, int, int, int], float] = {}

    def seconds(
        self,
        left: Sequence[str],
        right: Sequence[str],
        kept: Collection[str],
        extents: Mapping[str, int],
    ) -> float:
        """Return the time of one contraction."""
        of_left, of_right = set(left), set(right)
        moving, sizes = 0.0, dict.fromkeys("lmnk", 1)
        for operand, others, free in ((left, of_right, "m"), (right, of_left, "n")):
            groups = ""
            lengths: list[int] = []
            for label in operand:
                shared = label in others
                group = ("l" if label in kept else "k") if shared else free
                extent = extents[label]
                if extent == 1:
                    continue
                if free == "m" or not shared:
                    sizes[group] *= extent
                if groups.endswith(group):
                    lengths[-1] *= extent
                else:
                    groups += group
                    lengths.append(extent)
            moving += self._move(groups, tuple(lengths))
        return moving + self._product(sizes["l"], sizes["m"], sizes["n"], sizes["k"])

    def _move(self, groups: str, lengths: tuple[int, ...]) -> float:
        """Return the time to bring groups of labels together; nothing where BLAS takes a view."""
        if len(set(groups)) == len(groups) and not groups.endswith("l"):
            return 0.0
        key = (groups, lengths)
        if key not in self._moves:
            names = [group + str(place) for place, group in enumerate(groups)]
            extents = dict(zip(names, lengths, strict=True))
            order = tuple(sorted(names, key=lambda name: "lmnk".index(name[0])))
            operand = contiguous(names, extents, self.costs.itemsize)
            self._moves[key] = self.costs.move(operand, order, extents)
        return self._moves[key]

    def _product(self, count: int, m: int, n: int, k: int) -> float:
        work = count * m * n * k
        if work <= _SMALL or count == k == 1:
            elements = count * (m * k + k * n + m * n)
            return STEP_SECONDS + self.costs.pass_over(elements) + self.costs.least_product(work)
        key = (count, m, n, k)
        if key not in self._products:
            names = [name for name, size in (("l", count), ("f", m), ("s", k)) if size > 1]
            first = "".join(names)
            second = "".join(name for name, size in (("l", count), ("s", k), ("f", n)) if size > 1)
            self._products[key] = STEP_SECONDS + self.costs.product(count, m, n, k, first, second)
        return self._products[key]


@functools.lru_cache(64)
def _node_costs(costs: Costs) -> NodeCosts:
    return NodeCosts(costs)


on_clear(_node_costs.cache_clear)


def node_costs(dtype: str, device: str, threads: int | None, flops: float | None) -> NodeCosts:
    """Return what has answered such questions before."""
    return _node_costs(costs_for(dtype, device, threads, flops))


def log_seconds(seconds: float) -> float:
    """Return what searches compare."""
    return math.log2(max(seconds, 1e-12))
