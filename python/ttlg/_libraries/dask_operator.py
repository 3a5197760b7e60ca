"""The transposition of Dask's arrays, block by block.

Imported only where the caller has an array of Dask, because it imports Dask.
"""

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from ttlg._core import normalize_axes
from ttlg._libraries.private_names import find
from ttlg._typing import Axes

find(da.Array, "_meta")  # the only name that ttlg uses and Dask does not document


def order_of(x: Any, axes: Axes | None) -> tuple[int, ...]:
    """Read the axes for `x`, which must be a Dask array."""
    if not isinstance(x, da.Array):
        raise TypeError(
            f"x must be a Dask array, not {type(x).__name__}; make one with "
            "dask.array.from_array(x), or call ttlg.transpose(x)"
        )
    return normalize_axes(axes, [0 if np.isnan(extent) else extent for extent in x.shape])


def transpose(x: Any, axes: Axes | None, threads: int, move: Callable[..., Any]) -> da.Array:
    """Permute the axes of `x`; `move`, a function of a module, does that with each block."""
    axes = order_of(x, axes)
    # An empty block: what cannot be transposed is refused now and not when the blocks are computed.
    meta = move(x._meta, axes)
    options = {"threads": threads} if isinstance(meta, np.ndarray) else {}
    indices = tuple(range(x.ndim))
    return da.blockwise(move, axes, x, indices, axes=axes, dtype=x.dtype, meta=meta, **options)
