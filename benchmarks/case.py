"""One transposition to be measured."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from typing_extensions import Self

OneCase = TypeVar("OneCase", bound="Case")


@dataclass(frozen=True)
class Case:
    """One transposition of a C-contiguous array, with NumPy's `shape` and `axes`."""

    suite: str
    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Self:
        """Rebuild a case from what `dataclasses.asdict` and JSON have made of it."""
        return cls(**{**entry, "shape": tuple(entry["shape"]), "axes": tuple(entry["axes"])})

    @property
    def bytes(self) -> int:
        """Bytes of the input, and of the output."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def inplace(self) -> bool:
        """Whether the output takes the memory of the input."""
        return self.suite.startswith("inplace-")

    @property
    def out_shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return tuple(self.shape[axis] for axis in self.axes)

    @property
    def label(self) -> str:
        """The name with the dtype, unique in the suite."""
        return f"{self.name} {self.dtype}"

    @property
    def described(self) -> str:
        """The case in a line."""
        size = f"{self.bytes / 1e6:.4g} MB"
        return f"{self.suite} {self.label}: {self.shape} by {self.axes}, {size}"

    def cut(self, limit: int) -> "Case":
        """Halve the longest extent until the input has at most `limit` bytes."""
        shape = list(self.shape)
        case = self
        while case.bytes > limit:
            longest = shape.index(max(shape))
            shape[longest] //= 2
            case = replace(case, name=f"{self.name} cut", shape=tuple(shape))
        return case


def shape_text(shape: Sequence[int]) -> str:
    """Write a shape shortly: (16, 16, 16) as 16^3, (8, 32) as 8x32."""
    if len(shape) > 1 and len(set(shape)) == 1:
        return f"{shape[0]}^{len(shape)}"
    return "x".join(map(str, shape))


def named(suite: str, shape: Sequence[int], axes: Sequence[int], dtype: str) -> Case:
    """Name a case by its shape and axes."""
    name = f"{shape_text(shape)} ({','.join(map(str, axes))})"
    return Case(suite, name, tuple(shape), tuple(axes), dtype)


def axes_of(perm: Sequence[int]) -> tuple[int, ...]:
    """Turn a permutation of modes, the fastest first, into NumPy's axes."""
    return tuple(len(perm) - 1 - mode for mode in reversed(perm))


def scaled_rank(axes: Sequence[int]) -> int:
    """Return the rank that is left when axes that stay neighbours are fused (TTLG, section VI)."""
    return 1 + sum(after != before + 1 for before, after in itertools.pairwise(axes))
