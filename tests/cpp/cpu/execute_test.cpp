#include "cpu/execute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "cpu/buffers.hpp"
#include "moves.hpp"
#include "plan/planner.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;
using test::GuardedInput;
using test::pick;
using test::Placement;
using test::SentinelOutput;
using Side = Placement::Side;

constexpr Machine kNoCache{.last_level_cache_bytes = 0};  // everything is worth streaming
constexpr Machine kHugeCache{.last_level_cache_bytes = INT64_MAX};

// Offsets of an array's first byte and of the byte after its last, from element (0, ..., 0).
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::size_t bytes() const { return static_cast<std::size_t>(last - first); }
};

Span span_of(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& byte_strides,
             std::int64_t itemsize) {
  if (std::ranges::find(shape, 0) != shape.end()) return {};
  Span span{0, itemsize};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t reach = (shape[axis] - 1) * byte_strides[axis];
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}

std::string describe(const Plan& plan) {
  const auto join = [](const auto& values) {
    std::string text;
    for (const auto value : values) text += std::to_string(value) + " ";
    return text;
  };
  return "kernel " + std::string(kernel_name(plan.parameters.kernel)) + ", block " +
         std::to_string(plan.parameters.block_in) + " x " +
         std::to_string(plan.parameters.block_out) +
         (plan.parameters.streaming ? ", streaming" : "") + ", threads " +
         std::to_string(plan.parameters.threads) + ", itemsize " +
         std::to_string(plan.request.itemsize) + ", shape " + join(plan.request.shape) + ", axes " +
         join(plan.request.axes) + ", strides " + join(plan.request.in_byte_strides) + "-> " +
         join(plan.request.out_byte_strides);
}

// Runs the plan and the oracle: the outputs must agree, and so must every byte around them and in
// their gaps, which neither may touch.
testing::AssertionResult matches_reference(const Plan& plan,
                                           Placement in_placement = {Side::after, 0},
                                           std::size_t out_alignment = 0) {
  const Request& request = plan.request;
  const Span in_span = span_of(request.shape, request.in_byte_strides, request.itemsize);
  const Span out_span =
      span_of(request.out_shape(), request.resolved_out_byte_strides(), request.itemsize);
  const GuardedInput input(in_span.bytes(), in_placement);
  SentinelOutput expected(out_span.bytes(), out_alignment);
  SentinelOutput actual(out_span.bytes(), out_alignment);
  execute_reference(request, input.data() - in_span.first, expected.data() - out_span.first);
  execute(plan, input.data() - in_span.first, actual.data() - out_span.first);
  if (std::ranges::equal(expected.surroundings(), actual.surroundings())) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << describe(plan);
}

TEST(ExecuteReference, MovesWhatTheRequestAsksFor) {
  test::Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Request request = test::random_request(random);
    const Span in_span = span_of(request.shape, request.in_byte_strides, request.itemsize);
    const Span out_span =
        span_of(request.out_shape(), request.resolved_out_byte_strides(), request.itemsize);
    const GuardedInput input(in_span.bytes(), {Side::before, 0});
    SentinelOutput expected(out_span.bytes(), 0);
    SentinelOutput actual(out_span.bytes(), 0);
    for (const auto& [in, out] : test::moves_of(request)) {
      expected.data()[out - out_span.first] = input.data()[in - in_span.first];
    }
    execute_reference(request, input.data() - in_span.first, actual.data() - out_span.first);
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
    const auto rule = std::ranges::find(cascade(), kernel(), &Rule::kernel);
    return rule->applies(fold_run(make_problem(of)));
  }
};

TEST_P(EveryKernel, OddExtentsAndAlignments) {
  int runs = 0;
  for (const std::int64_t rows : {1, 2, 7, 16, 17, 33, 65}) {
    for (const std::int64_t columns : {1, 3, 8, 16, 19, 31, 66}) {
      const Request asked = request(rows, columns);
      if (!applies(asked)) continue;
      for (const Machine& machine : {kNoCache, kHugeCache}) {
        const Plan plan = make_plan(asked, machine, 1, kernel());
        EXPECT_TRUE(matches_reference(plan, {Side::after, 0}, 0));
        EXPECT_TRUE(matches_reference(plan, {Side::before, 0}, 1));
        EXPECT_TRUE(matches_reference(plan, {Side::after, 1}, 24));
        EXPECT_TRUE(matches_reference(plan, {Side::before, 3}, 63));
        ++runs;
      }
    }
  }
  const bool tile_has_no_such_width = kernel() == Kernel::tile && !applies(request(7, 8));
  EXPECT_EQ(runs == 0, tile_has_no_such_width);
}

TEST_P(EveryKernel, OddBlocks) {
  const Request asked = request(37, 29);
  if (!applies(asked)) return;
  for (const std::int64_t block_in : {1, 5, 16, 1000}) {
    for (const std::int64_t block_out : {1, 3, 17, 1000}) {
      EXPECT_TRUE(matches_reference(
          build_plan(asked, {.kernel = kernel(), .block_in = block_in, .block_out = block_out})));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, EveryKernel,
                         testing::Combine(testing::Values(Kernel::copy, Kernel::tile, Kernel::run,
                                                          Kernel::reference),
                                          testing::Values(1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 100)),
                         [](const auto& instance) {
                           return std::string(kernel_name(std::get<0>(instance.param))) +
                                  std::to_string(std::get<1>(instance.param));
                         });

// Any layout on both sides, by every kernel that applies, by the planner's blocks and by odd ones.
TEST(Execute, RandomRequests) {
  test::Random random(8);
  int streamed = 0;
  for (int i = 0; i < 1500; ++i) {
    const Request request = test::random_request(random);
    const Problem folded = fold_run(make_problem(request));
    const Placement placement{i % 2 == 0 ? Side::before : Side::after,
                              static_cast<std::size_t>(pick(random, 0, 20))};
    const auto out_alignment = static_cast<std::size_t>(pick(random, 0, 63));
    for (const Rule& rule : cascade()) {
      if (!rule.applies(folded)) continue;
      const Plan streaming = make_plan(request, kNoCache, 1, rule.kernel);
      const Plan odd = build_plan(request, {.kernel = rule.kernel,
                                            .block_in = pick(random, 1, 9),
                                            .block_out = pick(random, 1, 9),
                                            .threads = 1 + i % 4});
      ASSERT_TRUE(matches_reference(streaming, placement, out_alignment));
      ASSERT_TRUE(matches_reference(odd, placement, out_alignment));
      streamed += streaming.parameters.streaming;
    }
  }
  EXPECT_GT(streamed, 300) << "too few cases streamed to say anything";
}

TEST(Execute, LongRunsAreStreamedFromTheirSource) {
  for (const std::int64_t run : {255, 256, 300, 4096, 10000}) {
    const Request request = contiguous_request({5, 7, run}, {1, 0, 2}, 4);
    const Plan plan = make_plan(request, kNoCache, 1);
    ASSERT_TRUE(plan.parameters.streaming);
    EXPECT_TRUE(matches_reference(plan, {Side::after, 0}, 4));
  }
}

TEST(Execute, AnyNumberOfThreads) {
  for (const std::vector<int>& axes : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}}) {
    for (const Machine& machine : {kNoCache, kHugeCache}) {
      Parameters parameters =
          make_plan(contiguous_request({60, 110, 70}, axes, 8), machine, 4).parameters;
      for (int threads = 1; threads <= 4; ++threads) {
        parameters.threads = threads;
        EXPECT_TRUE(
            matches_reference(build_plan(contiguous_request({60, 110, 70}, axes, 8), parameters)));
      }
    }
  }
}

TEST(Execute, MoreThreadsThanBlocks) {
  EXPECT_TRUE(matches_reference(
      build_plan(contiguous_request({9, 9}, {1, 0}, 4),
                 {.kernel = Kernel::tile, .block_in = 5, .block_out = 9, .threads = 4})));
}

TEST(Execute, EmptyArraysAreNotTouched) {
  for (const Request& request :
       {contiguous_request({4, 0, 3}, {2, 1, 0}, 4), contiguous_request({0}, {0}, 8),
        contiguous_request({4, 3}, {1, 0}, 0)}) {
    for (const auto forced : {std::optional<Kernel>{}, std::optional(Kernel::reference)}) {
      execute(make_plan(request, kHugeCache, 2, forced), nullptr, nullptr);
    }
  }
}

TEST(Execute, OnePlanServesManyThreadsAtOnce) {
  const Plan alone = make_plan(contiguous_request({50, 70, 60}, {2, 1, 0}, 4), kHugeCache, 1);
  const Plan together = make_plan(contiguous_request({50, 70, 60}, {2, 0, 1}, 8), kNoCache, 2);
  ASSERT_EQ(together.parameters.threads, 2);
  std::vector<int> right(4, 0);
  {
    std::vector<std::jthread> callers;
    for (int& verdict : right) {
      callers.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          verdict += matches_reference(alone) && matches_reference(together);
        }
      });
    }
  }
  EXPECT_EQ(right, std::vector(4, 5));
}

}  // namespace
}  // namespace ttlg::cpu
