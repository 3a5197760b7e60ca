#include "plan/cpu/vector_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

#include "plan/shuffle/program.hpp"
#include "tensor/contiguous_run.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kMinVectorBytes = 16;

using shuffle::at;

// The bits that count the lanes of a vector on the side that steps through modes in this order.
std::vector<shuffle::Bit> lanes_of(std::span<const int> order, std::span<const std::int64_t> tile,
                                   int bits) {
  std::vector<shuffle::Bit> result;
  for (const int m : order) {
    for (int power = 0; std::int64_t{1} << power < tile[at(m)]; ++power) {
      if (std::ssize(result) < bits) result.push_back({.mode = m, .power = power});
    }
  }
  return result;
}

// Those that are not among the others.
std::vector<shuffle::Bit> left_of(std::span<const shuffle::Bit> bits,
                                  std::span<const shuffle::Bit> others) {
  std::vector<shuffle::Bit> result;
  std::ranges::copy_if(bits, std::back_inserter(result), [&](const shuffle::Bit& bit) {
    return std::ranges::find(others, bit) == others.end();
  });
  return result;
}

VectorTile make_vector_tile(const Block& block, std::vector<std::int64_t> tile, int bits) {
  const std::vector<shuffle::Bit> loaded = lanes_of(block.in_order, tile, bits);
  const std::vector<shuffle::Bit> stored = lanes_of(identity_order(tile.size()), tile, bits);
  VectorTile result;
  result.map.bits = bits;
  for (int i = 0; i < bits; ++i) {
    const auto found = std::ranges::find(loaded, stored[at(i)]);
    const auto place = static_cast<int>(found - loaded.begin());
    result.map.from[at(i)] = static_cast<std::int8_t>(found == loaded.end() ? kNoBit : place);
  }
  const std::vector<shuffle::Bit> coming = left_of(stored, loaded);
  const std::vector<shuffle::Bit> leaving = left_of(loaded, stored);
  result.tile = std::move(tile);
  result.loads = bit_offsets(block, coming, &BlockMode::in_step);
  result.out_stores = bit_offsets(block, leaving, &BlockMode::out_step);
  result.staging_stores = bit_offsets(block, leaving, &BlockMode::staging_step);
  return result;
}

}  // namespace

std::vector<std::int64_t> vector_tile(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes) {
  if (lane_bits(vector_bytes, folded.element_bytes) == 0) return {};
  std::vector<std::int64_t> tile(folded.modes.size(), 1);
  const auto fill = [&](std::span<const int> order, std::int64_t Mode::* step) {
    return fill_run<Mode>(
        folded.element_bytes, vector_bytes, order, folded.modes, step,
        [&](std::size_t m, std::int64_t count) { tile[m] = std::max(tile[m], count); });
  };
  const bool has_rows = fill(identity_order(tile.size()), &Mode::in_byte_stride) &&
                        fill(folded.perm, &Mode::out_byte_stride);
  const auto is_power = [](std::int64_t extent) {
    return std::has_single_bit(static_cast<std::uint64_t>(extent));
  };
  if (!has_rows || !std::ranges::all_of(tile, is_power) ||
      !std::ranges::equal(tile, extents, std::ranges::less_equal{})) {
    return {};
  }
  std::int64_t bytes = folded.element_bytes;
  for (const std::int64_t extent : tile) bytes *= extent;
  // Where no bit counts lanes on both sides, that is what the kernel `tile` is for.
  return bytes < vector_bytes * vector_bytes / folded.element_bytes ? tile
                                                                    : std::vector<std::int64_t>{};
}

VectorTiles make_vector_tiles(const Problem& folded, const Block& block,
                              std::span<const std::int64_t> extents) {
  VectorTiles result;
  std::int64_t vector_bytes = kMinVectorBytes;
  for (std::optional<VectorTile>& each : result) {
    const std::vector<std::int64_t> tile = vector_tile(folded, extents, vector_bytes);
    if (!tile.empty()) {
      std::vector<std::int64_t> of_block;
      for (const int m : folded.perm) {
        if (extents[at(m)] > 1) of_block.push_back(tile[at(m)]);
      }
      each = make_vector_tile(block, std::move(of_block),
                              lane_bits(vector_bytes, folded.element_bytes));
    }
    vector_bytes *= 2;
  }
  return result;
}

std::vector<std::int64_t> bit_offsets(const Block& block, std::span<const shuffle::Bit> bits,
                                      std::int64_t BlockMode::* step) {
  std::vector<std::int64_t> result{0};
  for (const shuffle::Bit& bit : bits) {
    const std::size_t inner = result.size();
    for (std::size_t i = 0; i < inner; ++i) {
      result.push_back(result[i] +
                       (std::int64_t{1} << bit.power) * (block.modes[at(bit.mode)].*step));
    }
  }
  return result;
}

}  // namespace ttlg::cpu
