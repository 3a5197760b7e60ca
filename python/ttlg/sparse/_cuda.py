"""The nonzeros of a sparse tensor on a CUDA device, sorted there."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttlg import _core


def check_algorithm(algorithm: str, where: str, copy: str) -> None:
    """Refuse the algorithms of the CPU."""
    if algorithm != "auto":
        raise ValueError(
            f"algorithm {algorithm!r} sorts on the CPU, and A is {where}, where CUB's radix sort "
            f"does; pass algorithm='auto', or A{copy}"
        )


def transpose_coo(
    modes: Sequence[Any],
    values: Any,
    shape: Sequence[int],
    perm: Sequence[int],
    is_sorted: bool,
    *,
    empty: Callable[[int], Any],
    pointer_of: Callable[[Any], int],
    device: int,
    stream: int,
) -> tuple[Any, Any]:
    """Sort nonzeros by their coordinates with the modes permuted, into new arrays.

    Nothing waits for the device: results and what was allocated belong to the stream.

    Parameters
    ----------
    modes : sequence of array
        The coordinates in each mode: contiguous, all of int32 or all of int64.
    values : array
        One for each nonzero; further axes belong to the element. Contiguous.
    shape : sequence of int
        The extents of the modes.
    perm : sequence of int
        Mode ``i`` of the result is mode ``perm[i]`` of the source.
    is_sorted : bool
        The coordinates are in lexicographic order, with or without repetitions.
    empty : callable
        Allocates a number of bytes on the device, for use on the stream: an array of uint8 that begins
        at a multiple of 256.
    pointer_of : callable
        Returns the address of an array on the device.
    device : int
        The number of the device.
    stream : int
        The handle of a stream, a ``cudaStream_t``.

    Returns
    -------
    coords, values : array
        The bytes of the coordinates, of shape (modes, nonzeros) and the dtype of `modes`, and of
        the values, from `empty`.
    """
    count = len(values)
    index_bytes = modes[0].dtype.itemsize if modes else 8
    value_bytes = values.dtype.itemsize * math.prod(values.shape[1:])
    problem = (count, list(shape), list(perm), value_bytes, index_bytes, is_sorted)
    workspace_bytes = _core.sparse_cuda_workspace(*problem, device)
    coords_out = empty(len(modes) * count * index_bytes)
    values_out = empty(count * value_bytes)
    workspace = empty(workspace_bytes)
    _core.sparse_cuda_transpose(
        [pointer_of(mode) for mode in modes],
        pointer_of(values),
        pointer_of(coords_out),
        pointer_of(values_out),
        *problem,
        pointer_of(workspace),
        workspace_bytes,
        device,
        stream,
    )
    return coords_out, values_out
