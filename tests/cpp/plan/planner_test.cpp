#include "plan/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "requests.hpp"

namespace ttlg {
namespace {

using test::contiguous_request;

constexpr Machine kSmallCache{.last_level_cache_bytes = 1 << 20};

Kernel chosen(const Request& request) { return make_plan(request, Machine{}, 1).parameters.kernel; }

TEST(Cascade, CopiesWhatFusesIntoOneRun) {
  EXPECT_EQ(chosen(contiguous_request({3, 4, 5}, {0, 1, 2}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({3, 1, 5}, {1, 0, 2}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({}, {}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({3, 0}, {1, 0}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({3, 4}, {1, 0}, 0)), Kernel::copy);
}

TEST(Cascade, TilesDifferentFastestModesOfVectorWidths) {
  for (const std::int64_t itemsize : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(chosen(contiguous_request({30, 40}, {1, 0}, itemsize)), Kernel::tile);
  }
  EXPECT_EQ(chosen(contiguous_request({30, 40, 4}, {1, 0, 2}, 4)), Kernel::tile) << "a folded run";
}

TEST(Cascade, RunsTheRest) {
  for (const std::int64_t itemsize : {3, 5, 6, 12, 24, 32, 100}) {
    EXPECT_EQ(chosen(contiguous_request({30, 40}, {1, 0}, itemsize)), Kernel::run) << itemsize;
  }
  EXPECT_EQ(chosen(contiguous_request({30, 40, 100}, {1, 0, 2}, 4)), Kernel::run) << "long runs";
  Request strided = contiguous_request({30, 40}, {1, 0}, 4);
  strided.in_byte_strides = {400, 8};
  EXPECT_EQ(chosen(strided), Kernel::run) << "no unit stride on the input's side";
  Request reversed = contiguous_request({30, 40}, {1, 0}, 4);
  reversed.in_byte_strides[1] = -4;
  EXPECT_EQ(chosen(reversed), Kernel::run) << "walked backwards";
}

TEST(Cascade, TakesTheFirstRuleThatApplies) {
  test::Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Request request = test::random_request(random);
    const Problem folded = fold_run(make_problem(request));
    const auto first =
        std::ranges::find_if(cascade(), [&](const Rule& rule) { return rule.applies(folded); });
    ASSERT_NE(first, cascade().end());
    EXPECT_EQ(chosen(request), first->kernel);
  }
}

TEST(ForcedKernel, IsTakenOrRefusedWithWhatItNeeds) {
  const Request matrix = contiguous_request({30, 40}, {1, 0}, 4);
  for (const Rule& rule : cascade()) {
    if (rule.applies(fold_run(make_problem(matrix)))) {
      EXPECT_EQ(make_plan(matrix, Machine{}, 1, rule.kernel).parameters.kernel, rule.kernel);
      continue;
    }
    try {
      make_plan(matrix, Machine{}, 1, rule.kernel);
      FAIL() << kernel_name(rule.kernel);
    } catch (const std::invalid_argument& error) {
      const std::string_view message = error.what();
      EXPECT_NE(message.find(kernel_name(rule.kernel)), message.npos) << message;
      EXPECT_NE(message.find(rule.requirement), message.npos) << message;
    }
  }
}

TEST(Threads, OneForSmallProblemsAndNeverMoreThanAllowed) {
  const Request small = contiguous_request({64, 64}, {1, 0}, 8);
  const Request large = contiguous_request({4096, 4096}, {1, 0}, 8);
  EXPECT_EQ(make_plan(small, Machine{}, 16).parameters.threads, 1);
  EXPECT_EQ(make_plan(large, Machine{}, 16).parameters.threads, 16);
  EXPECT_EQ(make_plan(large, Machine{}, 3).parameters.threads, 3);
  EXPECT_EQ(make_plan(large, Machine{}, 0).parameters.threads, 1);
}

TEST(Threads, GrowWithTheProblem) {
  int before = 1;
  for (std::int64_t side = 32; side <= 8192; side *= 2) {
    const int threads =
        make_plan(contiguous_request({side, side}, {1, 0}, 4), Machine{}, 8).parameters.threads;
    EXPECT_GE(threads, before);
    before = threads;
  }
  EXPECT_EQ(before, 8);
}

TEST(Streaming, OnlyBeyondTheLastLevelCache) {
  const auto streams = [](const Request& request, std::int64_t cache) {
    return make_plan(request, {.last_level_cache_bytes = cache}, 1).parameters.streaming;
  };
  for (const std::vector<int>& axes : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 0, 2}}) {
    for (const std::int64_t itemsize : {4, 12}) {
      const Request request = contiguous_request({64, 64, 64}, axes, itemsize);
      const std::int64_t bytes = make_problem(request).bytes();
      EXPECT_FALSE(streams(request, bytes));
      EXPECT_TRUE(streams(request, bytes / 8));
    }
  }
}

TEST(Streaming, NotIntoStridedRows) {
  Request request = contiguous_request({512, 512}, {1, 0}, 4);
  request.out_byte_strides = {512 * 8, 8};
  EXPECT_FALSE(make_plan(request, kSmallCache, 1).parameters.streaming);
}

// Every shape of block there is: long and short modes on either side, all widths.
TEST(Blocks, FitTheStagingBufferAndTheProblem) {
  const std::vector<std::int64_t> extents{1, 2, 3, 7, 16, 33, 100, 1023, 5000};
  for (const std::int64_t itemsize : {1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 1000, 1023, 1024, 40000}) {
    for (const std::int64_t rows : extents) {
      for (const std::int64_t columns : extents) {
        const Plan plan =
            make_plan(contiguous_request({rows, 3, columns}, {2, 1, 0}, itemsize), kSmallCache, 1);
        const Parameters& chosen = plan.parameters;
        if (chosen.kernel == Kernel::copy) continue;
        EXPECT_LE(chosen.block_in, plan.nest.in_mode.extent);
        EXPECT_LE(chosen.block_out, plan.nest.out_mode.extent);
        if (is_staged(chosen, plan.nest.element_bytes)) {
          EXPECT_LE(chosen.block_in * staging_pitch(chosen.block_out * plan.nest.element_bytes),
                    kStagingBytes);
        }
      }
    }
  }
}

TEST(MakePlan, CanBeBuiltAgainFromItsParameters) {
  test::Random random(6);
  for (int i = 0; i < 300; ++i) {
    const Request request = test::random_request(random);
    const Plan plan = make_plan(request, Machine{.last_level_cache_bytes = 64}, 4);
    EXPECT_EQ(build_plan(request, plan.parameters), plan);
  }
}

}  // namespace
}  // namespace ttlg
