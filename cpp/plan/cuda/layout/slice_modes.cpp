#include "plan/cuda/layout/slice_modes.hpp"

#include <algorithm>
#include <array>

#include "plan/cuda/slice/packed_slice.hpp"

namespace ttlg::cuda {

InplaceVector<int, kAxisModes> rows_of(const SlicedProblem& sliced) {
  InplaceVector<int, kAxisModes> rows;
  for (const int m : sliced.out_axis()) {
    if (m >= sliced.parameters.slice.in_modes) rows.push_back(m);
  }
  if (!rows.empty()) std::sort(rows.begin(), rows.end() - 1);
  return rows;
}

SliceModes slice_in_output_order(const SlicedProblem& sliced) {
  const std::int64_t element_bytes = sliced.problem.element_bytes();
  const bool has_words = is_packed(sliced);
  const PackedRuns runs = has_words ? packed_slice(sliced).in : PackedRuns{};
  int run_modes = runs.modes;
  std::array<std::int64_t, kMaxRank> steps;
  std::int64_t step = 1;
  const auto add = [&](int m) {
    if (sliced.extent(m) == 1) return;
    if (has_words && run_modes-- <= 0) {
      // The words of runs do not overlap.
      step = std::max(step, runs.words * kBankBytes / element_bytes);
      step = packed_step(step, element_bytes, sliced.mode(m).in_byte_stride);
    }
    steps[static_cast<std::size_t>(m)] = step;
    step *= sliced.extent(m);
  };
  std::ranges::for_each(sliced.in_axis(), add);
  std::ranges::for_each(rows_of(sliced), add);
  SliceModes order;
  for (const int m : sliced.problem.perm) {
    const std::int64_t extent = sliced.extent(m);
    if (extent > 1) order.push_back({m, extent, steps[static_cast<std::size_t>(m)]});
  }
  return order;
}

SliceModes in_input_order(std::span<const SliceMode> out_order) {
  SliceModes order;
  for (const SliceMode& mode : out_order) order.push_back(mode);
  std::ranges::sort(order, {}, &SliceMode::step);
  return order;
}

std::int64_t padded_row_length(std::span<const SliceMode> out_order) {
  std::int64_t length = 1;
  for (const SliceMode& mode : out_order.first(std::min<std::size_t>(2, out_order.size()))) {
    length = std::max(length, mode.step);
  }
  return length;
}

}  // namespace ttlg::cuda
