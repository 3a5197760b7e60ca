#include "plan/cuda/layout/choose_layout.hpp"

#include <algorithm>
#include <array>

#include "plan/cuda/layout/layout_sample.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/packed_slice.hpp"

namespace ttlg::cuda {

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
