"""Tensors as arrays alone: tuples of coordinates, values and a shape, and `CSF`."""

from typing import Any

from ttlg._arguments.words import count_of
from ttlg.sparse._adapter import Common, Source
from ttlg.sparse._arrays import as_coords, as_shape, as_values
from ttlg.sparse._csf import CSF
from ttlg.sparse._layout import layout_of
from ttlg.sparse._nonzeros import Nonzeros


class Raw(Common):
    """Tuples ``(coords, values, shape)``."""

    library = "a tuple (coords, values, shape)"

    def owns(self, x: Any) -> bool:
        """Whether `x` is a tuple."""
        return isinstance(x, tuple)

    def check(self, x: Any) -> None:
        """Refuse tuples of another length."""
        if len(x) != 3:
            raise ValueError(
                f"a tuple must be (coords, values, shape), and not have {count_of(len(x), 'entry')}"
            )

    def shape(self, x: Any) -> tuple[int, ...]:
        """Return the third entry."""
        return as_shape(x[2])

    def format(self, x: Any) -> str:
        """Name the common format."""
        return "raw"

    def read(self, x: Any, fmt: str, axes: tuple[int, ...]) -> Source:
        """Check the arrays."""
        shape = as_shape(x[2])
        coords = as_coords(x[0], len(shape), shape)
        values = as_values(x[1], "values")
        if not shape:  # with coordinates the core counts them
            shape_of_none = getattr(x[0], "shape", (0, len(values)))
            if shape_of_none[1] != len(values):
                raise ValueError(
                    f"values has {count_of(len(values), 'element')} for coords {shape_of_none}"
                )
        return Source(Nonzeros(shape, coords, None, values), layout_of("coo", len(shape)))


class Fibers(Common):
    """Tensors of the class `CSF`."""

    library = "ttlg.sparse.CSF"

    def owns(self, x: Any) -> bool:
        """Whether `x` is a CSF."""
        return isinstance(x, CSF)

    def format(self, x: Any) -> str:
        """Name the common format."""
        return "csf"

    def read(self, x: Any, fmt: str, axes: tuple[int, ...]) -> Source:
        """Expand the levels."""
        coords, _, shape = x.to_coo()
        return Source(Nonzeros(shape, coords, None, x.values), layout_of("coo", len(shape)))
