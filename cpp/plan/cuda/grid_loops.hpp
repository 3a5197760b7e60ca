// The grid of thread blocks that take the slices of a problem.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// One mode of the grid, and how far apart blocks lie that differ by one in it.
struct GridLoop {
  std::int64_t count;
  std::int64_t in_byte_step;
  std::int64_t out_byte_step;

  bool operator==(const GridLoop&) const = default;
};

// The grid of slices, the fastest mode first: the mode blocked on the output's side (count 1 where
// whole, or blocked on the input's side too), the one blocked on the input's side (count 1 where
// whole), then the rest in output order; without the coarsened one. Empty for copy.
std::vector<GridLoop> grid_loops(const SlicedProblem& sliced);

// How many thread blocks that is. Throws std::overflow_error beyond 64 bits. Allocates nothing.
std::int64_t grid_blocks(const SlicedProblem& sliced);

// How far apart in the order of the grid two thread blocks are that are neighbours along a mode: 1
// along the fastest; 0 where the grid does not have the mode. Allocates nothing.
std::int64_t block_distance(const SlicedProblem& sliced, int mode);

// The mode that coarsening may take: the first in input order with an extent in 4..32 outside the
// slice, for problems above 2 MB; -1 without one (TTLG, section IV-A).
int choose_coarsened_mode(const SlicedProblem& sliced);

}  // namespace ttlg::cuda
