#include "plan/cuda/model/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/model/launch_terms.hpp"
#include "plan/cuda/planner.hpp"
#include "tensor/integer.hpp"

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

// 16^6 doubles in slices of 16^3, by hand from Table II with the volume in elements: -0.506 + 0.573
// + 0.871 + 1.072. In bytes it would be -4.051, and the launch would take less than nothing.
TEST(FittedModel, TakesOrthogonalArbitrarysVolumeInElements) {
  const Problem problem = unfused_problem(std::vector<std::int64_t>(6, 16), {1, 2, 0, 3, 5, 4}, 8);
  const cuda::Parameters parameters{orthogonal_arbitrary, {3, 3, 16, 16}};
  const cuda::PredictedTime found = predict_time(k40c_model(), {problem, parameters});
  EXPECT_NEAR(found.seconds, 2.009e-3, 0.001e-3);
  EXPECT_EQ(found.source, TimeSource::regression);
}

TEST(FittedModel, IsNotBelievedBelowTheMemorysSpeed) {
  const Problem problem = unfused_problem({64, 2048, 64}, {1, 0, 2}, 8);
  const cuda::Parameters parameters{orthogonal_arbitrary, {1, 1, 64, 64}};
  DeviceModel model = k40c_model();
  EXPECT_EQ(predict_time(model, {problem, parameters}).source, TimeSource::regression);
  // Table II has negative coefficients too.
  model.coefficients[orthogonal_arbitrary]["Cycles"] *= -1;
  DeviceModel unfitted = model;
  unfitted.coefficients.clear();
  const cuda::PredictedTime found = predict_time(model, {problem, parameters});
  EXPECT_EQ(found.seconds, predict_seconds(unfitted, {problem, parameters}));
  EXPECT_EQ(found.source, TimeSource::terms);
}

// What does not grow with the volume is an intercept only from the smallest fitted tensor on.
TEST(FittedModel, ShrinksWithTensorsBelowItsDataSet) {
  const cuda::Parameters parameters{orthogonal_arbitrary, {1, 1, 64, 64}};
  const auto fitted = [&](std::int64_t extent) {
    const Problem problem = unfused_problem({64, extent, 64}, {2, 1, 0}, 8);
    return predict_time(k40c_model(), {problem, parameters});
  };
  const double smallest = fitted(512).seconds;  // 16 MB
  EXPECT_DOUBLE_EQ(fitted(256).seconds, smallest / 2);
  EXPECT_EQ(fitted(256).source, TimeSource::regression);
  EXPECT_GT(fitted(1024).seconds, smallest);
  EXPECT_LT(fitted(1024).seconds, 1.5 * smallest);
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

TEST(PhysicalModel, ApproachesACopyWhereNothingIsLost) {
  const DeviceModel model = analytic_model();
  const Problem problem = paper_problem({8192, 8192}, {1, 0}, 4);
  const double copy_seconds = model.launch_seconds + 2.0 * static_cast<double>(problem.bytes()) /
                                                         model.memory_bytes_per_second;
  EXPECT_GE(fastest(model, problem), copy_seconds);
  EXPECT_LE(fastest(model, problem), 1.25 * copy_seconds);
  const double copied = fastest(model, paper_problem({8192 * 8192}, {0}, 4));
  EXPECT_NEAR(copied, copy_seconds, 0.05 * copy_seconds);
  EXPECT_GT(fastest(model, problem), copied);
}

TEST(PhysicalModel, KnowsWhatSlowsALaunch) {
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

TEST(PhysicalModel, GainsFromABetterDevice) {
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

// Random problems in random slices, on a device where every term costs something of its own.
template <typename Check>
void for_random_launches(const Check& check) {
  test::Random random(17);
  test::for_random_candidates(random, 60,
                              [&](const Problem& problem, const Parameters& parameters) {
                                DeviceModel model = analytic_model();
                                for (double& cost : model.costs)
                                  cost *= as_double(test::pick(random, 1, 40)) / 10;
                                model.overlap = 1 << test::pick(random, 0, 4);
                                if (problem.bytes() > 0)
                                  check(model, SlicedProblem(problem, parameters));
                              });
}

TEST(PhysicalModel, IsBetweenTheLongestGroupAndAllTogether) {
  for_random_launches([](const DeviceModel& model, const SlicedProblem& sliced) {
    std::array<double, 3> groups{};
    const LaunchTerms counted = count_terms(model, sliced);
    for (const Term& term : counted.terms()) {
      EXPECT_GT(term.seconds, 0);
      groups.at(static_cast<std::size_t>(group_of(term.number))) +=
          term.seconds * model.costs[term.number];
    }
    const double sum = groups[0] + groups[1] + groups[2];
    const double longest = std::ranges::max(groups);
    const double seconds = predict_seconds(model, sliced) - model.launch_seconds;
    constexpr double kRounding = 1e-12;
    EXPECT_GE(seconds, longest * (1 - kRounding) - 1e-18);
    EXPECT_LE(seconds, sum * (1 + kRounding) + 1e-18);
    if (model.overlap == 1) {
      EXPECT_NEAR(seconds, sum, 1e-9 * sum);
    }
    DeviceModel most = model;
    most.overlap = kMaxOverlap;
    EXPECT_LE(predict_seconds(most, sliced), predict_seconds(model, sliced) * (1 + kRounding));
    const double hidden = predict_seconds(most, sliced) - model.launch_seconds;
    EXPECT_LE(hidden, longest * std::pow(3, 1.0 / kMaxOverlap) * (1 + kRounding) + 1e-18);
  });
}

TEST(PhysicalModel, RisesWithEveryCost) {
  std::set<std::size_t> raised;
  for_random_launches([&](const DeviceModel& model, const SlicedProblem& sliced) {
    const double seconds = predict_seconds(model, sliced);
    EXPECT_GE(seconds, model.launch_seconds);
    const LaunchTerms counted = count_terms(model, sliced);
    for (const Term& term : counted.terms()) {
      DeviceModel other = model;
      other.overlap = 1;
      const double before = predict_seconds(other, sliced);
      other.costs[term.number] *= 2;
      EXPECT_GT(predict_seconds(other, sliced), before) << cost_names().at(term.number);
      raised.insert(term.number);
    }
    DeviceModel free = model;
    free.costs.fill(0);
    EXPECT_EQ(predict_seconds(free, sliced), model.launch_seconds);
  });
  // All but those of a copy, which has no slices, of the widths that no problem had, and of
  // staging.
  EXPECT_GT(raised.size(), 40U);
}

TEST(PhysicalModel, RisesWithTheVolumeWhateverTermsCost) {
  test::Random random(18);
  for (int i = 0; i < 200; ++i) {
    DeviceModel model = analytic_model();
    for (double& cost : model.costs) cost *= as_double(test::pick(random, 0, 30)) / 10;
    double before = 0;
    for (std::int64_t extent = 1; extent <= 1 << 20; extent = extent * 5 / 4 + 1) {
      const Problem problem = unfused_problem({96, 64, extent}, {1, 0, 2}, 4);
      const double seconds = predict_seconds(model, {problem, kSquare});
      EXPECT_GE(seconds, before * (1 - 1e-12)) << extent;
      before = seconds;
    }
  }
}

TEST(CostNames, AreUniqueAndFound) {
  const auto& names = cost_names();
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(cost_number(names.at(i)), i);
    const std::string group = names.at(i).substr(0, names.at(i).find('.'));
    constexpr std::array kGroups{"memory", "issue", "latency"};
    EXPECT_EQ(group, kGroups.at(static_cast<std::size_t>(group_of(i))));
    EXPECT_GT(default_costs().at(i), 0);
  }
  EXPECT_EQ(cost_number("memory"), names.size());
}

}  // namespace
}  // namespace ttlg::cuda
