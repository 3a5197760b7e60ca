#include "plan/skew.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tensor/integer.hpp"

namespace ttlg {
namespace {

// What the 32 banks of shared memory give at once.
constexpr std::uint32_t kBankBytes = 128;

// A byte of the slice for each lane; none for those that take no part.
using Lanes = std::array<std::optional<std::uint32_t>, kWarpSize>;

// Extra cycles of one warp access of `bytes` each (of 8 in two phases, of 16 in four) from the
// skewed places of `lanes`: the most words that share a bank, equal words counted once.
int conflicts(const Skew& skew, const Lanes& lanes, std::uint32_t bank_bytes, std::uint32_t bytes) {
  const std::uint32_t phase_banks = kBankBytes / bank_bytes;
  const int phase_lanes = bytes <= 4 ? kWarpSize : static_cast<int>(phase_banks);
  int extra = 0;
  for (int begin = 0; begin < kWarpSize; begin += phase_lanes) {
    std::array<std::uint32_t, kWarpSize> taken;
    std::array<int, kBankBytes / 4> load{};
    int words = 0;
    int most = 1;
    for (int lane = begin; lane < begin + phase_lanes; ++lane) {
      const std::optional<std::uint32_t> byte = lanes[static_cast<std::size_t>(lane)];
      if (!byte) continue;
      const std::uint32_t word = skewed(skew, bank_bytes, *byte) / bank_bytes;
      const auto end = taken.begin() + words;
      if (bytes < 4 && std::find(taken.begin(), end, word) != end) continue;
      taken[static_cast<std::size_t>(words++)] = word;
      most = std::max(most, ++load[word % phase_banks]);
    }
    extra += most - 1;
  }
  return extra;
}

// Where the lanes of warp accesses read and write without skew, for a few warps.
class Sample {
 public:
  Sample(std::span<const SliceMode> out_order, std::int64_t element_bytes, Access access)
      : order_(out_order), bytes_(element_bytes) {
    for (const SliceMode& mode : order_) elements_ *= mode.extent;
    const std::int64_t per_vector = kVectorBytes / bytes_;
    add_drains(access.vector_out ? per_vector : 1);
    if (access.vector_in && bytes_ < kVectorBytes) add_fill(per_vector);
  }

  int conflicts_with(const Skew& skew) const {
    const auto bytes = static_cast<std::uint32_t>(bytes_);
    const std::uint32_t bank_bytes = std::max(bytes, 4u);
    int extra = 0;
    for (const Lanes& lanes : drains_) extra += conflicts(skew, lanes, bank_bytes, bytes);
    for (const Lanes& lanes : fills_) extra += conflicts(skew, lanes, bank_bytes, bank_bytes);
    return extra;
  }

  std::int64_t slice_bytes() const { return elements_ * bytes_; }

 private:
  std::optional<std::uint32_t> byte_of(std::int64_t out_index) const {
    if (out_index >= elements_) return {};
    std::int64_t element = 0;
    for (const SliceMode& mode : order_) {
      element += out_index % mode.extent * mode.step;
      out_index /= mode.extent;
    }
    return static_cast<std::uint32_t>(element * bytes_);
  }

  void add_drains(std::int64_t per_access) {
    constexpr std::int64_t kWarpsSampled = 4;
    const std::int64_t warps = ceil_div(elements_, kWarpSize * per_access);
    const std::int64_t stride = std::max<std::int64_t>(warps / kWarpsSampled, 1);
    for (std::int64_t warp = 0; warp < std::min(warps, kWarpsSampled * stride); warp += stride) {
      for (std::int64_t e = 0; e < per_access; e += std::max<std::int64_t>(per_access / 2, 1)) {
        Lanes& lanes = drains_.emplace_back();
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const std::int64_t index = (warp * kWarpSize + lane) * per_access + e;
          lanes[static_cast<std::size_t>(lane)] = byte_of(index);
        }
      }
    }
  }

  // Vectors are written bank by bank. All warps do alike.
  void add_fill(std::int64_t per_access) {
    Lanes& lanes = fills_.emplace_back();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const std::int64_t element = lane * per_access;
      if (element >= elements_) break;
      lanes[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(element * bytes_);
    }
  }

  std::span<const SliceMode> order_;
  std::int64_t bytes_;
  std::int64_t elements_ = 1;
  std::vector<Lanes> drains_;
  std::vector<Lanes> fills_;
};

}  // namespace

std::vector<int> rows_of(const Problem& words, const Slice& slice) {
  std::vector<int> rows(words.perm.begin(), words.perm.begin() + slice.out_modes);
  std::erase_if(rows, [&](int m) { return m < slice.in_modes; });
  if (!rows.empty()) std::sort(rows.begin(), rows.end() - 1);
  return rows;
}

std::vector<SliceMode> slice_in_output_order(const Problem& words,
                                             const CudaParameters& parameters) {
  const std::vector<std::int64_t> extents = slice_extents(words, parameters);
  const auto extent = [&](int m) { return extents[static_cast<std::size_t>(m)]; };
  std::vector<std::int64_t> steps(extents.size());
  std::int64_t step = 1;
  const auto add = [&](int m) {
    steps[static_cast<std::size_t>(m)] = step;
    step *= extent(m);
  };
  for (int m = 0; m < parameters.slice.in_modes; ++m) add(m);
  for (const int m : rows_of(words, parameters.slice)) add(m);
  std::vector<SliceMode> order;
  for (const int m : words.perm) {
    if (extent(m) > 1) order.push_back({m, extent(m), steps[static_cast<std::size_t>(m)]});
  }
  return order;
}

Skew choose_skew(std::span<const SliceMode> out_order, std::int64_t element_bytes, Access access) {
  const Sample sample(out_order, element_bytes, access);
  Skew best{};
  int fewest = sample.conflicts_with(best);
  const auto search = [&](std::uint32_t Skew::* part, std::uint32_t step) {
    const Skew start = best;
    for (std::uint32_t turn = 0; turn < kBankBytes / 4 && fewest > 0; turn += step) {
      Skew skew = start;
      skew.*part = turn;
      const int extra = sample.conflicts_with(skew);
      if (extra < fewest) {
        fewest = extra;
        best = skew;
      }
    }
  };
  search(&Skew::line, 1);
  search(&Skew::page, 1);
  search(&Skew::line, 1);
  return best;
}

}  // namespace ttlg
