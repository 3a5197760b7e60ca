// Which plans calls on a CUDA device try, and which they keep.
#include "cuda/learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/learning_calls.hpp"

namespace ttlg::cuda {
namespace {

using CudaLearner = LearningCalls;

TEST_F(CudaLearner, CallsTheChosenPlanFirst) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  ASSERT_TRUE(Learner::can_learn(*chosen));
  const Learner::Call first = learner.begin(chosen, 1);
  EXPECT_EQ(first.plan, chosen);
  EXPECT_EQ(first.timer, nullptr);
  EXPECT_TRUE(fake_cuda().events.empty());
}

TEST_F(CudaLearner, KeepsTheFastestOfThePlansThatItTries) {
  for (const std::int64_t rows : {5000, 5001, 6000, 7001}) {
    Learner learner;
    const PlanPointer chosen = chosen_plan(rows);
    const PlanPointer kept = serve(learner, chosen, 400);
    expect_fastest(kept);
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(kept->request, chosen->request);
    EXPECT_EQ(kept->predicted_seconds, chosen->predicted_seconds) << "predictions stay";
    EXPECT_EQ(kept->measured.front().parameters, chosen->parameters);
    EXPECT_GT(kept->measured.size(), 3U);
    EXPECT_FALSE(Learner::can_learn(*kept)) << "it is settled";
  }
}

TEST_F(CudaLearner, KeepsThePlannersChoiceWhereNoneIsClearlyFaster) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  fake_cuda().seconds_of = [&](const std::string&, const Launch& launch) {
    return seconds_of(launch) == seconds_of(*chosen) ? 1e-4 : 1.2e-4;
  };
  const PlanPointer kept = serve(learner, chosen, 400);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(*kept, *chosen);
}

// The model may be wrong about a whole kind of plans.
TEST_F(CudaLearner, TriesOnePlanOfEachKindFirst) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  fake_cuda().seconds_of = [](const std::string&, const Launch&) { return 1e-4; };
  const DeviceGuard guard(1);
  const RelaxedCapture relaxed;
  std::set<std::tuple<Schema, int, bool>> kinds;
  std::vector<Parameters> tried;
  for (int i = 0; i < 100; ++i) {
    const Learner::Call next = learner.begin(chosen, 1);
    const Parameters& parameters = next.plan->parameters;
    if (std::ranges::find(tried, parameters) == tried.end()) {
      const bool is_new =
          kinds.emplace(parameters.schema, parameters.stages, parameters.coarsened_mode >= 0)
              .second;
      if (!is_new) break;
      tried.push_back(parameters);
    }
    if (next.timer == nullptr) continue;
    execute(*next.plan, kIn, kOut, 1, 7, 7, next.timer);
    next.timer->finish();
  }
  EXPECT_GE(kinds.size(), 3U);
  EXPECT_EQ(tried.front(), chosen->parameters);
}

// Where kernels are loaded when they are first launched, those launches take long.
TEST_F(CudaLearner, TimesNoFirstLaunches) {
  Learner learner;
  std::set<double> loaded;
  fake_cuda().seconds_of = [&](const std::string&, const Launch& launch) {
    return loaded.insert(seconds_of(launch)).second ? 1 : seconds_of(launch);
  };
  expect_fastest(serve(learner, chosen_plan(), 400));
}

TEST_F(CudaLearner, TimesNoShortCalls) {
  Learner learner;
  const PlanPointer chosen = chosen_plan(100);
  EXPECT_FALSE(Learner::can_learn(*chosen));
  EXPECT_EQ(serve(learner, chosen, 100), nullptr);
  EXPECT_EQ(records(), 0);
  EXPECT_TRUE(fake_cuda().events.empty());
}

TEST_F(CudaLearner, TellsWhatCallsHaveTaken) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  EXPECT_TRUE(learner.timed(*chosen).empty());
  serve(learner, chosen, 30);
  const std::vector<Timed> timed = learner.timed(*chosen);
  EXPECT_GT(timed.size(), 3U);
  for (const Timed& each : timed) EXPECT_LE(timed.front().seconds, each.seconds);
  serve(learner, chosen, 400);
  EXPECT_TRUE(learner.timed(*chosen).empty()) << "they are over";
}

TEST_F(CudaLearner, ForgetsTrials) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  learner.clear();
  EXPECT_TRUE(learner.timed(*chosen).empty());
  expect_fastest(serve(learner, chosen, 400));
}

TEST_F(CudaLearner, ServesManyThreads) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  const PlanPointer other = chosen_plan(5001);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 400; ++k) {
        const PlanPointer& mine = i % 2 == 0 ? chosen : other;
        const PlanPointer kept = call(learner, mine, 1, static_cast<std::uintptr_t>(7 + i));
        if (kept != nullptr) {
          EXPECT_EQ(kept->request, mine->request);
        }
        if (k == 100) learner.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(fake_cuda().events.size(), 8U);
}

}  // namespace
}  // namespace ttlg::cuda
