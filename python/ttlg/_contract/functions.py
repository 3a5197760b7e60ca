"""Contractions by equations and by axes."""

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy import ndarray

from ttlg._arguments.dtypes import itemsize_of
from ttlg._arguments.layouts import read_extents
from ttlg._contract.contraction import Contraction, Estimate
from ttlg._contract.costs import Costs
from ttlg._contract.equation import from_lists, parse, symbols_of
from ttlg._contract.libraries import ANY, NUMPY, Products, deliver, products_of
from ttlg._contract.steps import Tensor
from ttlg._core import resolve_threads
from ttlg._settings.planner_cache import on_clear
from ttlg._typing import Integers

if TYPE_CHECKING:
    from ttlg._typing import OneOrMore

# How many contractions are kept; the oldest are forgotten first.
_MOST = 4096
_contractions: dict[Any, Contraction] = {}
_costs: dict[Any, Costs] = {}


@on_clear
def _forget() -> None:
    _contractions.clear()
    _costs.clear()


def _costs_of(
    products: Products,
    dtype: Any,
    itemsize: int,
    threads: int | None,
    device: str,
    flops: float | None,
) -> Costs:
    key = (products, str(dtype), threads or resolve_threads(None), device, flops)
    if key not in _costs:
        _costs[key] = Costs(products, dtype, itemsize, threads, device, flops)
    return _costs[key]


def costs_for(dtype: str, device: str, threads: int | None, flops: float | None) -> Costs:
    """Return the costs of contractions of NumPy, or of a GPU that need not be there."""
    on_host = device == "cpu"
    kind = np.dtype(dtype) if on_host else dtype
    products = NUMPY if on_host else ANY
    resolve_threads(threads)  # refuses what is no number of threads
    if flops is not None and not 0 < flops < math.inf:
        raise ValueError(f"flops must be a positive number of operations a second, not {flops!r}")
    return _costs_of(products, kind, itemsize_of(dtype), threads, device, flops)


def _keep(key: Any, contraction: Contraction) -> Contraction:
    while len(_contractions) >= _MOST:
        _contractions.pop(next(iter(_contractions)), None)
    _contractions[key] = contraction
    return contraction


def einsum(
    *operands: Any, out: Any = None, optimize: Any = "auto", threads: int | None = None
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
        A writable array of the result's shape and dtype, which is returned.
    optimize : str or bool or list or PathOptimizer, optional
        The order in which more than two operands are contracted, as for `opt_einsum.contract`;
        `ttlg.opt_einsum.TimeOptimizer` searches for the one of the least predicted time.
    threads : int, optional
        The most threads that transpose. Products use those of their library.

    Returns
    -------
    array
        Of the library of the operands. It may be a view whose axes are permuted, as NumPy's is: pass
        it to `ascontiguousarray` where its order in memory matters. For one operand it may be a view
        of that.

    Raises
    ------
    TypeError
        The operands are of several libraries, or of one that is not known.
    ValueError
        Equation and shapes do not fit, or `out` cannot take the result.

    See Also
    --------
    contraction : The same planned once, to look at and to call.
    predict_contraction : How long it takes.

    Notes
    -----
    TTGT (transpose, transpose, GEMM, transpose) with what GETT's and TBLIS's authors found to be its
    costs left out where BLAS takes a view. A contraction is planned once for an equation, shapes,
    strides, dtype and number of threads. From then on, up to five ways that are predicted to be about
    as fast are tried on calls that take long enough, unless `set_learning` says not to; so results
    of the first calls may differ in the last bits.

    Integers, objects and other dtypes that BLAS does not know, and JAX, are left to the library's own
    einsum. On a GPU only the transpositions are predicted, and the time of products is a guess from
    the memory's speed.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> a, b = np.ones((4, 5, 6)), np.ones((6, 5, 3))
    >>> ttlg.einsum("ijk,kjl->li", a, b).shape
    (3, 4)
    """
    contraction = _contractions.get(_key_of(operands, optimize, threads))
    if contraction is not None:
        return _result(contraction.run(operands[1:]), out)
    equation, *arrays = operands if operands else (None,)
    if not isinstance(equation, str):
        if len(operands) < 2:
            raise TypeError("einsum needs an equation such as 'ij,jk->ik' and its operands")
        equation, arrays = from_lists(operands)
    if not arrays:
        raise ValueError(f"equation {equation!r} needs operands")
    return _result(_contract(equation, arrays, optimize, threads), out)


def _key_of(operands: Sequence[Any], optimize: Any, threads: int | None) -> Any:
    """Return what tells contractions of two arrays of NumPy apart, or None for others.

    The first of `operands` is the equation, or the axes of `tensordot`.
    """
    if len(operands) == 3:
        text, x, y = operands
        if x.__class__ is ndarray and y.__class__ is ndarray and optimize.__class__ is str:
            dtype = x.dtype
            if y.dtype is dtype and (text.__class__ is str or _is_hashable(text)):
                most = threads or resolve_threads(None)
                return text, optimize, x.shape, x.strides, y.shape, y.strides, dtype, most
    return None


def _is_hashable(axes: Any) -> bool:
    """Whether axes are a number or tuples."""
    if axes.__class__ is not tuple:
        return axes.__class__ is int
    return all(each.__class__ is tuple or each.__class__ is int for each in axes)


def _result(result: Any, out: Any) -> Any:
    if out is not None:
        return deliver(result, out)
    return result[()] if result.__class__ is np.ndarray and result.ndim == 0 else result


def _contract(equation: str, arrays: Sequence[Any], optimize: Any, threads: int | None) -> Any:
    """Contract arrays of any library."""
    products, operands = products_of(arrays)
    if products.is_traced():
        return products.einsum(equation, *operands)
    dtype, itemsize, device = products.kind_of(operands)
    tensors = [(tuple(x.shape), products.strides(x)) for x in operands]
    key = (products, equation, threads, _hashable(optimize), resolve_threads(None), dtype, device)
    contraction = _contractions.get((*key, *tensors))
    if contraction is None:
        costs = _costs_of(products, dtype, itemsize, threads, device, None)
        contraction = _plan(equation, tensors, costs, optimize)
        _keep((*key, *tensors), contraction)
        direct = _key_of((equation, *arrays), optimize, threads)
        if direct is not None and all(map(operator.is_, arrays, operands)):
            _keep(direct, contraction)
    return contraction.run(operands)


def _hashable(optimize: Any) -> Any:
    return str(optimize) if isinstance(optimize, list) else optimize


def _plan(
    text: str,
    tensors: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    costs: Costs,
    optimize: Any,
) -> Contraction:
    equation = parse(text, [shape for shape, _ in tensors])
    named = [Tensor(term, *each) for term, each in zip(equation.terms, tensors, strict=True)]
    return Contraction(equation, named, costs, optimize)


def tensordot(
    a: Any,
    b: Any,
    axes: "SupportsIndex | tuple[OneOrMore, OneOrMore]" = 2,
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
    key = _key_of((axes, a, b), "tensordot", threads)
    planned = None if key is None else _contractions.get(key)
    if planned is not None:
        return deliver(planned.run((a, b)), out)
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
    result = _contract(equation, (a, b), "auto", threads)
    planned = _contractions.get(_key_of((equation, a, b), "auto", threads))
    if key is not None and planned is not None:
        _keep(key, planned)
    return deliver(result, out)


def _is_number(axes: Any) -> bool:
    return hasattr(axes, "__index__") and np.ndim(axes) == 0


def _paired_axes(axes: Any, *ranks: int) -> tuple[list[int], list[int]]:
    """Read which axes are summed, as numbers from 0 on."""
    if _is_number(axes):
        number = operator.index(axes)
        if not 0 <= number <= min(ranks):
            raise ValueError(
                f"tensordot over {number} axes of operands with {ranks[0]} and {ranks[1]}; pass "
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
                raise ValueError(f"axes {axes!r}: {name} has no axis {axis}, but {rank} axes")
        each[:] = [axis % rank for axis in each]
        if len(set(each)) < len(each):
            raise ValueError(f"axes {axes!r}: an axis of {name} is given twice")
    if len(first) != len(second):
        raise ValueError(f"axes {axes!r}: {len(first)} of a and {len(second)} of b, not as many")
    return first, second


def contraction(
    equation: str,
    *shapes: Integers,
    dtype: Any = "float64",
    strides: Sequence[Integers | None] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    optimize: Any = "auto",
    flops: float | None = None,
) -> Contraction:
    """Plan a contraction for repeated use, and to see how it will be done.

    Parameters
    ----------
    equation : str
        As for `einsum`.
    *shapes : iterable of int
        The shape of each operand.
    dtype : dtype or str
        Dtype of all operands.
    strides : sequence, optional
        For each operand its strides in bytes, or None for C-contiguous ones.
    device : str
        As for `plan`. On the CPU, NumPy multiplies.
    threads, optimize : optional
        As for `einsum`.
    flops : float, optional
        Floating-point operations of a matrix product a second. By default the products that come up
        are measured once, which takes a millisecond or so each; on a GPU it is a guess.

    Returns
    -------
    Contraction
        Callable with arrays of NumPy of these shapes.

    Raises
    ------
    ValueError, TypeError
        As for `einsum` and `plan`.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.contraction("abcd,be->aecd", (8, 9, 10, 11), (9, 12), flops=1e10).path
    ((0, 1),)
    """
    extents = [tuple(read_extents(shape)) for shape in shapes]
    if not extents:
        raise ValueError(f"equation {equation!r} needs the shapes of its operands")
    if strides is not None and len(strides) != len(extents):
        raise ValueError(
            f"strides of {len(strides)} operands are given, but there are {len(extents)}"
        )
    itemsize = itemsize_of(dtype)
    tensors = []
    for shape, given in zip(extents, strides or [None] * len(extents), strict=True):
        inner = [int(np.prod(shape[axis + 1 :])) * itemsize for axis in range(len(shape))]
        own = tuple(inner if given is None else map(operator.index, given))
        if len(own) != len(shape):
            raise ValueError(f"strides {own} are not as many as the axes of shape {shape}")
        tensors.append((shape, own))
    costs = costs_for(str(np.dtype(dtype)) if device == "cpu" else dtype, device, threads, flops)
    return _plan(equation, tensors, costs, optimize)


def predict_contraction(
    equation: str,
    *shapes: Integers,
    dtype: Any = "float64",
    device: str = "cpu",
    threads: int | None = None,
    optimize: Any = "auto",
    flops: float | None = None,
) -> Estimate:
    """Predict how long a contraction takes, without arrays.

    Parameters
    ----------
    equation : str
        As for `contraction`.
    *shapes : iterable of int
        The shape of each operand.
    dtype, device, threads, optimize, flops : optional
        As for `contraction`.

    Returns
    -------
    Estimate
        Seconds, those of transpositions and of products, what each step does, and the seconds of
        the other ways.

    Raises
    ------
    ValueError, TypeError
        As for `contraction`.

    Notes
    -----
    A repeated question takes some microseconds. With `flops` the answer depends on the time model of
    transpositions alone; without, products are measured when they come up first.

    Examples
    --------
    >>> import ttlg
    >>> shapes = (8, 9, 10, 11), (9, 12)
    >>> estimate = ttlg.predict_contraction("abcd,be->aecd", *shapes, flops=1e10)
    >>> estimate.seconds == estimate.transposing + estimate.multiplying
    True
    """
    asked = tuple(map(tuple, shapes))
    key = (
        equation,
        asked,
        str(dtype),
        device,
        threads,
        resolve_threads(None),
        _hashable(optimize),
        flops,
    )
    planned = _contractions.get(key)
    if planned is None:
        planned = contraction(
            equation,
            *asked,
            dtype=dtype,
            device=device,
            threads=threads,
            optimize=optimize,
            flops=flops,
        )
        _keep(key, planned)
    return planned.estimate()
