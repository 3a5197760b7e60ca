// What a kernel is launched with.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "cuda/kernels/copy.hpp"
#include "cuda/kernels/fvi_match_large.hpp"
#include "cuda/kernels/fvi_match_large_shifted.hpp"
#include "cuda/kernels/fvi_match_small.hpp"
#include "cuda/kernels/inplace/cells.hpp"
#include "cuda/kernels/inplace/column_gather.hpp"
#include "cuda/kernels/inplace/column_shuffle.hpp"
#include "cuda/kernels/inplace/row_gather.hpp"
#include "cuda/kernels/inplace/row_shuffle.hpp"
#include "cuda/kernels/inplace/runs.hpp"
#include "cuda/kernels/inplace/skinny.hpp"
#include "cuda/kernels/inplace/square.hpp"
#include "cuda/kernels/orthogonal_arbitrary.hpp"
#include "cuda/kernels/orthogonal_arbitrary_packed.hpp"
#include "cuda/kernels/orthogonal_distinct.hpp"
#include "plan/cuda/grid_loops.hpp"
#include "tensor/axes.hpp"

namespace ttlg::cuda {

using AnyGrid = Grid<kMaxRank + 3>;
using KernelArguments =
    std::variant<CopyArguments, MatchLargeArguments, MatchLargeShiftedArguments,
                 MatchSmallArguments, DistinctArguments, ArbitraryArguments, PackedArguments,
                 SquareArguments, RunsArguments, RowShuffleArguments, ColumnShuffleArguments,
                 RowGatherArguments, ColumnGatherArguments, CutCellsArguments, CellsArguments,
                 SkinnyArguments, SkinnyHeadsArguments>;

// Where a launch begins, relative to the caller's pointers.
struct Shift {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// The grid of a plan. Where it would exceed CUDA's limit, its slowest modes are loops of launches.
struct LaunchGrid {
  AnyGrid grid{};
  std::int64_t size = 0;  // of one launch
  Shift origin{};
  std::vector<GridLoop> outer_loops{};  // the fastest first
  std::int64_t launches = 1;

  // Where the launch of this number begins.
  Shift shift(std::int64_t launch) const {
    Shift result = origin;
    for (const GridLoop& loop : outer_loops) {
      result.in += launch % loop.count * loop.in_byte_step;
      result.out += launch % loop.count * loop.out_byte_step;
      launch /= loop.count;
    }
    return result;
  }
};

// The rest, for a pair of pointers, or for one if the kernel works in place.
struct Launch {
  int word_bytes = 1;
  VectorAccess access{};
  std::uint32_t blocks = 0;  // none for an empty problem
  int threads = 0;           // of a block
  int shared_bytes = 0;
  KernelArguments arguments{};
};

// A launch in place, between two locations in the array or in the workspace beside it.
struct InplaceLaunch {
  struct Location {
    bool in_workspace = false;
    std::int64_t offset = 0;  // in bytes
  };

  Launch launch;
  Location from{};
  Location to{};
};

// A grid with as few modes compiled in as hold it.
template <int kModes>
Grid<kModes> narrow(const AnyGrid& grid) {
  Grid<kModes> result{};
  result.modes = grid.modes;
  result.slices = grid.slices;
  result.bands = grid.bands;
  for (int m = 0; m < grid.modes; ++m) result.mode[m] = grid.mode[m];
  return result;
}

}  // namespace ttlg::cuda
