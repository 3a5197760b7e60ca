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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from ttlg import _core
from ttlg._scheme_matrix import BANDED, LARGEST_ORDER, SchemeMatrix, extent, integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    _Scalar: TypeAlias = int | np.integer[Any]
    _Array: TypeAlias = NDArray[np.integer[Any]] | Sequence[int]

__all__ = ["Grid", "Tiles", "count", "decode", "encode", "grid", "names", "plot", "tiles"]

#: The schemes that the functions of this module take.
names = _core.SCHEMES

_MAX_PLOTTED = 10_000
_TILED = tuple(
    each for each in _core.CUDA_INPLACE_KERNELS if each.startswith("square") and each != "square_tw"
)


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


class Tiles(NamedTuple):
    """The tiles of a matrix below its diagonal and on it, by their shapes.

    Attributes
    ----------
    diagonal, below : int
        Whole square tiles on the diagonal, and below it.
    edge : int
        Tiles of the last row of tiles that are lower than they are wide.
    corner : int
        1 where the last tile on the diagonal is smaller than the others, else 0.
    """

    diagonal: int
    below: int
    edge: int
    corner: int


def tiles(m: int, b: int) -> Tiles:
    """Count the tiles that change places with those above the diagonal, or with themselves.

    Parameters
    ----------
    m : int
        Rows and columns of the matrix.
    b : int
        Rows and columns of a tile.

    Returns
    -------
    Tiles
        ``(diagonal, below, edge, corner)``, B_d, B_t, B_e and B_c of Gorawski and Lorek, section 3.

    Raises
    ------
    ValueError
        For a size below 1.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.schemes.tiles(100, 32)
    Tiles(diagonal=3, below=3, edge=3, corner=1)
    """
    whole = extent("m", m, LARGEST_ORDER) // extent("b", b, LARGEST_ORDER)
    has_rest = m % b > 0
    return Tiles(whole, whole * (whole - 1) // 2, whole if has_rest else 0, int(has_rest))


class Grid(NamedTuple):
    """What is launched for a square matrix in place.

    Attributes
    ----------
    launches : int
        Kernels.
    blocks : int
        Thread blocks of all of them, one for a tile.
    idle : int
        Those of them that lie above the diagonal or outside the matrix, and do nothing.
    """

    launches: int
    blocks: int
    idle: int


def grid(kernel: str, n: int, region: int | None = None) -> Grid:
    """Count the launches and the thread blocks that transpose a square matrix in place.

    Parameters
    ----------
    kernel : str
        ``"square_ip"``, the full grid; ``"square_sg"``, a launch for each region of a super grid; or
        ``"square_v1"``, ``"square_v1r"``, ``"square_v2"`` or ``"square_v1b"``, in the order of a
        scheme.
    n : int
        Tiles on a side of the matrix.
    region : int, optional
        Tiles on a side of a region, for ``"square_sg"``.

    Returns
    -------
    Grid
        ``(launches, blocks, idle)``.

    Raises
    ------
    ValueError
        For another kernel, a size below 1, and a region that is missing or of another kernel.

    Notes
    -----
    The full grid has (n^2 - n) / 2 blocks above the diagonal (Gorawski and Lorek, section 3). The
    super grid has a launch for each of the R = ceil(n / region) rows of regions and each region
    of it up to the diagonal, R (R + 1) / 2 in all. The schemes number the (n^2 + n) / 2 tiles on and
    below the diagonal alone.

    Examples
    --------
    >>> import ttlg
    >>> ttlg.schemes.grid("square_ip", 100)
    Grid(launches=1, blocks=10000, idle=4950)
    >>> ttlg.schemes.grid("square_sg", 100, region=32)
    Grid(launches=10, blocks=10240, idle=5190)
    >>> ttlg.schemes.grid("square_v1b", 100)
    Grid(launches=1, blocks=5050, idle=0)
    """
    if kernel not in _TILED:
        raise ValueError(f"kernel {kernel!r} has no tiles; choose one of {', '.join(_TILED)}")
    if (region is not None) != (kernel == "square_sg"):
        raise ValueError(f"region is for square_sg, which needs it; it is {region} for {kernel}")
    side = extent("n", n, LARGEST_ORDER)
    used = side * (side + 1) // 2
    launches, blocks = 1, used
    if kernel == "square_ip":
        blocks = side * side
    elif region is not None:
        regions = -(-side // extent("region", region, LARGEST_ORDER))
        launches = regions * (regions + 1) // 2
        blocks = launches * region * region
    return Grid(launches, blocks, blocks - used)


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
