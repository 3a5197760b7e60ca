"""Transposition of sparse tensors, the same way for every library."""

from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypedDict, TypeVar, overload

from numpy import ndarray

from ttlg import _core
from ttlg._libraries.advice import type_name
from ttlg._typing import Axes
from ttlg.sparse._adapter import COMMON_FORMATS, Adapter, Common
from ttlg.sparse._csf import CSF
from ttlg.sparse._cupy import CuPy
from ttlg.sparse._layout import perm_between, read_format
from ttlg.sparse._nonzeros import Nonzeros, keep, move, read_options, repeats, run_starts
from ttlg.sparse._pydata import PyData
from ttlg.sparse._raw import Fibers, Raw
from ttlg.sparse._scipy import SciPy
from ttlg.sparse._torch import Torch

if TYPE_CHECKING:
    from typing_extensions import Unpack

RawTensor: TypeAlias = tuple[ndarray[Any, Any], ndarray[Any, Any], tuple[int, ...]]
SparseT = TypeVar("SparseT")


class Options(TypedDict, total=False):
    """How a sparse tensor is sorted."""

    algorithm: str | None
    threads: int | None
    sum_duplicates: bool


_COMMON = Common()
_ADAPTERS: tuple[Adapter, ...] = (SciPy(), PyData(), Torch(), CuPy(), Fibers(), Raw())
# Libraries whose sparse arrays are not moved, and what to call instead.
_ELSEWHERE = {
    "jax": "call A.transpose(axes=axes), JAX's own, or pass (numpy.asarray(A.indices).T, "
    "numpy.asarray(A.data), A.shape) of a BCOO",
}


@overload
def transpose(
    A: tuple[Any, Any, Any],  # noqa: N803
    axes: Axes | None = None,
    *,
    format: None = None,
    **options: "Unpack[Options]",
) -> RawTensor: ...
@overload
def transpose(
    A: Any,  # noqa: N803
    axes: Axes | None = None,
    *,
    format: Literal["raw"],
    **options: "Unpack[Options]",
) -> RawTensor: ...
@overload
def transpose(
    A: Any,  # noqa: N803
    axes: Axes | None = None,
    *,
    format: Literal["csf"],
    **options: "Unpack[Options]",
) -> CSF: ...
@overload
def transpose(
    A: SparseT,  # noqa: N803
    axes: Axes | None = None,
    *,
    format: None = None,
    **options: "Unpack[Options]",
) -> SparseT: ...
@overload
def transpose(
    A: Any,  # noqa: N803
    axes: Axes | None = None,
    *,
    format: str | None = None,
    **options: "Unpack[Options]",
) -> Any: ...
def transpose(
    A: Any,  # noqa: N803
    axes: Axes | None = None,
    *,
    algorithm: str | None = None,
    threads: int | None = None,
    format: str | None = None,
    sum_duplicates: bool = False,
) -> Any:
    """Copy a sparse tensor with its axes permuted, and its nonzeros in the new order.

    The coordinates of the result ascend lexicographically in the order of its axes. Values are
    moved bit for bit, explicit zeros among them.

    Parameters
    ----------
    A : sparse array
        SciPy's sparse arrays and matrices of any format; pydata's COO, GCXS and DOK; PyTorch's
        sparse COO (hybrid and uncoalesced ones included), CSR and CSC tensors on the CPU, and COO
        on CUDA devices; CuPy's COO matrices; `CSF`; or a tuple ``(coords, values, shape)`` of coordinates as an array of shape (modes, nonzeros) or
        an array for each mode, and one value for each nonzero. In any order, with duplicates.
    axes : iterable of int, optional
        A permutation of ``range(A.ndim)``; negative numbers count from the end. Axis ``i`` of the
        result is axis ``axes[i]`` of `A`. By default the axes are reversed.
    algorithm : str, optional
        How to sort: one of `algorithms`, in upper or lower case. By default the environment
        variable ``SORT_TYPE`` at the time of the call; where that is unset or empty, ``"auto"``.
        All of them have the same result.
    threads : int, optional
        The most threads to use. By default `ttlg.get_num_threads`, which for tensors of PyTorch
        is ``torch.get_num_threads()`` unless a number was chosen for ttlg.
    format : str, optional
        The format of the result, by default that of `A`: ``"coo"``, ``"csr"``, ``"csc"``,
        ``"bsr"``, ``"dia"``, ``"lil"`` or ``"dok"`` for SciPy; ``"coo"``, ``"gcxs"`` or ``"dok"``
        for pydata; ``"coo"``, ``"csr"`` or ``"csc"`` for PyTorch; ``"csf"`` for a `CSF` and
        ``"raw"`` for a tuple of coordinates, values and shape, whatever `A` is.
    sum_duplicates : bool
        Add the values of nonzeros that have the same coordinates, as SciPy's method of this name
        does: bool by "or". By default each is kept, in the order that they had.

    Returns
    -------
    sparse array
        A new array of the library and the format of `A`, or of `format`, with
        ``shape[i] == A.shape[axes[i]]``. It shares no memory with `A`.

    Raises
    ------
    TypeError
        `A` is no sparse array, its indices are no integers or its values Python objects; or its
        values cannot be added with `sum_duplicates`.
    ValueError
        `axes` is no permutation; the arrays of `A` do not fit one another; a coordinate is out of
        range; or the algorithm or the format is unknown, or not for this rank.
    BufferError
        `A` is a tensor of PyTorch that requires grad, is on another device or seen by a tracer; or
        it is on a CUDA device in another format than COO.
    CudaError
        ttlg was built without CUDA, or the driver refused.

    Notes
    -----
    The algorithms are those among which ``SORT_TYPE`` chooses in COMET (the page on transpositions
    of its documentation; Tian et al., "A high performance sparse tensor algebra compiler in MLIR",
    LLVM-HPC 2021): NO_SORT reads the nonzeros in the order of the result, SEQ_QSORT and PAR_QSORT
    are quicksorts by all modes at once, RADIX_BUCKET and COUNT_RADIX sort by one mode after
    another, and COUNT_QUICK counts by the first mode and sorts inside its buckets. Where the input
    is sorted, modes that follow one another as before need no pass of their own: the partial radix
    sorts of Mueller, Ahrens, Chou, Kjolstad and Amarasinghe, "Sparse tensor transpositions", SPAA
    2020.

    CSR stays CSR: the nonzeros are counted into the rows of the result. So does CSC, as the rows of
    its transpose. With ``format="csc"`` the transpose of CSR keeps its order, and is copied. BSR
    moves blocks, whose elements `ttlg.transpose` permutes. DIA, LIL and DOK are converted to CSR or
    COO and back by SciPy, which may drop explicit zeros or add duplicates. GCXS of rank 2 keeps
    its compressed axis; of a higher rank the shortest axis is compressed, as pydata does.

    Indices are of 32 or 64 bits as those of `A`, or of 64 bits where 32 cannot hold them. Indices
    of other integer dtypes are returned in 64 bits, except in pydata's arrays that can hold them.
    On CUDA devices CUB's radix sort moves keys of 64 bits, as many bits of them as are out of order,
    on the library's stream of the moment; coordinates are not checked there, which would have to wait.

    Hybrid tensors of PyTorch may have their sparse axes permuted, and their dense ones, but not
    mixed; PyTorch's CSR and CSC cannot hold duplicates. Where ``"csf"`` and ``"raw"`` are made of
    them, the dense axes belong to the element, and the shape has the sparse axes alone.

    Examples
    --------
    >>> import numpy as np
    >>> from ttlg import sparse
    >>> coords = np.array([[0, 0, 1], [0, 2, 1], [3, 0, 2]])
    >>> tensor = (coords, np.array([1.0, 2.0, 3.0]), (2, 3, 4))
    >>> coords, values, shape = sparse.transpose(tensor, (2, 0, 1))
    >>> coords
    array([[0, 2, 3],
           [0, 1, 0],
           [2, 1, 0]])
    >>> values, shape
    (array([2., 3., 1.]), (4, 2, 3))
    """
    adapter = _adapter_of(A)
    adapter.check(A)
    shape = adapter.shape(A)
    order = _core.normalize_axes(axes, shape)
    formats = tuple(dict.fromkeys((*adapter.formats, *COMMON_FORMATS)))
    fmt = read_format(format, adapter.format(A), formats, adapter.library)
    options = read_options(algorithm, adapter.threads(threads))
    on_device = adapter.transpose_on_device(A, order, fmt, options[0], sum_duplicates)
    if on_device is not None:
        return on_device
    source, stored = adapter.read(A, fmt, order)
    extents = stored.shape(source.extents)
    writer = _COMMON if fmt in COMMON_FORMATS else adapter
    layout = writer.layout(A, fmt, tuple(extents[axis] for axis in order[: len(extents)]))
    if sum_duplicates:
        writer.check_sum(source.values)
    moved = move(source, perm_between(stored, order, layout), layout.compressed, options)
    if sum_duplicates:
        moved = _add_duplicates(writer, A, moved)
    return writer.write(A, fmt, layout, moved)


def _add_duplicates(writer: Adapter, x: Any, moved: Nonzeros) -> Nonzeros:
    repeated = repeats(moved)
    if not repeated.size:
        return moved._replace(distinct=True)
    starts = run_starts(len(moved.values), repeated)
    return keep(moved, starts, writer.sum_runs(x, moved.values, starts, repeated))


def _adapter_of(x: Any) -> Adapter:
    """Find what reads `x`, or say what to call instead."""
    for adapter in _ADAPTERS:
        if adapter.owns(x):
            return adapter
    _refuse(x)


def _refuse(x: Any) -> NoReturn:
    for cls in type(x).__mro__:
        package, _, rest = cls.__module__.partition(".")
        if package in _ELSEWHERE and "sparse" in rest:
            raise TypeError(f"A is a {type_name(x)}; {_ELSEWHERE[package]}")
    dense = ("__dlpack__", "__array__", "__array_interface__")
    if any(hasattr(x, name) for name in dense):
        raise TypeError(f"A is a {type_name(x)}, which is dense: call ttlg.transpose(A, axes)")
    raise TypeError(
        "A must be a sparse array of SciPy, pydata or PyTorch, a ttlg.sparse.CSF, or a tuple "
        f"(coords, values, shape), not {type_name(x)}"
    )
