"""Transposing Dask arrays, in memory and into files larger than memory.

Dask cuts an array into blocks, decides which of them are worked on at a time, and draws its own
progress bar (`dask.diagnostics.ProgressBar`); ttlg moves the elements. Importing this module
imports `dask.array`.
"""

import sys
import uuid
from typing import Any

import dask.array as da
import numpy as np

import ttlg
from ttlg._files.mapped_file import MappedFile
from ttlg._functions.casts import cast_into
from ttlg._libraries import dask_operator
from ttlg._typing import Axes

__all__ = ["Target", "store", "transpose"]


def transpose(x: da.Array, axes: Axes | None = None, *, threads: int = 1) -> da.Array:
    """Permute the axes of a Dask array into blocks that are contiguous.

    `dask.array.transpose` permutes the axes of every block as a view, which the next
    operation reads with strides. Here every block is copied in the new order when it is
    computed, by `ttlg.transpose`.

    Parameters
    ----------
    x : dask.array.Array
        Of any rank up to 64 and any dtype whose elements have a fixed size. The sizes of its chunks
        may be unknown.
    axes : iterable of int, optional
        As for `ttlg.transpose`; reversed by default.
    threads : int
        The most threads that one block in host memory uses. By default 1, since Dask works on
        several blocks at a time; more are of use with ``scheduler="synchronous"``.

    Returns
    -------
    dask.array.Array
        A lazy array with ``shape[i] == x.shape[axes[i]]`` and ``chunks[i] == x.chunks[axes[i]]``,
        whose blocks are C-contiguous. Equal arguments give equal names.

    Raises
    ------
    TypeError
        `x` is no Dask array, its blocks cannot be transposed (objects, masked arrays), or `axes`
        are no integers.
    ValueError
        `axes` is no permutation.

    See Also
    --------
    Target : For a result that is only stored.

    Notes
    -----
    For a result that is only stored, ``x.transpose(axes)`` with a `Target` is better: the
    elements are then moved once, from the blocks of `x` to the result, and not a second time
    from the transposed block. This function is for blocks that are computed with.

    Examples
    --------
    >>> import dask.array as da, ttlg.dask
    >>> images = da.zeros((8, 32, 32, 3), chunks=(4, 32, 32, 3), dtype="float32")  # NHWC
    >>> planes = ttlg.dask.transpose(images, (0, 3, 1, 2))                         # NCHW
    >>> planes.shape, planes.chunksize
    ((8, 3, 32, 32), (4, 3, 32, 32))
    >>> planes.blocks[0].compute().flags.c_contiguous
    True
    """
    return dask_operator.transpose(x, axes, threads, ttlg.transpose)


def store(
    x: da.Array,
    array: Any,
    axes: Axes | None = None,
    *,
    region: tuple[slice, ...] | None = None,
    threads: int = 1,
    **options: Any,
) -> Any:
    """Store a transposed Dask array, after a check that its shape is that of the target.

    It does ``dask.array.store(x.transpose(axes), Target(array), lock=False)``. Dask tells a
    `Target` where the blocks go and not how large the stored array is, so without this check an
    array that is smaller than `array` would leave the rest of it as it was.

    Parameters
    ----------
    x : dask.array.Array
        As for `transpose`, of a known shape.
    array : numpy.ndarray, numpy.memmap, zarr.Array or Target
        As for `Target`.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    region : tuple of slice, optional
        The part of `array` to write, one slice for each axis; all of it by default.
    threads : int
        As for `Target`.
    **options : object
        For `dask.array.store`, such as ``compute=False``, and for the scheduler.

    Returns
    -------
    None or what `dask.array.store` returns
        None, unless `options` ask for more.

    Raises
    ------
    TypeError
        `x` is no Dask array, or as for `Target`.
    ValueError
        The transposed `x` has another shape than `array`, or than its `region`, and nothing has
        been written; `axes` is no permutation; or as for `Target`.

    Examples
    --------
    >>> import dask.array as da, numpy as np, ttlg.dask
    >>> x = da.arange(12, chunks=6).reshape(3, 4)
    >>> out = np.zeros((4, 3), x.dtype)
    >>> ttlg.dask.store(x, out)
    >>> out[3].tolist()
    [3, 7, 11]
    """
    order = dask_operator.order_of(x, axes)
    moved = x.transpose(order)
    target: Any = array if isinstance(array, Target) else Target(array, threads=threads)
    room = target.shape
    if region is not None:
        if len(region) != len(room):
            raise ValueError(f"region {region} does not fit shape {room}: give a slice per axis")
        room = tuple(
            len(range(*each.indices(extent))) for each, extent in zip(region, room, strict=True)
        )
    if moved.shape != room:
        raise ValueError(
            f"x of shape {x.shape} transposed has shape {moved.shape}, but "
            f"{'the array' if region is None else 'its region'} has shape {room}; pass an array "
            "of that shape, or the region= that is to be written"
        )
    return da.store(moved, target, lock=False, regions=region, **options)


def _is_zarr(array: Any) -> bool:
    # Zarr is imported where there is an array of it.
    return "zarr" in sys.modules and isinstance(array, sys.modules["zarr"].Array)


class Target:
    """Where `dask.array.store` puts a transposed array, in one pass over the elements.

    ``da.store(x.transpose(axes), Target(array), lock=False)`` moves every element once, by
    `ttlg.copyto`, from the blocks of `x` to `array`. If `x` reads a memmap
    and `array` is one, there is no copy in between, and memory holds the blocks that are worked
    on and no more.

    Parameters
    ----------
    array : numpy.ndarray, numpy.memmap or zarr.Array
        Where to write: writable, of the shape of what is stored, of any strides and any dtype.
    threads : int
        The most threads that one block uses. By default 1, since Dask works on several blocks at a
        time; more are of use with ``scheduler="synchronous"``. Zarr uses its own.

    Raises
    ------
    TypeError
        `array` is something else; give it to `dask.array.store` itself.
    ValueError
        `array` is read-only.

    See Also
    --------
    store : The same in one call, which checks the shape first.
    transpose : For blocks that are computed with.

    Notes
    -----
    Blocks whose dtype is that of `array` are moved bit for bit; others are cast as NumPy's
    assignment casts, in the same pass where `ttlg.transform` gives the same bits, which may lose
    digits and wrap integers around without an error. A block that
    reaches beyond `array` is refused. An array that is smaller than `array` is not, as a part may
    be meant, and the rest keeps what it held; `store` refuses it before anything is written. What
    `dask.array.store` has written before an error stays written.

    **Sources.** `dask.array.from_array` copies a memmap into memory, and Dask sends one to other
    processes with all its elements. Open the file where a block is read, as in the example.

    **Schedulers.** A memmap is opened again by the name of its file for each block, and unmapped
    afterwards, so that a process is not charged for pages that it no longer needs. Other processes
    (``scheduler="processes"``, `distributed`) get that name and the offset of the elements, never
    the elements; the file must have the same name there. A Zarr array sends the address of its
    store. An array in memory cannot be shared, so pickling its Target raises a TypeError.

    **Locks.** Blocks do not overlap, so ``lock=False`` is right, and the default of
    `dask.array.store`, a lock, would write one block at a time. A block must be whole chunks of a
    Zarr array (shards, if it has them): two blocks that write parts of a chunk at a time lose one
    of the parts. Other blocks are refused with a ValueError.

    **Chunks.** A block of `x` should have long contiguous runs both where it is read and where it
    is written: give it the whole of the axes that are last in `x` and last in the result, or
    as much of them as memory allows, and cut the others. Runs below 4 KiB, a page, make the disk
    read and write the same pages several times, many times over where the file is larger than
    memory. Where runs are shorter than what the system reads ahead of a mapped file (``cat
    /sys/block/*/queue/read_ahead_kb``, often 128 KiB), it reads more than is asked for; runs of a
    MiB and more are good. As many blocks as Dask has workers, read and written, should take less
    than half of the memory.

    **Files.** As with any memmap, other processes see what was written at once, and the system
    writes it to the disk in its own time: call ``array.flush()`` where it has to be there.

    Examples
    --------
    From one ``.npy`` file to another, each of any size:

    >>> import os, tempfile, dask.array as da, numpy as np, ttlg.dask
    >>> folder = tempfile.TemporaryDirectory()
    >>> source, result = (os.path.join(folder.name, name) for name in ("nhwc.npy", "nchw.npy"))
    >>> np.save(source, np.arange(8 * 6 * 5 * 3, dtype="float32").reshape(8, 6, 5, 3))
    >>> def read(path, block_info=None):
    ...     bounds = block_info[None]["array-location"]
    ...     return np.load(path, mmap_mode="r")[tuple(slice(*each) for each in bounds)]
    >>> x = da.map_blocks(
    ...     read, source, chunks=((4, 4), 6, 5, 3), dtype="float32", meta=np.empty((0,) * 4, "f4")
    ... )
    >>> out = np.lib.format.open_memmap(result, "w+", np.float32, (8, 3, 6, 5))
    >>> da.store(x.transpose(0, 3, 1, 2), ttlg.dask.Target(out), lock=False)
    >>> float(np.load(result)[7, 2, 5, 4])
    719.0
    >>> folder.cleanup()
    """

    def __init__(self, array: Any, *, threads: int = 1) -> None:
        if isinstance(array, np.ndarray):
            read_only = not array.flags.writeable
        elif _is_zarr(array):
            read_only = array.read_only
        else:
            raise TypeError(
                "a Target is made of a NumPy array, a memmap or a Zarr array, not of "
                f"{type(array).__name__}; give that to dask.array.store itself"
            )
        if read_only:
            raise ValueError("the array is read-only; open it with mode 'r+'")
        self._array: Any = array
        if isinstance(array, np.ndarray):
            self._array = MappedFile.find(array) or array
        self._threads = threads
        # Another Target of the same array is another task: it has to write again.
        self._token = uuid.uuid4().hex

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the array."""
        return np.dtype(self._array.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    def __dask_tokenize__(self) -> tuple[str, str]:
        return type(self).__name__, self._token

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self._array, np.ndarray):
            raise TypeError(
                "an array in memory, or a memmap without a file name or of mode 'c', cannot be "
                "shared between processes, so a Target of it works with "
                'scheduler="threads" and "synchronous" only; make the Target of a memmap '
                "(numpy.lib.format.open_memmap) or of a Zarr array on disk"
            )
        if _is_zarr(self._array):
            zarr = sys.modules["zarr"]
            if isinstance(self._array.store, zarr.storage.MemoryStore):
                raise TypeError(
                    "a Zarr array in memory cannot be shared between processes, so a Target of it "
                    'works with scheduler="threads" and "synchronous" only; use a store on disk'
                )
        return self.__dict__

    def __getitem__(self, key: Any) -> Any:
        """Read a part, as ``return_stored=True`` asks for: of arrays in memory and files a view."""
        array = self._array
        return array.part(key) if isinstance(array, MappedFile) else array[key]

    def __setitem__(self, key: tuple[slice, ...], value: Any) -> None:
        """Write a block, as `dask.array.store` does."""
        if not isinstance(key, tuple) or not all(isinstance(each, slice) for each in key):
            raise TypeError(
                f"a Target is written by dask.array.store, at a tuple of slices, not at {key!r}"
            )
        bounds = zip(key, self.shape, strict=False)
        if any(each.stop is not None and each.stop > extent for each, extent in bounds):
            raise ValueError(
                f"block [{_text(key)}] reaches beyond the target, whose shape is {self.shape}; "
                "what is stored must have that shape, or that of its region"
            )
        array = self._array
        if isinstance(array, np.ndarray | MappedFile):
            # With the ellipsis a view of an array without axes as well.
            _assign(self[(*key, ...)], value, self._threads)
        else:
            _check_whole_chunks(key, array.shape, getattr(array, "shards", None) or array.chunks)
            array[key] = value


def _text(key: tuple[slice, ...]) -> str:
    return ", ".join(f"{each.start}:{each.stop}" for each in key)


def _assign(part: np.ndarray[Any, Any], value: Any, threads: int) -> None:
    """Do ``part[...] = value``."""
    movable = isinstance(value, np.ndarray) and not part.dtype.hasobject
    if not movable or value.shape != part.shape:
        part[...] = value
        return
    # Without the mask of a masked array, as NumPy assigns it.
    target, source = np.asarray(part), np.asarray(value)
    if source.dtype == target.dtype:
        ttlg.copyto(target, source, threads=threads)
    elif not cast_into(target, source, threads):
        target[...] = source


def _check_whole_chunks(
    key: tuple[slice, ...], shape: tuple[int, ...], chunks: tuple[int, ...]
) -> None:
    for each, extent, chunk in zip(key, shape, chunks, strict=False):
        begin, end, step = each.indices(extent)
        if step != 1 or begin % chunk or (end % chunk and end != extent):
            raise ValueError(
                f"block [{_text(key)}] is no whole number of the Zarr array's chunks (or shards) "
                f"of {chunks}, and two blocks that share one would lose data; rechunk x so that "
                "the chunks of the stored array are multiples of that, and begin regions there"
            )
