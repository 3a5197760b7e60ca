"""The control groups that this process is in, which limit its memory and its CPU time."""

import os
from collections.abc import Iterator

_CGROUPS = "/sys/fs/cgroup"
_MEMBERSHIP = "/proc/self/cgroup"


def read(path: str) -> str:
    """Read a file of the kernel; nothing where there is none."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def folders(controller: str) -> Iterator[tuple[int, str]]:
    """Yield the version and the folder of every group that may limit what `controller` controls.

    Limits of the groups around a group count as well.
    """
    for line in read(_MEMBERSHIP).splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            version, root = 2, _CGROUPS
        elif controller in controllers.split(","):
            # Some systems mount two controllers together and link the second one's name.
            version, root = 1, os.path.join(_CGROUPS, controller)
        else:
            continue
        # In a container the group's name may be that outside of it: then the root is its own.
        parts = group.strip("/").split("/")
        found = [os.path.join(root, *parts[:count]) for count in range(len(parts) + 1)]
        for folder in dict.fromkeys(found):
            yield version, folder
