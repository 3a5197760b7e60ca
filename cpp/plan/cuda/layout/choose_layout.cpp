#include "plan/cuda/layout/choose_layout.hpp"

#include <algorithm>
#include <array>

#include "plan/cuda/layout/layout_sample.hpp"
#include "plan/cuda/slice/access_width.hpp"
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

ChosenLayout choose_shared_layout(std::span<const SliceMode> out_order, std::int64_t element_bytes,
                                  VectorAccess access, std::int64_t run_elements) {
  // Extra cycles, of a fill and a drain together, that are not worth a longer search.
  constexpr double kGoodEnough = 0.05;
  // And those that are worth a long one.
  constexpr double kBad = 0.4;
  const LayoutSample sample(out_order, element_bytes, access, run_elements);
  SharedLayout best{};
  double min_cost = sample.cost(best, 1e9);
  const auto consider = [&](const SharedLayout& layout) {
    if (!sample.admits(layout)) return;
    const double cost = sample.cost(layout, min_cost);
    if (cost < min_cost) {
      min_cost = cost;
      best = layout;
    }
  };
  const std::int64_t room =
      OrthogonalArbitraryPolicy::kPaddedSliceBytes - sample.span() * element_bytes;
  const auto fits = [&](std::uint32_t padding) {
    return padding * sample.rows() * element_bytes <= room;
  };
  // Those that keep vectors first, so that they win where they are as good.
  const auto vector = static_cast<std::uint32_t>(
      OrthogonalArbitraryPolicy::wide_bytes(element_bytes) / element_bytes);
  // By as many elements as there are banks, a row begins in the same bank as without padding.
  const auto paddings =
      static_cast<std::uint32_t>(std::min<std::int64_t>(32, kSharedLineBytes / element_bytes));
  for (const std::uint32_t step : {vector, 1U}) {
    for (std::uint32_t padding = step; padding < paddings && fits(padding); padding += step) {
      const bool is_new = step == vector || padding % vector != 0;
      if (is_new && min_cost > kGoodEnough) consider({.row_padding = padding});
    }
  }
  constexpr std::array<std::uint32_t, 6> kRotations{0, 4, 8, 1, 2, 3};
  for (const std::uint32_t line : kRotations) {
    for (const std::uint32_t page : kRotations) {
      if (min_cost > kGoodEnough) consider({.line_rotation = line, .page_rotation = page});
    }
  }
  for (std::uint32_t line = 5; line < 32 && min_cost > kBad; ++line) {
    for (const std::uint32_t page : {0U, 1U, 4U, 8U}) {
      consider({.line_rotation = line, .page_rotation = page});
    }
  }
  return {best, {.conflicts = min_cost, .splits_vectors = sample.splits_vectors(best)}};
}

ChosenLayout choose_shared_layout(const SlicedProblem& sliced) {
  const std::int64_t element_bytes = sliced.problem.element_bytes();
  const std::int64_t run_bytes = is_packed(sliced) ? packed_slice(sliced).in.bytes : element_bytes;
  return choose_shared_layout(slice_in_output_order(sliced), element_bytes, planned_access(sliced),
                              run_bytes / element_bytes);
}

}  // namespace ttlg::cuda
