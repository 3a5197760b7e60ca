#include "plan/cuda/grid_loops.hpp"

#include <algorithm>

#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// Tensors up to this size keep every slice in a block of its own (TTLG, section IV-A).
constexpr std::int64_t kMinCoarsenedBytes = 2 << 20;
constexpr std::int64_t kMinCoarsenedExtent = 4;
constexpr std::int64_t kMaxCoarsenedExtent = 32;

// Calls visit(m) for the modes of the grid, the fastest first; -1 stands for a place that is empty.
template <typename Visit>
void for_each_grid_mode(const SlicedProblem& sliced, const Visit& visit) {
  const Parameters& parameters = sliced.parameters;
  if (parameters.schema == Schema::copy) return;
  // The modes that are cut on either side.
  const int in_mode = sliced.in_axis().back();
  const int out_mode = parameters.schema == Schema::fvi_match_large ? -1 : sliced.out_axis().back();
  // A mode that both sides cut is one of the input's axis.
  visit(out_mode != in_mode ? out_mode : -1);
  visit(in_mode);
  for (const int m : sliced.problem.perm) {
    if (m == in_mode || m == out_mode || m == parameters.coarsened_mode) continue;
    if (sliced.extent(m) < sliced.mode(m).extent) visit(m);
  }
}

}  // namespace

std::vector<GridLoop> grid_loops(const SlicedProblem& sliced) {
  std::vector<GridLoop> loops;
  loops.reserve(sliced.problem.modes.size() + 2);
  for_each_grid_mode(sliced, [&](int m) {
    if (m < 0) {
      loops.push_back({1, 0, 0});
      return;
    }
    const Mode& mode = sliced.mode(m);
    const std::int64_t block = sliced.extent(m);
    loops.push_back(
        {ceil_div(mode.extent, block), block * mode.in_byte_stride, block * mode.out_byte_stride});
  });
  return loops;
}

std::int64_t block_distance(const SlicedProblem& sliced, int mode) {
  std::int64_t blocks = 1;
  std::int64_t result = 0;
  for_each_grid_mode(sliced, [&](int m) {
    if (m < 0) return;
    if (m == mode) result = blocks;
    blocks *= ceil_div(sliced.mode(m).extent, sliced.extent(m));
  });
  return result;
}

std::int64_t grid_blocks(const SlicedProblem& sliced) {
  std::int64_t blocks = 1;
  for_each_grid_mode(sliced, [&](int m) {
    if (m < 0) return;
    blocks = checked_mul(blocks, ceil_div(sliced.mode(m).extent, sliced.extent(m)));
  });
  return blocks;
}

int choose_coarsened_mode(const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  const Parameters& parameters = sliced.parameters;
  if (parameters.schema == Schema::copy || problem.bytes() <= kMinCoarsenedBytes) return -1;
  for (int m = parameters.slice.in_modes; m < static_cast<int>(problem.modes.size()); ++m) {
    const std::int64_t extent = sliced.mode(m).extent;
    if (extent < kMinCoarsenedExtent || extent > kMaxCoarsenedExtent) continue;
    const auto out_axis = sliced.out_axis();
    if (std::ranges::find(out_axis, m) == out_axis.end()) return m;
  }
  return -1;
}

}  // namespace ttlg::cuda
