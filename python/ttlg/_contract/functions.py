"""Contractions by equations and by axes."""

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy import ndarray

from ttlg._arguments.words import count_of
from ttlg._contract.equation import from_lists, symbols_of
from ttlg._contract.kept import contractions, costs_of, hashable, keep, planned_from
from ttlg._contract.libraries import products_of
from ttlg._contract.outputs import add_to, check_shape, deliver, out_strides
from ttlg._contract.product_threads import numbers_of
from ttlg._typing import ArrayT, ContractOptions, OneOrMore, OutT

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

PairedAxes: TypeAlias = SupportsIndex | tuple[OneOrMore, OneOrMore]
ScalarT = TypeVar("ScalarT", bound=np.generic)


@overload
def einsum(
    equation: str,
    /,
    *operands: ndarray[Any, np.dtype[ScalarT]],
    **options: "Unpack[ContractOptions]",
) -> "NDArray[ScalarT]": ...
@overload
def einsum(equation: str, /, *operands: ArrayT, **options: "Unpack[ContractOptions]") -> ArrayT: ...
@overload
def einsum(
    *operands: Any,
    out: OutT,
    accumulate: bool = False,
    optimize: Any = "auto",
    threads: int | None = None,
) -> OutT: ...
@overload
def einsum(*operands: Any, **options: "Unpack[ContractOptions]") -> Any: ...
def einsum(
    *operands: Any,
    out: Any = None,
    accumulate: bool = False,
    optimize: Any = "auto",
    threads: int | None = None,
) -> Any:
    """Contract tensors by Einstein's summation convention, planned by predicted time.

    Two tensors at a time are contracted as matrix products of their library. What brings them into
    the form of matrices is chosen by its predicted time: the order of the modes, which operands are
    transposed and which are taken as they lie, and modes that many smaller products are looped over
    instead.

    Parameters
    ----------
    *operands : str and arrays
        The equation, as for `numpy.einsum`: repeated, broadcast and summed labels, an ellipsis and
        an output left out are understood. Then arrays of NumPy, PyTorch, CuPy or JAX, all of one
        library. NumPy's other form, arrays and lists of labels in turns, will do too.
    out : array, optional
        A writable array of the result's shape and dtype, which is returned: of any library, in the
        memory where the result would be, and sharing none with an operand.
    accumulate : bool, default False
        Add the result to what `out` has instead of replacing it: in the pass that brings it there,
        by `transform`, where elements are floating-point or complex numbers in host memory.
    optimize : str or bool or list or PathOptimizer, optional
        The order in which more than two operands are contracted, as for `opt_einsum.contract`;
        `ttlg.opt_einsum.TimeOptimizer` searches for the one of the least predicted time.
    threads : int, optional
        The most threads that transpose, and that multiply where their number can be changed: see
        the notes.

    Returns
    -------
    array
        Of the library of the operands: a NumPy scalar where no axis is left. It may be a view whose
        axes are permuted, as NumPy's is: pass it to `ascontiguousarray` where its order in memory
        matters. For one operand it may be a view of that.

    Raises
    ------
    TypeError
        The operands are of several libraries, or of one that is not known, or `out` is no array or
        has another dtype than the result, which is not converted.
    ValueError
        Equation and shapes do not fit, or `out` has another shape than the result, is read-only,
        shares memory with an operand or holds several of its elements at one address; or
        `accumulate` without `out`.
    BufferError
        `out` is on another device than the result, or PyTorch would have to differentiate it.
    MemoryError
        Neither the result nor parts of the operands could be allocated.

    Nothing is computed before `out` is refused.

    See Also
    --------
    contraction : The same planned once, to look at and to call.
    predict_contraction : How long it takes.

    Notes
    -----
    TTGT (transpose, transpose, GEMM, transpose) with what GETT's and TBLIS's authors found to be its
    costs left out where BLAS takes a view. A contraction is planned once for an equation, shapes,
    strides, dtype and number of threads. From then on, up to six ways that are predicted to be about
    as fast are tried on calls that take long enough, unless `set_learning` says not to; so results
    of the first calls may differ in the last bits.

    Beside the result, at most twice the bytes of it and of the memory of both operands are allocated
    for a pair of tensors, and 8 MiB where that is less. Elements that share memory, as those of
    sliding windows and broadcast axes do, count once. A way that would need more is done in parts
    that are joined, or NumPy sums products in one pass over the operands as they lie. Where memory
    runs out all the same, another way is chosen for this and later calls.

    Threads that multiply are limited where a number is chosen, by `threads`, `ttlg.threads`,
    `set_num_threads` or ``TTLG_NUM_THREADS``, and is below that of the processors: PyTorch's, and
    those of NumPy's BLAS if threadpoolctl is installed. Such a limit holds for the whole process
    while the call runs; the least of several that run at once does. JAX and GPUs use their own.

    Integers, objects and other dtypes that BLAS does not know, and JAX, are left to the library's own
    einsum. On a GPU only the transpositions are predicted, and the time of products is a guess from
    the memory's speed.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> a, b = np.ones((4, 5, 6)), np.ones((6, 5, 3))
    >>> total = ttlg.einsum("ijk,kjl->li", a, b)
    >>> total.shape
    (3, 4)
    >>> ttlg.einsum("ijk,kjl->li", a, b, out=total, accumulate=True)[0]
    array([60., 60., 60., 60.])
    """
    contraction = contractions.get(_key_of(operands, optimize, threads, out))
    if contraction is not None:
        return _result(contraction.run(operands[1:], out, accumulate), out)
    equation, *arrays = operands if operands else (None,)
    if not isinstance(equation, str):
        if len(operands) < 2:
            raise TypeError("einsum needs an equation such as 'ij,jk->ik' and its operands")
        equation, arrays = from_lists(operands)
    if not arrays:
        raise ValueError(f"equation {equation!r} needs operands")
    return _result(_contract(equation, arrays, optimize, threads, out, accumulate), out)


def _key_of(operands: Sequence[Any], optimize: Any, threads: int | None, out: Any) -> Any:
    """Return what tells contractions of two arrays of NumPy apart, or None for others.

    The first of `operands` is the equation, or the axes of `tensordot`.
    """
    if len(operands) == 3:
        text, x, y = operands
        if x.__class__ is ndarray and y.__class__ is ndarray and optimize.__class__ is str:
            dtype = x.dtype
            if y.dtype is dtype and (text.__class__ is str or _ishashable(text)):
                given = (x.shape, x.strides, y.shape, y.strides, out_strides(out))
                return text, optimize, dtype, numbers_of(threads), given
    return None


def _ishashable(axes: Any) -> bool:
    """Whether axes are a number or tuples."""
    if axes.__class__ is not tuple:
        return axes.__class__ is int
    return all(each.__class__ is tuple or each.__class__ is int for each in axes)


def _result(result: Any, out: Any) -> Any:
    is_scalar = out is None and result.__class__ is ndarray and result.ndim == 0
    return result[()] if is_scalar else result


def _contract(
    equation: str,
    arrays: Sequence[Any],
    optimize: Any,
    threads: int | None,
    out: Any,
    accumulate: bool = False,
) -> Any:
    """Contract arrays of any library."""
    products, operands = products_of(arrays)
    if products.is_traced():
        result = products.einsum(equation, *operands)
        if out is not None:
            check_shape(out, tuple(result.shape))
        return add_to(out, result) if accumulate else deliver(result, out)
    dtype, itemsize, device = products.kind_of(operands)
    tensors = [(tuple(x.shape), products.strides(x)) for x in operands]
    settings = (equation, threads, numbers_of(threads), hashable(optimize), out_strides(out))
    key = (products, dtype, device, *settings, *tensors)
    contraction = contractions.get(key)
    if contraction is None:
        costs = costs_of(products, dtype, itemsize, threads, device, None)
        contraction = planned_from(equation, tensors, costs, optimize, out)
        keep(key, contraction)
        direct = _key_of((equation, *arrays), optimize, threads, out)
        if direct is not None and all(map(operator.is_, arrays, operands)):
            keep(direct, contraction)
    return contraction.run(operands, out, accumulate)


@overload
def tensordot(
    a: ndarray[Any, np.dtype[ScalarT]],
    b: ndarray[Any, np.dtype[ScalarT]],
    axes: PairedAxes = 2,
    *,
    out: None = None,
    threads: int | None = None,
) -> "NDArray[ScalarT]": ...
@overload
def tensordot(
    a: ArrayT,
    b: ArrayT,
    axes: PairedAxes = 2,
    *,
    out: None = None,
    threads: int | None = None,
) -> ArrayT: ...
@overload
def tensordot(
    a: Any, b: Any, axes: PairedAxes = 2, *, out: OutT, threads: int | None = None
) -> OutT: ...
@overload
def tensordot(
    a: Any, b: Any, axes: PairedAxes = 2, *, out: None = None, threads: int | None = None
) -> Any: ...
def tensordot(
    a: Any,
    b: Any,
    axes: PairedAxes = 2,
    *,
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Contract two tensors over pairs of axes.

    Parameters
    ----------
    a, b : array
        Arrays of NumPy, PyTorch, CuPy or JAX, both of one library.
    axes : int or pair of int or of sequences of int
        As for `numpy.tensordot`: how many of the last axes of `a` are summed with as many of the
        first ones of `b`, or which axes of `a` with which of `b`.
    out, threads : optional
        As for `einsum`.

    Returns
    -------
    array
        The axes of `a` that are left, followed by those of `b`; as for `einsum`, it may be a view
        whose axes are permuted.

    Raises
    ------
    TypeError
        As for `einsum`.
    ValueError
        An axis is out of range or given twice, or extents differ.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.tensordot(np.ones((4, 5, 6)), np.ones((6, 5, 3)), ((1, 2), (1, 0))).shape
    (4, 3)
    """
    key = _key_of((axes, a, b), "tensordot", threads, out)
    planned = None if key is None else contractions.get(key)
    if planned is not None:
        return planned.run((a, b), out)
    ranks = [len(np.shape(x)) for x in (a, b)]
    first, second = _paired_axes(axes, *ranks)
    symbols = symbols_of(sum(ranks))
    left, right = symbols[: ranks[0]], symbols[ranks[0] :]
    shapes = np.shape(a), np.shape(b)
    for i, j in zip(first, second, strict=True):
        if shapes[0][i] != shapes[1][j]:
            raise ValueError(
                f"tensordot of shapes {tuple(shapes[0])} and {tuple(shapes[1])}: axis {i} of a and "
                f"axis {j} of b are summed together, but have extents {shapes[0][i]} and "
                f"{shapes[1][j]}"
            )
        right[j] = left[i]
    kept = [x for i, x in enumerate(left) if i not in first]
    kept += [x for j, x in enumerate(right) if j not in second]
    equation = "".join([*left, ",", *right, "->", *kept])
    result = _contract(equation, (a, b), "auto", threads, out)
    planned = contractions.get(_key_of((equation, a, b), "auto", threads, out))
    if key is not None and planned is not None:
        keep(key, planned)
    return result


def _is_number(axes: Any) -> bool:
    return hasattr(axes, "__index__") and np.ndim(axes) == 0


def _paired_axes(axes: Any, *ranks: int) -> tuple[list[int], list[int]]:
    """Read which axes are summed, as numbers from 0 on."""
    if _is_number(axes):
        number = operator.index(axes)
        if not 0 <= number <= min(ranks):
            raise ValueError(
                f"tensordot over {count_of(number, 'axis')} of operands with {ranks[0]} and {ranks[1]}; pass "
                f"axes= from 0 to {min(ranks)}, or which they are"
            )
        return list(range(ranks[0] - number, ranks[0])), list(range(number))
    try:
        both = [[each] if _is_number(each) else list(each) for each in axes]
        first, second = ([operator.index(axis) for axis in each] for each in both)
    except (TypeError, ValueError):
        raise TypeError(
            f"axes must be a number, or the axes of a and those of b, not {axes!r}"
        ) from None
    for name, each, rank in zip("ab", (first, second), ranks, strict=True):
        for axis in each:
            if not -rank <= axis < rank:
                raise ValueError(
                    f"axes {axes!r}: {name} has no axis {axis}, but {count_of(rank, 'axis')}"
                )
        each[:] = [axis % rank for axis in each]
        if len(set(each)) < len(each):
            raise ValueError(f"axes {axes!r}: an axis of {name} is given twice")
    if len(first) != len(second):
        raise ValueError(f"axes {axes!r}: {len(first)} of a and {len(second)} of b, not as many")
    return first, second
