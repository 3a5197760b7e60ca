// From steps in place to kernels' parameters: pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/launch.hpp"
#include "plan/cuda/inplace/step.hpp"

namespace ttlg::cuda {

// What a step has to work with.
struct InplaceMemory {
  std::int64_t address;  // of the array, any
  std::int64_t workspace_bytes;
  std::int64_t on_chip_bytes;  // shared memory of a thread block
};

// The launches of a step. Throws std::invalid_argument where the workspace is too small, or where
// elements are too large for words as narrow as the address asks for.
std::vector<InplaceLaunch> lower_inplace(const InplaceStep& step, const InplaceMemory& memory);

// Gaps of `bytes` each between the cells of a matrix, one after every `cells` of them.
struct CellGaps {
  std::int64_t cells = 1;
  std::int64_t bytes = 0;
};

// The launches of a step by cells.
std::vector<InplaceLaunch> lower_cells(const InplaceStep& step, std::int64_t address,
                                       const CellGaps& gaps = {});

// The launches of a step by pieces of few rows or columns.
std::vector<InplaceLaunch> lower_skinny(const InplaceStep& step, std::int64_t address);

// The launches of a step by one of the kernels for square matrices.
std::vector<Launch> lower_square(const InplaceStep& step, std::int64_t address);

}  // namespace ttlg::cuda
