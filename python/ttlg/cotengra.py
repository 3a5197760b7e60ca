"""Paths of cotengra by predicted time, and its contractions by ttlg.

Examples
--------
A tree for the least predicted time, contracted by ttlg:

>>> import cotengra as ctg, ttlg
>>> from ttlg.cotengra import TimeObjective
>>> inputs, output, shapes, sizes = ctg.utils.rand_equation(12, 3, seed=1)
>>> tree = ctg.array_contract_tree(
...     inputs, output, sizes, optimize=ctg.HyperOptimizer(
...         minimize=TimeObjective(flops=1e10), max_repeats=4, methods=["greedy"], parallel=False)
... )
>>> arrays = ctg.utils.make_arrays_from_inputs(inputs, sizes)
>>> result = tree.contract(arrays, implementation=(ttlg.einsum, ttlg.tensordot))
"""

import math
from typing import Any

from cotengra.scoring import ExactObjective, ensure_basic_quantities_are_computed

from ttlg._contract.nodes import NodeCosts, node_costs
from ttlg._typing import Device

__all__ = ["TimeObjective", "combo_factor"]


class TimeObjective(ExactObjective):  # type: ignore[misc]
    """Search for the contraction tree of the least predicted time.

    Parameters
    ----------
    dtype : dtype or str
        Of all tensors.
    device : str or path
        As for `ttlg.plan`.
    threads : int, optional
        Of the transpositions.
    flops : float, optional
        As for `ttlg.contraction`.

    Notes
    -----
    To be passed as ``minimize=`` to the optimizers of cotengra 0.7 or newer. The time of a node is
    that of the transpositions that its operands need, if they are C-contiguous, and of its product;
    the score of a trial is the logarithm to base 2 of nanoseconds. It works with slicing, subtree
    reconfiguration and simulated annealing, in which times are estimated from the numbers of
    operations and elements.

    Examples
    --------
    >>> from ttlg.cotengra import TimeObjective
    >>> TimeObjective("complex64", flops=1e11)
    TimeObjective(device=cpu, dtype=complex64, flops=100000000000.0, threads=None)
    """

    __slots__ = ("device", "dtype", "flops", "threads")

    def __init__(
        self,
        dtype: Any = "float64",
        device: Device = "cpu",
        threads: int | None = None,
        flops: float | None = None,
    ) -> None:
        self.dtype = str(dtype)
        self.device = device
        self.threads = threads
        self.flops = flops

    @property
    def _nodes(self) -> NodeCosts:
        return node_costs(self.dtype, self.device, self.threads, self.flops)

    def __call__(self, trial: dict[str, Any]) -> float:
        """Score a trial."""
        ensure_basic_quantities_are_computed(trial)
        tree = trial["tree"]
        seconds = sum(self._seconds(tree, node) for node in tree.children)
        return _score(tree.multiplicity * seconds)

    def cost_local_tree_node(self, tree: Any, node: Any) -> float:
        """Return the time of one contraction of a tree, counted in multiplications.

        cotengra takes it as a bound of the costs by `get_dynamic_programming_minimize`.
        """
        return self._seconds(tree, node) / self._nodes.multiplication

    def _seconds(self, tree: Any, node: Any) -> float:
        left, right = map(tree.get_inds, tree.children[node])
        return self._nodes.seconds(left, right, tree.get_legs(node), tree.size_dict)

    def score_local(self, **figures: Any) -> float:
        """Score one or more contractions by their numbers of operations and elements."""
        return _score(self._estimate(_total(figures["flops"]), _total(figures["size"])))

    def score_slice_index(self, costs: Any, ix: Any) -> float:
        """Score an index by what slicing it saves."""
        return _score(self._estimate(costs._flop_reductions[ix], costs._write_reductions[ix]))

    def get_dynamic_programming_minimize(self) -> str:
        """Return what comes nearest among the objectives of the exhaustive search."""
        return f"combo-{combo_factor(self.dtype, self.device, self.threads, self.flops)}"

    def _estimate(self, multiplications: float, elements: float) -> float:
        nodes = self._nodes
        return nodes.multiplication * multiplications + nodes.element * elements


def _score(seconds: float) -> float:
    """Return the logarithm of nanoseconds: cotengra takes powers of scores, so none is negative."""
    return math.log2(1 + 1e9 * seconds)


def _total(figures: Any) -> float:
    """Add numbers, or what is one."""
    return float(sum(figures)) if hasattr(figures, "__iter__") else float(figures)


def combo_factor(
    dtype: Any = "float64",
    device: Device = "cpu",
    threads: int | None = None,
    flops: float | None = None,
) -> int:
    """Return how many multiplications take as long as an element of an intermediate result.

    Parameters
    ----------
    dtype, device, threads, flops : optional
        As for `TimeObjective`.

    Returns
    -------
    int
        For cotengra's objective ``f"combo-{factor}"``, which adds the elements that are written,
        times the factor, to the multiplications: 64 where no one says otherwise. The time of reading
        is part of that of multiplications, for matrices with short sides.

    Examples
    --------
    >>> from ttlg.cotengra import combo_factor
    >>> combo_factor("float64", flops=1e9) < combo_factor("float64", flops=1e11)
    True
    """
    nodes = node_costs(str(dtype), device, threads, flops)
    return max(1, round(nodes.element / nodes.multiplication))
