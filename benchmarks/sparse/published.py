"""Sparse matrices and tensors with published statistics, and how each is imitated.

The pages of the SuiteSparse Matrix Collection and of FROSTT state extents and numbers of nonzeros,
which are exact here. They say little or nothing of how the nonzeros are distributed: the skews, the
bands and the blocks below are approximate, chosen by what the pages say of the data, except where a
comment names a source.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SUITESPARSE = "https://sparse.tamu.edu"
FROSTT = "http://frostt.io/tensors"


@dataclass(frozen=True)
class Published:
    """What is known of a matrix or tensor.

    Attributes
    ----------
    shape, nnz
        As published.
    page : str
        Where.
    structure : str
        The generator of a matrix, in `ttlg.benchmarks.sparse.matrices`, or ``independent``, of any
        rank: every mode is drawn for itself.
    parameters : mapping
        Of the generator.
    skews : tuple of float
        Of the modes where they are independent: see `ttlg.benchmarks.sparse.skew.skewed`.
    """

    shape: tuple[int, ...]
    nnz: int
    page: str
    structure: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    skews: tuple[float, ...] = ()


def _matrix(
    page: str, shape: tuple[int, int], nnz: int, structure: str, **parameters: float
) -> Published:
    return Published(shape, nnz, f"{SUITESPARSE}/{page}" if page else "", structure, parameters)


def _tensor(page: str, nnz: int, shape: tuple[int, ...], skews: tuple[float, ...]) -> Published:
    return Published(shape, nnz, f"{FROSTT}/{page}", "independent", {}, skews)


# Of the rows and the columns: `rows` and `columns` are skews, as those of tensors; `local` is the
# share of nonzeros near the diagonal, and `reach` how near, in rows.
MATRICES = {
    "webbase-1M": _matrix(
        "Williams/webbase-1M",
        (1000005, 1000005),
        3105536,
        "power_law",
        rows=0.6,
        columns=0.6,
        local=0.7,
        reach=100,
    ),
    "cage14": _matrix(
        "vanHeukelum/cage14",
        (1505785, 1505785),
        27130349,
        "diagonals",
        count=60,
    ),
    # The rows of a node of the mesh have the same columns; how many rows that are is approximate.
    "ldoor": _matrix(
        "GHS_psdef/ldoor",
        (952203, 952203),
        42493817,
        "blocks",
        block=7,
        reach=700,
    ),
    # Points in the unit square, joined where they are nearer than 0.55 sqrt(ln(n) / n). The page
    # lacks the square root, with which its number of nonzeros follows. That the points are numbered
    # by strips of the square is approximate.
    "rgg_n_2_20_s0": _matrix(
        "DIMACS10/rgg_n_2_20_s0",
        (1048576, 1048576),
        13783240,
        "geometric",
    ),
    "wikipedia-20051105": _matrix(
        "Gleich/wikipedia-20051105",
        (1634989, 1634989),
        19753078,
        "power_law",
        rows=0.4,
        columns=0.65,
        local=0,
        reach=1,
    ),
    "soc-LiveJournal1": _matrix(
        "SNAP/soc-LiveJournal1",
        (4847571, 4847571),
        68993773,
        "power_law",
        rows=0.5,
        columns=0.5,
        local=0.2,
        reach=1000,
    ),
    # With the parameters that the page states. The graph is symmetric, which is left out here.
    "kron_g500-logn18": _matrix(
        "DIMACS10/kron_g500-logn18",
        (262144, 262144),
        21165908,
        "kronecker",
        a=0.57,
        b=0.19,
        c=0.19,
    ),
    # As many in all columns, about; some rows are long.
    "rail4284": _matrix(
        "Mittelmann/rail4284",
        (4284, 1096894),
        11284032,
        "power_law",
        rows=0.4,
        columns=0,
        local=0,
        reach=1,
    ),
    "uniform": _matrix(
        "",
        (10**6, 10**6),
        10**7,
        "power_law",
        rows=0,
        columns=0,
        local=0,
        reach=1,
    ),
}

# The skews are exponents: the k-th most frequent index of a mode has a share of k to minus that.
# Words, tags, addresses and entities are skewed more than hours, days and places are.
TENSORS = {
    "nell-2": _tensor("nell-2", 76879419, (12092, 9184, 28818), (0.6, 0.6, 0.6)),
    "nell-1": _tensor("nell-1", 143599552, (2902330, 2143368, 25495389), (0.6, 0.6, 0.6)),
    "uber": _tensor("uber-pickups", 3309490, (183, 24, 1140, 1717), (0.1, 0.3, 0.6, 0.6)),
    "chicago-crime": _tensor("chicago-crime", 5330673, (6186, 24, 77, 32), (0, 0.2, 0.4, 0.5)),
    # The page has the extents of all five modes, of which this tensor has the first three. Its own
    # number of nonzeros is not there: this one is that of five modes.
    "vast-2015-mc1-3d": _tensor("vast-2015-mc1", 26021945, (165427, 11374, 2), (0.2, 0.2, 0.3)),
    "delicious-4d": _tensor(
        "delicious", 140126181, (532924, 17262471, 2480308, 1443), (0.6, 0.6, 0.8, 0.1)
    ),
    "enron": _tensor("enron", 54202099, (6066, 5699, 244268, 1176), (0.7, 0.7, 0.7, 0.3)),
    "vast-2015-mc1-5d": _tensor(
        "vast-2015-mc1", 26021945, (165427, 11374, 2, 100, 89), (0.2, 0.2, 0.3, 0.4, 0.4)
    ),
    "lbnl-network": _tensor(
        "lbnl-network", 1698825, (1605, 4198, 1631, 4209, 868131), (0.8, 0.7, 0.8, 0.7, 0.2)
    ),
}

PUBLISHED = {**MATRICES, **TENSORS}
