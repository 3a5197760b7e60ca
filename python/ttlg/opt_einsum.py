"""Paths of opt_einsum by predicted time.

opt_einsum contracts by ttlg with ``opt_einsum.contract(..., backend="ttlg")``.
"""

from collections.abc import Callable
from typing import Any

import opt_einsum
from opt_einsum.paths import ssa_to_linear

from ttlg._contract.nodes import node_costs
from ttlg._typing import Device

__all__ = ["TimeOptimizer"]


class TimeOptimizer(opt_einsum.RandomGreedy):  # type: ignore[misc]
    """Search for the path of the least predicted time among those of a random greedy search.

    Parameters
    ----------
    dtype, device, threads, flops : optional
        As for `ttlg.contraction`.
    **options
        As for `opt_einsum.RandomGreedy`: `max_repeats`, `max_time`, `temperature` and others.

    Notes
    -----
    To be passed as ``optimize=`` to `ttlg.einsum`, `ttlg.contraction` and the functions of
    opt_einsum. opt_einsum tells searches which labels a tensor has, but not in what order; they are
    taken to be sorted, as it sorts those of intermediate results.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> from ttlg.opt_einsum import TimeOptimizer
    >>> a, b, c = np.ones((4, 5)), np.ones((5, 6)), np.ones((6, 3))
    >>> search = TimeOptimizer(flops=1e10, max_repeats=8)
    >>> ttlg.einsum("ij,jk,kl->il", a, b, c, optimize=search).shape
    (4, 3)
    """

    def __init__(
        self,
        dtype: Any = "float64",
        device: Device = "cpu",
        threads: int | None = None,
        flops: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._nodes = node_costs(str(dtype), device, threads, flops)

    def setup(
        self, inputs: list[frozenset[str]], output: frozenset[str], size_dict: dict[str, int]
    ) -> tuple[Callable[..., Any], Any]:
        """Return the function that tries a path, with its seconds in place of its operations."""
        find, arguments = super().setup(inputs, output, size_dict)

        def trial(*arguments: Any) -> tuple[Any, float, Any]:
            path, _, size = find(*arguments)
            return path, self._seconds(ssa_to_linear(path), inputs, output, size_dict), size

        return trial, arguments

    def _seconds(
        self,
        path: list[tuple[int, ...]],
        inputs: list[frozenset[str]],
        output: frozenset[str],
        sizes: dict[str, int],
    ) -> float:
        left = [sorted(each) for each in inputs]
        seconds = 0.0
        for numbers in path:
            taken = [left.pop(number) for number in sorted(numbers, reverse=True)]
            needed = set(output).union(*left)
            result = taken.pop()
            while taken:
                other = taken.pop()
                kept = sorted({*result, *other} & needed.union(*taken))
                seconds += self._nodes.seconds(result, other, kept, sizes)
                result = kept
            left.append(result)
        return seconds
