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


@contextmanager
def replacing(dst: str, size: int) -> Iterator[int]:
    """Yield a descriptor to write `size` bytes to, which become `dst` only if all goes well."""
    path = os.path.realpath(dst)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        raise ValueError(f"{dst} exists and is not a regular file")
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
        os.replace(partial, path)
    except BaseException:
        # A signal handler may raise right after the file was made, or was given its name.
        with suppress(OSError):
            os.unlink(partial)
        raise
