#include "plan/cpu/planner.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "plan/cpu/inplace/plan.hpp"
#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/random_plans.hpp"
#include "plan/cpu/search_space.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;

Machine with_cached_bytes(std::int64_t bytes) {
  Machine machine;
  machine.model.cached_bytes = bytes;
  return machine;
}

const Machine kSmallCache = with_cached_bytes(0);
const Machine kNoShuffle{.has_shuffle = false};

Kernel chosen(const Request& request) { return make_plan(request, Machine{}, 1).parameters.kernel; }

TEST(Planner, CopiesWhatFusesIntoOneRun) {
  EXPECT_EQ(chosen(contiguous_request({3, 4, 5}, {0, 1, 2}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({3, 1, 5}, {1, 0, 2}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({}, {}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({3, 0}, {1, 0}, 4)), Kernel::copy);
  EXPECT_EQ(chosen(contiguous_request({3, 4}, {1, 0}, 0)), Kernel::copy);
}

TEST(Planner, TilesDifferentFastestModesOfVectorWidths) {
  for (const std::int64_t itemsize : {4, 8, 16}) {
    EXPECT_EQ(chosen(contiguous_request({1000, 2000}, {1, 0}, itemsize)), Kernel::tile) << itemsize;
  }
  EXPECT_EQ(chosen(contiguous_request({1000, 2000, 4}, {1, 0, 2}, 2)), Kernel::tile)
      << "a folded run";
}

TEST(Planner, KnowsTheNeighborsOfItsCandidates) {
  const Request request = contiguous_request({40, 1000, 30, 50}, {3, 1, 0, 2}, 4);
  const Problem folded = fold_run(make_problem(request));
  for (const Candidate& each : candidates(request, Machine{}, 2)) {
    const std::vector<Parameters> near = neighbors_of(folded, each.parameters);
    EXPECT_GE(near.size(), 4U);
    for (const Parameters& other : near) {
      EXPECT_NE(other, each.parameters);
      EXPECT_EQ(other.kernel, each.parameters.kernel);
      EXPECT_EQ(other.staged, each.parameters.staged);
      EXPECT_EQ(other.streaming, each.parameters.streaming);
      const bool same_prefetch = other.prefetch == each.parameters.prefetch;
      if (other.block == each.parameters.block) {
        EXPECT_NE(same_prefetch, other.loop_order == each.parameters.loop_order);
      } else {
        EXPECT_TRUE(same_prefetch);
      }
      EXPECT_NO_THROW(build_plan(request, other));
    }
  }
}

TEST(Planner, ShufflesWhatFillsNoVectorAlongOneMode) {
  for (const std::int64_t columns : {2, 3}) {
    EXPECT_EQ(chosen(contiguous_request({100000, columns}, {1, 0}, 1)), Kernel::shuffle) << columns;
    EXPECT_EQ(chosen(contiguous_request({columns, 100000}, {1, 0}, 1)), Kernel::shuffle) << columns;
  }
  EXPECT_EQ(chosen(contiguous_request({1000, 5}, {1, 0}, 3)), Kernel::strided_copy) << "odd widths";
  EXPECT_NE(make_plan(contiguous_request({100000, 3}, {1, 0}, 1), kNoShuffle, 1).parameters.kernel,
            Kernel::shuffle)
      << "without the instruction";
  const Request same_fastest = contiguous_request({3, 4, 5}, {1, 0, 2}, 1);
  EXPECT_EQ(chosen(same_fastest), Kernel::strided_copy);
  const Request permuted_bits = contiguous_request({2, 2, 2, 2, 2}, {3, 2, 1, 0, 4}, 1);
  EXPECT_EQ(chosen(permuted_bits), Kernel::shuffle);
  EXPECT_NE(make_plan(permuted_bits, kNoShuffle, 1).parameters.kernel, Kernel::shuffle)
      << "nor where the tile kernel is out of the question";
}

TEST(Planner, RunsTheRest) {
  for (const std::int64_t itemsize : {24, 32, 100}) {
    EXPECT_EQ(chosen(contiguous_request({30, 40}, {1, 0}, itemsize)), Kernel::strided_copy)
        << itemsize;
  }
  EXPECT_EQ(chosen(contiguous_request({30, 40, 100}, {1, 0, 2}, 4)), Kernel::strided_copy)
      << "long runs";
  Request strided = contiguous_request({30, 40}, {1, 0}, 4);
  strided.in_byte_strides = {1600, 40};
  EXPECT_EQ(chosen(strided), Kernel::strided_copy) << "no unit stride on the input's side";
  Request reversed = contiguous_request({30, 40}, {1, 0}, 4);
  reversed.in_byte_strides[1] = -4;
  EXPECT_EQ(chosen(reversed), Kernel::tile) << "written backwards instead";
}

// Whatever the model says, the kernel can carry the problem out on the machine.
TEST(Planner, TakesOnlyKernelsThatApply) {
  test::for_random_requests(5, 600, [&](const Request& request, int) {
    for (const Machine& machine : {Machine{}, kNoShuffle}) {
      const Kernel kernel = make_plan(request, machine, 1).parameters.kernel;
      EXPECT_TRUE(applies(kernel, fold_run(make_problem(request))));
      EXPECT_TRUE(machine.has_shuffle || kernel != Kernel::shuffle);
    }
  });
}

// Forcing the kernel that is the fastest anyway changes nothing.
TEST(Planner, PlansLikeAForcedKernel) {
  test::for_random_requests(15, 300, [&](const Request& request, int) {
    const Plan plan = make_plan(request, kSmallCache, 3);
    EXPECT_EQ(make_plan(request, kSmallCache, 3, plan.parameters.kernel), plan);
  });
}

TEST(Planner, SaysWhyAKernelDoesNotApply) {
  const auto obstacles = [](const Request& request, const Machine& machine) {
    std::vector<std::string> found;
    for (const KernelReport& each : kernel_reports(request, machine, 1)) {
      found.push_back(each.obstacle);
    }
    return found;
  };
  const std::string modes = "2 modes are left besides what is contiguous on both sides";
  EXPECT_EQ(obstacles(contiguous_request({1000, 6}, {1, 0}, 4), kNoShuffle),
            (std::vector<std::string>{modes, "",
                                      "no instruction that permutes the bytes of a vector", ""}));
  const std::string five = "elements (runs included) of 5 bytes";
  EXPECT_EQ(obstacles(contiguous_request({30, 40}, {1, 0}, 5), Machine{}),
            (std::vector<std::string>{modes, five, five, ""}));
  test::for_random_requests(25, 300, [&](const Request& request, int) {
    const Problem folded = fold_run(make_problem(request));
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(obstacle(kernel, folded).empty(), applies(kernel, folded));
    }
  });
}

// The reports name the same best plan as the planner.
TEST(Planner, TakesTheKernelOfTheLeastPredictedTime) {
  test::for_random_requests(27, 300, [&](const Request& request, int) {
    const Plan plan = make_plan(request, kSmallCache, 2);
    for (const KernelReport& each : kernel_reports(request, kSmallCache, 2)) {
      if (!each.obstacle.empty()) continue;
      EXPECT_GE(each.seconds, plan.warm_seconds);
      if (each.kernel == plan.parameters.kernel) {
        EXPECT_EQ(each.seconds, plan.warm_seconds);
      }
    }
  });
}

TEST(Candidates, TheFirstIsThePlannersChoice) {
  test::for_random_requests(26, 400, [&](const Request& request, int i) {
    Machine machine = with_cached_bytes(i % 3 == 0 ? 0 : 1 << 20);
    machine.has_shuffle = i % 5 != 0;
    const std::vector<Candidate> found = candidates(request, machine, 3);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(make_plan(request, machine, 3).parameters, found.front().parameters);
    for (std::size_t c = 0; c < found.size(); ++c) {
      EXPECT_GE(found[c].seconds, found[c == 0 ? 0 : c - 1].seconds);
      EXPECT_EQ(build_plan(request, found[c].parameters).parameters, found[c].parameters);
      for (std::size_t d = 0; d < c; ++d) EXPECT_NE(found[d].parameters, found[c].parameters);
    }
  });
}

// Shapes of blocks that are cut to the same block lie between the first one and the best.
TEST(Candidates, AreFoundBehindShapesOfTheSameBlock) {
  for (const std::int64_t side : {8, 16, 24}) {
    for (const std::int64_t element_bytes : {1, 4, 8}) {
      const Request request = contiguous_request({side, side, side}, {0, 2, 1}, element_bytes);
      const double best = candidates(request, Machine{}, 1, CandidateSet::all).front().seconds;
      EXPECT_LE(make_plan(request, Machine{}, 1).warm_seconds, 1.05 * best)
          << side << " " << element_bytes;
    }
  }
}

TEST(Predict, GivesTheSecondsOfThePlan) {
  test::Random random(23);
  test::for_random_requests(random, 200, [&](const Request& request, int) {
    const int threads = static_cast<int>(test::pick(random, 1, 3));
    const Plan plan = make_plan(request, Machine{}, threads);
    EXPECT_EQ(predict(request, Machine{}, threads, false), plan.warm_seconds);
    EXPECT_EQ(predict(request, Machine{}, threads, true), plan.fresh_seconds);
  });
}

TEST(ForcedKernel, IsTakenOrRefusedWithWhatItNeeds) {
  const Request matrix = contiguous_request({30, 40}, {1, 0}, 4);
  for (const Kernel kernel : kKernels) {
    if (applies(kernel, fold_run(make_problem(matrix)))) {
      EXPECT_EQ(make_plan(matrix, Machine{}, 1, kernel).parameters.kernel, kernel);
      continue;
    }
    const std::string message = test::message_of([&] { make_plan(matrix, Machine{}, 1, kernel); });
    test::expect_contains(message, kernel_name(kernel));
    test::expect_contains(message, requirement(kernel));
    test::expect_contains(message, obstacle(kernel, fold_run(make_problem(matrix))));
  }
}

TEST(Planner, ConvertsElementsAsTheyLeaveABuffer) {
  for (Request& request : test::converting_requests()) {
    const bool is_copy = make_problem(request).modes.size() == 1;
    for (const KernelReport& report : kernel_reports(request, Machine{}, 1)) {
      EXPECT_EQ(report.obstacle.empty(), is_copy == (report.kernel == Kernel::copy));
    }
    const Plan plan = make_plan(request, Machine{}, 1);
    ASSERT_TRUE(plan.conversion);
    EXPECT_EQ(plan.conversion->map, request.map);
    EXPECT_EQ(plan.out_bytes_of(400), 100 * request.out_itemsize());
    for (const Candidate& candidate : candidates(request, Machine{}, 1)) {
      EXPECT_EQ(candidate.parameters.staged, !is_copy);
    }
    if (!is_copy) {
      Parameters straight = plan.parameters;
      straight.staged = false;
      test::expect_contains(test::message_of([&] { build_plan(request, straight); }), "staged");
    }
    request.out_byte_strides = {1, 77};
    test::expect_contains(test::message_of([&] { make_plan(request, Machine{}, 1); }), "steps");
  }
}

// Lines are read before what they have is added to, so that nothing can go around the caches.
TEST(Planner, StreamsNothingThatIsAddedTo) {
  for (Request& request : test::converting_requests()) {
    request.map.accumulates = true;
    for (const Candidate& candidate : candidates(request, Machine{}, 1)) {
      EXPECT_FALSE(candidate.parameters.streaming);
    }
    Parameters streaming = make_plan(request, Machine{}, 1).parameters;
    streaming.streaming = true;
    EXPECT_THROW(build_plan(request, streaming), std::invalid_argument);
  }
}

TEST(Planner, ConvertsNothingInPlace) {
  for (Request& request : test::converting_requests()) {
    const std::string obstacle_of_all = make_problem(request).conversion_obstacle();
    request.inplace = true;
    EXPECT_EQ(test::message_of([&] { make_inplace_plan(request, Machine{}, {}); }),
              obstacle_of_all);
    EXPECT_EQ(test::message_of([&] { build_inplace_plan(request, {}, Machine{}, 1, 0); }),
              obstacle_of_all);
  }
}

TEST(Planner, RefusesElementsOfTwoSizes) {
  Problem problem = make_problem(contiguous_request({30, 40}, {1, 0}, 4));
  problem.out_bytes = 2;
  for (const Kernel kernel : kKernels) EXPECT_FALSE(applies(kernel, problem));
  EXPECT_EQ(test::message_of([&] { best_candidate(problem, Machine{}, 1, std::nullopt); }),
            problem.conversion_obstacle());
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

TEST(Streaming, OnlyBeyondTheCaches) {
  const auto streams = [](const Request& request, std::int64_t cache) {
    return make_plan(request, with_cached_bytes(cache), 1).parameters.streaming;
  };
  EXPECT_FALSE(streams(contiguous_request({32, 32, 32}, {2, 1, 0}, 4), 64 << 20));
  EXPECT_TRUE(streams(contiguous_request({256, 256, 256}, {2, 1, 0}, 4), 0));
}

// An output that is larger than the caches is not read before it is written.
TEST(Streaming, WholeRowsOfLargeArrays) {
  const Machine small{.l2_cache_bytes = 512 << 10, .vector_bytes = 32};
  for (const Machine& machine : {Machine{}, small}) {
    for (const int threads : {1, 2}) {
      for (const std::int64_t row : {256, 500, 512, 1000, 1024, 2048, 2100, 4096, 6000, 8192}) {
        const std::int64_t rows = (std::int64_t{96} << 20) / row;
        for (const auto& [shape, axes] :
             std::vector<std::pair<std::vector<std::int64_t>, std::vector<int>>>{
                 {{25, rows / 25, row}, {1, 0, 2}},
                 {{rows / 300, 300, row}, {1, 0, 2}},
                 {{20, rows / 600, 30, row}, {2, 0, 1, 3}},
                 {{7, rows / 490, 10, 7, row}, {3, 1, 0, 2, 4}}}) {
          for (const std::int64_t alignment : {1, 64}) {
            Request request = contiguous_request(shape, axes, 1);
            request.out_alignment = alignment;
            EXPECT_TRUE(make_plan(request, machine, threads).parameters.streaming)
                << row << " bytes, rank " << shape.size() << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

TEST(Streaming, NotIntoStridedRows) {
  Request request = contiguous_request({512, 512}, {1, 0}, 4);
  request.out_byte_strides = {512 * 8, 8};
  EXPECT_FALSE(make_plan(request, kSmallCache, 1).parameters.streaming);
}

// With vectors of whole lines they need no buffer.
TEST(Streaming, CarriesRowsThatBeginAnywhereInTheirLines) {
  for (const auto& [rows, columns] : {std::pair{2833, 3210}, {4099, 4001}, {1588, 8275}}) {
    Request request = contiguous_request({rows, columns}, {1, 0}, 8);
    request.out_alignment = 16;
    const Parameters chosen = make_plan(request, Machine{}, 1).parameters;
    EXPECT_EQ(chosen.kernel, Kernel::tile) << rows;
    EXPECT_TRUE(chosen.streaming) << rows;
    EXPECT_FALSE(chosen.staged) << rows;
  }
}

TEST(Planner, ExpectsOutputsThatBeginAtLinesToBeFasterWhereRowsDoNotReachThem) {
  int faster = 0;
  for (const auto& [shape, axes] :
       std::vector<std::pair<std::vector<std::int64_t>, std::vector<int>>>{
           {{32, 256, 56, 56}, {0, 2, 3, 1}}, {{4096, 4096}, {1, 0}}, {{64, 64, 64}, {2, 1, 0}}}) {
    Request request = contiguous_request(shape, axes, 4);
    // The same way to carry it out, as the search for one may end at another.
    const Parameters parameters = make_plan(request, Machine{}, 1).parameters;
    const auto seconds = [&] {
      const Problem folded = fold_run(make_problem(request));
      return predicted_seconds(count_terms(folded, parameters, Machine{}, false), Machine{}.model);
    };
    const double unknown = seconds();
    request.out_alignment = 64;
    const double at_lines = seconds();
    EXPECT_LE(at_lines, unknown);
    faster += at_lines < unknown;
  }
  EXPECT_GT(faster, 0);
}

// A view of every other column, of a field of structures, of what is stored backwards: one element
// of a line is never read alone.
TEST(Blocks, TakeWholeLinesOfAnInputWithGaps) {
  for (const std::int64_t step : {8, 12, 24, -4, -8}) {
    Request request = contiguous_request({2000, 3000}, {1, 0}, 4);
    request.in_byte_strides = {3000 * std::abs(step), step};
    const Plan plan = make_plan(request, kSmallCache, 1);
    ASSERT_EQ(plan.parameters.block.size(), 2) << step;
    EXPECT_GE(plan.parameters.block.front() * std::abs(step), kLineBytes) << step;
  }
}

// Every shape of block there is: long and short modes on either side, all widths.
TEST(Blocks, FitTheStagingBufferAndTheProblem) {
  const std::vector<std::int64_t> extents{1, 2, 3, 7, 16, 33, 100, 300, 500, 1023, 2000, 5000};
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
        if (!plan.parameters.staged) continue;
        EXPECT_LE(plan.block.staging_bytes, kStagingBytes);
        EXPECT_GE(plan.block.run_bytes, 2 * kLineBytes);
        ++staged;
      }
    }
  }
  EXPECT_GT(staged, 100) << "too few cases were staged to say anything";
}

TEST(MakePlan, CanBeBuiltAgainFromItsParameters) {
  test::for_random_requests(6, 600, [&](const Request& request, int i) {
    const Plan plan = make_plan(request, with_cached_bytes(i % 4 < 2 ? 0 : 1 << 20), 4);
    EXPECT_EQ(build_plan(request, plan.parameters), plan);
  });
}

// One moves 20 KB a microsecond; over 3, the rest was measured beside other work.
TEST(Planner, TakesThreadsWhosePartLastsTwiceAsLongAsTheyTakeToBegin) {
  const auto min_bytes_of_two = [](double start_seconds) {
    Machine machine;
    machine.thread_start_seconds = start_seconds;
    std::int64_t side = 100;
    while (make_plan(contiguous_request({side, side}, {1, 0}, 4), machine, 2).parameters.threads ==
           1) {
      ++side;
    }
    return side * side * 4;
  };
  EXPECT_EQ(min_bytes_of_two(0), min_bytes_of_two(2e-6));  // the least that is worth a thread
  EXPECT_NEAR(static_cast<double>(min_bytes_of_two(2.6e-6)), 2 * 2 * 2.6 * 20'000, 3000);
  EXPECT_NEAR(static_cast<double>(min_bytes_of_two(3e-6)), 2 * 2 * 3 * 20'000, 3000);
  EXPECT_EQ(min_bytes_of_two(3e-6), min_bytes_of_two(1e-3));
}

}  // namespace
}  // namespace ttlg::cpu
