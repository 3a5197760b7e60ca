"""What einsum equations say."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Equation(NamedTuple):
    """An einsum equation without ellipses: one character for each label."""

    terms: tuple[str, ...]
    output: str

    def __str__(self) -> str:
        return ",".join(self.terms) + "->" + self.output


def parse(text: str, shapes: Sequence[Sequence[int]]) -> Equation:
    """Read an equation for operands of these shapes, with what it leaves open filled in."""
    from opt_einsum.parser import parse_einsum_input  # takes milliseconds to import

    # Where there are ellipses, the parser looks at the shapes of arrays.
    arrays = [np.broadcast_to(np.float64(0), shape) for shape in shapes]
    try:
        terms, output, _ = parse_einsum_input((text, *arrays))
    except ValueError as error:
        raise ValueError(f"equation {text!r}: {error}") from None
    equation = Equation(tuple(terms.split(",")), output)
    for number, (term, shape) in enumerate(zip(equation.terms, shapes, strict=True)):
        if len(term) != len(shape):
            raise ValueError(
                f"equation {text!r}: {term!r} has {len(term)} labels, but operand {number} has "
                f"shape {tuple(shape)}; give one label for each axis"
            )
    return equation


def symbols_of(number: int) -> list[str]:
    """Return so many labels of one character, in alphabetical order."""
    from opt_einsum import get_symbol

    return [get_symbol(place) for place in range(number)]


def from_lists(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Turn NumPy's other form, arrays and lists of labels in turns, into an equation."""
    *pairs, output = operands if len(operands) % 2 else (*operands, None)
    lists = [list(each) for each in pairs[1::2]] + ([] if output is None else [list(output)])
    labels = dict.fromkeys(label for each in lists for label in each if label is not Ellipsis)
    try:  # NumPy sorts them for the order of the result where that is left out
        ordered = sorted(labels)
    except TypeError:
        ordered = list(labels)
    symbols = dict(zip(ordered, symbols_of(len(ordered)), strict=True))
    terms = ["".join("..." if x is Ellipsis else symbols[x] for x in each) for each in lists]
    if output is None:
        return ",".join(terms), list(pairs[::2])
    return ",".join(terms[:-1]) + "->" + terms[-1], list(pairs[::2])


def extents_of(equation: Equation, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """Return the extent of each label; an extent of 1 broadcasts, as in NumPy."""
    extents: dict[str, int] = {}
    first: dict[str, int] = {}
    for number, (term, shape) in enumerate(zip(equation.terms, shapes, strict=True)):
        for label, extent in zip(term, shape, strict=True):
            known = extents.get(label, 1)
            if known == 1:
                extents[label], first[label] = extent, number
            elif extent not in (1, known):
                raise ValueError(
                    f"equation {str(equation)!r}: label {label!r} has extent {known} in operand "
                    f"{first[label]} and {extent} in operand {number}; they must be equal, or 1"
                )
    return extents
