// Staged blocks: whole lines leave the buffer, and a run's last, partial line waits for the block
// that continues it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cpu/executions.hpp"
#include "plan/cpu/machines.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"
#include "sample.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;
using test::matches_reference;
using test::pick;
using Side = test::Placement::Side;

bool carries_lines(const Plan& plan) {
  return plan.parameters.staged && !plan.loops.empty() &&
         plan.loops.back().out_byte_step == plan.block.run_bytes &&
         plan.block.run_bytes % kLineBytes != 0;
}

// Runs of two lines or more, as few or as many as chance has it; mostly continued by the next
// block.
std::optional<Plan> random_streaming_plan(test::Random& random, const Request& request,
                                          Kernel kernel) {
  const Problem folded = fold_run(make_problem(request));
  Parameters parameters = test::random_parameters(random, folded, kernel);
  parameters.staged = parameters.streaming = true;
  std::int64_t run = folded.element_bytes();
  int continued = -1;
  for (const int index : folded.perm) {
    const auto m = static_cast<std::size_t>(index);
    const std::int64_t extent = folded.modes[m].extent;
    if (run >= 2 * kLineBytes) break;
    const std::int64_t least =
        std::max(std::min(extent, ceil_div(2 * kLineBytes, run)), parameters.block[m]);
    parameters.block[m] = pick(random, 0, 2) == 0 ? least : pick(random, least, extent);
    continued = index;
    run *= parameters.block[m];
    if (parameters.block[m] < extent) break;
  }
  parameters.loop_order = test::cut_modes(folded, parameters.block);
  std::ranges::shuffle(parameters.loop_order, random);
  const auto found = std::ranges::find(parameters.loop_order, continued);
  if (found != parameters.loop_order.end() && pick(random, 0, 3) > 0) {
    std::rotate(found, found + 1, parameters.loop_order.end());
  }
  try {
    return build_plan(request, parameters);
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // the block does not fit the buffer
  }
}

TEST(Streaming, BlocksThatContinueOneAnother) {
  test::Random random(31);
  int carried = 0;
  int staged_shuffles = 0;
  constexpr int kRuns = std::max(1500 / test::kSampling, 187);  // fewer shuffle too seldom
  for (int i = 0; i < kRuns; ++i) {
    const Request request = test::long_runs_request(random);
    for (const Kernel kernel : {Kernel::tile, Kernel::shuffle, Kernel::strided_copy}) {
      if (!applies(kernel, fold_run(make_problem(request)))) continue;
      const auto plan = random_streaming_plan(random, request, kernel);
      if (!plan) continue;
      ASSERT_TRUE(matches_reference(*plan, {i % 2 == 0 ? Side::before : Side::after, 0},
                                    static_cast<std::size_t>(pick(random, 0, 63))));
      carried += carries_lines(*plan);
      staged_shuffles += kernel == Kernel::shuffle;
    }
  }
  EXPECT_GT(carried, kRuns / 3) << "too few cases carried a line to say anything";
  EXPECT_GT(staged_shuffles, test::kSampling == 1 ? 200 : 10);
}

class EveryAlignment : public testing::TestWithParam<Kernel> {};

TEST_P(EveryAlignment, CarriesTheLine) {
  const Request odd = contiguous_request({331, 2, 7}, {2, 1, 0}, 3);
  const Request in_vectors = contiguous_request({331, 2, 7}, {2, 1, 0}, 2);
  const bool cut = GetParam() != Kernel::shuffle;  // which needs all 7 for a vector
  for (const int threads : {1, 3}) {
    const Plan plan = build_plan(GetParam() == Kernel::strided_copy ? odd : in_vectors,
                                 {.kernel = GetParam(),
                                  .block = {cut ? 6 : 7, 2, 101},
                                  .loop_order = cut ? std::vector{0, 2} : std::vector{2},
                                  .staged = true,
                                  .streaming = true,
                                  .prefetch = 1,
                                  .threads = threads});
    ASSERT_TRUE(carries_lines(plan));
    for (std::size_t alignment = 0; alignment < 64; ++alignment) {
      ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryAlignment,
                         testing::Values(Kernel::tile, Kernel::shuffle, Kernel::strided_copy),
                         [](const auto& instance) {
                           return std::string(kernel_name(instance.param));
                         });

TEST(Streaming, LongRunsLeaveFromTheirSource) {
  for (const std::int64_t run : {255, 256, 300, 4096, 10000}) {
    const Request request = contiguous_request({5, 7, run}, {1, 0, 2}, 4);
    const Plan plan = make_plan(request, test::streaming_machine(), 1);
    ASSERT_TRUE(plan.parameters.streaming);
    for (const std::size_t alignment : {0, 4, 63}) {
      EXPECT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
    }
  }
}

TEST(Streaming, CopiesInChunksOfAnySize) {
  test::Random random(32);
  for (int i = 0; i < 200; ++i) {
    const Request request = contiguous_request({pick(random, 1, 3000)}, {0}, 1);
    const Plan plan = build_plan(request, {.kernel = Kernel::copy,
                                           .block = {pick(random, 1, 400)},
                                           .streaming = true,
                                           .threads = 1 + i % 3});
    ASSERT_TRUE(matches_reference(plan, {Side::before, static_cast<std::size_t>(i % 5)},
                                  static_cast<std::size_t>(pick(random, 0, 63))));
  }
}

// What the planner itself streams, at the widths that it stages.
TEST(Streaming, PlannersBlocks) {
  int carried = 0;
  for (const std::int64_t itemsize : {1, 2, 3, 4, 8, 12, 16}) {
    for (const auto& [rows, columns] : {std::pair{1500, 67}, {777, 3}, {3, 901}, {401, 402}}) {
      const Plan plan = make_plan(contiguous_request({2, rows, columns}, {0, 2, 1}, itemsize),
                                  test::staging_machine(), 2);
      ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, 17));
      carried += carries_lines(plan);
    }
  }
  EXPECT_GT(carried, 0);
}

// How often the execution of a plan fences.
int fences_of(const Plan& plan) {
  static int fences;
  fences = 0;
  Kernels table = kernels();
  table.fence = [] { ++fences; };
  const auto bytes = static_cast<std::size_t>(plan.problem.bytes());
  const std::vector<std::byte> in(bytes);
  std::vector<std::byte> out(bytes);
  execute(plan, in.data(), out.data(), table);
  return fences;
}

// No processor at hand shows a missing fence, so that it is counted: each thread fences once, after
// all its blocks, if it streamed.
TEST(Streaming, EndsWithAFence) {
  for (const std::vector<int>& axes : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 0, 2}}) {
    const Request request = contiguous_request({40, 30, 300}, axes, 4);
    for (const bool streaming : {true, false}) {
      const Plan plan =
          make_plan(request, streaming ? test::streaming_machine() : test::caching_machine(), 1);
      ASSERT_EQ(plan.parameters.streaming, streaming);
      EXPECT_EQ(fences_of(plan), streaming ? 1 : 0);
    }
  }
  const Plan direct =
      build_plan(contiguous_request({64, 8}, {1, 0}, 8),
                 {.kernel = Kernel::tile, .block = {8, 32}, .loop_order = {1}, .streaming = true});
  EXPECT_EQ(fences_of(direct), 1);
}

}  // namespace
}  // namespace ttlg::cpu
