"""The sorting algorithms, and the environment variable that chooses among them."""

from ttlg import _core
from ttlg._arguments.words import did_you_mean, read_variable

_VARIABLE = "SORT_TYPE"


def read_algorithm(algorithm: str | None) -> str:
    """Read an ``algorithm=`` argument; without one the environment variable, read at each call."""
    if algorithm is None:
        return _known(read_variable(_VARIABLE) or "auto", f"environment variable {_VARIABLE}")
    if not isinstance(algorithm, str):
        raise TypeError(f"algorithm must be a name, not {algorithm!r}")
    return _known(algorithm, "argument algorithm=")


def _known(name: str, origin: str) -> str:
    if name.lower() in _core.SPARSE_ALGORITHMS:
        return name.lower()
    known = ["auto" if each == "auto" else each.upper() for each in _core.SPARSE_ALGORITHMS]
    raise ValueError(
        f"unknown algorithm {name!r} in the {origin}; choose one of {', '.join(known)}"
        f"{did_you_mean(name, known)}"
    )
