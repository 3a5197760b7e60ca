#include "plan/cuda/slice/sliced_problem.hpp"

#include <algorithm>
#include <cstdlib>

namespace ttlg::cuda {

int axis_modes(const Problem& problem, const Slice& slice) {
  int modes = slice.in_modes;
  for (const int m : std::span(problem.perm).first(static_cast<std::size_t>(slice.out_modes))) {
    modes += m >= slice.in_modes;
  }
  return modes;
}

SlicedProblem::SlicedProblem(const Problem& of_problem, const Parameters& chosen,
                             std::int64_t of_alignment)
    : problem(of_problem), parameters(chosen), alignment(of_alignment) {
  std::fill_n(extents_.begin(), problem.modes.size(), 1);
  const auto add = [&](std::span<const int> axis, std::int64_t block) {
    for (const int& m : axis) {
      std::int64_t& extent = extents_[static_cast<std::size_t>(m)];
      extent = std::max(extent, &m == &axis.back() ? block : mode(m).extent);
    }
  };
  add(in_axis(), parameters.slice.in_block);
  add(out_axis(), parameters.slice.out_block);
}

std::int64_t SlicedProblem::max_distance() const {
  std::int64_t in = 0;
  std::int64_t out = 0;
  for (std::size_t m = 0; m < problem.modes.size(); ++m) {
    in += (extents_[m] - 1) * std::abs(problem.modes[m].in_byte_stride);
    out += (extents_[m] - 1) * std::abs(problem.modes[m].out_byte_stride);
  }
  return std::max(in, out) / problem.element_bytes();
}

}  // namespace ttlg::cuda
