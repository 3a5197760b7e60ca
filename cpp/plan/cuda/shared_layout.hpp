// How Orthogonal-Arbitrary lays a slice out in shared memory (TTLG, Alg. 4; requirements T-10,
// T-11): its elements in input order, skewed so that reading them in output order meets few bank
// conflicts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/cuda/plan.hpp"

namespace ttlg::cuda {

// The slice's modes that the input's axis does not hold (OOS), in input order but for that which
// the slice cuts, which comes last.
std::vector<int> rows_of(const Problem& words, const Slice& slice);

// A mode of the slice: elements between its neighbours when the slice is numbered in input order.
struct SliceMode {
  int mode;
  std::int64_t extent;
  std::int64_t step;
};
std::vector<SliceMode> slice_in_output_order(const Problem& words, const Parameters& parameters);

// Elements of the rows that Skew::row keeps apart: the most between neighbours along the output's
// first two modes, which a warp walks along.
std::int64_t skew_row_length(std::span<const SliceMode> out_order);

// The skew with the fewest conflicts in a sample of the warps that fill and drain a slice.
Skew choose_skew(std::span<const SliceMode> out_order, std::int64_t element_bytes,
                 VectorAccess access);

}  // namespace ttlg::cuda
