"""The claims of Gorawski and Lorek."""

import statistics
from collections.abc import Sequence

from ttlg.benchmarks.measure import Result

from .records import Claim, rate, rates, timed

_STEM = "h200-bench-inplace"
_GPU = "python -m ttlg.benchmarks.gpu --suite"
_LARGE = 24 * 1024  # where the paper's schemes without bands begin to lose
_SCHEMES = {
    "V1B": "square_v1b",
    "super grid": "square_sg",
    "V1": "square_v1",
    "full grid": "square_ip",
}

_OUT_OF_PLACE = {"oopb": "bands of 8 tiles", "nvi": "NVIDIA's order, row by row"}


def claims() -> list[Claim]:
    """List them, each of float32 as in the paper."""
    squares, bands, orders, cubes = (
        timed(_STEM, name, "float32")
        for name in ("inplace-square", "inplace-bands", "oop-orders", "inplace-3d")
    )
    widths = ", ".join(f"{rate(bands, f'band-{width}')} of {width}" for width in (1, 8, 16, 64))
    return [
        Claim(
            "V1B and the super grid are stable, V1B is the fastest, thread-wise the slowest",
            "Figs. 9 to 11",
            f"{_rates(squares)}, thread-wise {rate(squares, 'square_tw')} GB/s: the tiled ones differ "
            f"by {100 * _spread(squares):.0f} %",
            _STEM,
            f"{_GPU} inplace-square",
        ),
        Claim(
            "from orders of 24K on all but V1B and the super grid lose, by misses of the TLB",
            "Figs. 9 to 11",
            f"of orders from 28K to 80K {_rates(_large(squares))} GB/s: none loses",
            _STEM,
            f"{_GPU} inplace-square",
        ),
        Claim(
            "the width of bands decides, and differs by device",
            "section 7",
            f"bands of 1 to 64 tiles: {widths} (GB/s)",
            _STEM,
            f"{_GPU} inplace-bands",
        ),
        Claim(
            "out of place, bands of 8 tiles are stable, NVIDIA's kernel is not",
            "Figs. 12, 13",
            f"by the planner's plans {rate(orders, 'ttlg-plan')} GB/s in the median, "
            f"{min(rates(orders, 'ttlg-plan')):.0f} at the least ({len(orders)} pairs of orders)"
            f"{_not_measured(orders)}",
            _STEM,
            f"{_GPU} oop-orders",
        ),
        Claim(
            "T_yxz and T_zyx: from 24K on only bands keep their rate",
            "Figs. 14, 15",
            f"beyond 24K V1B {rate(_large(cubes), 'square_v1b')}, full grid "
            f"{rate(_large(cubes), 'square_ip')} GB/s; of all orders {rate(cubes, 'square_v1b')} and "
            f"{rate(cubes, 'square_ip')}",
            _STEM,
            f"{_GPU} inplace-3d",
        ),
    ]


def _not_measured(results: Sequence[Result]) -> str:
    """Name the paper's two kernels that took no part."""
    ran = {name for each in results for name in each.seconds}
    missing = [label for name, label in _OUT_OF_PLACE.items() if name not in ran]
    return f"; not measured: {' and '.join(missing)}" if missing else ""


def _large(results: Sequence[Result]) -> list[Result]:
    return [each for each in results if max(each.case.shape) > _LARGE]


def _rates(results: Sequence[Result]) -> str:
    return ", ".join(f"{label} {rate(results, name)}" for label, name in _SCHEMES.items())


def _spread(results: Sequence[Result]) -> float:
    medians = [statistics.median(rates(results, name)) for name in _SCHEMES.values()]
    return 1 - min(medians) / max(medians)
