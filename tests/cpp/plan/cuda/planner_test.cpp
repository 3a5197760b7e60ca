#include "plan/cuda/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::cuda {
namespace {

using test::analytic_model;
using test::k40c_model;
using test::paper_problem;
using test::paper_request;
using test::slice_extents;
using test::unfused_problem;

using enum Schema;

TEST(MakeCudaPlan, LetsPredictedTimeDecideShortMatchingRuns) {
  const DeviceModel model = analytic_model();
  std::set<Schema> chosen;
  for (const auto& [extents, itemsize] : {std::pair(std::vector<std::int64_t>{3, 9, 1000, 1000}, 4),
                                          std::pair(std::vector<std::int64_t>{3, 9, 9, 1000}, 8)}) {
    const cuda::Plan plan =
        test::planned(paper_request(extents, {0, 2, 1, 3}, itemsize), 16, model);
    EXPECT_EQ(classify(plan.recast).name, "same FVI, short");
    chosen.insert(plan.parameters.schema);
  }
  EXPECT_EQ(chosen, (std::set{fvi_match_small, orthogonal_arbitrary}));
}

// TTLG, Fig. 5: the best slice, fused (27 x 7 of 729) and as printed.
TEST(SliceSearch, FindsThePublishedSliceOfFigure5) {
  const std::vector<std::int64_t> extents(5, 27);
  const std::vector<int> perm{4, 1, 2, 0, 3};
  const Slice published{2, 1, 7, 27};
  const cuda::Plan plan =
      test::planned(paper_request(extents, perm, 8), 16, k40c_model(), orthogonal_distinct);
  EXPECT_EQ(plan.parameters.slice, published);
  for (const Problem& problem : {plan.recast, unfused_problem(extents, perm, 8)}) {
    std::vector<cuda::Candidate> found = cuda::candidates(problem, k40c_model());
    std::erase_if(found, [](const cuda::Candidate& candidate) {
      return candidate.parameters.schema != orthogonal_distinct ||
             candidate.parameters.coarsened_mode >= 0;
    });
    EXPECT_EQ(found.front().parameters.slice, published);
    EXPECT_NEAR(found.front().seconds, 1.766e-3, 0.003e-3);
  }
}

// Tiles as they are where they keep accesses wide, equal parts where the last would be a sliver.
TEST(SliceSearch, CutsByTilesAndInEqualParts) {
  std::set<std::int64_t> blocks;
  for (const cuda::Candidate& candidate :
       cuda::candidates(paper_problem({270, 64}, {1, 0}, 4), analytic_model())) {
    if (candidate.parameters.schema == orthogonal_distinct) {
      blocks.insert(candidate.parameters.slice.in_block);
    }
  }
  EXPECT_EQ(blocks, (std::set<std::int64_t>{56, 64, 96, 128, 136, 192, 256, 270}));
}

TEST(SliceSearch, NamesASliceByTheModesThatItCuts) {
  const std::vector<Problem> problems{unfused_problem({8, 2, 8, 8}, {2, 1, 3, 0}, 4),
                                      unfused_problem({15, 15, 100}, {1, 0, 2}, 4),
                                      unfused_problem({40, 40, 40}, {0, 2, 1}, 2)};
  for (const Problem& problem : problems) {
    for (const cuda::Candidate& candidate : cuda::candidates(problem, analytic_model())) {
      if (candidate.parameters.schema != orthogonal_arbitrary) continue;
      const Slice& slice = candidate.parameters.slice;
      const std::vector<std::int64_t> extents = slice_extents({problem, candidate.parameters});
      const int out = problem.perm[static_cast<std::size_t>(slice.out_modes - 1)];
      EXPECT_EQ(extents[static_cast<std::size_t>(slice.in_modes - 1)], slice.in_block);
      EXPECT_EQ(extents[static_cast<std::size_t>(out)], slice.out_block);
    }
  }
}

TEST(SliceSearch, StaysWithinSharedMemory) {
  for (const std::int64_t itemsize : kWidths) {
    const Problem problem = unfused_problem({31, 64, 64}, {0, 2, 1}, itemsize);
    for (const cuda::Candidate& candidate : cuda::candidates(problem, analytic_model())) {
      EXPECT_EQ(obstacle(problem, candidate.parameters), "") << itemsize;
    }
  }
}

// A second buffer helps blocks that have several tiles to move.
TEST(Candidates, HaveASecondBufferWhereBlocksHaveSeveralTiles) {
  const DeviceModel model = analytic_model();
  const auto stages = [&](std::int64_t extent, std::int64_t itemsize) {
    std::set<int> found;
    for (const cuda::Candidate& candidate :
         cuda::candidates(paper_problem({extent, extent}, {1, 0}, itemsize), model)) {
      if (candidate.parameters.schema == orthogonal_distinct) {
        found.insert(candidate.parameters.stages);
      }
    }
    return found;
  };
  EXPECT_EQ(stages(512, 4), std::set<int>{1});
  EXPECT_EQ(stages(8192, 4), (std::set<int>{1, 2}));
  EXPECT_EQ(stages(8192, 1), (std::set<int>{1, 2}));
  EXPECT_EQ(stages(8191, 1), (std::set<int>{1, 2})) << "bytes that begin anywhere";
  const Request request = paper_request({8192, 8192}, {1, 0}, 4);
  EXPECT_EQ(test::planned(request, 256, model).parameters.stages, 2);
}

// The fastest slices come again with a second buffer and with a coarsened mode, those for which
// there are more blocks than multiprocessors.
TEST(Candidates, OfTheFastestSlicesHaveVariants) {
  const auto variants = [](const Problem& problem) {
    std::map<std::pair<int, bool>, int> counts;  // by stages, and whether coarsened
    for (const cuda::Candidate& candidate : cuda::candidates(problem, analytic_model())) {
      const cuda::Parameters& parameters = candidate.parameters;
      if (parameters.schema != orthogonal_arbitrary) continue;
      ++counts[{parameters.stages, parameters.coarsened_mode >= 0}];
    }
    return counts;
  };
  for (const std::int64_t itemsize : {8, 2, 1}) {
    auto counts = variants(paper_problem({27, 27, 27, 27, 27}, {4, 1, 2, 0, 3}, itemsize));
    EXPECT_GT((counts[{1, false}]), 4) << itemsize;
    EXPECT_EQ((counts[{2, false}]), 4) << itemsize;
    EXPECT_EQ((counts[{1, true}]), 4) << itemsize;
    EXPECT_EQ((counts[{2, true}]), 4) << itemsize;
    counts = variants(paper_problem({27, 27, 27}, {2, 1, 0}, itemsize));
    EXPECT_GT((counts[{1, false}]), 4) << itemsize;
    EXPECT_EQ(counts.size(), 1U) << "too few blocks";
  }
}

// The slices of all resident blocks make a square, unless there are fewer along a side.
TEST(Candidates, OfOrthogonalDistinctTakeASquareOfSlicesAtOnce) {
  const auto width = [](std::int64_t columns, int multiprocessors) {
    DeviceModel model = analytic_model();
    model.multiprocessors = multiprocessors;
    std::int64_t found = -1;
    for (const cuda::Candidate& each :
         cuda::candidates(paper_problem({columns, 8192}, {1, 0}, 4), model)) {
      if (each.parameters.schema == orthogonal_arbitrary) {
        EXPECT_EQ(each.parameters.band_width, 0);
      }
      if (each.parameters == cuda::Parameters{.schema = orthogonal_distinct,
                                              .slice = {1, 1, 64, 64},
                                              .band_width = each.parameters.band_width}) {
        found = each.parameters.band_width;
      }
    }
    return found;
  };
  EXPECT_EQ(width(8192, 132), 22) << "of 4 * 132 blocks";
  EXPECT_EQ(width(8192, 4), 4);
  EXPECT_EQ(width(128, 132), 2);
}

// Even runs that begin within words, which are copied ahead like others.
TEST(MakeCudaPlan, TakesTwoBuffersForOddRunsOfNarrowElements) {
  const DeviceModel model = analytic_model();
  for (const std::int64_t itemsize : {2, 1}) {
    const Request request = paper_request({27, 27, 27, 27, 27}, {4, 1, 2, 0, 3}, itemsize);
    const cuda::Plan plan = test::planned(request, 16, model, orthogonal_arbitrary);
    EXPECT_EQ(planned_access(plan.sliced()), VectorAccess{}) << itemsize;
    EXPECT_EQ(plan.parameters.stages, 2) << itemsize;
  }
}

TEST(Candidates, FitAndDiffer) {
  const DeviceModel model = analytic_model();
  std::map<Schema, int> seen;
  test::for_random_requests(11, 400, [&](const Request& request, int i) {
    const Problem problem = recast_problem(make_problem(request), std::int64_t{1} << (i % 5));
    const std::vector<cuda::Candidate> found = cuda::candidates(problem, model);
    ASSERT_FALSE(found.empty());
    for (std::size_t c = 0; c < found.size(); ++c) {
      EXPECT_EQ(obstacle(problem, found[c].parameters), "");
      EXPECT_GT(found[c].seconds, 0);
      for (std::size_t d = 0; d < c; ++d) {
        EXPECT_FALSE(found[c].parameters == found[d].parameters);
      }
      ++seen[found[c].parameters.schema];
    }
  });
  for (const Schema schema : kSchemas) EXPECT_GT(seen[schema], 0) << schema_name(schema);
}

// First those of the schemas that the taxonomy names, then the others, the fastest first; where
// even the fastest named one is slow, all as one.
TEST(Candidates, ComeInTheOrderOfThePlanner) {
  bool is_split = false;
  bool is_merged = false;
  test::for_random_requests(13, 400, [&](const Request& request, int i) {
    DeviceModel model = i % 3 == 0 ? k40c_model() : analytic_model();
    if (i % 5 == 0) model.l2_cache_bytes = 0;  // so that small problems may be slow
    const cuda::Plan plan = test::planned(request, 16, model);
    const std::vector<cuda::Candidate> found = cuda::candidates(plan.recast, model);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().parameters, plan.parameters);
    const std::vector<Schema>& named = classify(plan.recast).schemas;
    const auto is_named = [&](const cuda::Candidate& each) {
      return std::ranges::find(named, each.parameters.schema) != named.end();
    };
    const auto rest = std::ranges::find_if_not(found, is_named);
    const bool is_sorted = std::ranges::is_sorted(found, {}, &cuda::Candidate::seconds);
    const bool is_named_first =
        std::none_of(rest, found.end(), is_named) &&
        std::ranges::is_sorted(found.begin(), rest, {}, &cuda::Candidate::seconds) &&
        std::ranges::is_sorted(rest, found.end(), {}, &cuda::Candidate::seconds);
    EXPECT_TRUE(is_sorted || is_named_first);
    is_split = is_split || !is_sorted;
    is_merged = is_merged || !is_named_first;
  });
  EXPECT_TRUE(is_split);
  EXPECT_TRUE(is_merged);
}

TEST(MakeCudaPlan, TakesTheFastestOfItsSchemasUnlessTheyAreSlow) {
  int others = 0;
  test::for_random_requests(12, 300, [&](const Request& request, int i) {
    const DeviceModel model = i % 3 == 0 ? k40c_model() : analytic_model();
    const cuda::Plan plan = test::planned(request, 16, model);
    EXPECT_EQ(plan.model->name, model.name);
    const std::vector<Schema>& schemas = classify(plan.recast).schemas;
    const auto is_named = [&](Schema schema) {
      return std::ranges::find(schemas, schema) != schemas.end();
    };
    const std::vector<cuda::Candidate> found = cuda::candidates(plan.recast, model);
    EXPECT_EQ(found.front().seconds, plan.predicted_seconds);
    const double copy = 2 * as_double(plan.recast.bytes()) / model.memory_bytes_per_second;
    for (const cuda::Candidate& candidate : found) {
      if (!is_named(candidate.parameters.schema)) continue;
      EXPECT_LE(plan.predicted_seconds, candidate.seconds);
      if (is_named(plan.parameters.schema)) continue;
      EXPECT_GT(candidate.seconds, 2 * (model.launch_seconds + copy));
      ++others;
    }
    const cuda::Plan rebuilt = test::built(request, 16, plan.parameters, model);
    EXPECT_EQ(rebuilt, plan);
    EXPECT_EQ(rebuilt.layout, plan.layout);
    EXPECT_EQ(rebuilt.predicted_seconds, plan.predicted_seconds);
  });
  EXPECT_GT(others, 0);
}

// The slice that would be the fastest if no layout left it conflicts.
TEST(MakeCudaPlan, KnowsTheBankConflictsOfASlice) {
  const DeviceModel model = analytic_model();
  const std::vector<std::int64_t> extents(5, 20);
  const cuda::Plan plan = test::planned(paper_request(extents, {3, 0, 1, 2, 4}, 8), 16, model);
  ASSERT_EQ(plan.parameters.schema, orthogonal_arbitrary);
  EXPECT_EQ(plan.layout_cost.conflicts, 0);
  const auto seconds_without = [&](const cuda::Candidate& candidate) {
    return predict_seconds(model, {plan.recast, candidate.parameters});
  };
  std::vector<cuda::Candidate> found = cuda::candidates(plan.recast, model);
  EXPECT_EQ(found.front().parameters, plan.parameters);
  EXPECT_EQ(found.front().seconds, plan.predicted_seconds);
  std::erase_if(found, [](const cuda::Candidate& candidate) { return !candidate.layout; });
  const auto tempting = std::ranges::min_element(found, {}, seconds_without);
  EXPECT_GE(tempting->layout->cost.conflicts, 1);
  EXPECT_LT(seconds_without(*tempting), plan.predicted_seconds);
  EXPECT_GT(tempting->seconds, plan.predicted_seconds);
}

TEST(MakeCudaPlan, TakesAForcedSchemaOrSaysWhatItNeeds) {
  const std::vector<Request> requests{
      paper_request({10, 10}, {0, 1}, 4), paper_request({40, 40}, {1, 0}, 4),
      paper_request({15, 3, 4}, {0, 2, 1}, 4), paper_request({40, 3, 4}, {0, 2, 1}, 4)};
  int refused = 0;
  for (const Request& request : requests) {
    for (const Schema schema : kSchemas) {
      const Problem problem = recast_problem(make_problem(request), 16);
      if (applies(schema, problem)) {
        EXPECT_EQ(test::planned(request, 16, analytic_model(), schema).parameters.schema, schema);
        continue;
      }
      ++refused;
      const std::string message =
          test::message_of([&] { test::planned(request, 16, analytic_model(), schema); });
      test::expect_contains(message, schema_name(schema));
      test::expect_contains(message, requirement(schema));
    }
  }
  EXPECT_EQ(refused, 2 + 3 + 2 + 3);
}

TEST(MakeCudaPlan, RefusesToConvertElements) {
  const DeviceModel model = analytic_model();
  for (const Request& request : test::converting_requests()) {
    const Problem problem = make_problem(request);
    EXPECT_EQ(recast_problem(problem, 16), problem);
    for (const Schema schema : kSchemas) {
      const auto built = [&] { test::built(request, 16, {.schema = schema}, model); };
      const auto made = [&] { test::planned(request, 16, model, schema); };
      for (const std::string& message : {test::message_of(built), test::message_of(made)}) {
        test::expect_contains(message, schema_name(schema));
        test::expect_contains(message, problem.conversion_obstacle());
      }
    }
    EXPECT_EQ(test::message_of([&] { test::planned(request, 16, model); }),
              problem.conversion_obstacle());
    EXPECT_EQ(test::message_of([&] { candidates(problem, model); }), problem.conversion_obstacle());
  }
}

TEST(MakeCudaPlan, TakesHostileProblems) {
  const DeviceModel model = analytic_model();
  const std::int64_t huge = std::int64_t{1} << 40;
  std::vector<Request> requests{
      paper_request({huge / 4, 3}, {1, 0}, 4),       paper_request({3, huge}, {1, 0}, 1),
      paper_request({5, huge / 4, 3}, {0, 2, 1}, 1), paper_request({huge}, {0}, 8),
      test::contiguous_request({0, 5}, {1, 0}, 4),   test::contiguous_request({4, 5}, {1, 0}, 0)};
  Request gaps = test::contiguous_request({60, 50, 40}, {1, 2, 0}, 4);
  for (std::int64_t& stride : gaps.in_byte_strides) stride *= 3;
  requests.push_back(gaps);
  for (std::int64_t& stride : gaps.in_byte_strides) stride = 0;
  requests.push_back(gaps);
  for (const std::int64_t run : {3, 20, 50}) {  // every second element of matching runs
    Request halves = test::contiguous_request({40, 30, run}, {1, 0, 2}, 4);
    for (std::int64_t& stride : halves.in_byte_strides) stride *= 2;
    requests.push_back(halves);
  }
  Request backwards = test::contiguous_request({60, 50, 40}, {0, 2, 1}, 2);
  for (std::int64_t& stride : backwards.in_byte_strides) stride = -stride;
  requests.push_back(backwards);
  std::vector<int> perm(30);
  std::iota(perm.begin(), perm.end(), 0);
  std::ranges::reverse(perm);
  requests.push_back(paper_request(std::vector<std::int64_t>(30, 2), perm, 2));
  for (const Request& request : requests) {
    const cuda::Plan plan = test::planned(request, 1, model);
    EXPECT_EQ(obstacle(plan.recast, plan.parameters), "");
    EXPECT_GE(plan.predicted_seconds, model.launch_seconds);
  }
}

TEST(MakeCudaPlan, RefusesWhatNoGridHolds) {
  std::vector<int> perm(60);
  std::iota(perm.begin(), perm.end(), 0);
  std::ranges::reverse(perm);
  const Request request = paper_request(std::vector<std::int64_t>(60, 2), perm, 1);
  test::expect_contains(test::message_of([&] { test::planned(request, 16, analytic_model()); }),
                        "thread blocks");
}

}  // namespace
}  // namespace ttlg::cuda
