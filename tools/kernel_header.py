"""What the planner reads of the kernels' budget: a C++ header that follows from the record."""

import re
from collections.abc import Mapping
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "cpp/plan/cuda/model/kernel_figures.hpp"

_TEXT = """\
// What the compiler has made of the kernels. Written by tools/kernel_budget.py --record from
// cpp/cuda/kernels/budget.json, with which its --check compares; do not edit.
#pragma once

#include "plan/cuda/parameters.hpp"

namespace ttlg::cuda {{

// A kernel for elements of `width` bytes, with 16-byte accesses on either side or not; registers of
// a thread, and instructions of a warp for every 128 bytes, as docs/hardware.md explains them.
struct KernelFigures {{
  Schema schema;
  int width;
  bool vector_in;
  bool vector_out;
  int registers;
  double instructions_per_line;
  double instructions_per_further_line;
}};

// clang-format off
inline constexpr KernelFigures kKernelFigures[] = {{
{rows}
}};
// Where runs have no words of this width in common; the planner does not know whether a copy's
// addresses have.
inline constexpr KernelFigures kMatchLargeShifted = {shifted};
// clang-format on

}}  // namespace ttlg::cuda
"""
# Of these the planner counts bytes alone.
_INPLACE = (
    "square",
    "square_any_threads",
    "runs",
    "runs_any_threads",
    "row_shuffle",
    "column_shuffle",
    "row_gather",
    "column_gather",
    "cells",
    "cut_cells",
    "skinny",
    "skinny_heads",
)
_IN_TEXT = ("registers", "instructions_per_line", "instructions_per_further_line")


def text_of(kernels: Mapping[str, Mapping[str, float]]) -> str:
    """Write the planner's part of the figures as C++."""
    rows = {}
    for label, found in kernels.items():
        kernel, width, *vectors = re.findall(r"\w+", label)
        if kernel in _INPLACE:
            continue
        schema = re.sub("_(packed|shifted)$", "", kernel)
        both = (vectors or ["0"]) * 2  # sides, of kernels that have one form for both
        access = (str(bool(int(each))).lower() for each in both[:2])
        values = (f"{found[name]:g}" for name in _IN_TEXT)
        rows[label] = f"{{Schema::{', '.join((schema, width, *access, *values))}}}"
    shifted = rows.pop("fvi_match_large_shifted<4>", "{}")
    rows.pop("copy_shifted<16>", None)
    return _TEXT.format(rows="\n".join(f"    {row}," for row in rows.values()), shifted=shifted)


def write(kernels: Mapping[str, Mapping[str, float]]) -> None:
    """Write the header."""
    HEADER.write_text(text_of(kernels))


def check(kernels: Mapping[str, Mapping[str, float]]) -> int:
    """Say so and return 1 where the header is not that of the record."""
    if HEADER.read_text() == text_of(kernels):
        return 0
    print(f"{HEADER.name} is not that of the record: tools/kernel_budget.py --record writes both")
    return 1
