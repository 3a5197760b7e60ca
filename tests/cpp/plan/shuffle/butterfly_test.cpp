// GenTT, sections 4.2 and 4.3, for permutations of indices of extent 2: the steps, registers and
// shuffles that the paper counts, and programs that do what they are for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "plan/shuffle/interpret.hpp"
#include "plan/shuffle/passes.hpp"
#include "plan/shuffle/permute_tile.hpp"
#include "plan/shuffle/programs.hpp"

namespace ttlg::shuffle {
namespace {

using test::TileProgram;

constexpr std::int64_t kElementBytes = 4;

std::optional<TileProgram> make_program(const std::vector<int>& sigma, const LaneBits& bits,
                                        int group_bits) {
  const std::vector<std::int64_t> twos(sigma.size(), 2);
  return test::butterfly_program(test::contiguous_tensor(twos, sigma, kElementBytes), bits,
                                 group_bits);
}

// Output index k is input index sigma[k], 0 fastest (section 2.1).
struct Map {
  Map(const std::vector<int>& sigma, int lane_bits)
      : columns(sigma.begin(), sigma.begin() + lane_bits),
        common(static_cast<int>(
            std::ranges::count_if(columns, [&](int bit) { return bit < lane_bits; }))) {}

  std::vector<int> columns;
  int common;
};

void check_moves(const TileProgram& made) {
  const std::vector<std::int64_t> expected = test::permuted(made.tile);
  ASSERT_EQ(test::interpret(made.program, made.tile), expected) << to_text(made.program);
  for (const Program& program : {join_self_shuffles(made.program), join_shuffles(made.program)}) {
    ASSERT_EQ(test::interpret(program, made.tile), expected) << to_text(program);
  }
}

// Each step exchanges one bit, and the steps lead from loaded registers to stored ones.
void check_steps(const TileProgram& made) {
  const Butterfly& butterfly = made.butterfly;
  const auto sorted = [](std::vector<int> bits) {
    std::ranges::sort(bits);
    return bits;
  };
  ASSERT_EQ(sorted(butterfly.first), sorted(butterfly.loaded));
  std::vector<int> lanes = butterfly.first;
  for (const Step& step : butterfly.steps) {
    ASSERT_EQ(std::erase(lanes, step.leaving), 1);
    lanes.push_back(step.coming);
    ASSERT_EQ(sorted(step.lanes), sorted(lanes));
    lanes = step.lanes;
  }
  const auto first_bits = [](const std::vector<int>& bits, int count) {
    return std::vector<int>(bits.begin(), bits.begin() + count);
  };
  ASSERT_EQ(first_bits(butterfly.loaded, made.bits.rows),
            first_bits(made.tile.in_bits, made.bits.rows));
  ASSERT_EQ(first_bits(butterfly.stored(), made.bits.columns),
            first_bits(made.tile.out_bits, made.bits.columns));
}

// The indices of all shuffles of two sources: two for each step, since a pair's second shuffle
// takes the lanes that its first one leaves (section 4.3).
void check_indices(const TileProgram& made) {
  std::set<std::vector<int>> indices;
  for (const Operation& each : made.program.operations) {
    if (each.second != kNoRegister) indices.insert(each.index);
  }
  ASSERT_LE(indices.size(), 2 * made.butterfly.steps.size());
  std::vector<int> before = made.butterfly.first;
  for (const Step& step : made.butterfly.steps) {
    const auto place = std::ranges::find(before, step.leaving) - before.begin();
    const int swapped = 1 << place;
    const bool has_pair = std::ranges::any_of(indices, [&](std::vector<int> index) {
      for (int& lane : index) lane ^= swapped;
      return indices.contains(index);
    });
    ASSERT_TRUE(has_pair);
    before = step.lanes;
  }
}

void check_whole_registers(const std::vector<int>& sigma, int lane_bits, int group_bits) {
  const auto made =
      make_program(sigma, {.all = lane_bits, .rows = lane_bits, .columns = lane_bits}, group_bits);
  ASSERT_TRUE(made);
  check_moves(*made);
  check_steps(*made);
  check_indices(*made);
  const Map map(sigma, lane_bits);
  const int steps = lane_bits - map.common;
  const int registers = 1 << steps;
  ASSERT_EQ(static_cast<int>(made->butterfly.steps.size()), steps);
  ASSERT_EQ(static_cast<int>(made->tile.bits.size()) - lane_bits, steps);
  const Counts counts = count(made->program);
  ASSERT_EQ(counts.loads, registers);
  ASSERT_EQ(counts.stores, registers) << "registers are renamed, not moved";
  ASSERT_EQ(counts.shuffles, steps * registers);
  const Counts joined = count(join_shuffles(made->program));
  ASSERT_EQ(joined.shuffles, counts.shuffles);
  if (steps > 0) {
    ASSERT_EQ(joined.self_shuffles, 0);
  } else {
    const bool same_order = std::ranges::is_sorted(map.columns);
    ASSERT_EQ(joined.self_shuffles, same_order ? 0 : registers) << "which the paper overlooks";
    ASSERT_EQ(counts.self_shuffles, joined.self_shuffles);
  }
  if (map.common > 0) return;
  // Section 4.2: at most log2(w) / w of an element.
  ASSERT_LE((joined.shuffles + joined.self_shuffles) * (1 << lane_bits),
            lane_bits * made->tile.elements());
}

void check_pieces(const std::vector<int>& sigma, const LaneBits& bits, int group_bits) {
  const auto made = make_program(sigma, bits, group_bits);
  if (!made) return;
  check_moves(*made);
  check_steps(*made);
  const int registers = 1 << (static_cast<int>(made->tile.bits.size()) - bits.all);
  const Counts counts = count(made->program);
  ASSERT_EQ(counts.loads, registers);
  ASSERT_EQ(counts.stores, registers << (bits.all - bits.columns));
  ASSERT_EQ(counts.shuffles, static_cast<int>(made->butterfly.steps.size()) * registers);
  for (const Operation& each : made->program.operations) {
    if (each.kind != Kind::load) continue;
    ASSERT_EQ(each.accesses.size(), std::size_t{1} << (bits.all - bits.rows));
  }
}

void check_all(const std::vector<int>& sigma) {
  SCOPED_TRACE(testing::PrintToString(sigma));
  for (const int lane_bits : {2, 3, 4}) {
    for (int group = std::min(lane_bits, 2); group <= lane_bits; ++group) {
      check_whole_registers(sigma, lane_bits, group);
    }
    for (const int less : {1, 2}) {
      check_pieces(sigma, {.all = lane_bits, .rows = lane_bits - less, .columns = lane_bits}, 2);
      check_pieces(sigma, {.all = lane_bits, .rows = lane_bits, .columns = lane_bits - less}, 2);
      check_pieces(sigma, {.all = lane_bits, .rows = lane_bits - 1, .columns = lane_bits - less},
                   lane_bits);
    }
  }
}

TEST(Butterfly, TakesTheStepsRegistersAndShufflesThatThePaperCounts) {
  for (const std::size_t rank : {4U, 5U, 6U}) {
    test::for_each_permutation(rank, [&](const std::vector<int>& sigma) {
      if (!HasFailure()) check_all(sigma);
    });
  }
  test::Random random(51);
  for (int i = 0; i < 400 && !HasFailure(); ++i) check_all(test::random_axes(random, 7));
  // Squares of 16 by 16.
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    std::vector<int> sigma = test::random_axes(random, 4);
    for (int& bit : sigma) bit += 4;
    for (const int bit : test::random_axes(random, 4)) sigma.push_back(bit);
    check_all(sigma);
  }
}

TEST(Butterfly, PutsPiecesTogetherByTheHighestBitsOfColumns) {
  const auto made = [](const LaneBits& bits) {
    return test::butterfly_program(test::contiguous_tensor({8, 8}, {1, 0}, 4), bits, 2)->butterfly;
  };
  EXPECT_EQ(made({.all = 3, .rows = 2, .columns = 3}).loaded, (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(made({.all = 3, .rows = 1, .columns = 3}).loaded, (std::vector<int>{0, 3, 2}));
  EXPECT_EQ(made({.all = 3, .rows = 3, .columns = 2}).stored(), (std::vector<int>{3, 4, 0}));
}

// What unpack instructions do: in every group, lanes of two registers by turns, or neighbours.
TEST(Butterfly, StepsInsideAGroupKeepTheOrderOfItsLanes) {
  for (const int group_bits : {1, 2, 3}) {
    test::for_each_permutation(6, [&](const std::vector<int>& sigma) {
      const auto made = make_program(sigma, {.all = 3, .rows = 3, .columns = 3}, group_bits);
      std::vector<int> before = made->butterfly.first;
      for (const Step& step : made->butterfly.steps) {
        const auto group = [&](const std::vector<int>& bits) {
          return std::vector<int>(bits.begin(), bits.begin() + group_bits);
        };
        std::vector<int> old_group = group(before);
        std::vector<int> new_group = group(step.lanes);
        if (std::erase(new_group, step.coming) == 1) {
          ASSERT_EQ(old_group.back(), step.leaving) << "it leaves from the top";
          old_group.pop_back();
        }
        ASSERT_EQ(new_group, old_group) << "the other lanes stay in their order";
        before = step.lanes;
      }
    });
  }
}

}  // namespace
}  // namespace ttlg::shuffle
