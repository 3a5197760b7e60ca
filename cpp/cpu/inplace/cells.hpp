// Matrices of large elements in place: along the cycles of the permutation every element moves
// once, straight to its place.
#pragma once

#include <cstddef>

#include "cpu/kernels.hpp"
#include "plan/cpu/inplace/step.hpp"

namespace ttlg::cpu {

// How many bytes lie free after how many elements.
struct CellGaps {
  std::int64_t cells = 1;
  std::int64_t bytes = 0;
};

// All matrices of the step. `workspace` is that of CellsWorkspace, at a line.
void transpose_cells(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
                     const Kernels& table, const CellGaps& gaps = {});

}  // namespace ttlg::cpu
