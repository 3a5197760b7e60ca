// The generated code for tiles of vectors, on every SIMD level that this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cpu/executions.hpp"
#include "cpu/kernels.hpp"
#include "cpu/simd_level.hpp"
#include "plan/cpu/lane_map.hpp"
#include "plan/cpu/lane_maps.hpp"
#include "plan/cpu/random_plans.hpp"
#include "plan/cpu/shuffle_tile.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::all_maps;
using test::contiguous_request;
using test::pick;

TEST(LaneMap, EveryOneHasANumberOfItsOwn) {
  // Ways to let k of n bits stay, each at a place of its own: C(n, k)^2 k!. Over all k these are 2,
  // 7, 34, 209; none at all and all where they are do not count.
  const std::vector<std::size_t> counts{0, 5, 32, 207};
  for (int bits = 1; bits <= kMaxLaneBits; ++bits) {
    EXPECT_EQ(all_maps(bits).size(), counts[static_cast<std::size_t>(bits) - 1]);
    for (std::size_t number = 0; number < lane_map_numbers(bits); ++number) {
      const LaneMap map = lane_map_of(bits, number);
      if (map.bits == 0) continue;
      EXPECT_EQ(number_of_map(map), number);
    }
  }
}

// Where lane `lane` of stored vector `vector` comes from: a loaded vector and its lane.
std::pair<std::size_t, std::size_t> origin_of(const LaneMap& map, std::size_t vector,
                                              std::size_t lane) {
  std::size_t from_vector = 0;
  std::size_t from_lane = 0;
  std::size_t coming = 0;
  std::size_t kept = 0;
  for (int i = 0; i < map.bits; ++i) {
    const int from = map.from[static_cast<std::size_t>(i)];
    const std::size_t bit = lane >> i & 1;
    if (from == kNoBit) {
      from_vector |= bit << coming++;
    } else {
      from_lane |= bit << from;
      kept |= std::size_t{1} << from;
    }
  }
  std::size_t leaving = 0;
  for (int i = 0; i < map.bits; ++i) {
    if (kept >> i & 1) continue;
    from_lane |= (vector >> leaving++ & 1) << i;
  }
  return {from_vector, from_lane};
}

// Moves two tiles between memory of just their size, whose vectors lie in any order.
void check(const LaneMap& map, VectorTileKernel kernel, std::size_t element_bytes,
           test::Random& random) {
  const std::size_t vectors = test::vectors_of(map);
  const std::size_t vector_bytes = element_bytes << map.bits;
  std::vector<std::int64_t> loads;
  for (std::size_t v = 0; v < vectors; ++v) {
    loads.push_back(static_cast<std::int64_t>(v * vector_bytes));
  }
  std::vector<std::int64_t> stores = loads;
  std::ranges::shuffle(loads, random);
  std::ranges::shuffle(stores, random);
  const auto tile_bytes = static_cast<std::int64_t>(vectors * vector_bytes);
  const std::vector<TileOrigin> origins{{tile_bytes, 0}, {0, tile_bytes}};
  std::vector<std::byte> in(2 * vectors * vector_bytes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 37 + i / 251);
  std::vector<std::byte> out(in.size());
  kernel(in.data(), out.data(), loads.data(), stores.data(), origins.data(), origins.size());
  std::vector<std::byte> expected(in.size());
  for (const TileOrigin& origin : origins) {
    for (std::size_t v = 0; v < vectors; ++v) {
      for (std::size_t lane = 0; lane < vector_bytes / element_bytes; ++lane) {
        const auto [from_vector, from_lane] = origin_of(map, v, lane);
        const std::byte* const from =
            in.data() + origin.in + loads[from_vector] + from_lane * element_bytes;
        std::copy_n(from, element_bytes,
                    expected.data() + origin.out + stores[v] + lane * element_bytes);
      }
    }
  }
  ASSERT_EQ(out, expected);
}

TEST(VectorTiles, AreMovedByEveryLevel) {
  test::Random random(11);
  int checked = 0;
  for (const Kernels* const level : usable_levels()) {
    if (level->shuffle == nullptr) continue;
    for (const std::int64_t bytes : {4, 8}) {
      for (const LaneMap& map : all_maps(lane_bits(level->lanes * kLaneBytes, bytes))) {
        SCOPED_TRACE(std::string(level->name) + ", map " + std::to_string(number_of_map(map)) +
                     " of " + std::to_string(bytes) + " bytes");
        const VectorTileKernel kernel = level->vector_tile_kernel(map, bytes);
        ASSERT_NE(kernel, nullptr);
        check(map, kernel, static_cast<std::size_t>(bytes), random);
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, usable_levels().size() > 1 ? 5 : 0);
}

Problem folded(const Request& request) { return fold_run(make_problem(request)); }

TEST(VectorTile, IsTheLeastWhoseRowsFillVectors) {
  using Extents = std::vector<std::int64_t>;
  const auto vector_tile = [](const Problem& problem, std::int64_t vector_bytes) {
    Extents whole;
    for (const Mode& mode : problem.modes) whole.push_back(mode.extent);
    return cpu::vector_tile(problem, whole, vector_bytes);
  };
  // The output's fastest modes are 5 and 1.
  const Problem twos = folded(contiguous_request({2, 2, 2, 2, 2, 2}, {5, 3, 2, 1, 4, 0}, 8));
  EXPECT_EQ(vector_tile(twos, 32), (Extents{2, 2, 1, 1, 1, 2}));
  // Rows of 8 elements follow one another.
  EXPECT_EQ(vector_tile(folded(contiguous_request({40, 8}, {1, 0}, 4)), 64), (Extents{8, 16}));
  EXPECT_TRUE(vector_tile(folded(contiguous_request({40, 6}, {1, 0}, 4)), 64).empty())
      << "6 is no power of two";
  EXPECT_TRUE(vector_tile(folded(contiguous_request({40, 8}, {1, 0}, 2)), 64).empty())
      << "no code for elements of 2 bytes";
  EXPECT_TRUE(vector_tile(folded(contiguous_request({40, 40}, {1, 0}, 4)), 64).empty())
      << "a matrix, which the kernel 'tile' transposes";
}

TEST(VectorTile, BelongsToBlocksThatHoldIt) {
  // Modes 0, 1, 2, 3 fill a vector of 64 bytes in the input, 7, 5, 3, 1 in the output.
  const Request request = contiguous_request({2, 2, 2, 2, 2, 2, 2, 2}, {7, 5, 3, 1, 6, 4, 2, 0}, 4);
  const auto tiles_of = [&](std::vector<std::int64_t> block) {
    Parameters parameters;
    parameters.kernel = Kernel::shuffle;
    parameters.block = std::move(block);
    parameters.loop_order = test::cut_modes(folded(request), parameters.block);
    return build_plan(request, parameters).movers.vector_tiles;
  };
  using Offsets = std::vector<std::int64_t>;
  const auto whole = tiles_of({2, 2, 2, 2, 2, 2, 2, 2});
  EXPECT_FALSE(whole[0]) << "modes 0 and 1, 7 and 5: none in common";
  ASSERT_TRUE(whole[2]);
  EXPECT_EQ(whole[2]->map, (LaneMap{.bits = 4, .from = {kNoBit, kNoBit, 3, 1}}));
  EXPECT_EQ(whole[2]->tile, (Offsets{2, 2, 2, 2, 1, 1, 2, 2})) << "in the output's order";
  EXPECT_EQ(whole[2]->loads, (Offsets{0, 512, 128, 640}));
  EXPECT_EQ(whole[2]->out_stores, (Offsets{0, 512, 256, 768}));
  EXPECT_TRUE(tiles_of({2, 2, 2, 2, 1, 2, 2, 2})[2]);
  EXPECT_FALSE(tiles_of({2, 2, 1, 2, 2, 2, 2, 2})[2]);
}

// Extents of powers of two and a few others, in blocks of any extents.
TEST(VectorTiles, MatchTheReference) {
  test::Random random(5);
  int with_tiles = 0;
  for (int i = 0; i < 600; ++i) {
    std::vector<std::int64_t> shape;
    std::int64_t elements = 1;
    for (std::int64_t rank = pick(random, 2, 10); rank > 0 && elements < 3000; --rank) {
      shape.push_back(pick(random, 0, 9) == 0 ? pick(random, 3, 40) : 1 << pick(random, 1, 3));
      elements *= shape.back();
    }
    const std::vector<int> axes = test::random_axes(random, shape.size());
    const Request request = contiguous_request(std::move(shape), axes, 4 << pick(random, 0, 1));
    if (!applies(Kernel::shuffle, folded(request))) continue;
    const Plan plan = test::random_plan(random, request, folded(request), Kernel::shuffle);
    with_tiles += std::ranges::any_of(plan.movers.vector_tiles,
                                      [](const auto& tile) { return tile.has_value(); });
    ASSERT_TRUE(test::matches_reference(plan));
  }
  EXPECT_GT(with_tiles, 100);
}

}  // namespace
}  // namespace ttlg::cpu
