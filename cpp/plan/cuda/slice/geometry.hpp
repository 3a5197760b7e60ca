// The numbers of a slice from which features and predicted times follow.
#pragma once

#include <cstdint>

#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// One side of the slices. Its axis is what Table I calls i_0..i_x or o_0..o_y, the last mode cut.
struct SideGeometry {
  std::int64_t length = 1;  // elements of the axis in a whole slice
  std::int64_t rest = 0;    // the same at the end of the cut mode, 0 where the block divides it
  std::int64_t whole = 1;   // slices along the cut mode that are whole
  std::int64_t rows = 1;    // how often the whole axis occurs in the tensor
  std::int64_t run = 1;     // elements of a whole slice that are contiguous in memory
  std::int64_t runs = 1;    // of those in the tensor, taken slice by slice
  std::int64_t run_alignment = 1;  // bytes, a power of two: where runs begin and end
  // The mode along which the next slice goes on where a run ends; -1 where no slice does.
  int run_mode = -1;

  std::int64_t slices() const { return whole + (rest > 0); }
};

struct SliceGeometry {
  SideGeometry in;
  SideGeometry out;
  std::int64_t volume = 1;  // elements of a whole slice
  std::int64_t slices = 1;
  bool is_cut_once = false;  // both sides cut the same mode
};

SliceGeometry geometry_of(const SlicedProblem& sliced);

}  // namespace ttlg::cuda
