#include "cpu/execute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cpu/executions.hpp"
#include "moves.hpp"
#include "plan/cpu/machines.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"
#include "sample.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;
using test::GuardedInput;
using test::matches_reference;
using test::pick;
using test::Placement;
using test::SentinelOutput;
using Side = Placement::Side;

const Machine kStreaming = test::streaming_machine();
const Machine kStaging = test::staging_machine();
const Machine kCaching = test::caching_machine();

Placement random_placement(test::Random& random) {
  return {pick(random, 0, 1) == 0 ? Side::before : Side::after,
          static_cast<std::size_t>(pick(random, 0, 20))};
}

std::size_t random_alignment(test::Random& random) {
  return static_cast<std::size_t>(pick(random, 0, 63));
}

TEST(ExecuteReference, MovesWhatTheRequestAsksFor) {
  test::Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Request request = test::random_request(random);
    const test::Span in_span = test::in_span_of(request);
    const test::Span out_span = test::out_span_of(request);
    const GuardedInput input(in_span.bytes(), {Side::before, 0});
    SentinelOutput expected(out_span.bytes(), 0);
    SentinelOutput actual(out_span.bytes(), 0);
    for (const auto& [in, out] : test::unsorted_moves_of(request)) {
      expected.data()[out - out_span.first] = input.data()[in - in_span.first];
    }
    execute_reference(PlanBase(request, make_problem(request)), input.data() - in_span.first,
                      actual.data() - out_span.first);
    ASSERT_TRUE(std::ranges::equal(expected.surroundings(), actual.surroundings()));
  }
}

class EveryKernel : public testing::TestWithParam<std::tuple<Kernel, std::int64_t>> {
 protected:
  Kernel kernel() const { return std::get<0>(GetParam()); }
  std::int64_t width() const { return std::get<1>(GetParam()); }

  // A batch of matrices, transposed unless the kernel can only copy.
  Request request(std::int64_t rows, std::int64_t columns) const {
    const bool copy = kernel() == Kernel::copy;
    return contiguous_request({3, rows, columns},
                              copy ? std::vector{0, 1, 2} : std::vector{0, 2, 1}, width());
  }
  bool applies(const Request& of) const {
    return cpu::applies(kernel(), fold_run(make_problem(of)));
  }
};

TEST_P(EveryKernel, OddExtentsAndAlignments) {
  int runs = 0;
  for (const std::int64_t rows : {1, 2, 3, 7, 16, 17, 33, 65}) {
    for (const std::int64_t columns : {1, 3, 8, 16, 19, 31, 66}) {
      const Request asked = request(rows, columns);
      if (!applies(asked)) continue;
      for (const Machine& machine : {kStreaming, kStaging, kCaching}) {
        const Plan plan = make_plan(asked, machine, 1, kernel());
        ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, 0));
        ASSERT_TRUE(matches_reference(plan, {Side::before, 0}, 1));
        ASSERT_TRUE(matches_reference(plan, {Side::after, 1}, 24));
        ASSERT_TRUE(matches_reference(plan, {Side::before, 3}, 63));
        ++runs;
      }
    }
  }
  EXPECT_EQ(runs == 0, !applies(request(7, 19))) << "for no extents of such a width";
}

// Extents around each number of vectors, so that every remainder occurs on either side.
TEST_P(EveryKernel, EveryRemainder) {
  if (kernel() == Kernel::copy || kernel() == Kernel::reference || width() > 16) {
    return;  // moves no vectors
  }
  test::Random random(9);
  for (std::int64_t longer = 1; longer <= 34; ++longer) {
    for (const std::int64_t other : {2, 3, 5, 16, 29}) {
      for (const Request& asked : {request(longer, other), request(other, longer)}) {
        if (!applies(asked)) continue;
        ASSERT_TRUE(matches_reference(make_plan(asked, kCaching, 1, kernel()), {Side::after, 0},
                                      random_alignment(random)));
      }
    }
  }
}

// Blocks clipped on both sides at once.
TEST_P(EveryKernel, OddBlocks) {
  test::Random random(10);
  for (const auto& [rows, columns] : {std::pair{37, 29}, {70, 3}, {2, 90}}) {
    const Request asked = request(rows, columns);
    if (!applies(asked)) continue;
    const Problem folded = fold_run(make_problem(asked));
    for (int i = 0; i < 20 / test::kSampling; ++i) {
      ASSERT_TRUE(matches_reference(test::random_plan(random, asked, folded, kernel()),
                                    random_placement(random), random_alignment(random)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, EveryKernel,
                         testing::Combine(testing::Values(Kernel::copy, Kernel::tile,
                                                          Kernel::shuffle, Kernel::strided_copy,
                                                          Kernel::reference),
                                          testing::ValuesIn(test::kItemsizes)),
                         [](const auto& instance) {
                           return std::string(kernel_name(std::get<0>(instance.param))) +
                                  std::to_string(std::get<1>(instance.param));
                         });

class ShiftedBlocks : public testing::TestWithParam<std::int64_t> {};

// Blocks that begin where the output's lines do, several on both sides and in every way to the
// output, clipped ones and a longer last one among them.
TEST_P(ShiftedBlocks, AtEveryAlignment) {
  const std::int64_t line = kLineBytes / std::gcd(kLineBytes, GetParam());
  const Request request = contiguous_request({2, 8 * line, 35}, {0, 2, 1}, GetParam());
  for (const Kernel kernel : {Kernel::tile, Kernel::shuffle, Kernel::strided_copy}) {
    if (!applies(kernel, fold_run(make_problem(request)))) continue;
    for (const auto& [rows, columns] : {std::pair{2 * line, std::int64_t{17}}, {3 * line, 35}}) {
      for (const auto& [staged, streaming] :
           {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
        if (kernel == Kernel::shuffle && streaming && !staged) continue;
        std::vector<int> loops{2, 1};
        if (columns < 35) loops.push_back(0);
        const Plan plan = build_plan(request, {.kernel = kernel,
                                               .block = {columns, rows, 1},
                                               .loop_order = loops,
                                               .staged = staged,
                                               .streaming = streaming,
                                               .prefetch = 1,
                                               .threads = 2});
        ASSERT_GE(plan.block.shiftable_loop, 0);
        for (const std::int64_t alignment : std::array{std::int64_t{0}, GetParam(), 2 * GetParam(),
                                                       std::int64_t{1}, 64 - GetParam()}) {
          ASSERT_TRUE(
              matches_reference(plan, {Side::after, 0}, static_cast<std::size_t>(alignment)));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, ShiftedBlocks, testing::Values(1, 2, 4, 8, 12, 16, 24),
                         testing::PrintToStringParamName());

// By every kernel that applies, in the planner's blocks and in any others.
void check_every_kernel(test::Random& random, const Request& request) {
  const Problem folded = fold_run(make_problem(request));
  const Placement placement = random_placement(random);
  const std::size_t alignment = random_alignment(random);
  for (const Kernel kernel : kKernels) {
    if (!applies(kernel, folded)) continue;
    const auto number = pick(random, 0, 2);
    const Machine& machine = number == 0 ? kStreaming : number == 1 ? kStaging : kCaching;
    ASSERT_TRUE(matches_reference(make_plan(request, machine, 1, kernel), placement, alignment));
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(matches_reference(test::random_plan(random, request, folded, kernel), placement,
                                    alignment));
    }
  }
}

TEST(Execute, RandomRequests) {
  test::Random random(8);
  for (int i = 0; i < 500 / test::kSampling && !HasFailure(); ++i) {
    check_every_kernel(random, test::random_request(random));
  }
}

TEST(Execute, ManyShortModes) {
  test::Random random(18);
  int shuffled = 0;
  for (int i = 0; i < 300 / test::kSampling && !HasFailure(); ++i) {
    const Request request = test::many_modes_request(random);
    check_every_kernel(random, request);
    shuffled += applies(Kernel::shuffle, fold_run(make_problem(request)));
  }
  EXPECT_GT(shuffled, 20 / test::kSampling) << "too few cases were shuffled to say anything";
}

TEST(Execute, AnyNumberOfThreads) {
  for (const std::vector<int>& axes : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}}) {
    const Request request = contiguous_request({60, 110, 70}, axes, 8);
    for (const Machine& machine : {kStreaming, kStaging, kCaching}) {
      Parameters parameters = make_plan(request, machine, 4).parameters;
      for (int threads = 1; threads <= 4; ++threads) {
        parameters.threads = threads;
        EXPECT_TRUE(matches_reference(build_plan(request, parameters)));
      }
    }
  }
}

TEST(Execute, MoreThreadsThanBlocks) {
  EXPECT_TRUE(matches_reference(
      build_plan(contiguous_request({9, 9}, {1, 0}, 4),
                 {.kernel = Kernel::tile, .block = {5, 9}, .loop_order = {0}, .threads = 4})));
}

TEST(Execute, EmptyArraysAreNotTouched) {
  for (const Request& request :
       {contiguous_request({4, 0, 3}, {2, 1, 0}, 4), contiguous_request({0}, {0}, 8),
        contiguous_request({4, 3}, {1, 0}, 0)}) {
    for (const auto forced : {std::optional<Kernel>{}, std::optional(Kernel::reference)}) {
      execute(make_plan(request, kCaching, 2, forced), nullptr, nullptr);
    }
  }
}

TEST(Execute, OnePlanServesManyThreadsAtOnce) {
  const Plan alone = make_plan(contiguous_request({50, 70, 60}, {2, 1, 0}, 4), kCaching, 1);
  const Plan together = make_plan(contiguous_request({50, 70, 60}, {2, 0, 1}, 8), kStreaming, 2);
  ASSERT_EQ(together.parameters.threads, 2);
  std::vector<int> right(4, 0);
  {
    std::vector<std::jthread> callers;
    for (int& result : right) {
      callers.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          result += matches_reference(alone) && matches_reference(together);
        }
      });
    }
  }
  EXPECT_EQ(right, std::vector(4, 5));
}

}  // namespace
}  // namespace ttlg::cpu
