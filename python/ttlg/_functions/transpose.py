"""The functions that move data."""

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from numpy import ndarray

from ttlg._arguments.axes import is_one_axis
from ttlg._arguments.layouts import read_integers
from ttlg._core import normalize_axes, transpose_ndarray
from ttlg._libraries import library_of
from ttlg._libraries.advice import refuse_without_reshape
from ttlg._typing import (
    Array,
    Axes,
    Buffer,
    CallOptions,
    MovedT,
    NamedAxes,
    NamedT,
    NewOptions,
    OutT,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def transpose(
    x: MovedT,
    axes: Axes | None = None,
    *,
    shape: Sequence[SupportsIndex] | None = None,
    **options: "Unpack[NewOptions]",
) -> MovedT: ...
@overload
def transpose(x: NamedT, axes: NamedAxes, **options: "Unpack[NewOptions]") -> NamedT: ...
@overload
def transpose(
    x: Buffer, axes: Axes | None = None, **options: "Unpack[NewOptions]"
) -> ndarray[Any, Any]: ...
@overload
def transpose(
    x: Array | Buffer,
    axes: Axes | None = None,
    *,
    shape: Sequence[SupportsIndex] | None = None,
    out: OutT,
    **options: "Unpack[CallOptions]",
) -> OutT: ...
def transpose(
    x: Any,
    axes: Any = None,
    *,
    shape: Sequence[SupportsIndex] | None = None,
    out: Any = None,
    stream: Any = None,
    threads: int | None = None,
) -> Any:
    """Copy an array with its axes permuted.

    The result is ``numpy.transpose(x, axes)`` laid out contiguously, with every element moved bit
    for bit.

    Parameters
    ----------
    x : array
        NumPy, PyTorch, JAX or CuPy array, or anything with ``__dlpack__``, in host memory or on a
        CUDA device; a DataArray or Variable of xarray; or what NumPy views without a copy: a
        memoryview or another buffer, or anything with ``__array_interface__``. Any rank up to 64,
        any strides (negative and zero included), any dtype whose elements have a fixed size:
        structured, bfloat16, float8 and datetime64 among them, objects not.
    axes : iterable of int, optional
        A permutation of ``range(x.ndim)``; negative numbers count from the end. Axis ``i`` of the
        result is axis ``axes[i]`` of `x`. By default the axes are reversed. For a DataArray or
        Variable of xarray names of its axes too, and one ellipsis for those that are not listed.
    shape : sequence of int, optional
        Read the one-dimensional `x`, such as the amplitudes of a quantum state, as a C-contiguous
        array of this shape, to whose axes `axes` refers; the result, and `out`, are
        one-dimensional as well.
    out : array, optional
        Where to write: a writable array of the result's shape and dtype, of any strides and any
        library, on the device of `x`, that shares no memory with it. By default a new C-contiguous
        array of the library of `x`, allocated by that library; of NumPy for buffers. Of structured
        elements only the fields are written, see the notes.
    stream : optional
        For arrays on a CUDA device: the stream that the work is ordered on, as a handle (an int),
        a stream of PyTorch or CuPy, or an object with ``__cuda_stream__``. By default the one that
        the library of `x` uses at that moment; for JAX and libraries that do not tell, CUDA's
        default stream. What the library of `out` does afterwards on the stream that it uses then is
        ordered too, if `stream` is not given.
    threads : int, optional
        For arrays in host memory: the most threads to use. By default `get_num_threads`. Small
        arrays use fewer.

    Returns
    -------
    array
        `out`, or a new array of the library of `x` with
        ``shape[i] == x.shape[axes[i]]``.

    Raises
    ------
    TypeError
        `x` is no array, holds Python objects or is a quantized tensor of PyTorch or one of raw
        bits, `axes` are no integers, or the dtype of `out` differs.
    ValueError
        `axes` is no permutation, `x` cannot be read as `shape`, or `out` has another shape, is
        read-only or overlaps `x`; `stream` is given for the host or `threads` for a GPU.
    BufferError
        The array is out of reach: `out` on another device than `x`, or on one that is neither the
        host nor CUDA's; a PyTorch tensor that is sparse or nested; an `out` whose conjugate or
        negative bit is set; `out` is given while PyTorch differentiates `x` or transforms the
        function; or `out` is of a library that ttlg does not know and exports DLPack without a
        version, so that nothing says whether it may be written to.
    CudaError
        The driver refused, one of the streams of `x` and `out` is captured in a CUDA graph and the
        other is not, or ttlg was built without CUDA.

    Notes
    -----
    The problem is normalised (modes of extent 1 dropped, adjacent modes fused: TTLG, section
    III), planned once per layout and kept in a cache; see `cache_info`.

    The result has the class of `x`: subclasses of ndarray keep it by ``__array_wrap__``, and those
    with a ``transpose`` of their own are refused. A DataArray or Variable of xarray keeps its
    names, coordinates and attributes; its data are transposed in their own library, those of Dask
    lazily, and read where they are in a file.

    Elements of an `out` such as ``records[["x", "y"]]`` have the bytes of other fields between
    their own, so only their fields are written, as by NumPy's assignment: each run of bytes by a
    plan of its own, which takes as many passes. Whole elements are written where nothing lies
    between the fields, and where the array that the memory belongs to was allocated with the dtype
    of `out`, so that it is padding. NumPy does not tell that of memory maps and other buffers; where
    their padding may change, pass ``x.view(f"V{x.itemsize}")``, and `out` viewed in the same way,
    for a single pass. Plans and `predict_time` tell of whole elements.

    Where the conjugate or negative bit of a PyTorch tensor is set, PyTorch resolves it first, in a
    copy.

    Tensors that PyTorch differentiates or traces (they require grad or have a tangent, are meta or
    fake tensors or of a subclass, or are seen by a transform of `torch.func`, by `torch.compile`,
    `torch.export`, ``make_fx`` or `torch.jit.trace`) go through the operator
    `ttlg.torch.transpose`, whose gradient is the inverse permutation; that takes PyTorch 2.5 or
    newer. A write to `out` counts as one in autograd.

    Small JAX arrays of a layout that keeps coming go through a compiled program, as they do in
    `jax.jit`: on the CPU, with JAX 0.8 or newer. JAX itself moves elements of less than a byte,
    random keys and what is sharded over several devices.

    On a CUDA device the result is ready when the stream gets there: nothing waits, and the call may
    be captured in a CUDA graph. JAX has streams of its own, so for its arrays the call waits until
    `x` is ready, and again until a new result is. Where `stream` is not the one that CuPy uses, or
    an `out` of another library takes what JAX holds, keep `x` until the work is done, so that its
    memory pool does not reuse the memory before; PyTorch's pool is told.

    An `out` of another library is written to after what that library has queued on its current
    stream, and what it queues there next comes after: CUDA events order the two streams, and no
    thread waits. While one of the two is captured in a graph and the other is not, the call fails,
    by `CudaError` if not in the exchange before. If `stream` is given, what follows on any other
    stream is the caller's to order; inside a capture, that is what to do about an `out` whose
    library does not tell its stream.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> images = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)  # NHWC
    >>> planes = ttlg.transpose(images, (0, 3, 1, 2))                            # NCHW
    >>> planes.shape, planes.flags.c_contiguous
    ((2, 3, 4, 5), True)
    >>> bool(planes[1, 2, 3, 4] == images[1, 3, 4, 2])
    True

    A state of three qubits, of which the first and the last are exchanged:

    >>> ttlg.transpose(np.arange(8), (2, 1, 0), shape=(2, 2, 2))
    array([0, 4, 2, 6, 1, 5, 3, 7])
    """
    if shape is not None:
        return _transpose_flat(x, axes, shape, out, stream, threads)
    if stream is None and x.__class__ is ndarray:
        result = transpose_ndarray(x, axes, out, threads)
        if result is not None:
            return result
    library = library_of(x)
    if out is None:
        return library.move_to_new(x, axes, stream, threads)
    library.move_into(x, axes, out, library_of(out), stream, threads)
    return out


def _transpose_flat(
    x: Any,
    axes: Axes | None,
    shape: Sequence[SupportsIndex],
    out: Any,
    stream: Any,
    threads: int | None,
) -> Any:
    """Transpose a one-dimensional array that is read as one of another shape."""
    extents = read_integers("shape", shape)
    refuse_without_reshape(x, "x")
    if len(x.shape) != 1 or min(extents, default=1) < 0 or math.prod(extents) != x.shape[0]:
        raise ValueError(
            f"x of shape {tuple(x.shape)} cannot be read as shape {extents}: shape= is for "
            "one-dimensional arrays of as many elements; pass x.reshape(-1), or the right extents"
        )
    straight = x.reshape(extents)
    if out is None:
        return transpose(straight, axes, stream=stream, threads=threads).reshape(x.shape)
    if tuple(out.shape) != tuple(x.shape):
        raise ValueError(
            f"out has shape {tuple(out.shape)}, but with shape= the result is one-dimensional as "
            f"x is; pass out of shape {tuple(x.shape)}"
        )
    order = normalize_axes(axes, extents)
    moved = out.reshape([extents[axis] for axis in order])  # a view, as out has one dimension
    transpose(straight, order, out=moved, stream=stream, threads=threads)
    return out


@overload
def permute_dims(x: MovedT, /, axes: Axes) -> MovedT: ...
@overload
def permute_dims(x: NamedT, /, axes: NamedAxes) -> NamedT: ...
@overload
def permute_dims(x: Buffer, /, axes: Axes) -> ndarray[Any, Any]: ...
def permute_dims(x: Any, /, axes: Any) -> Any:
    """Copy an array with its axes permuted: the array API's spelling of `transpose`.

    Unlike the standard's function it never returns a view: the result is a new C-contiguous array.

    Parameters
    ----------
    x : array
        As for `transpose`.
    axes : iterable of int
        As for `transpose`.

    Returns
    -------
    array
        A new array of the library of `x` with ``shape[i] == x.shape[axes[i]]``.

    Raises
    ------
    TypeError, ValueError, BufferError
        As for `transpose`.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.permute_dims(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    if axes is None:
        raise TypeError("permute_dims needs axes; ttlg.transpose(x) reverses them by default")
    return transpose(x, axes)


@overload
def permute(x: MovedT, *axes: SupportsIndex | Axes, **options: "Unpack[NewOptions]") -> MovedT: ...
@overload
def permute(x: NamedT, *axes: Hashable | NamedAxes, **options: "Unpack[NewOptions]") -> NamedT: ...
@overload
def permute(
    x: Buffer, *axes: SupportsIndex | Axes, **options: "Unpack[NewOptions]"
) -> ndarray[Any, Any]: ...
@overload
def permute(
    x: Array | Buffer,
    *axes: SupportsIndex | Axes,
    out: OutT,
    **options: "Unpack[CallOptions]",
) -> OutT: ...
def permute(
    x: Any, *axes: Any, out: Any = None, stream: Any = None, threads: int | None = None
) -> Any:
    """Copy an array with its axes permuted: PyTorch's spelling of `transpose`.

    Unlike PyTorch's function it never returns a view.

    Parameters
    ----------
    x : array
        As for `transpose`.
    *axes : int, or an iterable of int
        As for `transpose`: one after another, or all of them in one tuple.
    out, stream, threads : optional
        As for `transpose`.

    Returns
    -------
    array
        `out`, or a new C-contiguous array of the library of `x`.

    Raises
    ------
    TypeError, ValueError, BufferError, CudaError
        As for `transpose`.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.zeros((2, 3, 4))
    >>> ttlg.permute(x, 2, 0, 1).shape, ttlg.permute(x, (2, 0, 1)).shape
    ((4, 2, 3), (4, 2, 3))
    """
    order = axes[0] if len(axes) == 1 and not is_one_axis(axes[0]) else axes
    return transpose(x, order, out=out, stream=stream, threads=threads)
