#include "plan/cpu/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plan/cpu/cascade.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;

const Machine kSmallCache{.last_level_cache_bytes = 1 << 20};
const Machine kNoShuffle{.has_shuffle = false};

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
    EXPECT_EQ(chosen(contiguous_request({64, 80}, {1, 0}, itemsize)), Kernel::tile);
  }
  EXPECT_EQ(chosen(contiguous_request({30, 40, 4}, {1, 0, 2}, 4)), Kernel::tile) << "a folded run";
}

TEST(Cascade, ShufflesWhatFillsNoVectorAlongOneMode) {
  for (const std::int64_t columns : {2, 3, 5}) {
    EXPECT_EQ(chosen(contiguous_request({1000, columns}, {1, 0}, 1)), Kernel::shuffle) << columns;
    EXPECT_EQ(chosen(contiguous_request({columns, 1000}, {1, 0}, 1)), Kernel::shuffle) << columns;
  }
  EXPECT_EQ(chosen(contiguous_request({1000, 5}, {1, 0}, 3)), Kernel::strided_copy) << "odd widths";
  EXPECT_EQ(make_plan(contiguous_request({1000, 3}, {1, 0}, 1), kNoShuffle, 1).parameters.kernel,
            Kernel::strided_copy)
      << "without the instruction";
  const Request same_fastest = contiguous_request({3, 4, 5}, {1, 0, 2}, 1);
  EXPECT_EQ(chosen(same_fastest), Kernel::strided_copy);
  const Request permuted_bits = contiguous_request({2, 2, 2, 2, 2}, {3, 2, 1, 0, 4}, 1);
  EXPECT_EQ(chosen(permuted_bits), Kernel::shuffle);
  EXPECT_EQ(make_plan(permuted_bits, kNoShuffle, 1).parameters.kernel, Kernel::strided_copy)
      << "nor where the tile kernel is out of the question";
}

TEST(Cascade, RunsTheRest) {
  for (const std::int64_t itemsize : {24, 32, 100}) {
    EXPECT_EQ(chosen(contiguous_request({30, 40}, {1, 0}, itemsize)), Kernel::strided_copy)
        << itemsize;
  }
  EXPECT_EQ(chosen(contiguous_request({30, 40, 100}, {1, 0, 2}, 4)), Kernel::strided_copy)
      << "long runs";
  Request strided = contiguous_request({30, 40}, {1, 0}, 4);
  strided.in_byte_strides = {400, 8};
  EXPECT_EQ(chosen(strided), Kernel::strided_copy) << "no unit stride on the input's side";
  Request reversed = contiguous_request({30, 40}, {1, 0}, 4);
  reversed.in_byte_strides[1] = -4;
  EXPECT_EQ(chosen(reversed), Kernel::strided_copy) << "walked backwards";
}

TEST(Cascade, TilesShortSidesThatNoShuffleServes) {
  const auto chosen_without = [](std::int64_t columns) {
    return make_plan(contiguous_request({1000, columns}, {1, 0}, 2), kNoShuffle, 1)
        .parameters.kernel;
  };
  EXPECT_EQ(chosen_without(32), Kernel::tile) << "64 bytes";
  EXPECT_EQ(chosen_without(8), Kernel::tile) << "16 bytes, where there is nothing better";
  EXPECT_EQ(chosen_without(7), Kernel::strided_copy) << "14 bytes";
  const auto chosen_with = [](std::int64_t columns) {
    return chosen(contiguous_request({1000, columns}, {1, 0}, 2));
  };
  EXPECT_EQ(chosen_with(32), Kernel::tile) << "64 bytes";
  EXPECT_EQ(chosen_with(31), Kernel::shuffle) << "62 bytes";
  EXPECT_EQ(chosen_with(24), Kernel::tile) << "48 bytes";
  EXPECT_EQ(chosen_with(23), Kernel::shuffle) << "46 bytes";
  EXPECT_EQ(chosen_with(16), Kernel::tile) << "32 bytes";
  EXPECT_EQ(chosen_with(8), Kernel::shuffle) << "16 bytes";
}

// The plan is that of the first rule that applies, whose kernel can carry it out; the last rule
// always applies.
TEST(Cascade, TakesTheFirstRuleThatApplies) {
  test::Random random(5);
  for (int i = 0; i < 600; ++i) {
    const Request request =
        i % 2 == 0 ? test::random_request(random) : test::many_modes_request(random);
    for (const Machine& machine : {Machine{}, kNoShuffle}) {
      PlanningContext context(request, machine, 1);
      const auto first =
          std::ranges::find_if(cascade(), [&](const Rule& rule) { return rule.applies(context); });
      ASSERT_NE(first, cascade().end());
      EXPECT_EQ(make_plan(request, machine, 1).parameters.kernel, first->kernel);
      EXPECT_TRUE(can_carry_out(first->kernel, context.folded()));
      EXPECT_TRUE(machine.has_shuffle || first->kernel != Kernel::shuffle);
      EXPECT_TRUE(cascade().back().applies(context));
    }
  }
}

// Forcing the kernel that the cascade picks changes nothing, so asking the rules leaves no trace.
TEST(Cascade, PlansLikeAForcedKernel) {
  test::Random random(15);
  for (int i = 0; i < 300; ++i) {
    const Request request =
        i % 2 == 0 ? test::random_request(random) : test::many_modes_request(random);
    const Plan plan = make_plan(request, kSmallCache, 3);
    EXPECT_EQ(make_plan(request, kSmallCache, 3, plan.parameters.kernel), plan);
  }
}

// A rule that does not apply says why, and of what it says nothing holds where it applies.
TEST(Cascade, SaysWhyARuleDoesNotApply) {
  const auto obstacles = [](const Request& request, const Machine& machine) {
    PlanningContext context(request, machine, 1);
    std::vector<std::string> found;
    for (const Rule& rule : cascade()) {
      found.push_back(rule.applies(context) ? "" : rule.obstacle(context));
    }
    return found;
  };
  EXPECT_EQ(obstacles(contiguous_request({1000, 6}, {1, 0}, 4), kNoShuffle),
            (std::vector<std::string>{
                "2 modes are left besides what is contiguous on both sides",
                "the shorter side of its blocks has 24 bytes, not 64 or more, 48 or 32",
                "no instruction that permutes the bytes of a vector", "", "", ""}));
  const std::string five = "elements (runs included) of 5 bytes";
  EXPECT_EQ(obstacles(contiguous_request({30, 40}, {1, 0}, 5), Machine{}),
            (std::vector<std::string>{"2 modes are left besides what is contiguous on both sides",
                                      five, five, five, "", ""}));
  test::Random random(25);
  for (int i = 0; i < 300; ++i) {
    const Request request =
        i % 2 == 0 ? test::random_request(random) : test::many_modes_request(random);
    const Problem folded = fold_run(make_problem(request));
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(obstacle(kernel, folded).empty(), can_carry_out(kernel, folded));
    }
    const Machine machine = i % 4 < 2 ? kNoShuffle : Machine{};
    PlanningContext context(request, machine, 1);
    for (const Rule& rule : cascade()) {
      EXPECT_TRUE(rule.applies(context) || !rule.obstacle(context).empty());
    }
  }
}

// Kernel by kernel, each the cheapest first, so that the first is what the planner takes, forced or
// not.
TEST(Candidates, ComeInTheOrderOfThePlanner) {
  test::Random random(26);
  for (int i = 0; i < 400; ++i) {
    const Request request =
        i % 2 == 0 ? test::random_request(random) : test::many_modes_request(random);
    const Machine machine{.last_level_cache_bytes = i % 3 == 0 ? 64 : 1 << 20,
                          .has_shuffle = i % 5 != 0};
    const std::vector<Candidate> found = candidates(request, machine, 3);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(make_plan(request, machine, 3).parameters, found.front().parameters);
    for (std::size_t c = 0; c < found.size(); ++c) {
      const Kernel kernel = found[c].parameters.kernel;
      if (c > 0 && kernel == found[c - 1].parameters.kernel) {
        EXPECT_GE(found[c].cost, found[c - 1].cost);
        continue;
      }
      EXPECT_EQ(make_plan(request, machine, 3, kernel).parameters, found[c].parameters);
      for (std::size_t d = 0; d < c; ++d) EXPECT_NE(found[d].parameters.kernel, kernel);
    }
  }
}

TEST(ForcedKernel, IsTakenOrRefusedWithWhatItNeeds) {
  const Request matrix = contiguous_request({30, 40}, {1, 0}, 4);
  for (const Kernel kernel : kKernels) {
    if (can_carry_out(kernel, fold_run(make_problem(matrix)))) {
      EXPECT_EQ(make_plan(matrix, Machine{}, 1, kernel).parameters.kernel, kernel);
      continue;
    }
    try {
      make_plan(matrix, Machine{}, 1, kernel);
      FAIL() << kernel_name(kernel);
    } catch (const std::invalid_argument& error) {
      const std::string_view message = error.what();
      EXPECT_NE(message.find(kernel_name(kernel)), message.npos) << message;
      EXPECT_NE(message.find(requirement(kernel)), message.npos) << message;
      EXPECT_NE(message.find(obstacle(kernel, fold_run(make_problem(matrix)))), message.npos);
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
      EXPECT_FALSE(streams(request, 4 * bytes));
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
  int staged = 0;
  for (const std::int64_t itemsize : {1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 1000, 1023, 1024, 40000}) {
    for (const std::int64_t rows : extents) {
      for (const std::int64_t columns : extents) {
        const Request request = contiguous_request({rows, 3, columns}, {2, 1, 0}, itemsize);
        const Plan plan = make_plan(request, kSmallCache, 1);
        if (plan.parameters.kernel == Kernel::copy) continue;
        const Problem folded = fold_run(plan.problem);
        ASSERT_EQ(plan.parameters.block.size(), folded.modes.size());
        for (std::size_t m = 0; m < folded.modes.size(); ++m) {
          EXPECT_GE(plan.parameters.block[m], 1);
          EXPECT_LE(plan.parameters.block[m], folded.modes[m].extent);
        }
        if (!plan.is_staged()) continue;
        EXPECT_LE(plan.block.stage_bytes, kStagingBytes);
        EXPECT_GE(plan.block.run_bytes, 2 * kLineBytes);
        ++staged;
      }
    }
  }
  EXPECT_GT(staged, 100) << "too few cases were staged to say anything";
}

TEST(MakePlan, CanBeBuiltAgainFromItsParameters) {
  test::Random random(6);
  for (int i = 0; i < 600; ++i) {
    const Request request =
        i % 2 == 0 ? test::random_request(random) : test::many_modes_request(random);
    const Plan plan = make_plan(request, {.last_level_cache_bytes = i % 4 < 2 ? 64 : 1 << 20}, 4);
    EXPECT_EQ(build_plan(request, plan.parameters), plan);
  }
}

}  // namespace
}  // namespace ttlg::cpu
