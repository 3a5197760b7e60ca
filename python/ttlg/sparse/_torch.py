"""Sparse tensors of PyTorch: COO, hybrid and uncoalesced ones included, CSR and CSC."""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ttlg import _core
from ttlg._functions.transpose import transpose as dense_transpose
from ttlg._libraries.advice import refuse_tensor
from ttlg.sparse._adapter import COMMON_FORMATS, Adapter, Source
from ttlg.sparse._arrays import as_indices
from ttlg.sparse._layout import Layout, check_matrix, layout_of
from ttlg.sparse._nonzeros import Nonzeros, refuse_sum, repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LAYOUTS = {
    "torch.sparse_coo": "coo",
    "torch.sparse_csr": "csr",
    "torch.sparse_csc": "csc",
    "torch.sparse_bsr": "bsr",
    "torch.sparse_bsc": "bsc",
}
# PyTorch's integers by which other elements of these bytes move, which NumPy may not have.
_WORDS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


class Torch(Adapter):
    """Tensors whose result has the layout and the dense axes of the input."""

    library = "PyTorch"
    formats = ("coo", "csr", "csc")

    def owns(self, x: Any) -> bool:
        """Whether `x` is a tensor of a sparse layout."""
        tensor = getattr(sys.modules.get("torch"), "Tensor", ())
        return isinstance(x, tensor) and str(x.layout) in _LAYOUTS

    def check(self, x: Any) -> None:
        """Refuse tensors that are not memory of the host alone, blocks and batches."""
        _refuse_device(x)
        fmt = self.format(x)
        if fmt not in self.formats:
            raise ValueError(
                f"A has the layout {x.layout}, whose blocks ttlg does not move; pass "
                "A.to_sparse_coo() or A.to_sparse_csr()"
            )
        batch = 0 if fmt == "coo" else _compressed(x, fmt)[0].ndim - 1
        if batch:
            raise ValueError(
                f"A of shape {tuple(x.shape)} has {batch} batch dimensions, which each have rows "
                "of their own; pass A.to_sparse_coo(), or one matrix after another"
            )

    def format(self, x: Any) -> str:
        """Name the layout."""
        return _LAYOUTS[str(x.layout)]

    def threads(self, threads: int | None) -> int | None:
        """Return PyTorch's own number, unless one was given, or chosen for ttlg."""
        if threads is not None or _core.chosen_threads():
            return threads
        number: int = sys.modules["torch"].get_num_threads()
        return min(number, _core.MAX_THREADS)

    def read(self, x: Any, fmt: str, axes: tuple[int, ...]) -> Source:
        """Take the arrays apart, and permute the dense axes."""
        own = self.format(x)
        x = x.detach()
        sparse = x.sparse_dim()
        _check_axes(x, axes)
        values = (x._values() if own == "coo" else x.values()).resolve_conj().resolve_neg()
        elements = _named(x, values) if fmt in COMMON_FORMATS else _raw(values)
        dense = [axis - sparse + 1 for axis in axes[sparse:]]
        if dense != sorted(dense):
            elements = dense_transpose(elements, (0, *dense))
        layout = layout_of(own, sparse)
        extents = tuple(x.shape[axis] for axis in layout.order)
        if own == "coo":
            modes = x._indices().numpy()
            coords = [as_indices(mode, f"indices[{k}]") for k, mode in enumerate(modes)]
            return Source(Nonzeros(extents, coords, None, elements, x.is_coalesced()), layout)
        pointers, indices = (as_indices(x.numpy(), "indices") for x in _compressed(x, own))
        return Source(Nonzeros(extents, [indices], pointers, elements, True), layout)

    def transpose_on_device(
        self, x: Any, axes: tuple[int, ...], fmt: str, algorithm: str, sum_duplicates: bool
    ) -> Any:
        """Leave CUDA's tensors to CUDA."""
        if x.device.type == "cpu":
            return None
        from ttlg.sparse import _torch_cuda

        _check_axes(x, axes)
        return _torch_cuda.transpose(x.detach(), axes, fmt, algorithm, sum_duplicates)

    def layout(self, x: Any, fmt: str, shape: tuple[int, ...]) -> Layout:
        """Return how the format lies in memory, of the sparse axes."""
        check_matrix(fmt, len(shape))
        return layout_of(fmt, len(shape))

    def write(self, x: Any, fmt: str, layout: Layout, moved: Nonzeros) -> Any:
        """Build a tensor without a check or another sort."""
        torch = sys.modules["torch"]
        values = _tensor(x, moved.values)
        size = (*layout.shape(moved.extents), *values.shape[1:])
        distinct = not repeats(moved).size
        if moved.row_pointers is None:
            indices = torch.from_numpy(moved.coords).to(torch.int64)
            return torch.sparse_coo_tensor(
                indices, values, size, is_coalesced=distinct, check_invariants=False
            )
        if not distinct:
            raise ValueError(
                f"A has duplicates, which PyTorch's format {fmt!r} cannot hold; pass "
                "sum_duplicates=True, or A.coalesce()"
            )
        return torch.sparse_compressed_tensor(
            torch.from_numpy(moved.row_pointers),
            torch.from_numpy(moved.coords[0]),
            values,
            size,
            layout=getattr(torch, f"sparse_{fmt}"),
            check_invariants=False,
        )

    def check_sum(self, values: "NDArray[Any]") -> None:
        """Leave it to PyTorch, whose dtypes NumPy may not have."""

    def sum_runs(
        self,
        x: Any,
        values: "NDArray[Any]",
        starts: "NDArray[np.intp]",
        repeated: "NDArray[np.intp]",
    ) -> "NDArray[Any]":
        """Add by PyTorch, in the order of the nonzeros, as its ``coalesce`` does."""
        torch = sys.modules["torch"]
        tensor = _tensor(x, values)
        runs = np.searchsorted(starts, repeated, "right") - 1
        total = tensor[torch.from_numpy(starts)]
        try:
            total.index_add_(0, torch.from_numpy(runs), tensor[torch.from_numpy(repeated)])
        except RuntimeError as error:
            raise TypeError(refuse_sum(x.dtype)) from error
        return _raw(total)


def _refuse_device(x: Any) -> None:
    """Refuse tensors on another device, and those that PyTorch has to know more about."""
    from ttlg._libraries.torch_state import is_plain

    if x.device.type not in ("cpu", "cuda"):
        refuse_tensor(
            "A", f"is on device {x.device}, which is neither the CPU nor CUDA's", ".cpu()"
        )
    if x.requires_grad and sys.modules["torch"].is_grad_enabled():
        refuse_tensor("A", "requires grad, which the result could not carry", ".detach()")
    if not is_plain(x):
        raise BufferError(
            "A is of a subclass of torch.Tensor, or under a transform, mode or tracer of PyTorch, "
            "which has to see what is done to it; pass a plain tensor outside of it"
        )


def _check_axes(x: Any, axes: tuple[int, ...]) -> None:
    sparse = x.sparse_dim()
    if sorted(axes[:sparse]) != list(range(sparse)):
        raise ValueError(
            f"axes {axes} mix the sparse axes of A of shape {tuple(x.shape)}, the first "
            f"{sparse}, with its dense ones; permute either among themselves"
        )


def _compressed(x: Any, fmt: str) -> tuple[Any, Any]:
    """Return pointers and indices of compressed rows or columns."""
    if fmt == "csr":
        return x.crow_indices(), x.col_indices()
    return x.ccol_indices(), x.row_indices()


def _raw(values: Any) -> "NDArray[Any]":
    """View the bits of values as integers, which all of PyTorch's dtypes can be."""
    word = _WORDS.get(values.dtype.itemsize)  # none for complex128, which NumPy has
    contiguous = values.contiguous()
    if word is not None:
        contiguous = contiguous.view(getattr(sys.modules["torch"], word))
    array: NDArray[Any] = contiguous.numpy()
    return array


def _tensor(x: Any, values: "NDArray[Any]") -> Any:
    """View the bits of moved values in the dtype of `x` again."""
    return sys.modules["torch"].from_numpy(values).view(x.dtype)


def _named(x: Any, values: Any) -> "NDArray[Any]":
    """View values as NumPy's, for results that are no tensors."""
    try:
        array: NDArray[Any] = values.contiguous().numpy()
    except TypeError as error:
        raise TypeError(
            f"NumPy has no dtype for the values of A, {x.dtype}; leave out format=, or pass "
            "A.to(torch.float32)"
        ) from error
    return array
