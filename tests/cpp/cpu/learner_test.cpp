#include "cpu/learner.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "cpu/this_machine.hpp"
#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/search_space.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

std::shared_ptr<const Plan> chosen_plan(std::int64_t rows = 1200) {
  return std::make_shared<const Plan>(
      make_plan(test::contiguous_request({rows, 1100}, {1, 0}, 8), *this_machine(), 1));
}

// Plans whose blocks are larger are said to take longer.
double seconds_of(const Plan& plan) {
  double elements = 1;
  for (const std::int64_t extent : plan.parameters.block) elements *= static_cast<double>(extent);
  return 1 + 1e-6 * elements;
}

std::shared_ptr<const Plan> serve(Learner& learner, const std::shared_ptr<const Plan>& chosen,
                                  int calls) {
  for (int i = 0; i < calls; ++i) {
    const Learner::Call call = learner.begin(chosen);
    if (auto kept = learner.end(*chosen, call, seconds_of(*call.plan))) return kept;
  }
  return nullptr;
}

TEST(Learner, CallsTheChosenPlanFirst) {
  Learner learner;
  const auto chosen = chosen_plan();
  ASSERT_TRUE(Learner::can_learn(*chosen));
  const Learner::Call call = learner.begin(chosen);
  EXPECT_EQ(call.plan, chosen);
  EXPECT_FALSE(call.number.has_value());
}

TEST(Learner, KeepsTheFastestPlanOfTheSameRequest) {
  Learner learner;
  const auto chosen = chosen_plan();
  const auto kept = serve(learner, chosen, 200);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->request, chosen->request);
  EXPECT_EQ(kept->thread_limit, chosen->thread_limit);
  EXPECT_EQ(kept->warm_seconds, chosen->warm_seconds) << "predictions stay";
  EXPECT_GT(kept->measured.size(), 2U);
  EXPECT_FALSE(learner.begin(kept).number.has_value()) << "it is settled";
  for (const Timed& each : kept->measured) {
    EXPECT_LE(0.97 * seconds_of(*kept), each.seconds) << "3 % are not worth a change";
  }
}

// The model may be wrong about a whole kind of plans.
TEST(Learner, TriesOnePlanOfEachKindFirst) {
  Learner learner;
  const auto request = test::contiguous_request({3000, 1100}, {1, 0}, 3);
  const auto chosen = std::make_shared<const Plan>(make_plan(request, *this_machine(), 1));
  std::set<std::tuple<Kernel, bool, bool, std::int64_t>> kinds;
  std::set<const Plan*> plans;
  learner.end(*chosen, learner.begin(chosen), 1);
  for (int i = 0; plans.size() < 5; ++i) {
    ASSERT_LT(i, 100);
    const Learner::Call call = learner.begin(chosen);
    const Parameters& tried = call.plan->parameters;
    kinds.insert({tried.kernel, tried.staged, tried.streaming, tried.block.front()});
    plans.insert(call.plan.get());
    learner.end(*chosen, call, 1);
  }
  EXPECT_EQ(kinds.size(), plans.size());
}

// Which plans the model puts first is no limit.
TEST(Learner, FindsFasterNeighborsOfWhatItTries) {
  Learner learner;
  const auto chosen = chosen_plan();
  const auto kept = serve(learner, chosen, 400);
  ASSERT_NE(kept, nullptr);
  EXPECT_GT(kept->measured.size(), 8U);
  for (const Parameters& each : neighbors_of(fold_run(kept->problem), kept->parameters)) {
    EXPECT_LE(0.97 * seconds_of(*kept), seconds_of(build_plan(kept->request, each)));
  }
}

TEST(Learner, LeavesShortCallsAlone) { EXPECT_FALSE(Learner::can_learn(*chosen_plan(20))); }

TEST(Learner, ForgetsTrials) {
  Learner learner;
  const auto chosen = chosen_plan();
  serve(learner, chosen, 3);
  learner.clear();
  EXPECT_FALSE(learner.begin(chosen).number.has_value());
}

// The plan whose calls take as long as another one's did before is not the fastest any more.
TEST(Learner, TriesAgainWhenCallsTakeAnotherTime) {
  Learner learner;
  const auto chosen = chosen_plan();
  const auto kept = serve(learner, chosen, 200);
  ASSERT_NE(kept, nullptr);
  for (int i = 0; i < 300; ++i) {
    const Learner::Call call = learner.begin(kept);
    ASSERT_FALSE(call.number.has_value());
    ASSERT_EQ(learner.end(*kept, call, seconds_of(*kept)), nullptr);
  }
  std::shared_ptr<const Plan> again;
  for (int i = 0; i < 600 && again == nullptr; ++i) {
    const Learner::Call call = learner.begin(kept);
    const bool is_kept = call.plan->parameters == kept->parameters;
    again = learner.end(*kept, call, is_kept ? 3 : seconds_of(*call.plan));
  }
  ASSERT_NE(again, nullptr);
  EXPECT_NE(again->parameters, kept->parameters);
  EXPECT_EQ(again->measured.front().parameters, kept->measured.front().parameters)
      << "the planner's choice comes first";
  EXPECT_EQ(again->warm_seconds, kept->warm_seconds);
}

TEST(Learner, TellsWhatCallsHaveTaken) {
  Learner learner;
  const auto chosen = chosen_plan();
  EXPECT_TRUE(learner.timed(*chosen).empty());
  serve(learner, chosen, 30);
  const std::vector<Timed> timed = learner.timed(*chosen);
  EXPECT_GT(timed.size(), 3U);
  for (const Timed& each : timed) EXPECT_LE(timed.front().seconds, each.seconds);
  serve(learner, chosen, 200);
  EXPECT_TRUE(learner.timed(*chosen).empty()) << "they are over";
}

// Where calls take twice the predicted time, layouts that no call has had are expected to as well.
TEST(Learner, CorrectsTheTimeModel) {
  set_time_model(generic_model());
  const auto later = test::contiguous_request({900, 70, 30}, {2, 0, 1}, 4);
  const double plain = make_plan(later, *this_machine(false), 1).warm_seconds;
  EXPECT_EQ(make_plan(later, *this_machine(true), 1).warm_seconds, plain);
  const auto teach = [](bool is_new) {
    for (std::int64_t rows = 900; rows < 906; ++rows) {
      Learner learner;
      const auto chosen = chosen_plan(rows);
      for (int i = 0; i < 300; ++i) {
        const Learner::Call call = learner.begin(chosen);
        const Terms terms = count_terms(fold_run(call.plan->problem), call.plan->parameters,
                                        *this_machine(false), false);
        const double seconds = 2 * predicted_seconds(terms, this_machine(false)->model);
        if (learner.end(*chosen, call, seconds, is_new)) break;
      }
    }
  };
  teach(true);
  EXPECT_EQ(time_model_correction().trials(), 0) << "new pages are another cost";
  teach(false);
  EXPECT_EQ(time_model_correction().trials(), 6);
  const double corrected = make_plan(later, *this_machine(true), 1).warm_seconds;
  EXPECT_GT(corrected, 1.6 * plain);
  EXPECT_LT(corrected, 2.4 * plain);
  EXPECT_EQ(make_plan(later, *this_machine(false), 1).warm_seconds, plain);
  set_time_model(generic_model());
  EXPECT_EQ(time_model_correction().trials(), 0);
}

// Calls may end after their trials have been forgotten, and others begun.
TEST(Learner, IgnoresCallsOfForgottenTrials) {
  Learner learner;
  const auto chosen = chosen_plan();
  serve(learner, chosen, 2);
  const Learner::Call late = learner.begin(chosen);
  ASSERT_TRUE(late.number.has_value());
  learner.clear();
  serve(learner, chosen, 2);
  EXPECT_EQ(learner.end(*chosen, late, 1e-9), nullptr);
  const auto kept = serve(learner, chosen, 200);
  ASSERT_NE(kept, nullptr);
  for (const Timed& each : kept->measured) EXPECT_GE(each.seconds, 1);
}

// The table has an end.
TEST(Learner, TakesManyLayouts) {
  Learner learner;
  for (std::int64_t rows = 1000; rows < 1300; ++rows) serve(learner, chosen_plan(rows), 2);
  const auto kept = serve(learner, chosen_plan(), 200);
  EXPECT_NE(kept, nullptr);
}

TEST(Learner, ServesManyThreads) {
  Learner learner;
  const auto chosen = chosen_plan();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        const auto kept = serve(learner, chosen, 20);
        if (kept != nullptr) {
          EXPECT_EQ(kept->request, chosen->request);
        }
        if (k == 25) learner.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ttlg::cpu
