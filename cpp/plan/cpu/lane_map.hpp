// Tiles whose rows and columns fill vectors, wherever these lie, differ only in which bits of an
// element's place in a loaded vector count its place in a stored one as well: the indices that both
// have in common (GenTT, section 4.2).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ttlg::cpu {

inline constexpr int kMaxLaneBits = 4;

// Of each bit of a stored lane's number, the lowest first, the bit of the loaded lane's number that
// it is, or kNoBit: it counts loaded vectors.
inline constexpr int kNoBit = -1;

struct LaneMap {
  int bits = 0;  // of a lane's number
  std::array<std::int8_t, kMaxLaneBits> from{};

  bool operator==(const LaneMap&) const = default;
};

// The numbers of maps of that many bits are less than this.
constexpr std::size_t lane_map_numbers(int bits) {
  std::size_t result = 1;
  for (int i = 0; i < bits; ++i) result *= static_cast<std::size_t>(bits) + 1;
  return result;
}

constexpr std::size_t number_of_map(const LaneMap& map) {
  std::size_t result = 0;
  for (int i = map.bits; i-- > 0;) {
    result *= static_cast<std::size_t>(map.bits) + 1;
    result += static_cast<std::size_t>(map.from[static_cast<std::size_t>(i)] + 1);
  }
  return result;
}

// The map of a number; one of no bits where no tile has it: none keeps all bits where they are, and
// where there are none to keep, the kernel `tile` moves blocks.
constexpr LaneMap lane_map_of(int bits, std::size_t number) {
  LaneMap map{.bits = bits};
  std::size_t taken = 0;
  bool is_identity = true;
  for (int i = 0; i < bits; ++i) {
    const auto from = static_cast<int>(number % (static_cast<std::size_t>(bits) + 1)) - 1;
    number /= static_cast<std::size_t>(bits) + 1;
    map.from[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(from);
    is_identity = is_identity && from == i;
    if (from == kNoBit) continue;
    if (taken >> from & 1) return {};
    taken |= std::size_t{1} << from;
  }
  return taken == 0 || is_identity ? LaneMap{} : map;
}

// The bits of a lane's number in vectors that have code for such tiles; 0 in others.
constexpr int lane_bits(std::int64_t vector_bytes, std::int64_t element_bytes) {
  if (element_bytes != 4 && element_bytes != 8) return 0;
  return std::countr_zero(static_cast<std::uint64_t>(vector_bytes / element_bytes));
}

}  // namespace ttlg::cpu
