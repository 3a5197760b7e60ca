"""Numbers of bytes as callers write them."""

import operator
import re

from ttlg._typing import Size

LINE_BYTES = 64  # of the caches
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str) -> int:
    """Read bytes with a unit, as GNU's tools do: of 1024 for K and KiB, of 1000 for KB."""
    from fractions import Fraction  # takes milliseconds to import, and few programs need it

    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(?:([KMGT])(I?B)?|B?)", text.upper())
    number = Fraction(match[1]) if match else Fraction(1, 2)
    if match is None or (match[2] is None and number.denominator != 1):
        raise ValueError(f"{text!r} is not a size such as 268435456, 256M or 1.5G")
    base = 1000 if match[3] == "B" else 1024
    return int(number * base ** _POWERS[match[2] or ""])


def read_size(name: str, value: Size) -> int:
    """Read an argument that is a number of bytes, or text for `parse_size`."""
    try:
        if isinstance(value, str):
            return parse_size(value)
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    except ValueError as error:
        raise ValueError(f"{name} of {error}") from None
    raise TypeError(
        f"{name} must be a whole number of bytes, not {value!r}; a size such as '1.5G' will do too"
    )


def read_workspace(workspace: Size | None) -> int | None:
    """Read a ``workspace=`` argument: bytes, or None where the planner chooses."""
    if workspace is None:
        return None
    limit = read_size("workspace", workspace)
    if limit < 1:
        raise ValueError(f"workspace must be 1 byte or more, not {limit}; leave it out")
    return min(limit, 2**63 - 1)
