// Programs for tiles of any extents, carried out all over the tensor.
#include "plan/shuffle/permute_tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/shuffle/interpret.hpp"
#include "plan/shuffle/passes.hpp"
#include "plan/shuffle/programs.hpp"

namespace ttlg::shuffle {
namespace {

using test::TileProgram;

Tile whole(Tile tile) {
  for (TileMode& mode : tile.modes) mode.tile = mode.extent;
  return tile;
}

// Puts what the program stores for one tile at every place of the tensor; the last tile along a
// mode ends where the mode does.
void check_everywhere(const Tile& tile, const std::vector<std::int64_t>& stored) {
  const std::vector<std::int64_t> expected = test::permuted(whole(tile));
  std::vector<std::int64_t> out(expected.size(), test::kUntouched);
  std::vector<std::int64_t> place(tile.modes.size(), 0);
  while (true) {
    std::int64_t in_start = 0;
    std::int64_t out_start = 0;
    for (std::size_t m = 0; m < place.size(); ++m) {
      const TileMode& mode = tile.modes[m];
      const std::int64_t at = std::min(place[m], mode.extent - mode.tile);
      in_start += at * mode.in_step;
      out_start += at * mode.out_step;
    }
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i] == test::kUntouched) continue;
      out.at(static_cast<std::size_t>(out_start) + i) = in_start + stored[i];
    }
    std::size_t m = 0;
    while (m < place.size() && (place[m] += tile.modes[m].tile) >= tile.modes[m].extent) {
      place[m++] = 0;
    }
    if (m == place.size()) break;
  }
  ASSERT_EQ(out, expected);
}

std::string describe(const TileProgram& made) {
  std::string text = "element bytes " + std::to_string(made.tile.element_bytes) + "\n";
  for (const int m : made.tile.out_order) {
    const TileMode& mode = made.tile.modes[static_cast<std::size_t>(m)];
    text += "mode " + std::to_string(m) + ": " + std::to_string(mode.tile) + " of " +
            std::to_string(mode.extent) + ", in " + std::to_string(mode.in_step) + ", out " +
            std::to_string(mode.out_step) + "\n";
  }
  return text + to_text(made.program);
}

void check(const TileProgram& made) {
  SCOPED_TRACE(describe(made));
  std::vector<std::int64_t> stored;
  ASSERT_NO_THROW(stored = test::interpret(made.program, made.tile));
  ASSERT_EQ(stored, test::permuted(made.tile));
  if (whole(made.tile).elements() <= 2000) check_everywhere(made.tile, stored);
}

// Section 5.3: shuffles of registers that hold nothing are dropped.
void check_padding(const TileProgram& made, int& dropped) {
  const auto others = made.tile.bits.size() - static_cast<std::size_t>(made.bits.all);
  const int registers = 1 << others;
  const auto steps = static_cast<int>(made.butterfly.steps.size());
  const Counts counts = count(made.program);
  ASSERT_LE(counts.loads, registers);
  ASSERT_LE(counts.shuffles, steps * registers);
  if (counts.loads == registers || steps == 0) return;
  ASSERT_LT(counts.shuffles, steps * registers) << describe(made);
  ++dropped;
}

TEST(PermuteTile, MovesAnyShapeByButterflies) {
  test::Random random(61);
  int checked = 0;
  int dropped = 0;
  for (int i = 0; i < 1800; ++i) {
    const Tile tensor = test::random_tensor(random);
    // 4 to 16 lanes, and now and then the 64 of bytes.
    const auto lane_bits = static_cast<int>(test::pick(random, 2, 4));
    const auto made = test::random_butterfly(random, tensor, i % 8 == 0 ? 6 : lane_bits);
    if (!made) continue;
    check(*made);
    check_padding(*made, dropped);
    if (HasFatalFailure()) return;
    ++checked;
  }
  EXPECT_GT(checked, 800);
  EXPECT_GT(dropped, 140);
}

TEST(PermuteTile, MovesAnyShapeByGathering) {
  test::Random random(62);
  int checked = 0;
  for (int i = 0; i < 1800; ++i) {
    const Tile tensor = test::random_tensor(random);
    for (const int lanes : {4, 8, 16, 64}) {
      if (lanes == 64 && i % 8 != 0) continue;
      const auto made = test::gathering_program(tensor, lanes);
      if (!made) continue;
      check(*made);
      if (HasFatalFailure()) return;
      ++checked;
      for (const Operation& each : made->program.operations) {
        for (const Access& access : each.accesses) ASSERT_EQ(access.lanes, lanes);
      }
    }
  }
  EXPECT_GT(checked, 1800);
}

// Rows of three elements in whole registers of eight, of which a butterfly would use six.
TEST(PermuteTile, TakesFewAccessesForSmallExtents) {
  const auto made = test::gathering_program(test::contiguous_tensor({3, 8}, {1, 0}, 4), 8);
  ASSERT_TRUE(made);
  const Counts counts = count(made->program);
  EXPECT_EQ(counts.loads, 3);
  EXPECT_EQ(counts.stores, 3);
  EXPECT_LE(counts.shuffles + counts.self_shuffles, 6);
}

// Nine elements that stay where they are: two registers, each from the one that holds all of it.
TEST(PermuteTile, GathersFromTheRegisterThatHoldsMost) {
  const auto made = test::gathering_program(test::contiguous_tensor({3, 4}, {0, 1}, 4), 8);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->tile.elements(), 9);
  const Counts counts = count(made->program);
  EXPECT_EQ(counts.loads, 2);
  EXPECT_EQ(counts.shuffles + counts.self_shuffles, 0);
}

// The square of 8 lanes of which 5 by 5 are there: rows that are padding are not loaded.
TEST(PermuteTile, DropsRegistersThatHoldNothing) {
  const LaneBits bits{.all = 3, .rows = 3, .columns = 3};
  const auto full = test::butterfly_program(test::contiguous_tensor({8, 8}, {1, 0}, 4), bits, 3);
  const auto five = test::butterfly_program(test::contiguous_tensor({5, 5}, {1, 0}, 4), bits, 3);
  ASSERT_TRUE(full && five);
  EXPECT_EQ(count(full->program).loads, 8);
  EXPECT_EQ(count(full->program).shuffles, 24);
  EXPECT_EQ(count(five->program).loads, 5);
  EXPECT_EQ(count(five->program).stores, 5);
  EXPECT_LT(count(five->program).shuffles, 24);
}

}  // namespace
}  // namespace ttlg::shuffle
