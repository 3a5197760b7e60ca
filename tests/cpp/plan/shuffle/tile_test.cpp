// Tiles: which part of a tensor fills rows and columns, and where its elements lie.
#include "plan/shuffle/tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "plan/shuffle/interpret.hpp"
#include "plan/shuffle/programs.hpp"

namespace ttlg::shuffle {
namespace {

using test::contiguous_tensor;

std::vector<std::int64_t> extents_of(const std::optional<Tile>& tile) {
  std::vector<std::int64_t> extents;
  if (!tile) return extents;
  for (const TileMode& mode : tile->modes) extents.push_back(mode.tile);
  return extents;
}

using Extents = std::vector<std::int64_t>;

TEST(MakeTile, TakesWholeModesAndAsMuchOfTheLastAsItsBitsCount) {
  const auto tile = [](const Extents& extents, int rows, int columns) {
    std::vector<int> perm(extents.size());
    std::iota(perm.rbegin(), perm.rend(), 0);
    return extents_of(make_tile(contiguous_tensor(extents, perm, 4), rows, columns));
  };
  EXPECT_EQ(tile({64, 64}, 3, 2), (Extents{8, 4}));
  EXPECT_EQ(tile({3, 5, 7}, 4, 3), (Extents{3, 4, 7})) << "the third bit of 5 is not needed";
  EXPECT_EQ(tile({3, 5, 7}, 5, 0), (Extents{3, 5, 1}));
  EXPECT_EQ(tile({3, 5}, 4, 4), (Extents{3, 5})) << "both sides take of both modes";
  EXPECT_EQ(tile({3, 5}, 6, 3), Extents{}) << "rows have five bits at most";
  EXPECT_EQ(tile({3, 5}, 3, 6), Extents{});
}

TEST(MakeTile, NeedsRowsAndColumnsWithoutGaps) {
  Tile tensor = contiguous_tensor({4, 4}, {1, 0}, 4);
  tensor.modes[1].in_step = 20;
  EXPECT_TRUE(make_tile(tensor, 2, 2));
  EXPECT_FALSE(make_tile(tensor, 3, 2));
  tensor.modes[1].out_step = 8;
  EXPECT_FALSE(make_tile(tensor, 2, 2));
}

TEST(MakeRunTile, TakesTheFewestElementsThatFillARegister) {
  const auto tile = [](const Extents& extents, std::vector<int> perm, int lanes) {
    return extents_of(make_run_tile(contiguous_tensor(extents, std::move(perm), 4), lanes));
  };
  EXPECT_EQ(tile({64, 64}, {1, 0}, 4), (Extents{4, 4}));
  EXPECT_EQ(tile({3, 5, 7}, {2, 1, 0}, 4), (Extents{3, 2, 4}));
  EXPECT_EQ(tile({3, 5, 7}, {2, 1, 0}, 16), (Extents{3, 5, 7})) << "6 of 5, 3 of 5";
  EXPECT_EQ(tile({3, 5}, {1, 0}, 16), Extents{});
  Tile tensor = contiguous_tensor({4, 4}, {1, 0}, 4);
  tensor.modes[1].in_step = 20;
  EXPECT_TRUE(make_run_tile(tensor, 4));
  EXPECT_FALSE(make_run_tile(tensor, 5));
}

TEST(Tile, IsEmptyWhereAModeIs) {
  EXPECT_FALSE(contiguous_tensor({3, 5}, {1, 0}, 4).is_empty());
  EXPECT_TRUE(contiguous_tensor({3, 0}, {1, 0}, 4).is_empty());
}

TEST(Tile, KnowsWhatTheLastTilesMoveAgain) {
  EXPECT_EQ(make_tile(contiguous_tensor({8, 8}, {1, 0}, 4), 2, 2)->useful(), 1);
  EXPECT_EQ(make_tile(contiguous_tensor({9, 8}, {1, 0}, 4), 2, 2)->useful(), 9. / 12);
  EXPECT_EQ(make_tile(contiguous_tensor({9, 5}, {1, 0}, 4), 2, 2)->useful(), 45. / 96);
}

// The elements that bits count are those of the tile, each once, and lie where its modes say.
TEST(Tile, CountsItsElementsByBits) {
  test::Random random(41);
  int checked = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto tile =
        make_tile(test::random_tensor(random), static_cast<int>(test::pick(random, 0, 4)),
                  static_cast<int>(test::pick(random, 0, 4)));
    if (!tile) continue;
    ++checked;
    for (std::vector<int> bits : {tile->in_bits, tile->out_bits}) {
      std::ranges::sort(bits);
      std::vector<int> all(tile->bits.size());
      std::iota(all.begin(), all.end(), 0);
      ASSERT_EQ(bits, all);
    }
    const std::vector<std::int64_t> expected = test::permuted(*tile);
    std::int64_t held = 0;
    for (std::uint32_t element = 0; element < 1U << tile->bits.size(); ++element) {
      if (!tile->holds(element)) continue;
      ++held;
      ASSERT_EQ(expected.at(static_cast<std::size_t>(tile->out_offset(element))),
                tile->in_offset(element));
    }
    ASSERT_EQ(held, tile->elements());
  }
  EXPECT_GT(checked, 800);
}

// The first bits of either side count what is contiguous there.
TEST(Tile, BitsCountRowsAndColumns) {
  const auto tile = make_tile(contiguous_tensor({8, 4, 16}, {2, 0, 1}, 2), 4, 3);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->bits, (std::vector<Bit>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}));
  EXPECT_EQ(tile->in_bits, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tile->out_bits, (std::vector<int>{4, 5, 6, 0, 1, 2, 3}));
  EXPECT_EQ(tile->in_offset(0b1000), 2 * 8);
  EXPECT_EQ(tile->out_offset(0b0100000), 2 * 2);
}

}  // namespace
}  // namespace ttlg::shuffle
