// From a plan and two pointers to a kernel's parameters: pure host code, a few hundred nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "cuda/kernels/copy.hpp"
#include "cuda/kernels/fvi_match_large.hpp"
#include "cuda/kernels/fvi_match_small.hpp"
#include "cuda/kernels/orthogonal_arbitrary.hpp"
#include "cuda/kernels/orthogonal_distinct.hpp"
#include "plan/cuda/plan.hpp"

namespace ttlg::cuda {

using AnyGrid = Grid<kMaxRank + 3>;
using KernelArguments = std::variant<CopyArguments, MatchLargeArguments, MatchSmallArguments,
                                     DistinctArguments, ArbitraryArguments>;

struct Shift {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

struct Launch {
  int word_bytes = 1;
  VectorAccess access{};
  std::uint32_t blocks = 0;     // none for an empty problem
  int threads = kBlockThreads;  // of a block
  int shared_bytes = 0;
  AnyGrid grid{};
  KernelArguments arguments{};
  // The kernel is launched once for each, from pointers moved so many bytes; more than once where
  // the grid would exceed CUDA's limit.
  std::vector<Shift> shifts{};
};

// The kernel that is the same for `grid`, with as few modes compiled in as hold it.
template <int kModes>
Grid<kModes> narrow(const AnyGrid& grid) {
  Grid<kModes> result{};
  result.modes = grid.modes;
  for (int m = 0; m < grid.modes; ++m) result.mode[m] = grid.mode[m];
  return result;
}

// `in` and `out` point at element (0, ..., 0) of the request's arrays. Throws
// std::invalid_argument where they are not aligned as planned.
Launch lower(const cuda::Plan& plan, const std::byte* in, const std::byte* out);

}  // namespace ttlg::cuda
