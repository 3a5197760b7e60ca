"""The case that the figures of each kernel in the budget are of; others cost more for each line."""

from collections.abc import Iterable, Mapping

_TILES = "whole tiles whose lines leave no gaps"
_SLICES = "whole slices of 16 KB, or 32 KB of wide elements, of two modes on either side"
_PASS = "pieces of 32 KB, all lanes of which have elements of one word"
_CELLS = "cells and chunks that busy all lanes"

ASSUMPTIONS = {
    "cells": f"{_CELLS}, four cells of a part at a time",
    "column_gather": _PASS,
    "column_shuffle": _PASS,
    "copy": "four words of each thread",
    "copy_shifted": "four words of each thread, shifted by any number of bytes",
    "cut_cells": f"{_CELLS}, four words of each",
    "fvi_match_large": (
        "whole chunks of 64 bytes for each lane, as of runs of 2 KB or more in tensors of 8 MB or "
        "more; of shorter chunks lanes have fewer words to share the set-up, down to four"
    ),
    "fvi_match_large_shifted": (
        "the same in words of 4 bytes, with chunks whose ends are a small part of them"
    ),
    "fvi_match_small": "whole slices of 32 KB, of 32 lines on either side",
    "orthogonal_arbitrary": _SLICES,
    "orthogonal_arbitrary_packed": "whole slices of 16 KB, two modes with several runs on a side",
    "orthogonal_distinct": _TILES,
    "row_gather": "eight elements of one word for each thread",
    "row_shuffle": f"{_PASS}; no bank conflicts",
    "runs": (
        "four words of either run for each lane, as of elements of four lines or more; of elements "
        "of up to a line lanes have one word, and a line takes more than twice as many"
    ),
    "runs_any_threads": "as of runs, with 256 threads",
    "skinny": "pieces of 47 KB, of eight fields, all lanes of which have elements of one word",
    "skinny_heads": "an element of one word for each thread",
    "square": f"{_TILES}, and of the tiles on the other side of the diagonal",
    "square_any_threads": "as of square, with 256 threads",
}


def kernel_of(label: str) -> str:
    """Read the kernel's name from that of one of its forms, ``runs<4>``."""
    return label.partition("<")[0]


def of_kernels(labels: Iterable[str]) -> dict[str, str]:
    """Say what is assumed of each kernel that has one of these forms."""
    return {kernel: ASSUMPTIONS[kernel] for kernel in sorted({*map(kernel_of, labels)})}


def check(record: Mapping[str, Mapping[str, object]]) -> int:
    """Say so and return 1 where the record says something else, or nothing."""
    if record.get("assumes") == of_kernels(record["kernels"]):
        return 0
    print(
        "the assumptions are not those of the record: tools/kernel_budget.py --record writes them"
    )
    return 1
