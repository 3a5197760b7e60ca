// Which calls on a CUDA device are timed, and what becomes of events that fail.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cuda/learner.hpp"
#include "cuda/learning_calls.hpp"
#include "messages.hpp"

namespace ttlg::cuda {
namespace {

using test::expect_contains;
using CudaSamples = LearningCalls;

TEST_F(CudaSamples, HasOneSampleOfALayoutPendingAtMost) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  fake_cuda().events_are_ready = false;
  fake_cuda().done.clear();
  serve(learner, chosen, 3);
  EXPECT_LE(records(), 2);
  const Parameters fastest = learner.timed(*chosen).front().parameters;
  fake_cuda().done.clear();
  const double before = fake_cuda().now;
  serve(learner, chosen, 30);
  EXPECT_EQ(records(), 0);
  const double expected = 30 * seconds_of(with_parameters(*chosen, fastest));
  EXPECT_NEAR(fake_cuda().now - before, expected, 1e-9) << "by the fastest so far";
  fake_cuda().events_are_ready = true;
  expect_fastest(serve(learner, chosen, 400));
}

TEST_F(CudaSamples, LeavesCapturedStreamsAlone) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  const auto tried = learner.timed(*chosen).size();
  const auto calls_with_nothing_but_the_chosen_plan = [&](std::uintptr_t stream) {
    fake_cuda().done.clear();
    const double before = fake_cuda().now;
    for (int i = 0; i < 50; ++i) EXPECT_EQ(call(learner, chosen, 1, stream), nullptr);
    EXPECT_EQ(records(), 0);
    EXPECT_NEAR(fake_cuda().now - before, 50 * seconds_of(*chosen), 1e-9);
    EXPECT_EQ(learner.timed(*chosen).size(), tried);
  };
  fake_cuda().captured = {7};
  calls_with_nothing_but_the_chosen_plan(7);
  fake_cuda().captured = {};
  fake_cuda().default_stream_is_blocked = true;
  calls_with_nothing_but_the_chosen_plan(1);
  fake_cuda().default_stream_is_blocked = false;
  fake_cuda().failures = {{"cudaStreamIsCapturing", cudaErrorInvalidResourceHandle}};
  calls_with_nothing_but_the_chosen_plan(7);
  fake_cuda().failures.clear();
  expect_fastest(serve(learner, chosen, 400));
}

// Each in the midst of trials, for a few calls.
TEST_F(CudaSamples, LosesNoMoreThanSamplesWhereEventsFail) {
  for (const char* function : {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaEventQuery",
                               "cudaEventElapsedTime", "cudaEventDestroy"}) {
    Learner learner;
    const PlanPointer chosen = chosen_plan();
    serve(learner, chosen, function == std::string("cudaEventCreateWithFlags") ? 2 : 12);
    fake_cuda().failures = {{function, cudaErrorLaunchFailure}};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(call(learner, chosen), nullptr) << function;
    fake_cuda().failures.clear();
    expect_fastest(serve(learner, chosen, 400));
  }
}

// Where a library makes a context of its own current, for the same device.
TEST_F(CudaSamples, TakesOtherEventsInAnotherContext) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  CUctx_st made{1};
  FakeCuda::stack = {&made};
  expect_fastest(serve(learner, chosen, 400));
  EXPECT_EQ(fake_cuda().events.size(), 2U);
  FakeCuda::stack.clear();
}

// A plan whose calls never got a time would be called for ever.
TEST_F(CudaSamples, GivesUpWhereEventsAlwaysFail) {
  for (const char* function :
       {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaEventQuery", "cudaEventElapsedTime"}) {
    Learner learner;
    const PlanPointer chosen = chosen_plan();
    fake_cuda().failures = {{function, cudaErrorLaunchFailure}};
    serve(learner, chosen, 50);
    fake_cuda().done.clear();
    const double before = fake_cuda().now;
    serve(learner, chosen, 50);
    EXPECT_EQ(records(), 0) << function;
    EXPECT_NEAR(fake_cuda().now - before, 50 * seconds_of(*chosen), 1e-9) << function;
    EXPECT_TRUE(fake_cuda().events.size() <= 2) << function;
    fake_cuda().failures.clear();
    fake_cuda().events.clear();
  }
}

TEST_F(CudaSamples, ReportsLaunchesThatFailAsOtherCallsDo) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  for (int i = 0; i < 12; ++i) {
    serve(learner, chosen, 1);
    fake_cuda().failures = {{"launch", cudaErrorLaunchFailure}};
    expect_contains(test::message_of<Error>([&] { call(learner, chosen); }), "launching ");
    fake_cuda().failures.clear();
    fake_cuda().host_pointer = kIn;
    expect_contains(test::message_of<Error>([&] { call(learner, chosen); }), "host memory");
    fake_cuda().host_pointer = nullptr;
  }
  fake_cuda().failures = {{"cuCtxPushCurrent", cudaErrorInitializationError}};
  expect_contains(test::message_of<Error>([&] { call(learner, chosen); }), "cuCtxPushCurrent");
  fake_cuda().failures.clear();
  FakeCuda::last_error = cudaSuccess;
  expect_fastest(serve(learner, chosen, 400));
}

TEST_F(CudaSamples, TimesNothingWhereLearningIsOff) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  set_learning(false);
  fake_cuda().done.clear();
  EXPECT_EQ(serve(learner, chosen, 100), nullptr);
  EXPECT_EQ(records(), 0);
}

// Equal devices have the plans of one another.
TEST_F(CudaSamples, TimesCallsOnOneDeviceOfEqualOnes) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  fake_cuda().memory_of = 0;
  fake_cuda().done.clear();
  for (int i = 0; i < 30; ++i) call(learner, chosen, 0);
  EXPECT_EQ(records(), 0);
  fake_cuda().memory_of = 1;
  expect_fastest(serve(learner, chosen, 400));
}

TEST_F(CudaSamples, UsesEventsAgain) {
  Learner learner;
  for (const std::int64_t rows : {5000, 5001, 5002}) {
    ASSERT_NE(serve(learner, chosen_plan(rows), 400), nullptr);
    EXPECT_EQ(fake_cuda().events.size(), 2U);
  }
  serve(learner, chosen_plan(), 12);
  learner.clear();
  serve(learner, chosen_plan(), 12);
  EXPECT_EQ(fake_cuda().events.size(), 2U);
}

// The table has an end, and what is pending there does not keep its events.
TEST_F(CudaSamples, TakesManyLayouts) {
  Learner learner;
  fake_cuda().events_are_ready = false;
  for (std::int64_t rows = 5000; rows < 5300; ++rows) serve(learner, chosen_plan(rows), 5);
  EXPECT_LE(fake_cuda().events.size(), 2U * 257);
  fake_cuda().events_are_ready = true;
  expect_fastest(serve(learner, chosen_plan(), 400));
}

// Events of the parent are unknown there.
TEST_F(CudaSamples, StartsOverInAForkedChild) {
  Learner learner;
  const PlanPointer chosen = chosen_plan();
  serve(learner, chosen, 12);
  fake_cuda().events.clear();
  learner.lock();
  learner.unlock_in_child();
  expect_fastest(serve(learner, chosen, 400));
  EXPECT_EQ(fake_cuda().events.size(), 2U);
}

}  // namespace
}  // namespace ttlg::cuda
