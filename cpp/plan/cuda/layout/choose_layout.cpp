#include "plan/cuda/layout/choose_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/cuda/layout/bank_conflicts.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/packed_slice.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// A few of the accesses of warps to a slice in shared memory, and the bank conflicts that they meet
// in a layout.

// One access of a warp to elements of a slice whose rows follow one another. Idle lanes are left
// out.
struct WarpAccess {
  std::array<std::uint32_t, kWarpSize> byte{};
  std::array<std::uint32_t, kWarpSize> row{};
  std::uint32_t lanes = 0;
  std::uint32_t bytes = 0;  // of a lane
  double weight = 1;        // how often a thread block makes such an access
};

std::uint32_t conflicts(const SharedLayout& layout, const WarpAccess& access,
                        std::uint32_t element_bytes) {
  const std::uint32_t bank_bytes = std::max(access.bytes, 4u);
  const std::uint32_t padding_bytes = layout.row_padding * element_bytes;
  std::array<std::uint32_t, kWarpSize> byte{};
  for (std::size_t lane = 0; lane < byte.size(); ++lane) {
    byte[lane] = swizzle(layout, bank_bytes, access.byte[lane] + access.row[lane] * padding_bytes);
  }
  return bank_conflicts(std::span(byte).first(access.lanes), access.bytes);
}

// A few of the accesses that fill and drain a slice.
class LayoutSample {
 public:
  LayoutSample(std::span<const SliceMode> out_order, std::int64_t element_bytes,
               VectorAccess access, std::int64_t run_elements)
      : order_(out_order),
        bytes_(static_cast<std::uint32_t>(element_bytes)),
        run_elements_(run_elements) {
    for (const SliceMode& mode : order_) {
      elements_ *= mode.extent;
      span_ += (mode.extent - 1) * mode.step;
    }
    columns_ = padded_row_length(order_);
    is_filled_by_vectors_ = access.vector_in;
    const std::int64_t wide = Policy::wide_bytes(element_bytes) / element_bytes;
    if (is_packed()) {
      add_warps(order_, wide, bytes_, static_cast<double>(wide));
      drains_ = accesses_.size();
      add_warps(in_input_order(order_), wide, kBankBytes, 1);
    } else {
      add_warps(order_, access.vector_out ? wide : 1, bytes_, 1);
      drains_ = accesses_.size();
      add_fill();
    }
  }

  // Elements narrower than a word are copied in whole words, which must stay as they are. Where
  // runs may begin within words, only the distances of runs may grow, by words.
  bool admits(const SharedLayout& layout) const {
    if (!is_packed()) return true;
    if (is_filled_by_vectors_) {
      const std::int64_t row_bytes = (layout.row_padding | columns_) * bytes_;
      return layout.row_padding == 0 || row_bytes % kBankBytes == 0;
    }
    return (layout.line_rotation | layout.page_rotation) == 0 && columns_ >= run_elements_ &&
           layout.row_padding * bytes_ % kBankBytes == 0;
  }

  // Whether elements that come in vectors are put down one by one.
  bool splits_vectors(const SharedLayout& layout) const {
    return !is_packed() && is_filled_by_vectors_ && !keeps_vectors(layout, columns_, bytes_);
  }

  // Extra cycles of a fill's and a drain's average access together, of as many drains as a packed
  // word has elements; or, once that is certain, any number that is not below `limit`.
  double cost(const SharedLayout& layout, double limit) const {
    const bool is_filled_at_once = is_filled_by_vectors_ && !is_packed() && !splits_vectors(layout);
    double total = 0;
    for (const WarpAccess& access : accesses_) {
      if (total >= limit) break;
      if (is_filled_at_once && &access >= accesses_.begin() + drains_) break;
      total += access.weight * conflicts(layout, access, bytes_);
    }
    return total;
  }

  // From the first element to behind the last without padding.
  std::int64_t span() const { return span_; }
  std::int64_t rows() const { return ceil_div(span_, columns_); }

 private:
  using Policy = OrthogonalArbitraryPolicy;
  static constexpr std::int64_t kWarpsSampled = 4;
  // Of a sampled warp: of as many elements as a word may have once, and of two of them.
  static constexpr std::size_t kMaxAccesses = (1 + 2) * kWarpsSampled;

  bool is_packed() const { return Policy::is_packed(bytes_); }

  void add_lane(WarpAccess& access, std::int64_t element, std::int64_t row) const {
    access.byte[access.lanes] = static_cast<std::uint32_t>(element) * bytes_;
    access.row[access.lanes++] = static_cast<std::uint32_t>(row);
  }

  void add_lane_at(WarpAccess& access, std::span<const SliceMode> order, std::int64_t index) const {
    if (index >= elements_) return;
    std::int64_t element = 0;
    std::int64_t row = 0;
    for (const SliceMode& mode : order) {
      element += index % mode.extent * mode.step;
      row += index % mode.extent * (mode.step / columns_);
      index /= mode.extent;
    }
    add_lane(access, element, row);
  }

  // A few of the warps whose lanes take that many elements each in an order of the slice: one by
  // one, of which a few are looked at, or in accesses of more bytes at once.
  void add_warps(std::span<const SliceMode> order, std::int64_t of_lane, std::int64_t access_bytes,
                 double weight) {
    const std::size_t before = accesses_.size();
    const std::int64_t step =
        access_bytes > bytes_ ? of_lane : std::max<std::int64_t>(of_lane / 2, 1);
    const std::int64_t warps = ceil_div(elements_, kWarpSize * of_lane);
    const std::int64_t stride = std::max<std::int64_t>(warps / kWarpsSampled, 1);
    for (std::int64_t warp = 0; warp < std::min(warps, kWarpsSampled * stride); warp += stride) {
      for (std::int64_t e = 0; e < of_lane; e += step) {
        WarpAccess access{.bytes = static_cast<std::uint32_t>(access_bytes)};
        for (std::int64_t lane = 0; lane < kWarpSize; ++lane) {
          add_lane_at(access, order, (warp * kWarpSize + lane) * of_lane + e);
        }
        accesses_.push_back(access);
      }
    }
    for (WarpAccess& access : std::span(accesses_).subspan(before)) {
      access.weight = weight / static_cast<double>(accesses_.size() - before);
    }
  }

  // Elements meet a conflict where a warp's lie in two rows.
  void add_fill() {
    const std::int64_t warps = ceil_div(elements_, kWarpSize);
    const std::int64_t first = columns_ / kWarpSize * kWarpSize;
    WarpAccess access{
        .bytes = bytes_,
        .weight = static_cast<double>(std::min(rows() - 1, warps)) / static_cast<double>(warps)};
    for (std::int64_t lane = 0; lane < kWarpSize; ++lane) {
      const std::int64_t element = first + lane;
      if (element < elements_) add_lane(access, element, element / columns_);
    }
    accesses_.push_back(access);
  }

  std::span<const SliceMode> order_;
  std::uint32_t bytes_;
  std::int64_t run_elements_;  // of the input
  std::int64_t elements_ = 1;
  std::int64_t span_ = 1;
  std::int64_t columns_ = 1;
  bool is_filled_by_vectors_ = false;
  InplaceVector<WarpAccess, kMaxAccesses> accesses_;
  std::size_t drains_ = 0;  // the first of them; the others fill
};

}  // namespace

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
