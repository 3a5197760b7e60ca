// How Orthogonal-Arbitrary lays a slice out in shared memory (TTLG, Alg. 4): its elements in input
// order, padded or swizzled so that reading them in output order meets few bank conflicts.
#pragma once

#include <cstdint>
#include <span>

#include "plan/cuda/layout/shared_layout.hpp"
#include "plan/cuda/layout/slice_modes.hpp"

namespace ttlg::cuda {

struct ChosenLayout {
  SharedLayout layout{};
  LayoutCost cost{};
};

// The layout with the fewest conflicts in a sample of the warps that fill and drain a slice, whose
// runs have that many elements in the input.
ChosenLayout choose_shared_layout(std::span<const SliceMode> out_order, std::int64_t element_bytes,
                                  VectorAccess access, std::int64_t run_elements = 1);
ChosenLayout choose_shared_layout(const SlicedProblem& sliced);

// Whether the time model counts what a layout costs. It does not for narrow elements, of which a
// sample says too little.
inline bool counts_layout(const SlicedProblem& sliced) {
  return sliced.parameters.schema == Schema::orthogonal_arbitrary &&
         !OrthogonalArbitraryPolicy::is_packed(sliced.problem.element_bytes());
}

}  // namespace ttlg::cuda
