#include "plan/cpu/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "moves.hpp"
#include "plan/cpu/random_plans.hpp"
#include "plan/cpu/shuffle_tile.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;
using test::moves_of;

// What the blocks of a plan move: its loops as the executor reads them, with plain arithmetic.
test::Moves block_moves(const Plan& plan) {
  test::Moves moves;
  for (std::int64_t block = 0; block < plan.blocks(); ++block) {
    std::vector<std::int64_t> index(plan.loops.size());
    std::int64_t rest = block;
    std::int64_t in = plan.problem.in_byte_offset;
    std::int64_t out = plan.problem.out_byte_offset;
    for (std::size_t loop = plan.loops.size(); loop-- > 0;) {
      const Loop& at = plan.loops[loop];
      index[loop] = rest % at.count.divisor();
      rest /= at.count.divisor();
      in += index[loop] * at.in_byte_step;
      out += index[loop] * at.out_byte_step;
    }
    std::vector<Mode> modes;
    for (const BlockMode& mode : plan.block.modes) {
      const std::int64_t left =
          mode.loop < 0 ? mode.extent
                        : mode.extent - index[static_cast<std::size_t>(mode.loop)] * mode.block;
      modes.push_back({std::min(mode.block, left), mode.in_step, mode.out_step});
    }
    test::append_moves(moves, modes, plan.element_bytes, in, out);
  }
  return test::sorted(std::move(moves));
}

TEST(Plan, BlocksCoverEveryElementOnce) {
  test::Random random(4);
  int cut = 0;
  test::for_random_plans(random, 600, [&](const Request& request, const Plan& plan) {
    ASSERT_EQ(block_moves(plan), moves_of(request));
    cut += plan.loops.size() > 1;
  });
  EXPECT_GT(cut, 250) << "too few cases were cut in several modes to say anything";
}

TEST(Plan, KeepsTheOrderOfTheLoops) {
  const Request request = contiguous_request({4, 6, 8}, {2, 1, 0}, 4);
  const auto steps = [&](std::vector<int> order) {
    const Plan plan = build_plan(
        request,
        {.kernel = Kernel::strided_copy, .block = {3, 2, 1}, .loop_order = std::move(order)});
    std::vector<std::int64_t> result;
    for (const Loop& loop : plan.loops) result.push_back(loop.in_byte_step);
    return result;
  };
  EXPECT_EQ(steps({0, 1, 2}), (std::vector<std::int64_t>{12, 64, 192}));
  EXPECT_EQ(steps({2, 0, 1}), (std::vector<std::int64_t>{192, 12, 64}));
}

TEST(Plan, FoldsACommonRunIntoTheElement) {
  const Plan plan = build_plan(contiguous_request({3, 5, 4}, {1, 0, 2}, 4),
                               {.kernel = Kernel::tile, .block = {5, 3}});
  EXPECT_EQ(plan.element_bytes, 16);
  ASSERT_EQ(plan.block.modes.size(), 2U);
  EXPECT_EQ(plan.block.modes[0].in_step, 80);
  EXPECT_EQ(plan.block.modes[0].out_step, 16);
  EXPECT_EQ(plan.block.modes[1].in_step, 16);
  EXPECT_EQ(plan.block.modes[1].out_step, 48);
}

TEST(Plan, CopyIsOneRunOfBytesInChunks) {
  const Plan plan =
      build_plan(contiguous_request({10, 10}, {0, 1}, 4), {.kernel = Kernel::copy, .block = {64}});
  EXPECT_EQ(plan.blocks(), 7);
  EXPECT_EQ(plan.loops.front().in_byte_step, 64);
  EXPECT_EQ(plan.loops.front().out_byte_step, 64);
}

TEST(Plan, IsAValueOfItsRequestAndParameters) {
  const Request request = contiguous_request({300, 400}, {1, 0}, 4);
  const Parameters parameters{
      .kernel = Kernel::tile, .block = {8, 64}, .loop_order = {0, 1}, .threads = 2};
  const Plan plan = build_plan(request, parameters);
  EXPECT_EQ(plan, build_plan(request, parameters));

  const auto expect_another = [&](auto change) {
    Parameters other = parameters;
    change(other);
    EXPECT_NE(plan, build_plan(request, other));
  };
  expect_another([](Parameters& p) { p.kernel = Kernel::strided_copy; });
  expect_another([](Parameters& p) { p.block = {9, 64}; });
  expect_another([](Parameters& p) { p.block = {8, 65}; });
  expect_another([](Parameters& p) { p.loop_order = {1, 0}; });
  expect_another([](Parameters& p) { p.staged = true; });
  expect_another([](Parameters& p) { p.staged = p.streaming = true; });
  expect_another([](Parameters& p) { p.prefetch = 1; });
  expect_another([](Parameters& p) { p.threads = 3; });
  EXPECT_NE(plan, build_plan(contiguous_request({400, 300}, {1, 0}, 4), parameters));
  Request explicit_strides = request;
  explicit_strides.out_byte_strides = {1204, 4};
  EXPECT_NE(plan, build_plan(explicit_strides, parameters));
}

TEST(BuildPlan, RefusesParametersOutOfRange) {
  const Request request = contiguous_request({30, 40}, {1, 0}, 4);
  const Parameters good{.kernel = Kernel::tile, .block = {8, 30}, .loop_order = {0}};
  const auto expect_refused = [&](auto spoil) {
    Parameters bad = good;
    spoil(bad);
    EXPECT_THROW(build_plan(request, bad), std::invalid_argument);
  };
  EXPECT_NO_THROW(build_plan(request, good));
  expect_refused([](Parameters& p) { p.block = {0, 30}; });
  expect_refused([](Parameters& p) { p.block = {-8, 30}; });
  expect_refused([](Parameters& p) { p.block = {8, 31}; });
  expect_refused([](Parameters& p) { p.block = {8}; });
  expect_refused([](Parameters& p) { p.block = {8, 30, 1}; });
  expect_refused([](Parameters& p) { p.loop_order = {}; });
  expect_refused([](Parameters& p) { p.loop_order = {1}; });
  expect_refused([](Parameters& p) { p.loop_order = {0, 0}; });
  expect_refused([](Parameters& p) { p.loop_order = {0, 1}; });
  expect_refused([](Parameters& p) { p.prefetch = -1; });
  expect_refused([](Parameters& p) { p.prefetch = kMaxPrefetchDistance + 1; });
  expect_refused([](Parameters& p) { p.threads = 0; });
  expect_refused([](Parameters& p) { p.threads = kMaxThreads + 1; });
}

TEST(BuildPlan, RefusesAKernelThatDoesNotApply) {
  const auto build = [](const Request& request, Kernel kernel) {
    const Problem folded = fold_run(make_problem(request));
    std::vector<std::int64_t> block;
    for (const Mode& mode : folded.modes) block.push_back(mode.extent);
    return build_plan(request, {.kernel = kernel, .block = std::move(block)});
  };
  const Request matrix = contiguous_request({30, 40}, {1, 0}, 4);
  EXPECT_NO_THROW(build(matrix, Kernel::tile));
  EXPECT_THROW(build(contiguous_request({30, 40}, {1, 0}, 3), Kernel::tile), std::invalid_argument);
  EXPECT_THROW(build(contiguous_request({30, 3}, {1, 0}, 24), Kernel::shuffle),
               std::invalid_argument);
  EXPECT_THROW(build(matrix, Kernel::copy), std::invalid_argument);
  EXPECT_THROW(build(contiguous_request({30, 40}, {0, 1}, 4), Kernel::strided_copy),
               std::invalid_argument);
}

TEST(BuildPlan, AShufflesBlockHoldsItsTile) {
  const Request request = contiguous_request({100, 3}, {1, 0}, 4);
  const std::vector<std::int64_t> tile = shuffle_tile(make_problem(request));
  ASSERT_EQ(tile.size(), 2U);
  const auto build = [&](std::int64_t rows) {
    return build_plan(request, {.kernel = Kernel::shuffle, .block = {3, rows}, .loop_order = {1}});
  };
  EXPECT_EQ(build(tile[1]).movers.program.tile, (std::vector{tile[1], tile[0]}))
      << "in output order";
  EXPECT_THROW(build(tile[1] - 1), std::invalid_argument);
}

// Blocks take the first mover that they are large enough for.
TEST(BuildPlan, AShufflesNarrowBlocksHaveMoversOfTheirOwn) {
  const Request request = contiguous_request({500, 2}, {1, 0}, 4);
  const std::vector<std::int64_t> block{2, 500};
  const Movers movers = build_plan(request, {.kernel = Kernel::shuffle, .block = block}).movers;
  constexpr std::int64_t kLeast = 16;
  const auto choose = [&](std::int64_t structures, int lanes) {
    return movers.choose(std::vector<std::int64_t>{structures, 2}, lanes, kLeast);
  };
  for (const int lanes : {1, 2, 4}) {
    EXPECT_EQ(choose(500, lanes), Mover::channels);
    EXPECT_EQ(choose(kLeast, lanes), Mover::channels);
    EXPECT_EQ(choose(15, lanes), lanes < 4 ? Mover::vector_tile : Mover::program);
    EXPECT_EQ(choose(4, lanes), lanes == 1 ? Mover::vector_tile : Mover::program);
    EXPECT_EQ(choose(3, lanes), Mover::block_kernel);
  }
  EXPECT_EQ(choose_mover(make_problem(request), block, 64).mover, Mover::channels);
}

TEST(BuildPlan, StreamsOnlyBlocksThatFitTheStagingBuffer) {
  const Request request = contiguous_request({kStagingBytes, 9}, {1, 0}, 4);
  const auto build = [&](std::int64_t columns, std::int64_t rows) {
    return build_plan(request, {.kernel = Kernel::tile,
                                .block = {columns, rows},
                                .loop_order = {0, 1},
                                .staged = true,
                                .streaming = true});
  };
  EXPECT_NO_THROW(build(1, kStagingBytes / 8));
  EXPECT_THROW(build(1, kStagingBytes / 4), std::invalid_argument) << "and its lines' ends";
  EXPECT_THROW(build(2, kStagingBytes / 8), std::invalid_argument) << "runs lie lines apart";
}

TEST(BuildPlan, StreamsOnlyRunsOfTwoLines) {
  const auto build = [](const Request& request, std::int64_t rows) {
    return build_plan(request, {.kernel = Kernel::strided_copy,
                                .block = {8, rows},
                                .loop_order = {0, 1},
                                .streaming = true});
  };
  Request request = contiguous_request({100, 100}, {1, 0}, 4);
  EXPECT_NO_THROW(build(request, 2 * kLineBytes / 4));
  EXPECT_THROW(build(request, 2 * kLineBytes / 4 - 1), std::invalid_argument);
  request.out_byte_strides = {808, 8};
  EXPECT_THROW(build(request, 64), std::invalid_argument) << "not contiguous in the output";
}

TEST(BuildPlan, ShufflesAreNotStreamedDirectly) {
  const auto build = [](Kernel kernel, std::int64_t rows, std::int64_t columns, bool staged) {
    std::vector<int> loop_order;
    if (columns < 8) loop_order.push_back(0);
    return build_plan(contiguous_request({rows, 8}, {1, 0}, 4), {.kernel = kernel,
                                                                 .block = {columns, rows},
                                                                 .loop_order = loop_order,
                                                                 .staged = staged,
                                                                 .streaming = true});
  };
  EXPECT_NO_THROW(build(Kernel::tile, 160, 8, false));
  EXPECT_NO_THROW(build(Kernel::tile, 161, 8, false)) << "rows of 10.06 lines";
  EXPECT_NO_THROW(build(Kernel::strided_copy, 161, 8, false));
  EXPECT_THROW(build(Kernel::shuffle, 160, 8, false), std::invalid_argument);
  EXPECT_NO_THROW(build(Kernel::shuffle, 160, 8, true));
}

static_assert(is_thread_count(1) && is_thread_count(kMaxThreads));
static_assert(!is_thread_count(0) && !is_thread_count(-1) && !is_thread_count(kMaxThreads + 1));

}  // namespace
}  // namespace ttlg::cpu
