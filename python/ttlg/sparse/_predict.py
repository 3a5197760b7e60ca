"""Predicted times of sparse transpositions."""

import operator
from typing import Any

import numpy as np

from ttlg import _core
from ttlg._arguments.dtypes import itemsize_of
from ttlg._typing import Axes, Integers
from ttlg.sparse._arrays import as_shape
from ttlg.sparse._layout import MATRIX_FORMATS, check_matrix, layout_of, perm_between, read_format
from ttlg.sparse._nonzeros import read_options


def predict_time(
    nnz: int,
    shape: Integers,
    axes: Axes | None = None,
    *,
    format: str = "coo",
    dtype: Any = "float64",
    index_dtype: Any = None,
    is_sorted: bool = True,
    threads: int | None = None,
    algorithm: str | None = None,
) -> float:
    """Predict how long `transpose` takes, without a tensor and without running anything.

    Parameters
    ----------
    nnz : int
        How many nonzeros there are.
    shape : iterable of int
        Of the input.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    format : str
        Of input and result: ``"coo"``, ``"csr"`` or ``"csc"``.
    dtype : dtype or str
        Of the values.
    index_dtype : dtype or str, optional
        Of the indices, int32 or int64. By default int32 where that holds them.
    is_sorted : bool
        Whether the nonzeros of the input are in lexicographic order already.
    threads, algorithm : optional
        As for `transpose`.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    TypeError, ValueError
        As for `transpose`.

    Notes
    -----
    The nonzeros are taken to be spread evenly.

    Examples
    --------
    >>> from ttlg import sparse
    >>> sparse.predict_time(10**6, (10**5, 10**5), format="csr") < 1  # seconds
    True
    """
    count = operator.index(nnz)
    if count < 0:
        raise ValueError(f"nnz must be 0 or more, not {count}")
    extents = as_shape(shape)
    order = _core.normalize_axes(axes, extents)
    fmt = read_format(format, "coo", ("coo", *MATRIX_FORMATS), "a prediction")
    check_matrix(fmt, len(extents))
    layout = layout_of(fmt, len(extents))
    options = read_options(algorithm, threads)
    if not extents:
        return 0.0
    if index_dtype is None:
        wide = max(*extents, count, 1) > 2**31
        index_dtype = np.int64 if wide else np.int32
    index_bytes = itemsize_of(index_dtype)
    if np.dtype(index_dtype) not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ValueError(f"index_dtype must be int32 or int64, not {index_dtype!r}")
    return _core.sparse_predict(
        count,
        [extents[axis] for axis in layout.order],
        list(perm_between(layout, order, layout)),
        itemsize_of(dtype),
        index_bytes,
        layout.compressed,
        layout.compressed,
        bool(is_sorted),
        *options,
    )
