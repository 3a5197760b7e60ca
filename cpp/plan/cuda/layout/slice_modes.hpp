// The modes of a slice in the order in which Orthogonal-Arbitrary reads it from shared memory.
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace ttlg::cuda
