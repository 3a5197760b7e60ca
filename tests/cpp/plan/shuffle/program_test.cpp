// The intermediate representation, and that the tests' interpreter notices what no program may do.
#include "plan/shuffle/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plan/shuffle/interpret.hpp"
#include "plan/shuffle/passes.hpp"
#include "plan/shuffle/programs.hpp"

namespace ttlg::shuffle {
namespace {

Operation load(int target, std::vector<Access> accesses) {
  return {.kind = Kind::load, .target = target, .index = {}, .accesses = std::move(accesses)};
}
Operation move(int target, int first, int second, std::vector<int> index) {
  return {.kind = Kind::shuffle,
          .target = target,
          .first = first,
          .second = second,
          .index = std::move(index),
          .accesses = {}};
}
Operation store(int source, Access access) {
  return {.kind = Kind::store, .first = source, .index = {}, .accesses = {access}};
}

// Two lanes of two bytes: a transposition, with a merge and a self-shuffle that do nothing for it.
Program small_program() {
  return {.lanes = 2,
          .element_bytes = 2,
          .registers = 6,
          .operations = {load(0, {{0, 1, 0}, {1, 1, 2}}), load(1, {{0, 2, 4}}),
                         move(2, 0, 1, {0, 2}), move(3, 0, 1, {1, 3}),
                         move(4, 0, 1, {0, kUndefined}), move(5, 4, kNoRegister, {kUndefined, 0}),
                         store(2, {0, 2, 0}), store(3, {0, 1, 4}), store(3, {1, 1, 6})}};
}

TEST(ProgramText, HasALineForEachAccessAndShuffle) {
  EXPECT_EQ(to_text(small_program()),
            "r0[0:1] = load in+0\n"
            "r0[1:2] = load in+2\n"
            "r1 = load in+4\n"
            "r2 = shuffle r0 r1 [0 2]\n"
            "r3 = shuffle r0 r1 [1 3]\n"
            "r4 = merge r0 r1 [0 -]\n"
            "r5 = self-shuffle r4 [- 0]\n"
            "store out+0 = r2\n"
            "store out+4 = r3[0:1]\n"
            "store out+6 = r3[1:2]\n");
}

TEST(ProgramCounts, TellShufflesOfOneSourceFromThoseOfTwo) {
  const Counts counts = count(small_program());
  EXPECT_EQ(counts.loads, 2);
  EXPECT_EQ(counts.stores, 3);
  EXPECT_EQ(counts.shuffles, 3);
  EXPECT_EQ(counts.self_shuffles, 1);
}

TEST(IsMerge, IsOfTwoSourcesAndKeepsLanes) {
  EXPECT_TRUE(is_merge(move(2, 0, 1, {0, 3}), 2));
  EXPECT_TRUE(is_merge(move(2, 0, 1, {kUndefined, 1}), 2));
  EXPECT_FALSE(is_merge(move(2, 0, 1, {0, 2}), 2));
  EXPECT_FALSE(is_merge(move(2, 0, kNoRegister, {0, 1}), 2));
}

// Registers made before each operation that it or a later one reads.
int count_live(const Program& program) {
  std::ptrdiff_t most = 0;
  const std::vector<Operation>& all = program.operations;
  for (auto now = all.begin(); now != all.end(); ++now) {
    most = std::max(most, std::count_if(all.begin(), now, [&](const Operation& maker) {
                      return maker.target != kNoRegister &&
                             std::any_of(now, all.end(), [&](const Operation& user) {
                               return user.first == maker.target || user.second == maker.target;
                             });
                    }));
  }
  return static_cast<int>(most);
}

TEST(LiveRegisters, AreThoseThatAreMadeAndStillRead) {
  EXPECT_EQ(live_registers(small_program()), 4);
  EXPECT_EQ(live_registers({}), 0);
  test::for_random_programs(31, 60, [](const test::TileProgram& each) {
    for (const Program& program :
         {each.program, loads_first(each.program), loads_last(each.program)}) {
      ASSERT_EQ(live_registers(program), count_live(program)) << to_text(program);
    }
  });
}

TEST(Interpreter, FollowsBytesToWhereTheyAreStored) {
  EXPECT_EQ(test::interpret(small_program(), 8, 9),
            (std::vector<std::int64_t>{0, 1, 4, 5, 2, 3, 6, 7, test::kUntouched}));
}

TEST(Interpreter, FailsOnWhatNoProgramMayDo) {
  const auto fails = [](const auto& change, std::int64_t in_bytes = 8, std::int64_t out_bytes = 8) {
    Program program = small_program();
    change(program);
    try {
      test::interpret(program, in_bytes, out_bytes);
    } catch (const std::logic_error&) {
      return true;
    }
    return false;
  };
  const auto nothing = [](Program&) {};
  EXPECT_FALSE(fails(nothing));
  EXPECT_TRUE(fails(nothing, 7)) << "reads beyond the input";
  EXPECT_TRUE(fails(nothing, 8, 7)) << "writes beyond the output";
  EXPECT_TRUE(fails([](Program& program) { program.operations[0].accesses[0].offset = -1; }));
  EXPECT_TRUE(fails([](Program& program) { program.operations[6].accesses[0].offset = -1; }));
  EXPECT_TRUE(fails([](Program& program) { program.operations.erase(program.operations.begin()); }))
      << "reads a register that was not made";
  EXPECT_TRUE(fails([](Program& program) { program.operations[1].target = 0; }));
  EXPECT_TRUE(fails([](Program& program) { program.operations[0].accesses[1].lane = 0; }));
  EXPECT_TRUE(fails([](Program& program) { program.operations[7].first = 5; }))
      << "stores a lane that is undefined";
  EXPECT_FALSE(fails([](Program& program) {
    program.operations.insert(program.operations.begin() + 6, store(4, {0, 2, 0}));
  })) << "which a later store puts right";
  EXPECT_TRUE(fails([](Program& program) { program.operations[2].index[0] = 4; }));
}

}  // namespace
}  // namespace ttlg::shuffle
