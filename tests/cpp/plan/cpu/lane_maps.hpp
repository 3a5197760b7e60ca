// The maps of lanes that vector tiles have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plan/cpu/lane_map.hpp"

namespace ttlg::test {

inline std::vector<cpu::LaneMap> all_maps(int bits) {
  std::vector<cpu::LaneMap> maps;
  for (std::size_t number = 0; number < cpu::lane_map_numbers(bits); ++number) {
    const cpu::LaneMap map = cpu::lane_map_of(bits, number);
    if (map.bits != 0) maps.push_back(map);
  }
  return maps;
}

// Vectors that a tile loads, and stores.
inline std::size_t vectors_of(const cpu::LaneMap& map) {
  const auto bits = map.from.begin() + map.bits;
  return std::size_t{1} << std::count(map.from.begin(), bits, cpu::kNoBit);
}

}  // namespace ttlg::test
