// From slices to kernels' parameters: pure host code, done once for a plan.
#pragma once

#include <cstdint>

#include "cuda/launch.hpp"
#include "plan/cuda/layout/shared_layout.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// Throws std::invalid_argument where too many launches would be needed.
LaunchGrid lower_grid(const SlicedProblem& sliced);

// Lets the slices of a grid be walked in bands of this width, or in one as wide as mode 1 where
// that is less or the width is 0: row by row.
void set_bands(AnyGrid& grid, std::int64_t width);

// The FVI kernels, for words of `word_bytes`. These three allocate nothing.
Launch lower_match_large(const SlicedProblem& sliced, std::int64_t runs, std::int64_t word_bytes);
Launch lower_match_small(const SlicedProblem& sliced, std::int64_t blocks, std::int64_t word_bytes);

// FVI-Match-Large between these addresses, whatever they and the runs are multiples of.
Launch lower_match_large_shifted(const SlicedProblem& sliced, std::int64_t runs,
                                 std::int64_t in_address, std::int64_t out_address);

// The Orthogonal kernels, for pointers that are aligned as well as can be.
Launch lower_distinct(const SlicedProblem& sliced, std::int64_t blocks);
Launch lower_arbitrary(const SlicedProblem& sliced, const SharedLayout& layout,
                       std::int64_t blocks);

// Orthogonal-Arbitrary for packed elements, and pointers aligned as the slices are planned for.
Launch lower_arbitrary_packed(const SlicedProblem& sliced, const SharedLayout& layout,
                              const LaunchGrid& grid);

// Copying `bytes` between these addresses. Throws std::invalid_argument where CUDA cannot
// number the blocks.
Launch lower_copy(std::int64_t bytes, std::int64_t in_address, std::int64_t out_address);

}  // namespace ttlg::cuda
