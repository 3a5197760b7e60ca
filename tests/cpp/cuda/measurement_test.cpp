// What a measurement allocates, times and gives back, under a CUDA whose launches take the times
// that a test says.
#include "cuda/measurement.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cuda/learning_calls.hpp"
#include "plan/cuda/inplace/plan.hpp"

namespace ttlg::cuda {
namespace {

class Measuring : public LearningCalls {
 protected:
  void TearDown() override {
    EXPECT_TRUE(fake_cuda().allocated.empty());
    EXPECT_TRUE(fake_cuda().events.empty());
    LearningCalls::TearDown();
  }

  static std::vector<std::size_t> sizes() {
    std::vector<std::size_t> result;
    for (const auto& [memory, bytes] : fake_cuda().allocated) result.push_back(bytes);
    std::ranges::sort(result);
    return result;
  }
};

LoweredInplacePlan inplace_plan(std::int64_t order, std::optional<InplaceKernel> forced = {}) {
  Request request = test::contiguous_request({order, order}, {1, 0}, 4);
  request.inplace = true;
  return LoweredInplacePlan(make_inplace_plan(
      request, std::make_shared<const DeviceModel>(test::analytic_model()), {.forced = forced}));
}

TEST_F(Measuring, TellsTheTimeOfEachPlan) {
  const PlanPointer chosen = chosen_plan();
  Measurement measurement(*chosen, 1);
  EXPECT_EQ(sizes(), std::vector<std::size_t>(2, 5000 * 30 * 300 * 4));
  for (const Candidate& each : candidates(chosen->recast, *chosen->model)) {
    const LoweredPlan plan = with_parameters(*chosen, each.parameters);
    const double expected = seconds_of(plan);
    EXPECT_NEAR(measurement.seconds(plan, 1), expected, 1e-4 * expected);
    EXPECT_NEAR(measurement.seconds(plan, 3), 3 * expected, 3e-4 * expected);
    if (HasFailure()) return;
  }
  EXPECT_TRUE(std::ranges::all_of(fake_cuda().done, [](const std::string& each) {
    return each.ends_with(" 2");
  })) << "the stream of this thread alone";
  for (const CUcontext context : fake_cuda().launched_in) EXPECT_EQ(context->device, 1);
}

// Element (0, ..., 0) is aligned as planned and no better, wherever in its memory it lies.
TEST_F(Measuring, AlignsArraysAsPlanned) {
  for (const std::int64_t alignment : {4, 8, 16}) {
    Request request = test::paper_request({700, 30, 300}, {2, 1, 0}, 4);
    request.in_byte_strides[0] *= -1;
    const LoweredPlan plan(test::planned(request, alignment, test::analytic_model()));
    fake_cuda().launches.clear();
    Measurement measurement(plan, 1);
    measurement.seconds(plan, 1);
    ASSERT_FALSE(fake_cuda().launches.empty());
    const auto& [kernel, in, out] = fake_cuda().launches.front();
    const auto in_origin =
        reinterpret_cast<std::uintptr_t>(in) - static_cast<std::uintptr_t>(plan.grid.shift(0).in);
    EXPECT_EQ(in_origin % 32, alignment % 16);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out) % 32, alignment % 16);
  }
}

TEST_F(Measuring, FillsMemoryWithSomething) {
  const PlanPointer chosen = chosen_plan();
  const Measurement measurement(*chosen, 1);
  for (const auto& [memory, bytes] : fake_cuda().allocated) {
    const auto* const first = static_cast<const unsigned char*>(memory);
    std::set<unsigned char> values(first, first + 4096);
    EXPECT_GT(values.size(), 200U);
    values = {first + bytes - 4096, first + bytes};
    EXPECT_GT(values.size(), 200U);
  }
}

TEST_F(Measuring, TimesPlansInPlaceInOneArrayAndTheWorkspace) {
  const LoweredInplacePlan plan = inplace_plan(1000);
  Measurement measurement(plan, 4096, 1);
  EXPECT_EQ(sizes(), (std::vector<std::size_t>{4096, 4'000'000}));
  for (const InplacePlan& each : inplace_candidates(plan)) {
    const LoweredInplacePlan other(each);
    double expected = 0;
    for (const InplaceLaunch& launch : other.bind(nullptr)) expected += seconds_of(launch.launch);
    EXPECT_NEAR(measurement.seconds(other, 2), 2 * expected, 2e-4 * expected);
  }
}

TEST_F(Measuring, SaysThatThereIsNoRoom) {
  fake_cuda().most_allocated = 300 << 20;  // for one of two
  EXPECT_THROW(Measurement(*chosen_plan(), 1), std::bad_alloc);
  EXPECT_EQ(FakeCuda::last_error, cudaSuccess);
}

TEST_F(Measuring, PassesErrorsOn) {
  const PlanPointer chosen = chosen_plan();
  {
    Measurement measurement(*chosen, 1);
    for (const char* const function : {"cudaEventCreateWithFlags", "launch", "cudaEventRecord",
                                       "cudaStreamSynchronize", "cudaEventElapsedTime"}) {
      fake_cuda().failures[function] = cudaErrorLaunchFailure;
      EXPECT_THROW(measurement.seconds(*chosen, 1), Error) << function;
      fake_cuda().failures.clear();
      FakeCuda::last_error = cudaSuccess;
    }
  }
  for (const char* const function : {"cudaMalloc", "cudaMemcpy"}) {
    fake_cuda().failures[function] = cudaErrorLaunchFailure;
    EXPECT_THROW(Measurement(*chosen, 1), Error) << function;
    fake_cuda().failures.clear();
  }
}

}  // namespace
}  // namespace ttlg::cuda
