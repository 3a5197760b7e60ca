"""The headers of ``.npy`` files, through the public functions of `numpy.lib.format`."""

import io
import math
import os
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

# NumPy's own limit of 10,000 characters is too short for a few hundred fields.
_MAX_HEADER_CHARACTERS = 1 << 20


class Header(NamedTuple):
    """What a ``.npy`` file says of itself; the data start at byte `offset`."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def data_bytes(self) -> int:
        """Size of all elements together."""
        return math.prod(self.shape) * self.dtype.itemsize


def _parse_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(file)
    if version == (1, 0):
        return npy_format.read_array_header_1_0(file, max_header_size=_MAX_HEADER_CHARACTERS)
    if version == (3, 0):
        # Differs from 2.0 in being UTF-8 instead of Latin-1, and NumPy has no public function for
        # it. ASCII with escapes reads the same in both.
        utf8 = file.read(int.from_bytes(file.read(4), "little"))
        text = utf8.decode("utf-8").encode("ascii", "backslashreplace")
        file = io.BytesIO(len(text).to_bytes(4, "little") + text)
    elif version != (2, 0):
        raise ValueError(f"unknown format version {version}")
    return npy_format.read_array_header_2_0(file, max_header_size=_MAX_HEADER_CHARACTERS)


def read_header(file: IO[bytes], name: str) -> Header:
    """Read the header of a ``.npy`` file, open at its beginning, and check that its data are there.

    Messages call it `name`. TypeError where the elements are Python objects, ValueError where it is
    no ``.npy`` file or has been cut short.
    """
    try:
        header = Header(*_parse_header(file), file.tell())
        if min(header.shape, default=0) < 0:
            raise ValueError(f"shape {header.shape} has a negative extent")
    except OSError:
        raise
    except Exception as error:  # A damaged header makes NumPy's parser raise many a type.
        raise ValueError(f"{name} is not a readable .npy file: {error}") from error
    if header.dtype.hasobject:
        raise TypeError(
            f"{name} has dtype {header.dtype}, which holds Python objects; ttlg moves fixed-size "
            "elements: convert it with NumPy's astype first"
        )
    expected = header.offset + header.data_bytes
    found = os.fstat(file.fileno()).st_size
    if found < expected:
        raise ValueError(
            f"{name} is truncated: shape {header.shape} of {header.dtype} needs {expected} bytes, "
            f"found {found}"
        )
    return header


class _Ascii:
    """A value whose repr is ASCII, so that any field name fits into a header of version 1.0."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return ascii(self._value)


def format_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Write the header of a C-contiguous array as bytes."""
    descr = _Ascii(npy_format.dtype_to_descr(dtype))
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    stream = io.BytesIO()
    try:
        npy_format.write_array_header_1_0(stream, fields)
    except ValueError:  # Longer than 1.0 can say.
        npy_format.write_array_header_2_0(stream, fields)
    return stream.getvalue()
