#include "plan/cpu/vector_tile.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "plan/shuffle/program.hpp"
#include "tensor/axes.hpp"

namespace ttlg::cpu {
namespace {

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

}  // namespace

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
