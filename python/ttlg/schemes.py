"""Orders in which the entries of a matrix are visited, after Gorawski and Lorek.

An enumeration scheme numbers the entries below the diagonal of a matrix, or all entries of a
rectangle, so that the blocks of a one-dimensional grid can be mapped to them: block ``k`` works on
the entry in column ``x`` and row ``y``. The banded schemes keep blocks that run at the same time on
few memory pages. A matrix is transposed in place in the order V1B.

======  =====================================================================================
scheme  order
======  =====================================================================================
V1      below the diagonal, row by row from the top, from left to right
V1R     below the diagonal, row by row from the top, from right to left
V1D     below and on the diagonal, row by row from the top, from left to right
V2      below the diagonal, column by column from the left, from top to bottom
V1B     below the diagonal, in bands of `w` columns from the left, in each of them as V1
V1BF    all of a rectangle, in bands of `w` columns from the left, in each of them row by row
======  =====================================================================================

Each can be reversed. All results are exact integers, whatever the size.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from ttlg import _core
from ttlg._scheme_grids import Grid, Tiles, grid, tiles
from ttlg._scheme_matrix import BANDED, SchemeMatrix, integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    _Scalar: TypeAlias = int | np.integer[Any]
    _Array: TypeAlias = NDArray[np.integer[Any]] | Sequence[int]

__all__ = ["Grid", "Tiles", "count", "decode", "encode", "grid", "names", "plot", "tiles"]

#: The schemes that the functions of this module take.
names = _core.SCHEMES

_MAX_PLOTTED = 10_000


def count(scheme: str, m: int, w: int | None = None, *, n: int | None = None) -> int:
    """Count the entries that a scheme numbers.

    Parameters
    ----------
    scheme : str
        One of `names`, in upper or lower case.
    m : int
        Rows and columns of the matrix, 2**31 at most; for V1BF its columns.
    w : int, optional
        Columns of a band: from 1 to m - 1 for V1B, where 1 is V2 and m - 1 is V1, and from 1 to m
        for V1BF. The other schemes have none.
    n : int, optional
        Rows of the matrix, for V1BF only.

    Returns
    -------
    int
        Numbers run from 0 to one less than this.

    Raises
    ------
    ValueError
        For an unknown scheme, or a size that it does not have.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.schemes.count("V1", 5), ttlg.schemes.count("V1D", 5)
    (10, 15)
    >>> ttlg.schemes.count("V1BF", 5, 2, n=3)
    15
    """
    return SchemeMatrix(scheme, m, w, n, False).count


@overload
def decode(
    scheme: str,
    k: "_Scalar",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> tuple[int, int]: ...
@overload
def decode(
    scheme: str,
    k: "_Array",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> tuple["NDArray[np.int64]", "NDArray[np.int64]"]: ...
def decode(
    scheme: str,
    k: "_Scalar | _Array",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> tuple[int, int] | tuple["NDArray[np.int64]", "NDArray[np.int64]"]:
    """Find the entry that has a number.

    Parameters
    ----------
    scheme : str
        As for `count`.
    k : int or array of int
        Numbers, from 0 to one less than `count`.
    m, w, n : int
        The size of the matrix, as for `count`.
    reversed : bool
        Number the entries in the opposite order: the last one is number 0.

    Returns
    -------
    x, y : int or array of int64
        Column and row, of the shape of `k`.

    Raises
    ------
    ValueError
        For an unknown scheme, a size that it does not have, or a number out of range.
    TypeError
        For numbers that are not integers.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> ttlg.schemes.decode("V1B", 9, m=6, w=2)
    (2, 3)
    >>> x, y = ttlg.schemes.decode("V1B", np.arange(5), m=6, w=2)
    >>> x, y
    (array([0, 0, 1, 0, 1]), array([1, 2, 2, 3, 3]))
    """
    matrix = SchemeMatrix(scheme, m, w, n, reversed)
    x, y = matrix.order.decode(integers("k", k, matrix.count))
    return (x, y) if np.ndim(k) else (int(x), int(y))


@overload
def encode(
    scheme: str,
    x: "_Scalar",
    y: "_Scalar",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> int: ...
@overload
def encode(
    scheme: str,
    x: "_Array",
    y: "_Scalar | _Array",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> "NDArray[np.int64]": ...
@overload
def encode(
    scheme: str,
    x: "_Scalar",
    y: "_Array",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> "NDArray[np.int64]": ...
def encode(
    scheme: str,
    x: "_Scalar | _Array",
    y: "_Scalar | _Array",
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
) -> "int | NDArray[np.int64]":
    """Find the number of an entry, as the inverse of `decode`.

    Parameters
    ----------
    scheme : str
        As for `count`.
    x : int or array of int
        Columns.
    y : int or array of int
        Rows. They are broadcast against the columns.
    m, w, n : int
        The size of the matrix, as for `count`.
    reversed : bool
        As for `decode`.

    Returns
    -------
    int or array of int64
        The numbers.

    Raises
    ------
    ValueError
        For an unknown scheme, a size that it does not have, or an entry that it does not number.
    TypeError
        For columns or rows that are not integers.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.schemes.encode("V1B", 2, 3, m=6, w=2)
    9
    >>> ttlg.schemes.encode("V1", [0, 1, 2], 3, m=6)
    array([3, 4, 5])
    """
    matrix = SchemeMatrix(scheme, m, w, n, reversed)
    columns, rows = np.broadcast_arrays(integers("x", x, matrix.m), integers("y", y, matrix.n))
    matrix.check_entries(columns, rows)
    k = matrix.order.encode(columns, rows)
    return k if np.ndim(x) or np.ndim(y) else int(k)


def plot(
    scheme: str,
    m: int,
    w: int | None = None,
    *,
    n: int | None = None,
    reversed: bool = False,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the order of a scheme: a path through the matrix, and the number of each entry.

    Parameters
    ----------
    scheme : str
        As for `count`.
    m, w, n : int
        The size of the matrix, as for `count`.
    reversed : bool
        As for `decode`.
    ax : matplotlib.axes.Axes, optional
        What to draw into; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn into. Dashed lines separate bands.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        For an unknown scheme, a size that it does not have, or more than 10,000 entries.

    Examples
    --------
    >>> import ttlg
    >>> from matplotlib.figure import Figure
    >>> ax = ttlg.schemes.plot("V1B", 9, 3, ax=Figure().subplots())
    >>> ax.get_title()
    'V1B, w = 3'
    """
    matrix = SchemeMatrix(scheme, m, w, n, reversed)
    if matrix.m * matrix.n > _MAX_PLOTTED:
        raise ValueError(
            f"a matrix of {matrix.m} x {matrix.n} is too large to be drawn; choose one of at most "
            f"{_MAX_PLOTTED} entries"
        )
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("plots need matplotlib: pip install 'ttlg[plot]'") from None
        _, ax = pyplot.subplots()
    x, y = matrix.order.decode(np.arange(matrix.count))
    ax.plot(x, y, "C0-", alpha=0.5, zorder=1)
    patch = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    for k, (column, row) in enumerate(zip(x, y, strict=True)):
        ax.text(column, row, str(k), ha="center", va="center", fontsize="small", bbox=patch)
    ax.locator_params(integer=True)
    ax.set_xticks(np.arange(matrix.m + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(matrix.n + 1) - 0.5, minor=True)
    ax.tick_params(which="minor", length=0)
    ax.grid(which="minor", color="0.85")
    title = f"{matrix.scheme}{', reversed' if reversed else ''}"
    if matrix.scheme in BANDED:
        title += f", w = {matrix.w}"
        for edge in range(matrix.w, matrix.m, matrix.w):
            ax.axvline(edge - 0.5, color="C1", linestyle="--")
    # Rows run downwards, as those of a matrix.
    ax.set(xlim=(-0.5, matrix.m - 0.5), ylim=(matrix.n - 0.5, -0.5), aspect="equal")
    ax.set(title=title, xlabel="x, column", ylabel="y, row")
    return ax
