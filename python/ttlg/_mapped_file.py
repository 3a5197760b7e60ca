"""Arrays in files, which processes share by the name of the file."""

import mmap
import os
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class MappedFile:
    """Where the elements of a `numpy.memmap` lie: what another process needs to map them."""

    filename: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> "MappedFile":
        """Find where a memmap, or a view of one, lies."""
        mapped = array
        while not isinstance(mapped, np.memmap) and isinstance(mapped.base, np.ndarray):
            mapped = mapped.base
        mapping = getattr(mapped, "_mmap", None)
        if not isinstance(mapped, np.memmap) or mapping is None:
            raise TypeError(
                "an array in memory cannot be shared between processes, so a Target of it works "
                'with scheduler="threads" and "synchronous" only; for the others make it of a '
                "file (numpy.lib.format.open_memmap) or of a Zarr array"
            )
        if mapped.filename is None or mapped.mode == "c":
            raise TypeError(
                "another process cannot write to this memmap: it has no file name, or its mode is "
                "'c', which keeps changes in memory; open the file by its name with mode 'r+'"
            )
        # The attribute `offset` of a slice is that of the whole array.
        begin = np.frombuffer(mapping, np.uint8).ctypes.data
        skipped = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
        offset = array.ctypes.data - begin + skipped
        return cls(os.fspath(mapped.filename), offset, array.shape, array.dtype, array.strides)

    def map(self) -> np.ndarray[Any, Any]:
        """Map the file; the array keeps it mapped."""
        everything = np.memmap(self.filename, np.uint8, mode="r+")
        return np.ndarray(self.shape, self.dtype, everything, self.offset, self.strides)
