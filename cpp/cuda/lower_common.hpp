// What lowering to every kernel has in common.
#pragma once

#include <cstdint>

#include "cuda/kernels/grid.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

inline std::uint32_t narrow32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

// In bytes of shared memory, lines of it.
inline std::int64_t in_shared_lines(std::int64_t bytes) {
  return ceil_div(bytes, kSharedLineBytes) * kSharedLineBytes;
}

// What is left of a mode for its last block.
inline std::int64_t last_extent(const SlicedProblem& sliced, int m) {
  const std::int64_t extent = sliced.mode(m).extent;
  const std::int64_t block = sliced.extent(m);
  return extent - (ceil_div(extent, block) - 1) * block;
}

inline Coarsening coarsening_steps(const SlicedProblem& sliced) {
  if (sliced.parameters.coarsened_mode < 0) return {.count = 1, .in_step = 0, .out_step = 0};
  const Mode& repeated = sliced.mode(sliced.parameters.coarsened_mode);
  return {.count = narrow32(repeated.extent),
          .in_step = repeated.in_byte_stride,
          .out_step = repeated.out_byte_stride};
}

}  // namespace ttlg::cuda
