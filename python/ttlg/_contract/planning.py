"""Contractions planned and predicted without arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ttlg._arguments.dtypes import itemsize_of
from ttlg._arguments.layouts import read_byte_strides, read_extents
from ttlg._arguments.words import count_of
from ttlg._contract.contraction import Contraction, Estimate
from ttlg._contract.kept import contractions, costs_for, hashable, keep, planned_from
from ttlg._contract.product_threads import numbers_of
from ttlg._model_files import device_key
from ttlg._typing import Device, Integers


def contraction(
    equation: str,
    *shapes: Integers,
    dtype: Any = "float64",
    strides: Sequence[Integers | None] | None = None,
    device: Device = "cpu",
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
    device : str or path
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
            f"strides are given of {count_of(len(strides), 'operand')}, but there are {len(extents)}"
        )
    itemsize = itemsize_of(dtype)
    tensors = []
    for shape, given in zip(extents, strides or [None] * len(extents), strict=True):
        tensors.append((shape, read_byte_strides(shape, itemsize, given, None)))
    costs = costs_for(str(np.dtype(dtype)) if device == "cpu" else dtype, device, threads, flops)
    return planned_from(equation, tensors, costs, optimize)


def predict_contraction(
    equation: str,
    *shapes: Integers,
    dtype: Any = "float64",
    device: Device = "cpu",
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
    asked = tuple(map(read_extents, shapes))
    key = (
        equation,
        asked,
        str(dtype),
        device_key(device),
        threads,
        numbers_of(threads),
        hashable(optimize),
        flops,
    )
    planned = contractions.get(key)
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
        keep(key, planned)
    return planned.estimate()
