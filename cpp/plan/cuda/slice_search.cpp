#include "plan/cuda/slice_search.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <tuple>

#include "plan/cuda/slice_geometry.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

constexpr std::int64_t kSectorBytes = 32;

// One side of a slice: its first modes, the last cut into blocks.
struct Cut {
  int modes;
  std::int64_t block;

  bool operator==(const Cut&) const = default;
};

// A handful of cuts, or of lengths, without an allocation.
template <typename T>
class Few {
 public:
  void add(const T& value) {
    if (count_ < values_.size() && std::ranges::find(*this, value) == end()) {
      values_[count_++] = value;
    }
  }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + count_; }

 private:
  std::array<T, 40> values_;
  std::size_t count_ = 0;
};
using Cuts = Few<Cut>;
using Lengths = Few<std::int64_t>;

// Equal parts of at most `block`, in whole grains, so that the last is not much shorter than the
// others.
std::int64_t even_block(std::int64_t extent, std::int64_t block, std::int64_t grain) {
  const std::int64_t even = ceil_div(extent, ceil_div(extent, block));
  const std::int64_t grains = ceil_div(even, grain) * grain;
  return grains <= block ? grains : even;
}

// Cuts of one side of about these lengths, and its whole prefixes up to the longest of them. The
// first mode alone is always among them, cut or whole.
Cuts cuts_of(const Problem& words, std::span<const int> order, const Lengths& lengths) {
  const std::int64_t longest = *std::ranges::max_element(lengths);
  const std::int64_t sector = std::max<std::int64_t>(kSectorBytes / words.element_bytes, 1);
  Cuts cuts;
  std::int64_t inner = 1;
  for (int modes = 1; modes <= std::min<int>(kAxisModes, static_cast<int>(order.size())); ++modes) {
    const auto m = static_cast<std::size_t>(order[static_cast<std::size_t>(modes - 1)]);
    const std::int64_t extent = words.modes[m].extent;
    for (const std::int64_t length : lengths) {
      const std::int64_t block = length / inner;
      if (block < 1 || block >= extent || (block == 1 && modes > 1)) continue;
      cuts.add({modes, block});
      const bool in_sectors = modes == 1 || block >= 4 * sector;
      cuts.add({modes, even_block(extent, block, in_sectors ? sector : 1)});
    }
    if (extent > longest / inner) break;
    cuts.add({modes, extent});
    inner *= extent;
  }
  return cuts;
}

// How many of the output's first modes lie outside the input's first ones.
int distinct_modes(const Problem& words, int in_modes, int out_modes) {
  const auto out = std::span(words.perm).first(static_cast<std::size_t>(out_modes));
  return static_cast<int>(std::ranges::count_if(out, [&](int m) { return m >= in_modes; }));
}

// Names a slice of Orthogonal-Arbitrary by its longest axes, so that as much of it as possible is
// seen to be contiguous: several names mean the same slice.
void use_longest_axes(const Problem& words, std::span<const std::int64_t> extents, Slice& slice) {
  const auto lengthen = [&](std::span<const int> order, int& modes, std::int64_t& block) {
    const auto extent = [&](int place) {
      return static_cast<std::size_t>(order[static_cast<std::size_t>(place)]);
    };
    while (modes < static_cast<int>(order.size()) && modes < kAxisModes &&
           extents[extent(modes - 1)] == words.modes[extent(modes - 1)].extent &&
           extents[extent(modes)] > 1) {
      ++modes;
    }
    block = extents[extent(modes - 1)];
  };
  lengthen(identity_order(words.modes.size()), slice.in_modes, slice.in_block);
  lengthen(words.perm, slice.out_modes, slice.out_block);
}

// Names the slice anew, if it fits.
bool fits_arbitrary(const Problem& words, std::int64_t alignment, Parameters& parameters) {
  Slice& slice = parameters.slice;
  if (slice.in_modes + distinct_modes(words, slice.in_modes, slice.out_modes) > kAxisModes) {
    return false;
  }
  std::array<std::int64_t, kMaxRank> storage;
  const std::span extents(storage.data(), words.modes.size());
  fill_slice_extents(words, parameters, extents);
  if (slice_span(words, extents) > INT32_MAX) return false;
  use_longest_axes(words, extents, slice);
  std::int64_t volume = 1;
  for (const std::int64_t extent : extents) {
    if (extent > kSliceBytes / volume) return false;
    volume *= extent;
  }
  // Most slices need not be looked at more closely.
  return volume <= arbitrary_slice_limit(words.element_bytes, {}) ||
         volume <= arbitrary_slice_limit(words.element_bytes,
                                         vector_access_of(words, parameters, alignment, alignment));
}

template <typename Fits>
std::vector<Parameters> combine(const Problem& words, Schema schema, const Lengths& lengths,
                                const Fits& fits) {
  const Cuts in_cuts = cuts_of(words, identity_order(words.modes.size()), lengths);
  const Cuts out_cuts = cuts_of(words, words.perm, lengths);
  std::vector<Parameters> result;
  for (const Cut& in : in_cuts) {
    for (const Cut& out : out_cuts) {
      Parameters parameters{schema, {in.modes, out.modes, in.block, out.block}};
      if (fits(parameters)) result.push_back(parameters);
    }
  }
  return result;
}

std::vector<Parameters> distinct_slices(const Problem& words) {
  const std::int64_t tile = distinct_tile(words.element_bytes);
  Lengths lengths;
  for (const std::int64_t tiles : {1, 2, 3, 4, 6, 8}) lengths.add(tiles * tile);
  return combine(words, Schema::orthogonal_distinct, lengths, [&](const Parameters& p) {
    return distinct_modes(words, p.slice.in_modes, p.slice.out_modes) == p.slice.out_modes;
  });
}

std::vector<Parameters> arbitrary_slices(const Problem& words, std::int64_t alignment) {
  Lengths lengths;
  lengths.add(1);  // all that fits where elements lie far apart
  for (const std::int64_t sectors : {1, 2, 4, 8, 16, 32, 128}) {
    lengths.add(sectors * kSectorBytes / words.element_bytes);
  }
  lengths.add(arbitrary_slice_limit(words.element_bytes, {true, true}));
  std::vector<Parameters> slices =
      combine(words, Schema::orthogonal_arbitrary, lengths,
              [&](Parameters& p) { return fits_arbitrary(words, alignment, p); });
  const auto key = [](const Parameters& p) {
    return std::tuple(p.slice.in_modes, p.slice.out_modes, p.slice.in_block, p.slice.out_block);
  };
  std::ranges::sort(slices, {}, key);
  const auto repeated = std::ranges::unique(slices);
  slices.erase(repeated.begin(), repeated.end());
  return slices;
}

Lengths small_blocks(std::int64_t extent) {
  Lengths blocks;
  for (const std::int64_t block : {32, 24, 16, 12, 8, 4, 1}) {
    blocks.add(std::min(block, extent));
    blocks.add(even_block(extent, block, 1));
  }
  return blocks;
}

std::vector<Parameters> small_slices(const Problem& words) {
  const std::int64_t run = words.modes[0].extent * words.element_bytes;
  const Lengths in_blocks = small_blocks(words.modes[1].extent);
  const auto k = static_cast<std::size_t>(words.perm[1]);
  const Lengths out_blocks = small_blocks(words.modes[k].extent);
  std::vector<Parameters> result;
  for (const std::int64_t in : in_blocks) {
    for (const std::int64_t out : out_blocks) {
      if (run * in * out <= kSliceBytes)
        result.push_back({Schema::fvi_match_small, {2, 2, in, out}});
    }
  }
  return result;
}

// Chunks that all lanes of a block move at once, or in several rounds.
std::vector<Parameters> large_slices(const Problem& words) {
  Lengths chunks;
  for (const std::int64_t bytes : {kBlockThreads * kVectorBytes, kChunkBytes}) {
    chunks.add(std::min(bytes / words.element_bytes, words.modes.front().extent));
  }
  std::vector<Parameters> result;
  for (const std::int64_t chunk : chunks) {
    result.push_back({Schema::fvi_match_large, {1, 1, chunk, 1}});
  }
  return result;
}

}  // namespace

std::vector<Parameters> slices_of(const Problem& words, Schema schema, std::int64_t alignment) {
  switch (schema) {
    case Schema::copy:
      return {Parameters{}};
    case Schema::fvi_match_large:
      return large_slices(words);
    case Schema::fvi_match_small:
      return small_slices(words);
    case Schema::orthogonal_distinct:
      return distinct_slices(words);
    case Schema::orthogonal_arbitrary:
      return arbitrary_slices(words, alignment);
  }
  return {};
}

}  // namespace ttlg::cuda
