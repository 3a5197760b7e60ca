"""The order of the loops: COMET's, and that of the planner's blocks."""

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ttlg import _core
from ttlg._arguments.dtypes import itemsize_of
from ttlg._planning.choices import core_plan
from ttlg._typing import Axes, Integers


class LoopOrder(NamedTuple):
    """Orders of the loops of a transposition, with what COMET's model says that they cost.

    An order lists axes of the input, that of the outermost loop first.

    Attributes
    ----------
    comet : tuple of int
        All axes in the order that costs least, as COMET has it: a loop for each of them.
    comet_cost : float
        The cost of that order. No other has a lower one.
    planned : tuple of int
        The loops over blocks in the plan that `plan` makes. Axes that a block holds whole are left
        out; axes that are neighbours in the input and in the output are one loop, and follow one
        another here. Empty where nothing is cut into blocks.
    planned_cost : float
        The cost of these loops alone.
    cheapest : tuple of int
        The same loops in the order that costs least. Where it differs from `planned`, the planner
        has taken another order, by which it predicts less time.
    cheapest_cost : float
        The cost of that order.
    """

    comet: tuple[int, ...]
    comet_cost: float
    planned: tuple[int, ...]
    planned_cost: float
    cheapest: tuple[int, ...]
    cheapest_cost: float


def loop_order(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    threads: int | None = None,
) -> LoopOrder:
    """Compare COMET's order of the loops of a transposition with the planner's.

    Parameters
    ----------
    shape : iterable of int
        Shape of the input, which is C-contiguous.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype or str
        As for `plan`.
    threads : int, optional
        As for `plan`.

    Returns
    -------
    LoopOrder
        A named tuple ``(comet, comet_cost, planned, planned_cost, cheapest, cheapest_cost)``.

    Raises
    ------
    TypeError, ValueError
        As for `plan`.

    See Also
    --------
    plan : Makes the plan whose loops these are.

    Notes
    -----
    COMET orders the loops of dense transpositions by cost (its documentation's page *Transpose*; the
    numbers are those of its source). In a nest of d loops the loop number i, the outermost being
    number 0, costs ``(2**p + 1.01 * 2**q) * 10 * 2**(d - 2 - i)``, where its axis is number p of the
    input and number q of the output. The innermost loop costs nothing. The cost depends on the axes
    alone. The planner orders the loops over its blocks by the same cost, and then moves the loop
    innermost along which runs of the input or of the output go on from block to block, whichever
    takes less time by its model.

    Examples
    --------
    >>> import ttlg
    >>> order = ttlg.loop_order((72, 80, 88, 96), (3, 1, 0, 2))
    >>> order.comet, round(order.comet_cost, 2)
    ((1, 0, 3, 2), 351.7)
    >>> order.planned_cost >= order.cheapest_cost
    True
    """
    core: Any = core_plan(
        shape,
        axes,
        itemsize_of(dtype),
        strides=None,
        element_strides=None,
        device="cpu",
        inplace=False,
        threads=threads,
    )
    # The core numbers modes from the fastest one.
    rank = len(core.axes)
    perm = [rank - 1 - axis for axis in reversed(core.axes)]
    ranked = _core.rank_loops(perm)
    comet = tuple(rank - 1 - mode for mode in ranked)
    return LoopOrder(comet, _core.loop_cost(perm, ranked), *_planned(core))


def _planned(core: _core.CpuPlan) -> tuple[tuple[int, ...], float, tuple[int, ...], float]:
    """Return the last four entries of a LoopOrder."""
    loops = core.parameters["loop_order"]
    if not loops:
        return (), 0.0, (), 0.0
    axes = _fused_axes(core)
    # A run that stays together is no mode of the blocks.
    folded = len(axes) - len(core.parameters["block"])
    perm = [mode - folded for mode in core.perm if mode >= folded]
    cheapest = [mode for mode in _core.rank_loops(perm) if mode in loops]

    def named(order: Iterable[int]) -> tuple[int, ...]:
        return tuple(axis for mode in order for axis in axes[mode + folded])

    return (
        *(named(loops), _core.loop_cost(perm, loops)),
        *(named(cheapest), _core.loop_cost(perm, cheapest)),
    )


def _fused_axes(core: _core.CpuPlan) -> list[list[int]]:
    """List the axes of each mode of a C-contiguous plan, the fastest mode first."""
    kept = [axis for axis, extent in enumerate(core.shape) if extent != 1]
    following = dict(itertools.pairwise(kept))
    fused: list[list[int]] = []
    for axis in filter(kept.__contains__, core.axes):
        if fused and following.get(fused[-1][-1]) == axis:
            fused[-1].append(axis)
        else:
            fused.append([axis])
    return sorted(fused, reverse=True)
