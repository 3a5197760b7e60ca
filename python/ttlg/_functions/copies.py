"""Copies whose axes keep their order: into another order in memory, and into another array."""

from typing import Any, Literal

from numpy import ndarray

from ttlg._core import transpose_ndarray
from ttlg._functions.mirror import mirror_in_place
from ttlg._libraries import library_of, shape_of
from ttlg._libraries.dlpack import Library, inplace_plan_for
from ttlg._typing import Array, ArrayT, Buffer


def asorder(
    x: ArrayT,
    order: Literal["C", "F"],
    *,
    inplace: bool = False,
    stream: Any = None,
    threads: int | None = None,
) -> ArrayT:
    """Lay an array out in C or Fortran order: the same shape and elements, with other strides.

    Parameters
    ----------
    x : array
        As for `transpose`; with `inplace` as for `transpose_inplace`.
    order : str
        ``"C"``: the last axis is contiguous in memory; ``"F"``: the first one.
    inplace : bool
        Move the elements in the memory of `x` instead of copying them to new memory. Older views
        of that memory, `x` among them, show other elements then.
    stream, threads : optional
        As for `transpose`.

    Returns
    -------
    array
        `x` itself if it has this order already, a view of its memory with `inplace`, and else a
        new array.

    Raises
    ------
    TypeError, ValueError, BufferError, CudaError, MemoryError
        As for `transpose` and `transpose_inplace`, and ValueError for an unknown `order`.

    See Also
    --------
    ascontiguousarray, asfortranarray : The two orders under NumPy's names.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.arange(6).reshape(2, 3)
    >>> y = ttlg.asorder(x, "F", inplace=True)
    >>> y
    array([[0, 1, 2],
           [3, 4, 5]])
    >>> y.flags.f_contiguous, np.shares_memory(x, y)
    (True, True)
    """
    if order not in ("C", "F"):
        raise ValueError(f"unknown order {order!r}; choose one of 'C', 'F'")
    library = library_of(x)
    view = library.view_inplace(x, stream) if inplace else None
    if library.has_order(x, order):
        return x
    shape = shape_of(x, "x")
    if view is not None:
        plan = inplace_plan_for(view, None, library.threads_for(view, threads))
        library.run_inplace(plan, x, view)
        moved = x
    elif order == "F":
        moved = library.move_to_new(x, None, stream, threads)
    else:
        contiguous: ArrayT = library.move_to_new(x, range(len(shape)), stream, threads)
        return contiguous
    result: ArrayT = library.reshaped(moved, shape, order == "F")
    return result


def ascontiguousarray(x: ArrayT, *, stream: Any = None, threads: int | None = None) -> ArrayT:
    """Return a C-contiguous array: `numpy.ascontiguousarray`, or PyTorch's ``x.contiguous()``.

    Parameters
    ----------
    x : array
        As for `transpose`: an array, not a list.
    stream, threads : optional
        As for `transpose`.

    Returns
    -------
    array
        `x` itself if its last axis is contiguous in memory and so on, and else a new array with
        its shape and elements. Unlike NumPy's, a result of rank 0 keeps its rank.

    Raises
    ------
    TypeError, ValueError, BufferError, CudaError
        As for `transpose`.

    See Also
    --------
    asorder : Either order, also in place.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.arange(6).reshape(2, 3)
    >>> ttlg.ascontiguousarray(x) is x
    True
    >>> ttlg.ascontiguousarray(x.T)
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    return asorder(x, "C", stream=stream, threads=threads)


def asfortranarray(x: ArrayT, *, stream: Any = None, threads: int | None = None) -> ArrayT:
    """Return an array in Fortran order: `numpy.asfortranarray`.

    Parameters
    ----------
    x, stream, threads : array, optional
        As for `ascontiguousarray`. Arrays of JAX have no such order.

    Returns
    -------
    array
        `x` itself if its first axis is contiguous in memory and so on, and else a new array with
        its shape and elements.

    Raises
    ------
    TypeError, ValueError, BufferError, CudaError
        As for `transpose`.

    See Also
    --------
    asorder : Either order, also in place.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.arange(6).reshape(2, 3)
    >>> y = ttlg.asfortranarray(x)
    >>> y.strides == (8, 16), bool((y == x).all())
    (True, True)
    """
    return asorder(x, "F", stream=stream, threads=threads)


def copyto(
    dst: Array | Buffer, src: Array | Buffer, *, stream: Any = None, threads: int | None = None
) -> None:
    """Copy the elements of one array into another: `numpy.copyto`, or PyTorch's ``dst.copy_``.

    Parameters
    ----------
    dst : array
        Where to write: a writable array of any strides and any library, in host memory or on a
        CUDA device, that shares no memory with `src`, or has just its elements where both are
        NumPy's: some axes are reversed in place then, in 1 MiB besides the array. Of structured
        elements only the fields are written, as for `transpose`.
    src : array
        Of any strides, on the device of `dst`. Its dtype is that of `dst`, as elements are moved
        and not cast. It is broadcast to the shape of `dst`.
    stream, threads : optional
        As for `transpose`.

    Raises
    ------
    TypeError
        One of the two is no array or holds Python objects, or the dtypes differ.
    ValueError
        `src` does not broadcast to the shape of `dst`, or `dst` is read-only, overlaps `src` in
        another way or holds several of its elements at one address.
    BufferError, CudaError
        As for `transpose`, with `dst` as `out`.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> dst = np.zeros((2, 3), order="F")
    >>> ttlg.copyto(dst, np.array([1.0, 2.0, 3.0]))
    >>> dst
    array([[1., 2., 3.],
           [1., 2., 3.]])
    >>> ttlg.copyto(dst, dst[:, ::-1])  # in place
    >>> dst
    array([[3., 2., 1.],
           [3., 2., 1.]])
    """
    given, wanted = shape_of(src, "src"), shape_of(dst, "dst")
    axes = tuple(range(len(wanted)))
    plain = stream is None and src.__class__ is ndarray and dst.__class__ is ndarray
    try:
        if plain and transpose_ndarray(src, axes, dst, threads) is not None:
            return
        library = library_of(src)
        source = src if given == wanted else _broadcast(library, src, given, wanted)
        library.move_into(source, axes, dst, library_of(dst), stream, threads, ("src", "dst"))
    except ValueError:
        if stream is not None or not mirror_in_place(dst, src, threads):
            raise


def _broadcast(library: Library, src: Any, given: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    """Broadcast `src`, an array of `library` and of shape `given`, to the shape `wanted`."""
    fits = len(given) <= len(wanted) and all(
        extent in (1, into) for extent, into in zip(given[::-1], wanted[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"src of shape {given} does not broadcast to dst of shape {wanted}; "
            "each of its extents, from the last one, must be 1 or that of dst"
        )
    return library.broadcast(src, wanted)
