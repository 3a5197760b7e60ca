"""Indices of one mode, some of which are drawn more often than others."""

from collections.abc import Callable

import numpy as np

from ttlg.benchmarks.contenders import Array


def skewed(extent: int, skew: float, generator: np.random.Generator) -> Callable[[int], Array]:
    """Return a function that draws a number of indices below `extent`.

    The k-th most frequent index has a share proportional to about ``k ** -skew``, with `skew` from
    0, which is uniform, to below 1. In networks whose degrees d have frequencies of ``d ** -g`` the
    skew is ``1 / (g - 1)``. Which indices are frequent is drawn first.
    """
    if not 0 <= skew < 1:
        raise ValueError(f"skew must be from 0 to below 1, not {skew}")
    if skew == 0:
        return lambda count: generator.integers(extent, size=count, dtype=np.int32)
    places = generator.permutation(extent).astype(np.int32)
    power = 1 / (1 - skew)

    def draw(count: int) -> Array:
        ranks = (extent * generator.random(count) ** power).astype(np.int32)
        return places[np.minimum(ranks, extent - 1)]

    return draw
