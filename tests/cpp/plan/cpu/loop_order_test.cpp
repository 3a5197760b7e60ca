#include "plan/cpu/loop_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using Order = std::vector<int>;

Order identity(std::size_t rank) {
  const std::span<const int> modes = identity_order(rank);
  return {modes.begin(), modes.end()};
}

// Calls check(order) for all orders of `rank` modes.
template <typename Check>
void for_all_orders(std::size_t rank, const Check& check) {
  Order order = identity(rank);
  do {
    check(order);
  } while (std::ranges::next_permutation(order).found);
}

TEST(LoopCost, CountsAsComet) {
  // Modes 0 and 1 of a matrix have the positions 1 and 0 in the input, 0 and 1 in the output.
  EXPECT_DOUBLE_EQ(loop_cost(Order{1, 0}, Order{0, 1}), (2 + 1.01) * 10);
  EXPECT_DOUBLE_EQ(loop_cost(Order{1, 0}, Order{1, 0}), (1 + 2.02) * 10);
  EXPECT_DOUBLE_EQ(loop_cost(Order{1, 2, 0}, Order{2, 0, 1}),
                   (1 + 1.01 * 2) * 20 + (4 + 1.01 * 1) * 10);
  EXPECT_EQ(loop_cost(Order{0}, Order{0}), 0);
  EXPECT_DOUBLE_EQ(loop_cost(Order{1, 2, 0}, Order{2, 1}), (1 + 1.01 * 2) * 10)
      << "the other mode is inside the blocks";
}

TEST(RankLoops, IsTheOneCheapestOrder) {
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    for_all_orders(rank, [&](const Order& perm) {
      const Order ranked = rank_loops(perm);
      const double least = loop_cost(perm, ranked);
      for_all_orders(rank, [&](const Order& order) {
        if (order != ranked) {
          EXPECT_GT(loop_cost(perm, order), least);
        }
      });
      EXPECT_TRUE(ranked.back() == 0 || ranked.back() == perm.front());
    });
  }
}

TEST(RankLoops, KeepsTheOrderOfWhatIsNotPermuted) {
  for (const std::size_t rank : {1, 2, 10, kMaxRank}) {
    Order outermost_first = identity(rank);
    std::ranges::reverse(outermost_first);
    EXPECT_EQ(rank_loops(identity(rank)), outermost_first);
  }
}

TEST(ContinueRuns, MovesTheLoopInnermostAlongWhichRunsGoOn) {
  const Problem problem = test::unfused_problem({96, 88, 80, 72}, {1, 3, 2, 0}, 4);
  const std::vector<std::int64_t> block{32, 88, 1, 8};
  const Order ranked = rank_loops(problem.perm);
  EXPECT_EQ(ranked, (Order{2, 3, 0, 1}));
  Order order;
  choose_loop_order(problem, block, ranked, order);
  EXPECT_EQ(order, (Order{2, 3, 0}));
  Order along_output = order;
  continue_runs(problem, block, problem.perm, &Mode::out_byte_stride, along_output);
  EXPECT_EQ(along_output, (Order{2, 0, 3}));
  continue_runs(problem, block, identity(4), &Mode::in_byte_stride, order);
  EXPECT_EQ(order, (Order{2, 3, 0}));
}

}  // namespace
}  // namespace ttlg::cpu
