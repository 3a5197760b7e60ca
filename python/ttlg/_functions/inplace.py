"""Transposition without a second copy of the data."""

from collections.abc import Mapping
from typing import Any

from ttlg import _core
from ttlg._arguments.axes import read_axis
from ttlg._arguments.dtypes import named_type, numpy_dtype
from ttlg._arguments.sizes import read_workspace
from ttlg._libraries import library_of
from ttlg._libraries.element_maps import read_map, type_of
from ttlg._typing import ArrayT, Axes, Kernel, Size


def transpose_inplace(
    x: ArrayT,
    axes: Axes | None = None,
    *,
    stream: Any = None,
    threads: int | None = None,
    kernel: Kernel | None = None,
    parameters: Mapping[str, Any] | None = None,
    workspace: Size | None = None,
) -> ArrayT:
    """Permute the axes of an array in the memory that it has.

    The result is ``numpy.transpose(x, axes)``, laid out contiguously in the memory of `x`.

    Parameters
    ----------
    x : array
        Writable array of NumPy, PyTorch or CuPy, in host memory or on a CUDA device, in C or
        Fortran order without gaps, of any rank up to 64 and any dtype whose elements have a fixed
        size, objects not.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    stream : optional
        As for `transpose`: of a CUDA device, the stream that the work is ordered on.
    threads : int, optional
        The most threads to use in host memory. By default `get_num_threads`. Small arrays use
        fewer.
    kernel, parameters : optional
        As for `plan` with ``inplace=True``. A plan with parameters is made at every call: make one
        by `plan_for` where there are many.
    workspace : int or str, optional
        The most bytes to use besides the array, 1 or more, or a size such as ``"64M"``, with units
        as for `set_result_pool`. By default a twentieth of the array or
        2 MiB a thread (16 MiB on a CUDA device), whichever is more, and more than that only for
        matrices a few rows or columns of which exceed it. On a CUDA device it comes from the
        library of `x`.

    Returns
    -------
    array
        A view of the memory of `x`, with ``shape[i] == x.shape[axes[i]]``, in C order if `x` is,
        and else in Fortran order. `x` itself, and every older view of that memory, keeps its shape
        and shows elements at other indices than before. Where the conjugate or negative bit of a
        PyTorch tensor is set, it is set in the view as well.

    Raises
    ------
    TypeError
        `x` is no array, or one that cannot change, such as JAX's; it holds Python objects; `axes`
        are no integers, or `workspace` is neither one nor text.
    ValueError
        `axes` is no permutation; `x` has gaps or its axes in another order, or is read-only; `x`
        is structured, such as ``records[["x", "y"]]``, and has bytes between its fields that may
        belong to other arrays, as for `out` in `transpose`, which elements would take along;
        `workspace` is no size or too small for any way, and the message says how much is enough;
        `kernel` does not apply or cannot have the `parameters`, or `torch.compile` traces a call
        with either;
        `stream` is for an array in host memory, or `threads` for one on a CUDA device.
    BufferError
        The array is out of reach, or a PyTorch tensor that requires grad or that something else
        than `torch.compile` traces: as for `transpose`.
    MemoryError
        The system has no room for the workspace; on a CUDA device its library's own error.
    CudaError
        The driver refused.

    Notes
    -----
    Whatever can fail does so before the first element moves, so an array is as it was after an
    exception. Once elements move, nothing interrupts them: KeyboardInterrupt is delivered at the
    end.

    `torch.compile` and `torch.export` see an operator that writes to `x`, and a view of it.

    Any permutation is a sequence of steps that each transpose a batch of matrices where they lie,
    by kernels of several kinds: tiles of square matrices are exchanged, on a CUDA device in the
    order of a banded enumeration scheme (Gorawski and Lorek, section 5); C2R and R2C permute rows
    and columns of any matrix (Catanzaro et al., PPoPP 2014, Alg. 1). In host memory also, matrices
    that fit the workspace go through it, long ones of few rows or columns piece by piece; large
    elements move along the cycles of the permutation. The sequence of the least predicted time is
    taken.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> y = ttlg.transpose_inplace(x)
    >>> y
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    >>> np.shares_memory(x, y)
    True
    """
    from ttlg._planning.choices import (  # takes milliseconds to import
        check_choices,
        planned_inplace,
    )

    limit = read_workspace(workspace)
    check_choices(kernel, "model", True, workspace, parameters)
    library = library_of(x)
    operator = library.inplace_operator(stream)
    result: ArrayT
    if operator is not None:
        if kernel is not None or parameters:
            raise ValueError(
                "kernel= and parameters= are for calls that torch.compile does not trace: leave "
                "them out, or call a plan that was made outside"
            )
        result = operator(x, axes, threads, limit)
        return result
    view = library.view_inplace(x, stream)
    most = library.threads_for(view, threads)
    plan = planned_inplace(view, axes, most, limit, kernel, parameters)
    result = library.run_inplace(plan, x, view)
    return result


def transform_inplace(
    x: Any,
    axes: Axes | None = None,
    *,
    dtype: Any = None,
    scale: Any = None,
    offset: Any = None,
    conj: bool = False,
    axis: int | None = None,
    saturate: bool = True,
    threads: int | None = None,
    workspace: Size | None = None,
) -> Any:
    """Permute the axes of an array, and convert, scale and add to its elements, in its memory.

    The result is that of `transform`, laid out contiguously in the memory of `x`.

    Parameters
    ----------
    x : array
        As for `transpose_inplace`, in host memory, of elements that `transform` takes.
    axes : iterable of int, optional
        As for `transpose`; reversed by default. ``range(x.ndim)`` leaves elements where they are.
    dtype : dtype, optional
        Of the result: one that `transform` makes, whose elements take as many bytes as those of
        `x`. By default that of `x` in the machine's byte order.
    scale, offset, conj, axis, saturate : optional
        As for `transform`; `axis` is one of `x`.
    threads, workspace : optional
        As for `transpose_inplace`.

    Returns
    -------
    array
        A view of the memory of `x`, as by `transpose_inplace`, of the result's dtype.

    Raises
    ------
    TypeError, ValueError, BufferError, MemoryError
        As for `transpose_inplace` and `transform`; ValueError too where elements of `dtype` take
        another number of bytes, and BufferError where `x` is on a GPU.

    See Also
    --------
    transform : Into other memory; with `out` the memory of `x`, of any strides, without a view.

    Notes
    -----
    Elements are permuted first and computed then, in a pass of its own over the memory. Whatever can
    fail does so before the first element moves.

    Examples
    --------
    Numbers in the byte order of FITS files, brought into the machine's where they are:

    >>> import numpy as np, ttlg
    >>> x = np.arange(6, dtype=">f4").reshape(2, 3)
    >>> y = ttlg.transform_inplace(x, (0, 1), scale=2)
    >>> y
    array([[ 0.,  2.,  4.],
           [ 6.,  8., 10.]], dtype=float32)
    >>> np.shares_memory(x, y)
    True
    """
    from ttlg._planning.choices import planned_inplace  # takes milliseconds to import

    limit = read_workspace(workspace)
    library = library_of(x)
    view = library.view_inplace(x)
    if not view.on_host:
        raise BufferError(
            f"x lives on {view.device}, and ttlg.transform_inplace takes arrays in host memory so far; "
            "call ttlg.transpose_inplace, and compute by the array's own library"
        )
    from_type, swaps = type_of(x, view, "x")
    to_type = from_type if dtype is None else named_type(dtype)[0]
    if numpy_dtype(to_type).itemsize != view.itemsize:
        raise ValueError(
            f"x of shape {view.shape} has dtype {from_type}, whose elements take another number of "
            f"bytes than those of {to_type}: call ttlg.transform, which needs other memory"
        )
    order = _core.normalize_axes(axes, view.shape)
    along = None if axis is None else order.index(read_axis("axis", axis, len(order)))
    most = library.threads_for(view, threads)
    plan = planned_inplace(view, order, most, limit, None, None)
    fortran = not library.has_order(x, "C")
    moved = library.reshaped(x, tuple(view.shape[each] for each in order), fortran)
    result = library.viewed(moved, to_type) if swaps or to_type != from_type else moved
    source, target = library.view_inplace(moved), library.view_inplace(result)
    types = (from_type, swaps, to_type)
    values = read_map(source, types, (scale, offset, None), conj, along, saturate)
    call = None
    if not values[0].is_identity:
        call = _core.cpu_transform_for(source, range(len(order)), target, *values, most)
    library.run_inplace(plan, x, view)
    if call is not None:
        library.run_into(call, result, source, target)
    return result
