// The slices that the planner weighs (TTLG, Alg. 3; requirement T-09).
#pragma once

#include <vector>

#include "plan/cuda/plan.hpp"

namespace ttlg::cuda {

// Slices of an admissible schema, none twice. Instead of every block factor, a side takes whole
// prefixes of its modes and prefixes of about the lengths that suit warps, sectors and tiles.
std::vector<Parameters> slices_of(const Problem& words, Schema schema, std::int64_t alignment);

}  // namespace ttlg::cuda
