// Every pass alone, on random programs of both emitters: it does the same, and what it promises.
#include "plan/shuffle/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "plan/shuffle/interpret.hpp"
#include "plan/shuffle/programs.hpp"

namespace ttlg::shuffle {
namespace {

using test::TileProgram;

constexpr int kTensors = 700;

// Calls visit(before, after) for random programs, where both do the same.
template <typename Pass, typename Visit>
void for_passed_programs(std::uint64_t seed, const Pass& pass, const Visit& visit) {
  int visited = 0;
  test::for_random_programs(seed, kTensors, [&](const TileProgram& each) {
    if (testing::Test::HasFatalFailure()) return;
    ++visited;
    SCOPED_TRACE(to_text(each.program));
    const Program after = pass(each.program);
    ASSERT_EQ(test::interpret(after, each.tile), test::permuted(each.tile)) << to_text(after);
    visit(each.program, after);
  });
  EXPECT_GT(visited, kTensors / 2);
}

std::vector<Operation> those(const Program& program, const auto& condition) {
  std::vector<Operation> result;
  std::ranges::copy_if(program.operations, std::back_inserter(result), condition);
  return result;
}
std::vector<Operation> of_kind(const Program& program, Kind kind) {
  return those(program, [&](const Operation& each) { return each.kind == kind; });
}

std::vector<int> sources_of(const Operation& each) {
  std::vector<int> sources;
  for (const int source : {each.first, each.second}) {
    if (source != kNoRegister) sources.push_back(source);
  }
  return sources;
}

std::map<int, int> count_uses(const Program& program) {
  std::map<int, int> uses;
  for (const Operation& each : program.operations) {
    for (const int source : sources_of(each)) ++uses[source];
  }
  return uses;
}

bool is_self_shuffle(const Operation& each) {
  return each.kind == Kind::shuffle && each.second == kNoRegister;
}

// The operation that makes a register.
const Operation& maker_of(const Program& program, int number) {
  return *std::ranges::find(program.operations, number, &Operation::target);
}

TEST(RemoveUnused, LeavesOutWhatNoStoreNeeds) {
  for_passed_programs(71, remove_unused, [](const Program& before, const Program& after) {
    // Without some of its stores, a program needs only some of its registers.
    Program fewer = before;
    int stores = 0;
    std::erase_if(fewer.operations, [&](const Operation& each) {
      return each.kind == Kind::store && stores++ % 3 != 0;
    });
    const Program removed = remove_unused(fewer);
    std::set<int> needed;
    std::vector<Operation> expected;
    for (auto each = fewer.operations.rbegin(); each != fewer.operations.rend(); ++each) {
      if (each->kind != Kind::store && !needed.contains(each->target)) continue;
      for (const int source : sources_of(*each)) needed.insert(source);
      expected.push_back(*each);
    }
    std::ranges::reverse(expected);
    ASSERT_EQ(removed.operations, expected);
    ASSERT_EQ(remove_unused(after), after);
  });
}

TEST(JoinSelfShuffles, LeavesNoneAfterAnother) {
  int joined = 0;
  for_passed_programs(72, join_self_shuffles, [&](const Program& before, const Program& after) {
    for (const Operation& each : after.operations) {
      ASSERT_FALSE(is_self_shuffle(each) && is_self_shuffle(maker_of(after, each.first)));
    }
    ASSERT_EQ(count(after).shuffles, count(before).shuffles);
    ASSERT_LE(count(after).self_shuffles, count(before).self_shuffles);
    ASSERT_EQ(join_self_shuffles(after), after);
    joined += after != before;
  });
  EXPECT_GT(joined, 40);
}

TEST(JoinShuffles, LeavesNoSelfShuffleBesideAShuffleThatCouldTakeItsIndex) {
  int joined = 0;
  for_passed_programs(73, join_shuffles, [&](const Program& before, const Program& after) {
    const std::map<int, int> uses = count_uses(after);
    for (const Operation& each : after.operations) {
      if (each.kind != Kind::shuffle) continue;
      for (const int source : sources_of(each)) {
        const Operation& maker = maker_of(after, source);
        ASSERT_FALSE(is_self_shuffle(maker));
        const bool could_take = maker.kind == Kind::shuffle && is_self_shuffle(each);
        ASSERT_FALSE(could_take && uses.at(source) == 1);
      }
    }
    ASSERT_EQ(count(after).shuffles, count(before).shuffles);
    ASSERT_EQ(join_shuffles(after), after);
    joined += after != before;
  });
  EXPECT_GT(joined, 120);
}

// r1 is used twice, so that a self-shuffle of it is cheaper than the shuffle once more.
TEST(JoinShuffles, MakesNoShuffleTwice) {
  Program program{.lanes = 2, .element_bytes = 1, .registers = 4, .operations = {}};
  const auto add = [&](Operation each) { program.operations.push_back(std::move(each)); };
  const auto access = [](std::int64_t offset) {
    return std::vector<Access>{{.lane = 0, .lanes = 2, .offset = offset}};
  };
  add({.kind = Kind::load, .target = 0, .index = {}, .accesses = access(0)});
  add({.kind = Kind::load, .target = 1, .index = {}, .accesses = access(2)});
  add({.kind = Kind::shuffle,
       .target = 2,
       .first = 0,
       .second = 1,
       .index = {0, 2},
       .accesses = {}});
  add({.kind = Kind::shuffle, .target = 3, .first = 2, .index = {1, 0}, .accesses = {}});
  add({.kind = Kind::store, .first = 2, .index = {}, .accesses = access(0)});
  add({.kind = Kind::store, .first = 3, .index = {}, .accesses = access(2)});
  EXPECT_EQ(join_shuffles(program), program);
  std::erase_if(program.operations,
                [](const Operation& each) { return each.kind == Kind::store && each.first == 2; });
  EXPECT_EQ(count(join_shuffles(program)).self_shuffles, 0);
}

// A lane that a self-shuffle leaves undefined stays so in what is joined with it.
TEST(JoinShuffles, KeepsUndefinedLanes) {
  Program program{.lanes = 2, .element_bytes = 1, .registers = 5, .operations = {}};
  for (const int number : {0, 1}) {
    program.operations.push_back(
        {.kind = Kind::load,
         .target = number,
         .index = {},
         .accesses = {{.lane = 0, .lanes = 2, .offset = std::int64_t{2} * number}}});
    program.operations.push_back({.kind = Kind::shuffle,
                                  .target = 2 + number,
                                  .first = number,
                                  .index = {kUndefined, 0},
                                  .accesses = {}});
  }
  program.operations.push_back({.kind = Kind::shuffle,
                                .target = 4,
                                .first = 2,
                                .second = 3,
                                .index = {1, 2},
                                .accesses = {}});
  program.operations.push_back({.kind = Kind::store,
                                .first = 4,
                                .index = {},
                                .accesses = {{.lane = 0, .lanes = 1, .offset = 0}}});
  const Program joined = join_shuffles(program);
  EXPECT_EQ(of_kind(joined, Kind::shuffle).back().index, (std::vector<int>{0, kUndefined}));
  EXPECT_EQ(test::interpret(joined, 4, 1), (std::vector<std::int64_t>{0}));
}

bool is_power_of_two(int count) { return std::has_single_bit(static_cast<unsigned>(count)); }

TEST(StoreOver, WritesWholePartsWhereLaterStoresPutThemRight) {
  int widened = 0;
  for_passed_programs(74, store_over, [&](const Program& before, const Program& after) {
    const std::vector<Operation> old = of_kind(before, Kind::store);
    const std::vector<Operation> stores = of_kind(after, Kind::store);
    ASSERT_EQ(old.size(), stores.size());
    for (std::size_t i = 0; i < stores.size(); ++i) {
      const Access& was = old[i].accesses.front();
      const Access& is = stores[i].accesses.front();
      ASSERT_EQ(is.lane, was.lane);
      ASSERT_EQ(is.offset, was.offset);
      ASSERT_LE(is.lane + is.lanes, after.lanes);
      if (is.lanes != was.lanes) {
        ++widened;
        ASSERT_TRUE(is_power_of_two(is.lanes)) << is.lanes;
      }
    }
    ASSERT_EQ(store_over(after), after);
  });
  EXPECT_GT(widened, 200);
}

// Rows of 3 elements: every store but the last is of 4.
TEST(StoreOver, KeepsThatOnlyPartialWhichNothingFollows) {
  const auto made = test::butterfly_program(test::contiguous_tensor({4, 3}, {1, 0}, 4),
                                            {.all = 2, .rows = 2, .columns = 2}, 2);
  ASSERT_TRUE(made);
  std::vector<int> lanes;
  for (const Operation& each : of_kind(store_over(made->program), Kind::store)) {
    lanes.push_back(each.accesses.front().lanes);
  }
  EXPECT_EQ(lanes, (std::vector<int>{4, 4, 4, 3}));
}

// Lanes from `lane` on, before a store that puts right whatever they write too much.
int stored_over(int lane, int lanes) {
  Program program{.lanes = 8, .element_bytes = 1, .registers = 1, .operations = {}};
  for (const Access& access : {Access{.lane = lane, .lanes = lanes, .offset = 0},
                               Access{.lane = 0, .lanes = 8, .offset = lanes}}) {
    program.operations.push_back(
        {.kind = Kind::store, .first = 0, .index = {}, .accesses = {access}});
  }
  return store_over(program).operations.front().accesses.front().lanes;
}

TEST(StoreOver, StaysInTheRegister) {
  EXPECT_EQ(stored_over(0, 3), 4);
  EXPECT_EQ(stored_over(4, 3), 4);
  EXPECT_EQ(stored_over(5, 3), 3) << "there is no lane 8";
  EXPECT_EQ(stored_over(2, 5), 5) << "6 are no power of two";
  EXPECT_EQ(stored_over(0, 5), 8);
}

TEST(SplitStores, MakesPowersOfTwoAtMultiplesOfThemselves) {
  int split = 0;
  const auto check = [&](const Program& before, const Program& after) {
    for (const Operation& each : of_kind(after, Kind::store)) {
      const Access& access = each.accesses.front();
      ASSERT_TRUE(is_power_of_two(access.lanes));
      ASSERT_EQ(access.lane % access.lanes, 0);
    }
    ASSERT_LE(count(after).stores, 2 * count(before).stores);
    ASSERT_EQ(split_stores(after), after);
    split += after != before;
  };
  for_passed_programs(75, split_stores, check);
  for_passed_programs(
      76, [](const Program& program) { return split_stores(store_over(program)); }, check);
  EXPECT_GT(split, 200);
}

TEST(Unroll, DoesSeveralTilesOneAfterAnother) {
  test::for_random_programs(77, kTensors / 5, [](const TileProgram& each) {
    const std::int64_t in_step = 3;
    const std::int64_t out_step = test::bytes_of(each.tile, &TileMode::out_step) + 5;
    const std::vector<std::int64_t> one = test::permuted(each.tile);
    std::vector<std::int64_t> expected;
    for (std::int64_t tile = 0; tile < 3; ++tile) {
      expected.resize(static_cast<std::size_t>(tile * out_step), test::kUntouched);
      for (const std::int64_t from : one) {
        expected.push_back(from == test::kUntouched ? from : from + tile * in_step);
      }
    }
    const Program unrolled = unroll(each.program, 3, in_step, out_step);
    ASSERT_EQ(test::interpret(unrolled, test::bytes_of(each.tile, &TileMode::in_step) + 2 * in_step,
                              std::ssize(expected)),
              expected);
    ASSERT_EQ(unrolled.registers, 3 * each.program.registers);
    ASSERT_EQ(unroll(each.program, 1, in_step, out_step), each.program);
  });
}

TEST(LoadsFirst, PutsAllLoadsBeforeAllElse) {
  for_passed_programs(78, loads_first, [](const Program& before, const Program& after) {
    ASSERT_TRUE(std::ranges::is_partitioned(
        after.operations, [](const Operation& each) { return each.kind == Kind::load; }));
    const auto is_no_load = [](const Operation& each) { return each.kind != Kind::load; };
    ASSERT_EQ(of_kind(after, Kind::load), of_kind(before, Kind::load));
    ASSERT_EQ(those(after, is_no_load), those(before, is_no_load)) << "in their order";
    ASSERT_EQ(loads_first(after), after);
  });
}

TEST(LoadsLast, PutsEveryLoadRightBeforeTheFirstThatNeedsIt) {
  int fewer = 0;
  for_passed_programs(79, loads_last, [&](const Program& before, const Program& after) {
    for (auto each = after.operations.begin(); each != after.operations.end(); ++each) {
      if (each->kind != Kind::load) continue;
      auto next = each;
      while (next->kind == Kind::load) ++next;
      const std::vector<int> sources = sources_of(*next);
      ASSERT_NE(std::ranges::find(sources, each->target), sources.end());
    }
    const auto is_no_load = [](const Operation& each) { return each.kind != Kind::load; };
    ASSERT_EQ(those(after, is_no_load), those(before, is_no_load)) << "in their order";
    const int first = live_registers(loads_first(before));
    ASSERT_LE(live_registers(after), first);
    ASSERT_LE(live_registers(after), live_registers(before));
    fewer += live_registers(after) < first;
    ASSERT_EQ(loads_last(after), after);
  });
  EXPECT_GT(fewer, 50);
}

TEST(RenameRegisters, NumbersThemInTheOrderInWhichTheyAreMade) {
  for_passed_programs(
      80,
      [](const Program& program) { return rename_registers(loads_first(join_shuffles(program))); },
      [](const Program&, const Program& after) {
        int next = 0;
        for (const Operation& each : after.operations) {
          if (each.kind == Kind::store) continue;
          ASSERT_EQ(each.target, next++);
        }
        ASSERT_EQ(after.registers, next);
        ASSERT_EQ(rename_registers(after), after);
      });
}

}  // namespace
}  // namespace ttlg::shuffle
