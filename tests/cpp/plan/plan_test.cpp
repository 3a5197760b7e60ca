#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "moves.hpp"
#include "requests.hpp"

namespace ttlg {
namespace {

using test::contiguous_request;
using test::moves_of;
using test::pick;

Mode clipped(Mode mode, std::int64_t block, std::int64_t index) {
  mode.extent = std::min(block, mode.extent - index * block);
  return mode;
}

// What the blocks of a plan move: the loop nest as the executor reads it, with plain arithmetic.
test::Moves block_moves(const Plan& plan) {
  test::Moves moves;
  for (std::int64_t block = 0; block < plan.blocks(); ++block) {
    std::int64_t rest = block;
    std::int64_t in = plan.problem.in_byte_offset;
    std::int64_t out = plan.problem.out_byte_offset;
    std::int64_t in_index = 0;
    std::int64_t out_index = 0;
    for (int loop = static_cast<int>(plan.loops.size()); loop-- > 0;) {
      const Loop& at = plan.loops[static_cast<std::size_t>(loop)];
      const std::int64_t index = rest % at.count.divisor();
      rest /= at.count.divisor();
      in += index * at.in_byte_step;
      out += index * at.out_byte_step;
      if (loop == plan.in_loop) in_index = index;
      if (loop == plan.out_loop) out_index = index;
    }
    const std::vector<Mode> modes{
        clipped(plan.nest.in_mode, plan.parameters.block_in, in_index),
        clipped(plan.nest.out_mode, plan.parameters.block_out, out_index)};
    test::append_moves(moves, modes, plan.nest.element_bytes, in, out);
  }
  return test::sorted(std::move(moves));
}

TEST(Plan, BlocksCoverEveryElementOnce) {
  test::Random random(4);
  int planned = 0;
  for (int i = 0; i < 600; ++i) {
    const Request request = test::random_request(random);
    const Problem folded = fold_run(make_problem(request));
    const Kernel kernel = folded.modes.empty() ? Kernel::copy : Kernel::run;
    const Plan plan = build_plan(
        request,
        {.kernel = kernel, .block_in = pick(random, 1, 12), .block_out = pick(random, 1, 12)});
    ASSERT_EQ(block_moves(plan), moves_of(request));
    planned += plan.blocks() > 1;
  }
  EXPECT_GT(planned, 300) << "too few cases had more than one block to say anything";
}

TEST(Plan, TakesTheFastestModesOfBothSidesAsTheBlock) {
  const Plan plan = build_plan(contiguous_request({3, 4, 5}, {2, 0, 1}, 4),
                               {.kernel = Kernel::tile, .block_in = 2, .block_out = 12});
  EXPECT_EQ(plan.nest.in_mode, (Mode{5, 4, 48}));
  EXPECT_EQ(plan.nest.out_mode, (Mode{12, 20, 4}));
  EXPECT_TRUE(plan.nest.outer.empty());
  EXPECT_EQ(plan.blocks(), 3);
  EXPECT_EQ(plan.in_loop, 0);
  EXPECT_EQ(plan.out_loop, -1);
}

TEST(Plan, FoldsACommonRunIntoTheElement) {
  const Plan plan = build_plan(contiguous_request({3, 5, 4}, {1, 0, 2}, 4),
                               {.kernel = Kernel::tile, .block_in = 8, .block_out = 8});
  EXPECT_EQ(plan.nest.element_bytes, 16);
  EXPECT_EQ(plan.nest.in_mode, (Mode{5, 16, 48}));
  EXPECT_EQ(plan.nest.out_mode, (Mode{3, 80, 16}));
}

TEST(Plan, CopyIsOneRunOfBytesInChunks) {
  const Plan plan = build_plan(contiguous_request({10, 10}, {0, 1}, 4),
                               {.kernel = Kernel::copy, .block_out = 64});
  EXPECT_EQ(plan.nest.out_mode, (Mode{400, 1, 1}));
  EXPECT_EQ(plan.blocks(), 7);
}

TEST(Plan, WalksLongStepsOutsideShortOnes) {
  const Plan plan = build_plan(contiguous_request({4, 6, 8, 10, 12}, {1, 4, 3, 0, 2}, 4),
                               {.kernel = Kernel::run, .block_in = 5, .block_out = 3});
  ASSERT_GE(plan.loops.size(), 4U);
  const auto shorter_step = [](const Loop& loop) {
    return std::min(std::abs(loop.in_byte_step), std::abs(loop.out_byte_step));
  };
  EXPECT_TRUE(std::ranges::is_sorted(plan.loops, std::ranges::greater{}, shorter_step));
}

TEST(Plan, IsAValueOfItsRequestAndParameters) {
  const Request request = contiguous_request({30, 40}, {1, 0}, 4);
  const Parameters parameters{.kernel = Kernel::tile, .block_in = 8, .block_out = 16, .threads = 2};
  const Plan plan = build_plan(request, parameters);
  EXPECT_EQ(plan, build_plan(request, parameters));

  for (const Parameters& other :
       {Parameters{Kernel::run, 8, 16, false, 2}, Parameters{Kernel::tile, 9, 16, false, 2},
        Parameters{Kernel::tile, 8, 17, false, 2}, Parameters{Kernel::tile, 8, 16, true, 2},
        Parameters{Kernel::tile, 8, 16, false, 3}}) {
    EXPECT_NE(plan, build_plan(request, other));
  }
  EXPECT_NE(plan, build_plan(contiguous_request({40, 30}, {1, 0}, 4), parameters));
  Request explicit_strides = request;
  explicit_strides.out_byte_strides = {124, 4};
  EXPECT_NE(plan, build_plan(explicit_strides, parameters));
}

TEST(BuildPlan, RefusesParametersOutOfRange) {
  const Request request = contiguous_request({30, 40}, {1, 0}, 4);
  const Parameters good{.kernel = Kernel::tile, .block_in = 8, .block_out = 8};
  const auto expect_refused = [&](auto spoil) {
    Parameters bad = good;
    spoil(bad);
    EXPECT_THROW(build_plan(request, bad), std::invalid_argument);
  };
  EXPECT_NO_THROW(build_plan(request, good));
  expect_refused([](Parameters& p) { p.block_in = 0; });
  expect_refused([](Parameters& p) { p.block_out = -1; });
  expect_refused([](Parameters& p) { p.threads = 0; });
}

TEST(BuildPlan, RefusesAKernelThatDoesNotApply) {
  const Parameters tile{.kernel = Kernel::tile};
  const Parameters copy{.kernel = Kernel::copy};
  const Parameters run{.kernel = Kernel::run};
  EXPECT_THROW(build_plan(contiguous_request({30, 40}, {1, 0}, 3), tile), std::invalid_argument);
  EXPECT_THROW(build_plan(contiguous_request({30, 40}, {1, 0}, 4), copy), std::invalid_argument);
  EXPECT_THROW(build_plan(contiguous_request({30, 40}, {0, 1}, 4), run), std::invalid_argument);
}

TEST(BuildPlan, StreamsOnlyBlocksThatFitTheStagingBuffer) {
  const Request request = contiguous_request({1000, 1000}, {1, 0}, 4);
  const std::int64_t row = kStagingBytes / 4;
  const auto build = [&](std::int64_t block_in, std::int64_t block_out, const Request& of) {
    return build_plan(
        of,
        {.kernel = Kernel::tile, .block_in = block_in, .block_out = block_out, .streaming = true});
  };
  EXPECT_NO_THROW(build(row / 16, 16, request));
  EXPECT_THROW(build(row / 16 + 1, 16, request), std::invalid_argument);
  EXPECT_THROW(build(row / 16, 17, request), std::invalid_argument) << "rows are padded to lines";
  // Blocks larger than the array count as the array.
  EXPECT_NO_THROW(build(1 << 20, 1 << 20, contiguous_request({16, 16}, {1, 0}, 4)));
}

TEST(BuildPlan, StreamsOnlyIntoContiguousRows) {
  Request request = contiguous_request({100, 100}, {1, 0}, 4);
  request.out_byte_strides = {808, 8};
  const Parameters parameters{
      .kernel = Kernel::run, .block_in = 8, .block_out = 8, .streaming = true};
  EXPECT_THROW(build_plan(request, parameters), std::invalid_argument);
}

TEST(KernelNames, RoundTrip) {
  for (const Kernel kernel : {Kernel::copy, Kernel::tile, Kernel::run, Kernel::reference}) {
    EXPECT_EQ(kernel_from_name(kernel_name(kernel)), kernel);
  }
  EXPECT_EQ(kernel_from_name("Tile"), std::nullopt);
  EXPECT_EQ(kernel_from_name(""), std::nullopt);
}

}  // namespace
}  // namespace ttlg
