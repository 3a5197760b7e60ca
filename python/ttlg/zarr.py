"""Faster reads and writes of Zarr arrays whose chunks are stored in another axis order.

``ttlg.zarr.enable()`` lets Zarr move the elements of chunks with ttlg wherever their rows are taken
apart, for all that reads and writes through Zarr, such as xarray, Dask and cubed. What is stored
stays the same, byte for byte.

Importing this module imports Zarr, which ``pip install 'ttlg[zarr]'`` brings.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import zarr
from numpy.lib.recfunctions import repack_fields
from zarr.codecs import TransposeCodec as _TransposeCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import NDBuffer as _AnyNDBuffer
from zarr.core.buffer import cpu
from zarr.registry import get_buffer_class, register_codec, register_ndbuffer

from ttlg._functions.casts import cast_into
from ttlg._functions.copies import copyto
from ttlg._libraries.private_names import find

__all__ = ["NDBuffer", "TransposeCodec", "disable", "enable", "enabled"]

# Below this NumPy is as fast, as a call of ttlg takes microseconds more.
_MIN_BYTES = 1 << 19
# NumPy copies such elements with single instructions, as fast as ttlg, unless they are records.
_FAST_ITEMSIZE = 16
# Zarr decompresses chunks in other threads at the same time.
_THREADS = 1

_OURS = {"codecs.transpose": "ttlg.zarr.TransposeCodec", "ndbuffer": "ttlg.zarr.NDBuffer"}
_ZARRS = {
    "codecs.transpose": "zarr.codecs.transpose.TransposeCodec",
    "ndbuffer": "zarr.buffer.cpu.NDBuffer",
}

_ndarray = np.ndarray[Any, np.dtype[Any]]


def _is_view_key(key: Any) -> bool:
    """Return whether indexing with `key` gives a view: slices, integers, ellipses and new axes."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(k is None or k is ... or type(k) is int or isinstance(k, slice) for k in keys)


def _is_worth_moving(x: Any) -> bool:
    """Return whether ttlg may be faster on an array, and NumPy copies every byte of it, too."""
    if type(x) is not np.ndarray or x.nbytes < _MIN_BYTES or x.dtype.hasobject:
        return False
    if x.dtype.names is None:
        return x.itemsize != _FAST_ITEMSIZE
    return _is_packed(x.dtype)


def _is_packed(dtype: np.dtype[Any]) -> bool:
    """Return whether records have no padding, nor those inside them, in arrays too."""
    record = dtype.base
    if record.names is None:
        return True
    # With recurse=True NumPy would still leave out records in arrays.
    packed = bool(repack_fields(record) == record)
    return packed and all(_is_packed(record[name]) for name in record.names)


def _row_axis(x: _ndarray) -> int | None:
    """Return the axis whose elements follow each other in memory, or None."""
    axes = (a for a in range(x.ndim) if x.shape[a] > 1 and x.strides[a] == x.itemsize)
    return next(axes, None)


def _is_reordered(before: int | None, after: int | None) -> bool:
    """Return whether rows are taken apart, by their axes: NumPy does that slowly, and ttlg not.

    NumPy is as fast where rows stay rows or elements are picked from rows, as by ``x[:, ::2]``.
    """
    return before is not None and after is not None and before != after


def _copied(source: _ndarray, target: Any) -> bool:
    """Copy `source` to `target` with ttlg, or return False if NumPy is to do it, or to refuse."""
    if (
        type(target) is not np.ndarray
        or source.shape != target.shape
        or not _is_reordered(_row_axis(source), _row_axis(target))
    ):
        return False
    if source.dtype != target.dtype:
        return cast_into(target, source, _THREADS)
    try:
        copyto(target, source, threads=_THREADS)
    except ValueError:
        # ttlg refuses, before it writes, a target that is read-only or overlaps itself or the
        # source.
        return False
    return True


class NDBuffer(cpu.NDBuffer):
    """The arrays that Zarr decodes chunks to and collects them in, in host memory.

    It differs from ``zarr.buffer.cpu.NDBuffer`` in one thing: where an array is assigned whose
    elements lie in memory in another order than those that they replace, ttlg moves them.

    Parameters
    ----------
    array : numpy.ndarray
        Of any shape, strides and dtype.

    Examples
    --------
    >>> import numpy as np, ttlg.zarr
    >>> buffer = ttlg.zarr.NDBuffer(np.zeros((512, 1024)))
    >>> columns = np.ones((512, 512), order="F")
    >>> buffer[:, 512:] = columns
    >>> int(buffer.as_numpy_array().sum())
    262144
    """

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign as NumPy does, with its results and errors."""
        array: Any = value.as_ndarray_like() if isinstance(value, cpu.NDBuffer) else value
        if not (
            _is_worth_moving(array)
            and _is_view_key(key)
            and _copied(array, self.as_ndarray_like()[key])
        ):
            super().__setitem__(key, value)


# Zarr documents no method to override that encodes a chunk. Were it renamed, Zarr would encode.
find(_TransposeCodec, "_encode_single")


class TransposeCodec(_TransposeCodec):
    """Zarr's codec ``transpose``, which encodes chunks with ttlg.

    Decoding returns a view, as Zarr's own codec does; `NDBuffer` then copies it.

    Parameters
    ----------
    order : iterable of int
        A permutation of the axes: axis ``i`` of the stored chunk is axis ``order[i]`` of the array.

    Examples
    --------
    >>> import numpy as np, ttlg.zarr, zarr
    >>> array = zarr.create_array(
    ...     {}, shape=(512, 512), dtype="f8", filters=[ttlg.zarr.TransposeCodec(order=(1, 0))]
    ... )
    >>> array[:] = np.eye(512)
    >>> array.metadata.codecs[0].to_dict()
    {'name': 'transpose', 'configuration': {'order': (1, 0)}}
    """

    def _encode_sync(
        self, chunk_array: _AnyNDBuffer, _chunk_spec: ArraySpec
    ) -> _AnyNDBuffer | None:
        view = chunk_array.transpose(self.order)
        array: Any = view.as_ndarray_like()
        last = max((axis for axis in range(array.ndim) if array.shape[axis] > 1), default=None)
        if not (_is_worth_moving(array) and _is_reordered(_row_axis(array), last)):
            return view
        contiguous = np.empty(array.shape, array.dtype)
        copyto(contiguous, array, threads=_THREADS)
        return type(view).from_numpy_array(contiguous)

    async def _encode_single(
        self, chunk_array: _AnyNDBuffer, _chunk_spec: ArraySpec
    ) -> _AnyNDBuffer | None:
        return self._encode_sync(chunk_array, _chunk_spec)


def enable() -> None:
    """Let Zarr move the elements of chunks with ttlg, in this process, until `disable`.

    It sets ``ndbuffer`` and ``codecs.transpose`` in ``zarr.config``.

    Raises
    ------
    RuntimeError
        Zarr is configured to keep its buffers in the memory of a GPU.

    Notes
    -----
    ttlg moves the parts of chunks, of 512 KiB or more, whose rows are taken apart: where the last
    axis in memory of the stored chunk is another than that of the result. That is so for arrays
    with a ``transpose`` codec, unless it keeps the last axis, and for results in Fortran order
    (``config={"order": "F"}``). Everything else NumPy does, as before: arrays of format 2 with
    ``order="F"``, for instance, which Zarr reads into results in Fortran order. ttlg uses one thread
    for it, as Zarr decompresses other chunks at the same time.

    Reads are faster from the next one on. Writes are for arrays opened after the call, or created
    with the codec given by its name or as `TransposeCodec`.

    The settings hold for all threads of the process. Where others read, as the processes of Dask,
    let each call this function, or set them in the environment before Zarr is imported::

        ZARR_NDBUFFER=ttlg.zarr.NDBuffer
        ZARR_CODECS__TRANSPOSE=ttlg.zarr.TransposeCodec

    Examples
    --------
    >>> import numpy as np, ttlg.zarr, zarr
    >>> ttlg.zarr.enable()
    >>> transposed = {"name": "transpose", "configuration": {"order": [2, 1, 0]}}
    >>> array = zarr.create_array({}, shape=(64, 64, 64), dtype="f4", filters=[transposed])
    >>> array[:] = np.ones((64, 64, 64))
    >>> float(array[:].sum())
    262144.0
    >>> ttlg.zarr.disable()
    """
    _check_host()
    zarr.config.set(_OURS)


def disable() -> None:
    """Let Zarr use its own buffer and codec again.

    It sets ``ndbuffer`` and ``codecs.transpose`` in ``zarr.config`` to Zarr's defaults.

    Examples
    --------
    >>> import ttlg.zarr, zarr
    >>> ttlg.zarr.disable()
    >>> zarr.config.get("ndbuffer")
    'zarr.buffer.cpu.NDBuffer'
    """
    zarr.config.set(_ZARRS)


@contextmanager
def enabled() -> Iterator[None]:
    """Let Zarr move the elements of chunks with ttlg inside a ``with`` statement.

    At the end the settings of ``zarr.config`` are those from before, also after an exception.

    Returns
    -------
    context manager
        It may be nested. Like Zarr's settings it is for all threads of the process.

    Raises
    ------
    RuntimeError
        As for `enable`.

    Examples
    --------
    >>> import numpy as np, ttlg.zarr, zarr
    >>> array = zarr.create_array({}, shape=(512, 512), dtype="f8", zarr_format=2)
    >>> array[:] = np.eye(512)
    >>> with ttlg.zarr.enabled():
    ...     rows = array[:]
    >>> float(rows.trace())
    512.0
    """
    _check_host()
    with zarr.config.set(_OURS):
        yield


def _check_host() -> None:
    in_host_memory = issubclass(get_buffer_class(), cpu.Buffer)
    if not in_host_memory:
        raise RuntimeError(
            f"Zarr's buffers are set to {zarr.config.get('buffer')}, and ttlg.zarr works in host "
            'memory: zarr.config.set({"buffer": "zarr.buffer.cpu.Buffer"}) first'
        )


register_ndbuffer(NDBuffer)
register_codec("transpose", TransposeCodec)
