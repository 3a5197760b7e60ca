"""The papers' experiments in place on a GPU, that on orders out of place, and who takes part.

Gorawski and Lorek: squares in the order of each scheme, by the width of the bands, and in three
dimensions. Catanzaro, Keller and Garland (PPoPP 2014): random matrices and arrays of structures.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import ttlg
from ttlg import _core
from ttlg.benchmarks.case import Case, shape_text
from ttlg.benchmarks.gpu.baselines import IN_PLACE, OUT_OF_PLACE
from ttlg.benchmarks.gpu.device import Buffers
from ttlg.benchmarks.inplace import suites
from ttlg.benchmarks.plans import changed

_DTYPES = ("float32", "float64")
# From what fits into the L2 cache to half of a device's memory; larger ones are noted as such.
_SQUARES = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 54, 64, 80, 96, 112, 128)
_ORDERS = (4, 8, 16, 24, 32, 40, 48, 54)
_CUBES = (4, 8, 16, 24, 32, 40)
_FLAT_EXTENTS = (2, 3, 4)
_RANDOM_EXTENTS = (1000, 20000)
_RANDOM = 100  # matrices, unless `sample` says how many
# The baselines are slow; the extents are those of Catanzaro et al., Fig. 3.
_BASELINE_EXTENTS = (1000, 10000)
_BASELINE_MATRICES = 12

INVOLUTIONS = {"T_yxz": (0, 2, 1), "T_zyx": (2, 1, 0), "T_xzy": (1, 0, 2)}
BANDS = (1, 2, 4, 8, 16, 32, 64)
REGIONS = (16, 32, 64, 128, 256)
BLOCK_THREADS = (64, 128, 256, 512, 1024)
SCHEMES = tuple(each for each in _core.CUDA_INPLACE_KERNELS if each.startswith("square"))
KERNELS = (*SCHEMES, "runs", "skinny", "c2r", "r2c")


def _squares(suite: str, orders: tuple[int, ...]) -> Iterator[Case]:
    """Square matrices of 1024 rows times each of `orders`, in float32 and float64."""
    for dtype, order in itertools.product(_DTYPES, orders):
        yield Case(suite, f"{order}K", (1024 * order,) * 2, (1, 0), dtype)


def three_dimensions(sample: int | None) -> Iterator[Case]:
    """Two equal extents that change places, of 4096 to 40960, and a third one of 2, 3 or 4.

    T_yxz transposes the planes, T_zyx moves elements between them and T_xzy moves rows, which have
    the third extent's elements each.
    """
    for dtype, (name, axes), order, flat in itertools.product(
        _DTYPES, INVOLUTIONS.items(), _CUBES, _FLAT_EXTENTS
    ):
        shape = tuple(flat if axes[axis] == axis else 1024 * order for axis in range(3))
        yield Case("inplace-3d", f"{name} {shape_text(shape)}", shape, axes, dtype)


def _random_matrices(suite: str, extents: tuple[int, int], count: int) -> Iterator[Case]:
    """Draw matrices of random rows and columns, in float32 and float64."""
    draw = random.Random(6)
    for _ in range(count):
        shape = draw.randint(*extents), draw.randint(*extents)
        for dtype in _DTYPES:
            yield Case(suite, shape_text(shape), shape, (1, 0), dtype)


def random_matrices(sample: int | None) -> Iterator[Case]:
    """Matrices of 1000 to 20000 random rows and columns (Fig. 6)."""
    return _random_matrices("inplace-random", _RANDOM_EXTENTS, sample or _RANDOM)


def baselines(sample: int | None) -> Iterator[Case]:
    """Matrices of 1000 to 10000 random rows and columns."""
    return _random_matrices("inplace-baselines", _BASELINE_EXTENTS, sample or _BASELINE_MATRICES)


def orders(sample: int | None) -> Iterator[Case]:
    """Matrices of 4096 to 55296 rows and columns out of place, in float32."""
    for rows, columns in itertools.product(_ORDERS, repeat=2):
        shape = 1024 * rows, 1024 * columns
        yield Case("oop-orders", f"{rows}Kx{columns}K", shape, (1, 0), "float32")


# Each takes how many cases are drawn, where they are.
SUITES: dict[str, Callable[[int | None], Iterator[Case]]] = {
    "inplace-square": lambda sample: _squares("inplace-square", _SQUARES),
    "inplace-bands": lambda sample: _squares("inplace-bands", _ORDERS),
    "inplace-3d": three_dimensions,
    "inplace-random": random_matrices,
    "inplace-landscape": suites.landscape,
    "inplace-aos": suites.structures,
    "inplace-baselines": baselines,
    "oop-orders": orders,
}
# Beside the copies.
CONTENDERS: dict[str, tuple[str, ...]] = {
    "inplace-square": ("ttlg-inplace", *SCHEMES, "ttlg-plan"),
    "inplace-bands": (
        "ttlg-inplace",
        *(f"band-{width}" for width in BANDS),
        *(f"region-{width}" for width in REGIONS),
    ),
    "inplace-3d": (
        *("ttlg-inplace", "square_ip", "square_v1b", "runs"),
        *(f"threads-{threads}" for threads in BLOCK_THREADS),
    ),
    "inplace-random": ("ttlg-inplace", "c2r", "r2c"),
    "inplace-landscape": ("ttlg-inplace", "c2r", "r2c"),
    "inplace-aos": ("ttlg-inplace", "skinny", "c2r", "r2c"),
    "inplace-baselines": ("ttlg-inplace", "c2r", "r2c", *IN_PLACE),
    "oop-orders": ("ttlg-plan", "nvi", "oopb", "torch", *OUT_OF_PLACE),
}
# Of the contenders whose names end with a number: the kernel, and what of its steps that is.
_VARIED = {
    "band": ("square_v1b", "width"),
    "region": ("square_sg", "width"),
    "threads": ("square_v1b", "threads"),
}


def planned(buffers: Buffers, axes: tuple[int, ...], name: str) -> ttlg.Plan | None:
    """Make the plan in place of a contender.

    Returns None where a kernel, or a width of bands or regions, cannot carry the permutation out.
    Raises ValueError where the planner itself cannot.
    """
    x = buffers.inputs[0]
    options: dict[str, Any] = {"device": "cuda", "inplace": True}
    if name == "ttlg-inplace":
        return ttlg.plan(x.shape, axes, x.dtype, **options)
    what, _, number = name.partition("-")
    kernel, entry = _VARIED.get(what, (name, ""))
    parameters = {entry: int(number)} if entry else None
    try:
        return ttlg.plan(x.shape, axes, x.dtype, kernel=kernel, parameters=parameters, **options)
    except ValueError:
        return None


def with_bands(plan: ttlg.Plan, width: int) -> ttlg.Plan:
    """Return orthogonal_distinct's plan of float32 in tiles of 64 x 64 and bands of `width` tiles.

    With 0 without bands: the paper's baseline NVI, where with 8 it is OOPB.
    """
    in_block, out_block = (min(64, extent) for extent in plan.extents)
    one_tile = {"in_block": in_block, "out_block": out_block, "stages": 1, "band_width": width}
    return changed(plan, parameters={**plan.parameters, **one_tile})


NAMES = (
    "ttlg-inplace",
    *KERNELS,
    *(f"band-{width}" for width in BANDS),
    *(f"region-{width}" for width in REGIONS),
    *(f"threads-{threads}" for threads in BLOCK_THREADS),
)
