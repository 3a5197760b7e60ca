#include "plan/cpu/model/correction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <vector>

#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/plan.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

// Trials of six plans each, of which a machine with these factors takes the time.
class Trial {
 public:
  explicit Trial(const Costs& factors) : factors_(factors) {}

  std::vector<Timing> operator()(double scale = 1) {
    std::vector<Timing> trial(6);
    std::uniform_real_distribution<double> share(0, 1);
    std::lognormal_distribution<double> noise(0, 0.05);
    for (Timing& timing : trial) {
      for (std::size_t i = 0; i < factors_.size(); ++i) {
        if (i != index_of(Cost::new_pages)) timing.costs[i] = 1e-3 * share(draw_);
        timing.seconds += timing.costs[i] * factors_[i];
      }
      timing.seconds *= scale * noise(draw_);
    }
    return trial;
  }

 private:
  Costs factors_;
  std::mt19937 draw_{1};
};

Costs ones() {
  Costs costs;
  costs.fill(1);
  return costs;
}

TEST(Correction, BeginsWithoutEffect) {
  const Correction correction;
  EXPECT_EQ(correction.factors(), ones());
  EXPECT_EQ(correction.trials(), 0);
  EXPECT_EQ(correction.applied_to(generic_model()).seconds, generic_model().seconds);
}

TEST(Correction, FindsWhichCostIsOff) {
  Costs truth = ones();
  truth[index_of(Cost::streamed_lines)] = 2;
  truth[index_of(Cost::instructions)] = 0.6;
  Trial trial(truth);
  Correction correction;
  for (int i = 0; i < 300; ++i) correction.learn(trial());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (i == index_of(Cost::new_pages)) continue;
    EXPECT_NEAR(std::log(correction.factors()[i] / truth[i]), 0, 0.2)
        << kCosts.name(static_cast<Cost>(i));
  }
  EXPECT_EQ(correction.trials(), 300);
}

// Costs that no trial had are believed to be off as the others are.
TEST(Correction, FollowsTheScaleOfAMachine) {
  Trial trial(ones());
  Correction correction;
  for (int i = 0; i < 30; ++i) correction.learn(trial(2));
  for (const double each : correction.factors()) EXPECT_NEAR(each, 2, 0.5);
}

TEST(Correction, TakesBoundedSteps) {
  Trial trial(ones());
  Correction correction;
  for (int i = 0; i < 40; ++i) {
    const Costs before = correction.factors();
    correction.learn(trial(i < 20 ? 1000 : 0.001));
    for (std::size_t k = 0; k < before.size(); ++k) {
      const double step = correction.factors()[k] / before[k];
      EXPECT_LE(std::max(step, 1 / step), Correction::kMaxStep + 1e-9);
      EXPECT_LE(correction.factors()[k], Correction::kMaxFactor + 1e-9);
      EXPECT_GE(correction.factors()[k], 1 / Correction::kMaxFactor - 1e-9);
    }
  }
}

// A problem that the model is wrong about, or whose calls another process delayed.
TEST(Correction, ForgetsOneProblemAmongMany) {
  Trial trial(ones());
  Correction correction;
  for (int i = 0; i < 20; ++i) correction.learn(trial());
  correction.learn(trial(5));
  for (const double each : correction.factors()) EXPECT_NEAR(each, 1, 0.25);
}

TEST(Correction, IgnoresWhatHasNoTime) {
  Correction correction;
  correction.learn({});
  correction.learn(
      std::vector<Timing>{{.costs = {}, .seconds = 1}, {.costs = ones(), .seconds = 0}});
  EXPECT_EQ(correction.factors(), ones());
}

TEST(Correction, GoesOnFromFactors) {
  Costs factors = ones();
  factors[0] = 1.5;
  Correction correction(factors);
  EXPECT_NEAR(correction.factors()[0], 1.5, 1e-12);
  factors[0] = 4;
  EXPECT_THROW(Correction{factors}, std::invalid_argument);
  factors[0] = std::nan("");
  EXPECT_THROW(Correction{factors}, std::invalid_argument);
}

TEST(Correction, MultipliesThePartsOfAPrediction) {
  const Machine machine;
  const Request request = test::contiguous_request({3000, 2000}, {1, 0}, 4);
  for (const bool streaming : {false, true}) {
    const Plan plan = build_plan(request, {.kernel = Kernel::tile,
                                           .block = {64, 64},
                                           .loop_order = {0, 1},
                                           .streaming = streaming,
                                           .threads = 2});
    const Terms terms = count_terms(fold_run(plan.problem), plan.parameters, machine, true);
    const Costs costs = costs_of(terms, machine.model);
    const double predicted = predicted_seconds(terms, machine.model);
    double sum = 0;
    for (const double each : costs) sum += each;
    EXPECT_NEAR(sum / predicted, 1, 1e-9);
    for (const Cost cost :
         {Cost::memory_lines, Cost::short_runs, Cost::instructions, Cost::threads}) {
      EXPECT_GT(costs.at(index_of(cost)), 0) << kCosts.name(cost);
    }
    EXPECT_GT(costs.at(index_of(Cost::new_pages)), 0);
    EXPECT_EQ(costs.at(index_of(Cost::streamed_lines)) > 0, streaming);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      Costs factors = ones();
      factors[i] = 2;
      const TimeModel model = Correction(factors).applied_to(machine.model);
      EXPECT_NEAR(predicted_seconds(terms, model) / (predicted + costs[i]), 1, 1e-9)
          << kCosts.name(static_cast<Cost>(i));
    }
  }
}

}  // namespace
}  // namespace ttlg::cpu
