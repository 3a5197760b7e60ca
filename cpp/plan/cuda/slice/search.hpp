// The slices that the planner weighs (TTLG, Alg. 3).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cuda/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cuda {

// Slices of an admissible schema, none twice. Instead of every block factor, a side takes whole
// prefixes of its modes and prefixes of about the lengths that suit warps, sectors and tiles.
std::vector<Parameters> slices_of(const Problem& problem, Schema schema, std::int64_t alignment);

}  // namespace ttlg::cuda
