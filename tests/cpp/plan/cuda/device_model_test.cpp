#include "plan/cuda/device_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/features.hpp"
#include "plan/cuda/planner.hpp"

namespace ttlg::cuda {
namespace {

using test::analytic_model;
using test::k40c_model;
using test::paper_problem;
using test::unfused_problem;

using enum Schema;

constexpr cuda::Parameters kSquare{orthogonal_distinct, {1, 1, 32, 32}};

double fastest(const DeviceModel& model, const Problem& problem) {
  return std::ranges::min(cuda::candidates(problem, model), {}, &cuda::Candidate::seconds).seconds;
}

// The case of TTLG, Fig. 5: 1.768 ms by hand from Table II: 1.467 + 0.146 + 0.148 + 0.034 - 0.027.
TEST(FittedModel, IsTheScalarProductOfTableTwo) {
  const Problem problem = unfused_problem(std::vector<std::int64_t>(5, 27), {4, 1, 2, 0, 3}, 8);
  const cuda::Parameters parameters{orthogonal_distinct, {2, 1, 7, 27}};
  double expected = 0;
  const DeviceModel model = k40c_model();
  for (const auto& [name, value] : features_of({problem, parameters})) {
    expected += model.coefficients.at(orthogonal_distinct).at(std::string(name)) * value;
  }
  EXPECT_DOUBLE_EQ(predict_seconds(model, {problem, parameters}), expected);
  EXPECT_NEAR(expected, 1.768e-3, 0.001e-3);
}

TEST(FittedModel, IsNotBelievedBelowTheMemorysSpeed) {
  // Table II's negative coefficients alone would make this launch take less than nothing.
  const Problem problem = unfused_problem({64, 2048, 64}, {1, 0, 2}, 8);
  const cuda::Parameters parameters{orthogonal_arbitrary, {1, 1, 64, 64}};
  DeviceModel unfitted = k40c_model();
  unfitted.coefficients.clear();
  EXPECT_DOUBLE_EQ(predict_seconds(k40c_model(), {problem, parameters}),
                   predict_seconds(unfitted, {problem, parameters}));
}

TEST(Prediction, IsPositiveFromOneElementUp) {
  for (const DeviceModel& model : {k40c_model(), analytic_model()}) {
    EXPECT_GE(predict_seconds(model, {paper_problem({}, {}, 1), {}}), model.launch_seconds);
    EXPECT_EQ(predict_seconds(model, {paper_problem({0}, {0}, 1), {}}), model.launch_seconds);
    for (std::int64_t extent = 1; extent < 200; extent += 3) {
      for (const std::vector<int>& perm : {std::vector{2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
        const Problem problem = paper_problem({extent, 3, extent}, perm, 4);
        for (const cuda::Candidate& candidate : cuda::candidates(problem, model)) {
          EXPECT_GE(candidate.seconds, model.launch_seconds);
        }
      }
    }
  }
}

TEST(Prediction, RisesWithTheVolumeOfAFamily) {
  for (const DeviceModel& model : {k40c_model(), analytic_model()}) {
    for (const std::vector<int>& perm : {std::vector{0, 1, 2}, {2, 1, 0}, {0, 2, 1}}) {
      double before = 0;
      for (std::int64_t extent = 32; extent <= 1024; extent *= 2) {
        const double seconds = fastest(model, paper_problem({extent, 64, extent}, perm, 8));
        EXPECT_GE(seconds, before) << model.name << " " << extent;
        before = seconds;
      }
    }
  }
}

TEST(AnalyticModel, ApproachesACopyWhereNothingIsLost) {
  const DeviceModel model = analytic_model();
  const Problem problem = paper_problem({8192, 8192}, {1, 0}, 4);
  const double copy_seconds = model.launch_seconds + 2.0 * static_cast<double>(problem.bytes()) /
                                                         model.memory_bytes_per_second;
  EXPECT_GE(fastest(model, problem), copy_seconds);
  EXPECT_LE(fastest(model, problem), 1.25 * copy_seconds);
  EXPECT_DOUBLE_EQ(fastest(model, paper_problem({8192 * 8192}, {0}, 4)), copy_seconds);
}

TEST(AnalyticModel, KnowsWhatSlowsALaunch) {
  const DeviceModel model = analytic_model();
  const auto seconds = [&](const Problem& problem, const Slice& slice) {
    return predict_seconds(model, {problem, {orthogonal_distinct, slice}});
  };
  const Problem problem = unfused_problem({4096, 4096}, {1, 0}, 1);
  EXPECT_LT(seconds(problem, {1, 1, 128, 128}), seconds(problem, {1, 1, 32, 128})) << "short runs";
  EXPECT_LT(seconds(problem, {1, 1, 128, 128}), seconds(problem, {1, 1, 4096, 4096}))
      << "one block";
  EXPECT_LT(seconds(problem, {1, 1, 128, 128}), seconds(problem, {1, 1, 130, 128}))
      << "partial tiles";
  const Problem odd = unfused_problem({4095, 4095}, {1, 0}, 1);
  EXPECT_LT(seconds(problem, {1, 1, 128, 128}), seconds(odd, {1, 1, 128, 128}))
      << "narrow accesses";
}

TEST(AnalyticModel, GainsFromABetterDevice) {
  const DeviceModel model = analytic_model();
  const Problem problem = paper_problem({8192, 8192}, {1, 0}, 4);
  const double seconds = predict_seconds(model, {problem, kSquare});
  DeviceModel other = model;
  other.memory_bytes_per_second /= 2;
  EXPECT_GT(predict_seconds(other, {problem, kSquare}), seconds);
  other = model;
  other.multiprocessors /= 4;
  EXPECT_GT(predict_seconds(other, {problem, kSquare}), seconds);
  other = model;
  other.shared_bytes_per_multiprocessor = 32 << 10;
  EXPECT_GT(predict_seconds(other, {problem, kSquare}), seconds);
  other = model;
  other.launch_seconds *= 2;
  EXPECT_DOUBLE_EQ(predict_seconds(other, {problem, kSquare}), seconds + model.launch_seconds);
  const Problem short_runs = unfused_problem({65, 65, 65, 65}, {3, 2, 1, 0}, 4);
  const double meeting = predict_seconds(model, {short_runs, {orthogonal_distinct, {1, 1, 9, 65}}});
  other = model;
  other.l2_cache_bytes = 1 << 20;
  EXPECT_GT(predict_seconds(other, {short_runs, {orthogonal_distinct, {1, 1, 9, 65}}}), meeting);
}

}  // namespace
}  // namespace ttlg::cuda
