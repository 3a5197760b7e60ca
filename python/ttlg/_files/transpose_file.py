"""Transposing files."""

import os
from typing import Any

from ttlg._typing import Axes, Size


def transpose_file(
    src: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    dst: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    axes: Axes | None = None,
    *,
    dtype: Any = None,
    threads: int | None = None,
    memory: Size | None = None,
    progress: bool = True,
    overwrite: bool = True,
) -> None:
    """Transpose a ``.npy`` file into another one, in pieces that fit into memory.

    With `dtype` elements are converted on their way, as by `transform`.

    Parameters
    ----------
    src : path
        A ``.npy`` file of any fixed-size dtype, in C or Fortran order: a regular file, as it is
        read at any position, and no pipe.
    dst : path
        Where to write, C-contiguous; it may be `src`. The file appears whole or not at all: while
        it is written, it has no name. It replaces a regular file of the same name.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype, optional
        Of the elements that are written, in the machine's byte order: one that `transform` makes.
        By default that of `src`.
    threads : int, optional
        The most threads to use; `get_num_threads` by default.
    memory : int or str, optional
        Bytes for the two buffers together, or a size such as ``"1.5G"``, with units as for
        `set_result_pool`; at least 1 MiB and two elements. More makes longer reads and writes.
        256 MiB by default, or two elements where those are larger.
    progress : bool
        Draw a progress bar on standard error if that is a terminal, as by default.
    overwrite : bool
        Replace a file that `dst` names, as by default. False keeps it and raises FileExistsError:
        before any work if the file is there, and at the end if it has appeared since.

    Raises
    ------
    TypeError
        The file holds Python objects, or elements that `transform` does not convert where `dtype`
        is given; `memory` is neither an integer nor text, or one of the `axes` is no integer.
    ValueError
        `axes` is no permutation, `src` is no whole ``.npy`` file, one of the two is something else
        than a regular file, such as a pipe, or `memory` is too little or no size.
    FileExistsError
        There is a file `dst`, and `overwrite` is False.
    OSError
        A file cannot be opened, read or written, or the disk is full.

    Notes
    -----
    After any exception, and after any end of the process, by SIGTERM and SIGKILL too, nothing is
    left but what was there before. The bytes are written to a file without a name in the folder of
    `dst` (``O_TMPFILE``), whose space the system takes back with the process.

    Some file systems, NFS among them, have no such files. There the temporary file is called
    ``.NAME.*.partial``. It is removed when something is raised, but a process that a signal ends
    where it stands leaves it, without a header; it may be deleted. This function leaves signals
    alone, so a program that SIGTERM may stop has to install a handler that raises, such as
    ``signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))``. The command ``ttlg transpose`` does.

    Examples
    --------
    >>> import os, tempfile, numpy as np, ttlg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     src, dst = os.path.join(folder, "nhwc.npy"), os.path.join(folder, "nchw.npy")
    ...     np.save(src, np.zeros((2, 4, 5, 3), np.float32))
    ...     ttlg.transpose_file(src, dst, (0, 3, 1, 2))
    ...     np.load(dst).shape
    (2, 3, 4, 5)
    """
    from ttlg._files.npy import transpose_npy  # takes a millisecond, and few programs need it

    names = os.fsdecode(src), os.fsdecode(dst)
    transpose_npy(*names, axes, threads, memory, progress, overwrite, dtype)
