"""The contractions that are measured: every case is data, and the same on every machine."""

import math
import random
from collections.abc import Callable, Iterator

from ttlg.benchmarks.contraction.case import ContractionCase
from ttlg.benchmarks.contraction.published import NINE, TCCG, TCCG_MORE
from ttlg.benchmarks.suites import QUICK_BYTES, QUICK_CASES, QUICK_SEED

# Of the published contractions no operand and no result is larger.
MOST_BYTES = 250 << 20

_RANDOM = 200
_RANDOM_SEED = 200
_OPERAND_BYTES = (50_000, 16_000_000)
_MOST_RESULT_BYTES = 64_000_000
_MOST_MULTIPLICATIONS = 10**9
_EXTENTS = (2, 400)
_STACKED_SHARE = 0.15


def nine() -> Iterator[ContractionCase]:
    """9 contractions after TCCG, of 19 to 215 MB, float64."""
    for equation, extents in NINE.items():
        yield ContractionCase("nine", equation, equation, extents, "float64")


def tccg(full: bool = False) -> Iterator[ContractionCase]:
    """24 contractions of TCCG in float64, cut down to tensors of 250 MiB; --full: 48.

    They lie in memory as there: the labels of each term are reversed, as the first varies fastest
    there and the last here. Where an operand or the result has more than `MOST_BYTES`, the longest
    extent of the largest is reduced by four until none has.
    """
    for name, extents in (TCCG | TCCG_MORE if full else TCCG).items():
        result, first, second = (term[::-1] for term in name.split("-"))
        labels = dict(zip(sorted(set(name) - {"-"}), extents, strict=True))
        case = ContractionCase("tccg", name, f"{first},{second}->{result}", labels, "float64")
        yield case.cut(MOST_BYTES)


def drawn(count: int = _RANDOM) -> Iterator[ContractionCase]:
    """200 random contractions of operands of 0.05 to 16 MB, float32 and float64.

    Operands have 2 to 5 modes, 1 to 3 of them summed, and some have one that the result has as
    well. All orders are drawn. A result has at most 64 MB, and a contraction 2 GFlop.
    """
    generator = random.Random(_RANDOM_SEED)
    for number in range(count):
        yield _draw(generator, f"{number:03}")


def _draw(generator: random.Random, name: str) -> ContractionCase:
    """Draw until a contraction fits."""
    while True:
        stacked = int(generator.random() < _STACKED_SHARE)
        summed = generator.randint(1, 3)
        free = [generator.randint(max(2, stacked + summed), 5) - stacked - summed for _ in "ab"]
        labels = "abcdefgh"[: stacked + summed + sum(free)]
        shared, own = labels[: stacked + summed], labels[stacked + summed :]
        result = shared[:stacked] + own
        terms = (shared + own[: free[0]], shared + own[free[0] :], result)
        first, second, result = ("".join(generator.sample(term, len(term))) for term in terms)
        low, high = map(math.log, _EXTENTS)
        extents = {label: round(math.exp(generator.uniform(low, high))) for label in labels}
        dtype = generator.choice(("float32", "float64"))
        case = ContractionCase("random", name, f"{first},{second}->{result}", extents, dtype)
        *operands, size = case.sizes
        if (
            all(_OPERAND_BYTES[0] <= each <= _OPERAND_BYTES[1] for each in operands)
            and size <= _MOST_RESULT_BYTES
            and case.multiplications <= _MOST_MULTIPLICATIONS
            and result
        ):
            return case


PARTS: dict[str, Callable[..., Iterator[ContractionCase]]] = {
    "nine": nine,
    "tccg": tccg,
    "random": drawn,
}


def cases(
    *, quick: bool = False, sample: int | None = None, full: bool = False
) -> list[ContractionCase]:
    """List the cases of all parts.

    `sample` is how many random ones are drawn; with `full` there are all of TCCG. `quick` draws a
    few cases of each part, always the same, and cuts the large ones down.
    """
    parts = {
        "nine": list(PARTS["nine"]()),
        "tccg": list(PARTS["tccg"](full)),
        "random": list(PARTS["random"](sample or _RANDOM)),
    }
    if quick:
        generator = random.Random(QUICK_SEED)
        for name, part in parts.items():
            numbers = sorted(generator.sample(range(len(part)), min(QUICK_CASES, len(part))))
            parts[name] = [part[number].cut(QUICK_BYTES) for number in numbers]
    return [case for part in parts.values() for case in part]
