"""Arrays in files, which processes share by the name of the file."""

import mmap
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

# Where less than this is written at a time, reading ahead costs more than it saves: the kernel
# would bring in (of a new file: clear) pages around each run that the block does not need.
_LONG_RUN = 1 << 20


@dataclass(frozen=True)
class MappedFile:
    """Where the elements of a `numpy.memmap` lie: what another process needs to map them."""

    filename: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]

    @classmethod
    def find(cls, array: np.ndarray[Any, Any]) -> "MappedFile | None":
        """Find where a memmap, or a view of one, lies; None if no other process can write there."""
        mapped = array
        while not isinstance(mapped, np.memmap) and isinstance(mapped.base, np.ndarray):
            mapped = mapped.base
        mapping: Any = mapped
        while isinstance(mapping, np.ndarray):
            mapping = mapping.base
        if not isinstance(mapped, np.memmap) or not isinstance(mapping, mmap.mmap):
            return None
        if mapped.mode == "c":
            return None
        if mapped.filename is None or not os.path.exists(mapped.filename):
            return None
        # The attribute `offset` of a slice is that of the whole array.
        begin = np.frombuffer(mapping, np.uint8).ctypes.data
        skipped = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
        offset = array.ctypes.data - begin + skipped
        return cls(os.fspath(mapped.filename), offset, array.shape, array.dtype, array.strides)

    def part(self, key: Any) -> np.ndarray[Any, Any]:
        """Map the file, and return a part of the array, which keeps it mapped."""
        everything: Any = np.memmap(self.filename, np.uint8, mode="r+")
        array = np.ndarray(self.shape, self.dtype, everything, self.offset, self.strides)
        part: np.ndarray[Any, Any] = array[key]
        if _longest_run(part) < _LONG_RUN:
            everything.base.madvise(mmap.MADV_RANDOM)
        return part


def _longest_run(array: np.ndarray[Any, Any]) -> int:
    """Return how many bytes of an array lie together."""
    run = array.itemsize
    for stride, extent in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if extent == 1:
            continue
        if stride != run:
            break
        run *= extent
    return run
