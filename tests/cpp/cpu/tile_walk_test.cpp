#include "cpu/tile_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::pick;

// How often a walk covers every element of a block; it must not leave the block.
std::vector<int> covered(const std::vector<TiledMode>& modes, std::size_t* parts = nullptr) {
  std::int64_t elements = 1;
  for (const TiledMode& mode : modes) elements *= mode.extent;
  std::vector<int> times(static_cast<std::size_t>(elements), 0);
  TileWalk(modes).for_each_part([&](const TileOrigin& part, std::span<const TileOrigin> origins) {
    if (parts != nullptr) ++*parts;
    for (const TileOrigin& origin : origins) {
      EXPECT_EQ(2 * (part.in + origin.in), part.out + origin.out);
      std::vector<std::int64_t> index(modes.size(), 0);
      std::size_t m = 0;
      do {
        std::int64_t element = part.in + origin.in;
        for (std::size_t i = 0; i < modes.size(); ++i) element += index[i] * modes[i].in_step;
        ++times.at(static_cast<std::size_t>(element));
        for (m = 0; m < modes.size() && ++index[m] == modes[m].tile; ++m) index[m] = 0;
      } while (m < modes.size());
    }
  });
  return times;
}

// Modes whose steps number the elements of the block on one side, and their doubles on the other.
std::vector<TiledMode> modes_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& extents) {
  std::vector<TiledMode> modes;
  std::int64_t step = 1;
  for (const auto& [extent, tile] : extents) {
    modes.push_back({.extent = extent, .tile = tile, .in_step = step, .out_step = 2 * step});
    step *= extent;
  }
  return modes;
}

TEST(TileWalk, CoversEveryElementOnce) {
  for (const auto& extents : {modes_of({{8, 8}}), modes_of({{64, 4}, {16, 2}}),
                              modes_of({{2, 1}, {2, 1}, {2, 2}, {2, 1}, {2, 1}, {2, 1}, {2, 1}}),
                              modes_of({{3, 1}, {5, 1}, {8, 1}, {9, 3}}), modes_of({{1024, 2}})}) {
    const std::vector<int> times = covered(extents);
    EXPECT_TRUE(std::ranges::all_of(times, [](int count) { return count == 1; }));
  }
}

TEST(TileWalk, ListsManyTilesAtATime) {
  std::size_t parts = 0;
  covered(modes_of({{2, 1}, {2, 1}, {2, 1}, {2, 1}, {2, 1}, {2, 1}, {2, 1}}), &parts);
  EXPECT_EQ(parts, 2U);
  parts = 0;
  covered(modes_of({{65, 1}}), &parts);
  EXPECT_EQ(parts, 2U) << "33 tiles each";
  parts = 0;
  covered(modes_of({{48, 1}, {10, 1}}), &parts);
  EXPECT_EQ(parts, 10U);
}

TEST(TileWalk, MovesLastTilesBack) {
  test::Random random(3);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::pair<std::int64_t, std::int64_t>> extents;
    for (std::int64_t rank = pick(random, 1, 4); rank > 0; --rank) {
      const std::int64_t extent = pick(random, 1, 20);
      extents.emplace_back(extent, pick(random, 1, std::min<std::int64_t>(extent, 6)));
    }
    const std::vector<int> times = covered(modes_of(extents));
    EXPECT_TRUE(std::ranges::all_of(times, [](int count) { return count >= 1; }));
  }
}

}  // namespace
}  // namespace ttlg::cpu
