"""What is launched to transpose a square matrix in place, counted, after Gorawski and Lorek."""

from typing import NamedTuple

from ttlg import _core
from ttlg._scheme_matrix import LARGEST_ORDER, extent

_TILED = tuple(
    each for each in _core.CUDA_INPLACE_KERNELS if each.startswith("square") and each != "square_tw"
)


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
