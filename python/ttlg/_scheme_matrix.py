"""What the functions of `ttlg.schemes` are given, checked."""

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ttlg import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

BANDED = ("V1B", "V1BF")
LARGEST_ORDER = 2**31
_LARGEST_COUNT = 2**63 - 1


def _parse(scheme: str) -> str:
    name = str(scheme).upper()
    if name not in _core.SCHEMES:
        raise ValueError(f"unknown scheme {scheme!r}; choose one of {', '.join(_core.SCHEMES)}")
    return name


def _extent(name: str, value: int | None, scheme: str, largest: int) -> int:
    """Check a size that the scheme has."""
    if value is None:
        raise ValueError(f"scheme {scheme} needs {name}, in 1..{largest}")
    extent = operator.index(value)
    if not 1 <= extent <= largest:
        raise ValueError(f"{name} must be in 1..{largest} for scheme {scheme}, not {extent}")
    return extent


def extent(name: str, value: int, largest: int) -> int:
    """Check a size."""
    size = operator.index(value)
    if not 1 <= size <= largest:
        raise ValueError(f"{name} must be in 1..{largest}, not {size}")
    return size


class SchemeMatrix:
    """A scheme, the size of its matrix and the order of its entries."""

    def __init__(self, scheme: str, m: int, w: int | None, n: int | None, reverse: bool) -> None:
        self.scheme = _parse(scheme)
        is_rectangle = self.scheme == "V1BF"
        if n is not None and not is_rectangle:
            raise ValueError(f"n is for scheme V1BF; the matrix of {self.scheme} is square")
        if w is not None and self.scheme not in BANDED:
            raise ValueError(f"w is for schemes V1B and V1BF; {self.scheme} has no bands")
        self.m = _extent("m", m, self.scheme, _LARGEST_COUNT if is_rectangle else LARGEST_ORDER)
        self.n = _extent("n", n, self.scheme, _LARGEST_COUNT // self.m) if is_rectangle else self.m
        columns = self.m if is_rectangle else max(1, self.m - 1)
        self.w = _extent("w", w, self.scheme, columns) if self.scheme in BANDED else columns
        self.order = _core.Enumeration(self.scheme, self.m, self.n, self.w, bool(reverse))

    @property
    def count(self) -> int:
        """How many entries are numbered."""
        return self.order.count

    def check_entries(self, x: "NDArray[np.int64]", y: "NDArray[np.int64]") -> None:
        """Refuse entries that the scheme does not number."""
        if self.scheme == "V1BF":
            return
        with_diagonal = self.scheme == "V1D"
        outside = x > y if with_diagonal else x >= y
        if outside.any():
            i = np.unravel_index(outside.argmax(), outside.shape)
            raise ValueError(
                f"scheme {self.scheme} has no entry with x = {x[i]} and y = {y[i]}; they must be "
                f"0 <= x {'<=' if with_diagonal else '<'} y < {self.m}"
            )


def integers(name: str, values: Any, stop: int) -> "NDArray[np.int64]":
    """Read integers that have to be at least 0 and less than `stop`."""
    array = np.asarray(operator.index(values) if np.ndim(values) == 0 else values)
    if array.ndim > 0 and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not of dtype {array.dtype}")
    if array.size > 0:
        for value in (int(array.min()), int(array.max())):
            if not 0 <= value < stop:
                if stop == 0:
                    raise ValueError(f"{name} cannot be {value}: there are no entries")
                raise ValueError(f"{name} must be in 0..{stop - 1}, not {value}")
    return array.astype(np.int64, copy=False)
