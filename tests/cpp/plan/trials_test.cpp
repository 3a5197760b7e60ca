#include "plan/trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "plan/cpu/plan.hpp"
#include "plan/plan_trials.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using Trials = PlanTrials<Plan>;

// As many plans for one request, told apart by their blocks.
std::vector<Plan> plans(std::size_t count) {
  const Request request = test::contiguous_request({512, 512}, {1, 0}, 8);
  std::vector<Plan> result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t rows = 8 * (static_cast<std::int64_t>(i) + 1);
    result.push_back(
        build_plan(request, {.kernel = Kernel::tile, .block = {64, rows}, .loop_order = {0, 1}}));
  }
  return result;
}

// Serves calls with plans that take these seconds each, until the trials are settled or `calls`
// have been served. Returns what each call took.
std::vector<double> serve(Trials& trials, const std::vector<double>& seconds, int calls) {
  std::vector<double> taken;
  for (int i = 0; i < calls; ++i) {
    const std::size_t number = trials.next();
    taken.push_back(seconds[number]);
    trials.record(number, seconds[number]);
  }
  return taken;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Trials, KeepTheFastest) {
  const std::vector<double> seconds{1.0, 1.1, 0.7, 0.9, 1.2, 0.6, 0.8, 1.3};
  const std::vector<Plan> all = plans(seconds.size());
  Trials trials(all);
  serve(trials, seconds, 60);
  ASSERT_TRUE(trials.is_settled());
  const Plan kept = trials.result();
  EXPECT_EQ(kept, all[5]);
  EXPECT_EQ(kept.measured.size(), all.size());
  EXPECT_EQ(kept.measured.front().parameters, all.front().parameters);
  EXPECT_EQ(kept.measured[5].seconds, 0.6);
  EXPECT_EQ(trials.plan(trials.next())->parameters, all[5].parameters);
}

TEST(Trials, StayWithTheChoiceUnlessAnotherIsClearlyFaster) {
  const std::vector<Plan> all = plans(3);
  for (const double second : {0.98, 0.96}) {
    Trials trials(all);
    serve(trials, {1.0, second, 1.2}, 30);
    ASSERT_TRUE(trials.is_settled());
    EXPECT_EQ(trials.result(), all[second < 0.97 ? 1 : 0]);
  }
}

// One sample of a plan may be disturbed, in its favour least of all.
TEST(Trials, CompareTheLeastTimes) {
  const std::vector<Plan> all = plans(2);
  Trials trials(all);
  int calls = 0;
  while (!trials.is_settled()) {
    const std::size_t number = trials.next();
    const double usual = number == 0 ? 1.0 : 0.9;
    trials.record(number, ++calls % 3 == 0 ? 3 * usual : usual);
    ASSERT_LT(calls, 60);
  }
  EXPECT_EQ(trials.result(), all[1]);
}

// What another plan has left in the caches may help, but will not be there later.
TEST(Trials, CompareCallsThatFollowTheSamePlan) {
  const std::vector<Plan> all = plans(3);
  Trials trials(all);
  std::size_t last = 0;
  for (int calls = 0; !trials.is_settled(); ++calls) {
    ASSERT_LT(calls, 60);
    const std::size_t number = trials.next();
    const bool follows = calls > 0 && number == last;
    trials.record(number, number == 1 ? 0.8 : (follows ? 1.0 : 0.5));
    last = number;
  }
  EXPECT_EQ(trials.result(), all[1]);
  EXPECT_EQ(trials.result().measured.front().seconds, 1.0);
}

TEST(Trials, SpreadTheTimeThatSlowPlansTake) {
  for (const double slow : {1.1, 1.3, 1.45}) {
    const std::vector<double> seconds{1.0, slow, slow, slow, slow, slow, slow, slow, slow, slow};
    Trials trials(plans(seconds.size()));
    std::vector<double> taken = serve(trials, seconds, 20);
    EXPECT_LE(sum(taken), 1.05 * 20 + 1e-9) << slow;
    taken = serve(trials, seconds, 500);
    EXPECT_LE(sum(taken), 1.05 * 520) << slow;
    EXPECT_TRUE(trials.is_settled()) << slow;
    EXPECT_EQ(trials.result().parameters, trials.plan(0)->parameters);
  }
}

// The blocks of plans() are told apart by their rows; here longer ones are faster, up to a limit.
TEST(Trials, GoOnFromTheFastest) {
  const std::vector<Plan> all = plans(16);
  const auto number_of = [&](const Plan& plan) { return plan.parameters.block[1] / 8 - 1; };
  const auto seconds = [&](const Plan& plan) {
    return 1 + 0.05 * static_cast<double>(std::abs(number_of(plan) - 11));
  };
  const auto next_ones = [&](const Plan& plan) {
    const auto at = static_cast<std::size_t>(number_of(plan));
    return std::vector<Plan>{all[at - 1], all[at + 1]};
  };
  Trials trials({all[6], all[8], all[1]}, next_ones);
  for (int calls = 0; !trials.is_settled(); ++calls) {
    ASSERT_LT(calls, 100);
    const std::size_t number = trials.next();
    trials.record(number, seconds(*trials.plan(number)));
  }
  EXPECT_EQ(trials.result(), all[11]);
  EXPECT_EQ(trials.result().measured.size(), 8U) << "the three, 7 and 9 to 12";
}

TEST(Trials, RunTheFastestSoFarBetween) {
  const std::vector<double> seconds{1.0, 0.5, 3.0, 3.0, 3.0, 3.0};
  Trials trials(plans(seconds.size()));
  const std::vector<double> taken = serve(trials, seconds, 12);
  EXPECT_GE(std::ranges::count(taken, 0.5), 4);
}

TEST(Trials, SettleOnASinglePlan) {
  const std::vector<Plan> all = plans(1);
  Trials trials(all);
  serve(trials, {1.0}, 8);
  ASSERT_TRUE(trials.is_settled());
  EXPECT_EQ(trials.result(), all.front());
  EXPECT_EQ(trials.result().measured.size(), 1U) << "so that it is not tried again";
}

// The calls until a watch says that they have changed, at most 10,000.
int calls_until_changed(Watch& watch, double seconds) {
  for (int calls = 1; calls <= 10000; ++calls) {
    if (watch.record(seconds)) return calls;
  }
  return 10000;
}

TEST(Watch, SaysThatCallsHaveChangedForLong) {
  for (const double later : {2.0, 0.5}) {
    Watch watch;
    for (int i = 0; i < 300; ++i) EXPECT_FALSE(watch.record(1));
    const int calls = calls_until_changed(watch, later);
    EXPECT_GE(calls, 20);
    EXPECT_LE(calls, 100);
  }
}

TEST(Watch, IgnoresDelaysAndSmallChanges) {
  Watch watch;
  for (int i = 0; i < 5000; ++i) {
    const double small = i < 2500 ? 1 : 1.2;
    EXPECT_FALSE(watch.record(i % 10 == 0 ? 100 : small)) << i;
  }
}

}  // namespace
}  // namespace ttlg::cpu
