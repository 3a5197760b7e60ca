"""The claims of GenTT."""

import statistics
from collections.abc import Sequence

import measured

from ttlg.benchmarks.case import Case, shape_text
from ttlg.benchmarks.measure import ceiling

from .records import Claim, body, share, timed, times

_SMALL_BYTES = 1 << 13  # of less, a call from Python takes as long as the work
_LEVELS = {"SSSE3": "ssse3", "AVX2": "avx2", "AVX-512": "avx512"}


def claims() -> list[Claim]:
    """List them."""
    powers, general = (_speed_ups("shapes", "generated", group) for group in ("powers", "general"))
    cubes = _speed_ups("cubes", "generated")
    least = ", ".join(
        f"{name} {min(_speed_ups('levels', isa)):.1f}" for name, isa in _LEVELS.items()
    )
    return [
        Claim(
            "powers of two 5 times NumPy, general shapes about 4 times",
            "Fig. 5",
            f"{_median(powers)} and {_median(general)} times in the median, "
            f"{min(powers + general):.1f} at the least",
            "zen4-generated-shapes",
        ),
        Claim(
            "of general shapes padding takes most, unaligned ends very little",
            "Fig. 5 (c)",
            _of_ends(),
            "zen4-generated-ends",
        ),
        Claim(
            "cubes of up to 2048 about 10 times NumPy, large ones 3 times",
            "Fig. 6",
            f"{_median(cubes)} times in the median of n = 8 to 256, {min(cubes):.1f} at the least: the "
            "function cuts no blocks for caches",
            "zen4-generated-cubes",
        ),
        Claim(
            "the same up to 2048 a side",
            "Fig. 6",
            command="python -m ttlg.benchmarks.generated cubes --full",
        ),
        Claim(
            "unrolling and the order of instructions 1.1 times the compiler's",
            "Fig. 7",
            _of_unrolling(),
            "zen4-generated-unrolling",
        ),
        Claim(
            "no shuffles take 25 % less time than 4 steps",
            "Fig. 8",
            _of_steps(),
            "zen4-generated-steps",
        ),
        Claim(
            "at least 2.1 times NumPy on every platform",
            "Fig. 9",
            f"at least {least} times; of NEON and SVE2 instructions are counted",
            "zen4-generated-levels",
        ),
        *_of_library(),
    ]


def _speed_ups(figure: str, name: str, group: str = "") -> list[float]:
    """Return how many times NumPy's speed functions have, without the smallest arrays."""
    return [
        row["seconds"]["numpy"] / row["seconds"][name]
        for row in body(f"zen4-generated-{figure}")["rows"]
        if Case(**row["case"]).bytes >= _SMALL_BYTES and row["case"]["suite"].startswith(group)
    ]


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f}"


def ends_table() -> str:
    """Write what the generated functions of `ttlg.benchmarks.generated.ends` take."""
    rows = []
    for row in body("zen4-generated-ends")["ends"]:
        case, counts = Case(**row["case"]), row["counts"]
        used = [
            f"{100 * counts['elements'] // (counts['lanes'] * counts[name])} %"
            for name in ("loads", "stores")
        ]
        rates = [f"{2 * case.bytes / seconds / 1e9:.0f}" for seconds in row["seconds"].values()]
        instructions = f"{16 * counts['instructions'] / counts['elements']:.1f}"
        rows.append([case.name, shape_text(case.shape), " / ".join(used), instructions, *rates])
    heads = (
        "",
        "shape",
        "loads / stores in use",
        "instructions for 16",
        "GB/s, at a line",
        "4 bytes behind",
    )
    return measured.markdown(heads, rows)


def _of_ends() -> str:
    """Write each cost alone: the time of a byte by that of a case which lacks it."""
    byte = {
        (row["case"]["name"], start): seconds / Case(**row["case"]).bytes
        for row in body("zen4-generated-ends")["ends"]
        for start, seconds in row["seconds"].items()
    }
    line, behind = "at a line", "4 bytes behind"
    unaligned = byte["blocks fit", behind]
    costs = {
        "unaligned rows": unaligned / byte["blocks fit", line],
        "blocks that overlap": byte["last blocks overlap", behind] / unaligned,
        "padded loads": byte["loads padded", behind] / unaligned,
        "padded stores": byte["stores padded", behind] / unaligned,
    }
    return "times as long: " + ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items())


def _of_unrolling() -> str:
    ratios = [
        row["seconds"]["unrolled by gcc"] / seconds
        for row in body("zen4-generated-unrolling")["rows"]
        for name, seconds in row["seconds"].items()
        if name[0].isdigit()
    ]
    return f"{min(ratios):.2f} to {max(ratios):.2f} times"


def _of_steps() -> str:
    rows = body("zen4-generated-steps")["rows"]
    most, none = (rows[at]["seconds"]["generated"] for at in (0, -1))
    rate = 2 * Case(**rows[0]["case"]).bytes / most / 1e9
    return f"{100 * (1 - none / most):.0f} % less; 4 steps run at {rate:.0f} GB/s"


def _of_maps() -> str:
    """Write the interpreter's share of a copy by how many modes a map brings into a vector."""
    rows = [row for row in body("zen4-ablations")["ablations"] if row["ablation"] == "shuffle"]
    shares = [ceiling(row["seconds"]) / row["seconds"]["shuffle"] for row in rows]
    return ", ".join(f"{each:.2f}" for each in shares)


def _of_library() -> list[Claim]:
    shapes = timed("zen4-gentt", "gentt", "float32")
    twos = [each for dtype in ("float32", "float64") for each in timed("zen4-twos", "twos", dtype)]
    least = min(each.speed_up("numpy") for each in twos)
    return [
        Claim(
            "no shuffles take 25 % less time, in the library's interpreter of programs",
            "Fig. 8",
            f"4, 3, 2, 1 and 0 modes brought into a vector: {_of_maps()} of a copy's rate",
            "zen4-ablations",
        ),
        Claim(
            "the library's calls of Fig. 5's shapes and of 2^20, which are not in the paper",
            "",
            f"{times(shapes, 'numpy')} times NumPy, {times(shapes, 'torch')} PyTorch, "
            f"{times(shapes, 'hptt')} HPTT, which plans at every call, in the median",
            "zen4-gentt",
        ),
        Claim(
            "its calls of random orders of extents of 2, from 2^8 to 2^22 elements",
            "",
            f"{times(twos, 'numpy')} times NumPy in the median, {least:.1f} at the least; "
            f"{share(twos, 'ttlg')} of a copy",
            "zen4-twos",
        ),
    ]
