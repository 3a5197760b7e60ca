"""Write a file that appears under its name whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the file's name into the errors of calls that know only its descriptor."""
    try:
        yield
    except OSError as error:
        error.filename = name
        raise


def _reserve(fd: int, size: int) -> None:
    """Claim the space of the whole file, so that a full disk is noticed before any work."""
    try:
        os.posix_fallocate(fd, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise


def _link(fd: int, name: str) -> None:
    """Give a name to a file that has none."""
    # With a directory, which an absolute path does not need, Python calls linkat, and not link,
    # which gives a name to the symbolic link.
    os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=fd, follow_symlinks=True)


def _open_unnamed(directory: str, name: str) -> int:
    """Open a file that is gone when the process is, unless it gets a name in `directory`.

    `name` is one that it could get there. OSError where the file system, or a system without
    ``/proc``, has no such files: that is tried first, as the end of the work is too late for it.
    """
    flags = os.O_WRONLY | os.O_TMPFILE
    with os.fdopen(os.open(directory, flags, 0o600), "wb") as probe:
        _link(probe.fileno(), name)
        os.unlink(name)
    return os.open(directory, flags, 0o666)


def _name_new(partial: str, path: str) -> None:
    """Rename a file, unless there is another one that has the name."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # The file system has no links: claim the name, and replace that claim.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.replace(partial, path)
    else:
        os.unlink(partial)


def _in_the_way(dst: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "File exists, and is not to be replaced", dst)


@contextmanager
def replacing(dst: str, size: int, overwrite: bool) -> Iterator[int]:
    """Yield a descriptor to write `size` bytes to, which become `dst` only if all goes well.

    Without `overwrite`, a file that has the name already, or gets it meanwhile, is kept:
    FileExistsError.
    """
    path = os.path.realpath(dst)
    if not overwrite and os.path.lexists(dst):
        raise _in_the_way(dst)
    try:
        mode = os.stat(dst).st_mode  # Of what a pipe in /dev has for a path, there is none.
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        raise ValueError(
            f"{dst} exists and is not a regular file, in which alone ttlg can write to any "
            "position: name another one, and copy it from there"
        )
    # Replacing a file needs no permission to write to it, but doing so would surprise.
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), dst)
    directory, name = os.path.split(path)
    partial = os.path.join(directory, f".{name[:32]}.{os.urandom(8).hex()}.partial")
    try:
        try:
            fd, unnamed = _open_unnamed(directory, partial), True
        except OSError:
            with naming(dst):
                fd, unnamed = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), False
        with os.fdopen(fd, "wb", buffering=0):
            with naming(dst):
                if mode is not None:
                    os.fchmod(fd, stat.S_IMODE(mode))
                _reserve(fd, size)
            yield fd
            with naming(dst):
                os.fsync(fd)
                if unnamed:
                    _link(fd, partial)
        if overwrite:
            os.replace(partial, path)
        else:
            try:
                _name_new(partial, path)
            except FileExistsError:
                raise _in_the_way(dst) from None
    except BaseException:
        # A signal handler may raise right after the file was made, or was given its name.
        with suppress(OSError):
            os.unlink(partial)
        raise
