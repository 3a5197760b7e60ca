"""Axes that callers choose: by number, or by name where the axes of an array have names."""

import operator
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

Names = tuple[Hashable, ...]


def _has(names: Names, axis: Any) -> bool:
    return isinstance(axis, Hashable) and axis in names


def is_one_axis(axis: Any) -> bool:
    """Whether `axis` is a number or text, and not several axes."""
    try:
        operator.index(axis)
    except TypeError:
        return isinstance(axis, str) or not isinstance(axis, Iterable)
    return True  # NumPy's arrays of one integer among them, which can be iterated over as well


def read_axis(name: str, axis: Any, rank: int, names: Names = ()) -> int:
    """Read one axis, which messages call `name`, as a number from 0."""
    try:
        position = operator.index(axis)
    except TypeError:
        if _has(names, axis):
            return names.index(axis)
        if names and isinstance(axis, str):
            raise ValueError(f"{name}: no axis is called {axis!r}; choose from {names}") from None
        choice = f"an integer, or one of the names {names}" if names else "an integer"
        raise TypeError(f"{name}: {axis!r} is not an axis number; pass {choice}") from None
    if not -rank <= position < rank:
        raise ValueError(f"{name}: axis {position} is out of range {-rank}..{rank - 1}")
    return position % rank


def read_axes(name: str, axes: Any, rank: int, names: Names = ()) -> list[int]:
    """Read one axis, or several that are all different, as numbers from 0."""
    given = [axes] if _has(names, axes) or is_one_axis(axes) else axes
    positions = [read_axis(name, axis, rank, names) for axis in given]
    for position in positions:
        if positions.count(position) > 1:
            raise ValueError(f"{name} {axes!r} names axis {position} twice; name every axis once")
    return positions


def expand_names(axes: Any, names: Names) -> Any:
    """Replace names in `axes` by their numbers, and an ellipsis by the axes that are not there."""
    if isinstance(axes, str | AbstractSet | Mapping) or not isinstance(axes, Iterable):
        return axes  # refused where axes are read
    given = list(axes)
    ellipses = [place for place, axis in enumerate(given) if axis is ...]
    if len(ellipses) > 1:
        raise ValueError(f"axes {axes!r} have more than one ellipsis; write ... once")
    rank = len(names)
    numbers = read_axes("axes", [axis for axis in given if axis is not ...], rank, names)
    for place in ellipses:
        numbers[place:place] = [axis for axis in range(rank) if axis not in numbers]
    return tuple(numbers)
