// Calls on a CUDA device that learn, under a CUDA whose launches take the times that a test says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "cuda/execute.hpp"
#include "cuda/fake_cuda/fake_cuda.hpp"
#include "cuda/learner.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/trials.hpp"

namespace ttlg::cuda {

using test::fake_cuda;
using test::FakeCuda;
using PlanPointer = std::shared_ptr<const Executable>;

// Addresses that are never read.
inline std::byte* const kIn = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
inline std::byte* const kOut = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 41);

// Of many elements, so that calls are long enough to be timed.
inline PlanPointer chosen_plan(std::int64_t rows = 5000) {
  return std::make_shared<const Executable>(test::planned(
      test::paper_request({rows, 30, 300}, {2, 1, 0}, 4), 16, test::analytic_model()));
}

// The time of a launch, of another order than the planner's predictions.
inline double seconds_of(const Launch& launch) {
  const auto number = launch.blocks * 31 + static_cast<std::uint32_t>(launch.shared_bytes) * 7 +
                      static_cast<std::uint32_t>(launch.arguments.index());
  return 1e-4 * (1 + 0.01 * static_cast<double>(number % 97));
}

inline double seconds_of(const Executable& plan) {
  return static_cast<double>(plan.grid.launches) * seconds_of(plan.bind(kIn, kOut));
}

inline Executable with_parameters(const Executable& plan, const Parameters& parameters) {
  return Executable(build_plan(plan.request, plan.pointer_alignment, parameters, plan.model));
}

class LearningCalls : public testing::Test {
 protected:
  void SetUp() override {
    test::reset_fake_cuda();
    fake_cuda().seconds_of = [](const std::string&, const Launch& launch) {
      return seconds_of(launch);
    };
    set_learning(true);
  }
  void TearDown() override {
    EXPECT_EQ(FakeCuda::last_error, cudaSuccess);
    EXPECT_FALSE(fake_cuda().events_under.contains(cudaStreamCaptureModeGlobal));
    EXPECT_EQ(FakeCuda::mode, cudaStreamCaptureModeGlobal);
    EXPECT_TRUE(FakeCuda::stack.empty());
    set_learning(false);
  }

  static PlanPointer call(Learner& learner, const PlanPointer& chosen, int device = 1,
                          std::uintptr_t stream = 7) {
    PlanPointer kept = execute_and_learn(learner, chosen, kIn, kOut, device, stream, stream);
    EXPECT_EQ(FakeCuda::last_error, cudaSuccess);
    return kept;
  }

  // Calls the plan of the cache until it is known which to keep, at most so often.
  static PlanPointer serve(Learner& learner, const PlanPointer& chosen, int calls) {
    for (int i = 0; i < calls; ++i) {
      if (PlanPointer kept = call(learner, chosen)) return kept;
    }
    return nullptr;
  }

  // The times are those of the plans that they are said to be of, and the best is kept.
  static void expect_fastest(const PlanPointer& kept) {
    ASSERT_NE(kept, nullptr);
    for (const Timed& each : kept->measured) {
      const double taken = seconds_of(with_parameters(*kept, each.parameters));
      EXPECT_NEAR(each.seconds, taken, 1e-4 * taken);
      EXPECT_LE(0.97 * seconds_of(*kept), taken) << "3 % are not worth a change";
    }
  }

  static std::int64_t records() {
    return std::ranges::count_if(fake_cuda().done,
                                 [](const auto& each) { return each.starts_with("record"); });
  }
};

}  // namespace ttlg::cuda
