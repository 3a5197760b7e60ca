"""Verify and time the orders of the loops of each permutation in one run."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import ttlg
from ttlg.benchmarks.case import Case, named
from ttlg.benchmarks.contenders import Contender, copies
from ttlg.benchmarks.measure import ceiling, random_array, time_calls, verify
from ttlg.benchmarks.plans import changed

# 39 to 40 MB a side in float32, so that the caches hold little of it.
SHAPES = {3: (205, 215, 225), 4: (54, 56, 57, 58), 5: (23, 24, 25, 26, 27)}
_ALL_NESTS_RANK = 4

Order = tuple[int, ...]  # of loops: axes, the outermost first


@dataclass(frozen=True)
class Row:
    """Median seconds of a call for each order of the loops of a permutation.

    Attributes
    ----------
    case : Case
        What is permuted.
    kernel : str
        That of the planner's plan.
    comet : str
        COMET's order of a loop for each axis.
    planned, cheapest : str
        The loops over the planner's blocks, in the planner's order and in COMET's.
    copy : float
        Of the fastest copy of the same bytes.
    blocks : dict
        The planner's blocks, by the order of the loops over them.
    predicted : dict
        The same by the time model.
    nests : dict
        Nests without blocks, by the order of their loops.
    """

    case: Case
    kernel: str
    comet: str
    planned: str
    cheapest: str
    copy: float
    blocks: dict[str, float]
    predicted: dict[str, float]
    nests: dict[str, float]

    def behind(self, order: str) -> float:
        """Return how much longer an order of the loops over blocks takes than the fastest one."""
        return self.blocks[order] / min(self.blocks.values()) - 1

    @property
    def nest_behind(self) -> float:
        """How much longer COMET's nest takes than the fastest one without blocks."""
        return self.nests[self.comet] / min(self.nests.values()) - 1

    @property
    def untiled(self) -> float:
        """The time of COMET's nest without blocks, in times of that of the planner's plan."""
        return self.nests[self.comet] / self.blocks[self.planned]


def text(order: Sequence[int]) -> str:
    """Write an order of loops."""
    return " ".join(map(str, order))


def cases() -> Iterator[Case]:
    """Permute arrays of rank 3 to 5 in all orders in which no two axes stay neighbours."""
    for rank, shape in SHAPES.items():
        for axes in itertools.permutations(range(rank)):
            if all(after != before + 1 for before, after in itertools.pairwise(axes)):
                yield named("loops", shape, axes, "float32")


def blocked(plan: ttlg.Plan) -> dict[Order, ttlg.Plan]:
    """Carry a plan's blocks out in every order of the loops over them."""
    last = len(plan.shape) - 1
    return {
        tuple(last - folded(plan) - mode for mode in order): changed(
            plan, parameters={**plan.parameters, "loop_order": order}
        )
        for order in itertools.permutations(plan.parameters["loop_order"])
    }


def folded(plan: ttlg.Plan) -> int:
    """Return 1 where the last axis stays, and is no mode of the blocks, else 0."""
    return len(plan.extents) - len(plan.parameters["block"])


def nests(plan: ttlg.Plan, comet: Order) -> dict[Order, ttlg.Plan]:
    """Carry a plan's request out by loops without blocks, the innermost of which copies a row.

    Of all orders those are valid for COMET whose innermost loop has stride 1 in the input or in the
    output. Of ranks above 4 there are too many to be timed, and COMET's is the only one here.
    """
    rank = len(plan.shape)
    orders = itertools.permutations(range(rank)) if rank <= _ALL_NESTS_RANK else (comet,)
    innermost = {rank - 1} if folded(plan) else {rank - 1, plan.axes[-1]}
    return {order: _nest(plan, order) for order in orders if order[-1] in innermost}


def _nest(plan: ttlg.Plan, order: Order) -> ttlg.Plan:
    modes = [len(order) - 1 - folded(plan) - axis for axis in order]
    block = [1] * len(plan.parameters["block"])
    if not folded(plan):
        block[modes[-1]] = plan.extents[modes[-1]]
    return changed(
        plan,
        kernel="strided_copy",
        parameters={
            "block": block,
            "loop_order": modes[:-1],
            "staged": False,
            "streaming": False,
            "prefetch": 0,
            "threads": 1,
        },
    )


@ttlg.learning(False)
def measure(case: Case, repeats: int) -> Row:
    """Verify and time the orders of a case on one thread; the median of `repeats` samples counts."""
    plan = ttlg.plan(case.shape, case.axes, case.dtype, threads=1)
    order = ttlg.loop_order(case.shape, case.axes, case.dtype, threads=1)
    ways = {"blocks": blocked(plan), "nests": nests(plan, order.comet)}
    x = random_array(case.shape, case.dtype)
    expected = np.ascontiguousarray(x.transpose(case.axes))
    out = np.empty_like(expected)
    entrants = [
        Contender(f"{way} {text(each)}", functools.partial(moving, x, out))
        for way, plans in ways.items()
        for each, moving in plans.items()
    ]
    for entrant in entrants:
        verify(entrant, out, expected)
    seconds = time_calls([*copies(x, out, 1), *entrants], repeats)
    blocks, without = (
        {text(each): seconds[f"{way} {text(each)}"] for each in plans}
        for way, plans in ways.items()
    )
    return Row(
        case=case,
        kernel=plan.kernel,
        comet=text(order.comet),
        planned=text(order.planned),
        cheapest=text(order.cheapest),
        copy=ceiling(seconds),
        blocks=blocks,
        predicted={text(each): moving.predicted_time for each, moving in ways["blocks"].items()},
        nests=without,
    )
