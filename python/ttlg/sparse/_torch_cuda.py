"""Sparse COO tensors of PyTorch on CUDA devices."""

import sys
from typing import Any

from ttlg._functions.transpose import transpose as dense_transpose
from ttlg.sparse._cuda import check_algorithm, transpose_coo


def transpose(x: Any, axes: tuple[int, ...], fmt: str, algorithm: str, sum_duplicates: bool) -> Any:
    """Sort the nonzeros on the device, on PyTorch's stream of the moment, without waiting for it.

    The result counts as coalesced where `x` does: to find out whether an uncoalesced tensor has
    duplicates would take a wait.
    """
    torch = sys.modules["torch"]
    if x.layout != torch.sparse_coo or fmt != "coo":
        raise BufferError(
            f"A has the layout {x.layout} on device {x.device}, where ttlg sorts sparse COO tensors "
            f"alone, into the same format and not {fmt!r}; pass A.to_sparse_coo(), or A.cpu()"
        )
    check_algorithm(algorithm, f"on device {x.device}", ".cpu()")
    rank = x.sparse_dim()
    values = x._values().resolve_conj().resolve_neg().contiguous()
    dense = [axis - rank + 1 for axis in axes[rank:]]
    if dense != sorted(dense):
        values = dense_transpose(values, (0, *dense))
    modes = [mode.contiguous() for mode in x._indices()]
    coords, moved = transpose_coo(
        modes,
        values,
        x.shape[:rank],
        axes[:rank],
        x.is_coalesced(),
        empty=lambda count: torch.empty(count, dtype=torch.uint8, device=x.device),
        pointer_of=lambda tensor: tensor.data_ptr(),
        device=x.device.index,
        stream=_stream_of(x.device),
    )
    size = [x.shape[axis] for axis in axes[:rank]] + list(values.shape[1:])
    result = torch.sparse_coo_tensor(
        coords.view(torch.int64).view(rank, len(values)),
        moved.view(x.dtype).view(values.shape),
        size,
        is_coalesced=x.is_coalesced(),
        check_invariants=False,
    )
    return result.coalesce() if sum_duplicates else result


def _stream_of(device: Any) -> int:
    stream: int = sys.modules["torch"].cuda.current_stream(device).cuda_stream
    return stream
