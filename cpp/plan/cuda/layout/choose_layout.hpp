// How Orthogonal-Arbitrary lays a slice out in shared memory (TTLG, Alg. 4): its elements in input
// order, padded or swizzled so that reading them in output order meets few bank conflicts.
#pragma once

#include <cstdint>
#include <span>

#include "plan/cuda/layout/shared_layout.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
#include "tensor/inplace_vector.hpp"

namespace ttlg::cuda {

// The slice's modes that the input's axis does not hold (OOS), in input order but for that which
// the slice cuts, which comes last.
InplaceVector<int, kAxisModes> rows_of(const SlicedProblem& sliced);

// A mode of the slice: elements between its neighbours when the slice is numbered in input order,
// or lies in shared memory without padding, which packed slices leave gaps in.
struct SliceMode {
  int mode;
  std::int64_t extent;
  std::int64_t step;
};
using SliceModes = InplaceVector<SliceMode, 2 * kAxisModes>;
SliceModes slice_in_output_order(const SlicedProblem& sliced);

// The modes of a slice as the input has them: in the order of their steps.
SliceModes in_input_order(std::span<const SliceMode> out_order);

// Elements of the rows that SharedLayout::row_padding separates: the most between neighbours along
// the output's first two modes, which a warp walks along.
std::int64_t padded_row_length(std::span<const SliceMode> out_order);

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
