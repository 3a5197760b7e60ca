// In which context, on which stream and in which order the executor launches, under a CUDA that
// only notes it.
#include "cuda/execute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cuda/fake_cuda/fake_cuda.hpp"
#include "messages.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/inplace_steps.hpp"

namespace ttlg::cuda {
namespace {

using test::expect_contains;
using test::fake_cuda;
using test::FakeCuda;
using Log = std::vector<std::string>;

// Addresses that are never read.
std::byte* const kSource = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
std::byte* const kResult = kSource + 4 * 4096;

class Execute : public testing::Test {
 protected:
  void SetUp() override { test::reset_fake_cuda(); }

  // Moves memory of `device` on a stream, for an owner of the output that goes on with it on
  // another.
  static void run(int device = 1, std::uintptr_t stream = 7, std::uintptr_t out_stream = 7) {
    static const Executable plan(test::built(test::paper_request({4096}, {0}, 4), 16, {}));
    execute(plan, kSource, kResult, device, stream, out_stream);
  }

  static std::string error_of(int device, std::uintptr_t stream, std::uintptr_t out_stream) {
    return test::message_of<Error>([&] { run(device, stream, out_stream); });
  }
};

TEST_F(Execute, LeavesAThreadWithoutAContextAndOtherDevicesWithoutOne) {
  run();
  EXPECT_EQ(fake_cuda().launched_in, std::vector{&fake_cuda().primary[1]});
  EXPECT_TRUE(fake_cuda().stack.empty());
  EXPECT_FALSE(fake_cuda().is_active[0]);
  synchronize(1, 7);
  EXPECT_TRUE(fake_cuda().stack.empty());
  EXPECT_FALSE(fake_cuda().is_active[0]);
  EXPECT_EQ(fake_cuda().done, (Log{"launch on 7", "synchronize 7"}));
}

TEST_F(Execute, PutsTheContextBackThatWasCurrent) {
  CUctx_st other{0};
  const std::vector<CUcontext> before{&fake_cuda().primary[1], &other};
  fake_cuda().stack = before;
  run();
  EXPECT_EQ(fake_cuda().launched_in, std::vector{&fake_cuda().primary[1]});
  EXPECT_EQ(fake_cuda().stack, before);
}

TEST_F(Execute, RunsInAContextOfTheDeviceThatALibraryHasMade) {
  CUctx_st made{1};
  fake_cuda().stack = {&made};
  run();
  EXPECT_EQ(fake_cuda().launched_in, std::vector{&made});
  EXPECT_EQ(fake_cuda().stack, std::vector{&made});
}

TEST_F(Execute, RetainsTheContextOfADeviceOnce) {
  for (int i = 0; i < 3; ++i) run();
  EXPECT_EQ(fake_cuda().retained[0], 0);
  EXPECT_EQ(fake_cuda().retained[1], 1);
}

TEST_F(Execute, PutsTheContextBackAfterFailures) {
  CUctx_st other{0};
  fake_cuda().stack = {&other};
  fake_cuda().host_pointer = kSource;
  expect_contains(error_of(1, 7, 7), "x points to host memory");
  fake_cuda().host_pointer = kResult;
  expect_contains(error_of(1, 7, 7), "out points to host memory");
  fake_cuda().host_pointer = nullptr;
  fake_cuda().memory_of = 0;
  expect_contains(error_of(1, 7, 7), "x points to memory of cuda:0");
  fake_cuda().memory_of = 1;
  fake_cuda().failures = {{"launch", cudaErrorLaunchFailure}};
  expect_contains(error_of(1, 7, 9), "launching copy on cuda:1");
  EXPECT_EQ(fake_cuda().stack, std::vector{&other});
  EXPECT_EQ(fake_cuda().done, Log{"launch on 7"});
  EXPECT_TRUE(fake_cuda().events.empty());
}

TEST_F(Execute, SaysWhyNoContextCanBeMadeCurrent) {
  expect_contains(error_of(FakeCuda::kDevices, 7, 7), "cuDeviceGet on cuda:2");
  fake_cuda().failures = {{"cuCtxPushCurrent", cudaErrorInitializationError}};
  expect_contains(error_of(1, 7, 7), "cuCtxPushCurrent on cuda:1");
  EXPECT_TRUE(fake_cuda().done.empty());
  EXPECT_TRUE(fake_cuda().stack.empty());
}

TEST_F(Execute, LaunchesUnderTheRelaxedModeOfCapturesAlone) {
  run();
  EXPECT_EQ(fake_cuda().launched_under, std::vector{cudaStreamCaptureModeRelaxed});
  EXPECT_EQ(fake_cuda().mode, cudaStreamCaptureModeGlobal);
}

TEST_F(Execute, LetsTheOwnerOfTheOutputFollow) {
  run(1, 7, 9);
  EXPECT_EQ(fake_cuda().done, (Log{"launch on 7", "record 7", "9 waits for 7"}));
  EXPECT_TRUE(fake_cuda().events.empty());
  EXPECT_FALSE(fake_cuda().is_active[0]);
}

TEST_F(Execute, OrdersNothingOnTheSameStream) {
  run(1, 7, 7);
  EXPECT_EQ(fake_cuda().done, Log{"launch on 7"});
}

TEST_F(Execute, IsCapturedOnBothStreamsOrNone) {
  fake_cuda().captured = {7, 9};
  run(1, 7, 9);
  EXPECT_EQ(fake_cuda().done, (Log{"launch on 7", "record 7", "9 waits for 7"}));
  fake_cuda().done.clear();
  for (const std::uintptr_t stream : {7, 9}) {
    expect_contains(error_of(1, stream, 8), "is captured in a CUDA graph");
    expect_contains(error_of(1, 8, stream), "is captured in a CUDA graph");
  }
  fake_cuda().default_stream_is_blocked = true;
  expect_contains(error_of(1, 7, 1), "is captured in a CUDA graph");
  EXPECT_TRUE(fake_cuda().done.empty());
  run(1, 7, 7);
  EXPECT_EQ(fake_cuda().done, Log{"launch on 7"});
}

TEST_F(Execute, LaunchesNothingThatTheOwnerCouldNotFollow) {
  fake_cuda().failures = {{"cudaEventCreateWithFlags", cudaErrorInvalidValue}};
  expect_contains(error_of(1, 7, 9), "cudaEventCreateWithFlags on cuda:1");
  fake_cuda().failures = {{"cudaStreamIsCapturing", cudaErrorInvalidResourceHandle}};
  expect_contains(error_of(1, 7, 9), "the stream may be destroyed");
  EXPECT_TRUE(fake_cuda().done.empty());
}

TEST_F(Execute, SaysThatTheOwnerDoesNotFollow) {
  for (const char* function : {"cudaEventRecord", "cudaStreamWaitEvent"}) {
    fake_cuda().failures = {{function, cudaErrorInvalidResourceHandle}};
    expect_contains(error_of(1, 7, 9), std::string(function) + " on cuda:1");
    EXPECT_TRUE(fake_cuda().events.empty());
  }
}

using Kernels = std::vector<std::string>;

// The kernels that an action launches.
template <typename Action>
Kernels kernels_of(const Action& action) {
  test::reset_fake_cuda();
  action();
  Kernels names;
  for (const auto& launch : fake_cuda().launches) names.push_back(launch.kernel);
  return names;
}

TEST_F(Execute, LaunchesTheKernelOfItsPlan) {
  using enum Schema;
  const Request matrix = test::paper_request({100, 90}, {1, 0}, 4);
  const auto expect = [](const char* kernel, const Request& request,
                         const cuda::Parameters& parameters) {
    const Executable plan(test::built(request, 256, parameters));
    EXPECT_EQ(kernels_of([&] { execute(plan, kSource, kResult, 1, 7, 7); }), Kernels{kernel});
  };
  const auto runs_of = [](std::int64_t run, std::int64_t itemsize) {
    return test::paper_request({run, 20, 30}, {0, 2, 1}, itemsize);
  };
  expect("copy", test::paper_request({4096}, {0}, 4), {});
  expect("match_large_shifted", runs_of(33, 1), {fvi_match_large, {1, 1, 33, 1}});
  expect("match_large", runs_of(64, 4), {fvi_match_large, {1, 1, 64, 1}});
  expect("match_small", runs_of(5, 4), {fvi_match_small, {2, 2, 4, 4}});
  expect("distinct", matrix, {orthogonal_distinct, {1, 1, 32, 32}});
  expect("arbitrary", matrix, {orthogonal_arbitrary, {1, 1, 32, 32}});
  expect("arbitrary_packed", test::paper_request({100, 90}, {1, 0}, 2),
         {orthogonal_arbitrary, {1, 1, 32, 32}});
}

// Those of the step of a matrix on a device with this much shared memory.
Kernels kernels_of(const InplaceStep& step, std::int64_t shared_bytes = 227 << 10) {
  const Request request =
      test::inplace_request({step.rows, step.columns}, {1, 0}, step.element_bytes);
  DeviceModel model = test::analytic_model();
  model.shared_bytes_per_multiprocessor = shared_bytes;
  const InplacePlan plan =
      build_inplace_plan(request, {step}, std::make_shared<const DeviceModel>(model), 1 << 20);
  std::byte* const workspace = plan.workspace_bytes > 0 ? kResult : nullptr;
  return kernels_of([&] { execute_inplace(InplaceExecutable(plan), kSource, workspace, 1, 7); });
}

TEST_F(Execute, LaunchesTheKernelsOfStepsInPlace) {
  using enum InplaceKernel;
  for (const InplaceKernel kernel :
       {square_v1b, square_v1, square_v1r, square_v2, square_ip, square_sg, square_tw}) {
    const std::int64_t width = kernel == square_v1b || kernel == square_sg ? 2 : 0;
    const Kernels found = kernels_of({kernel, 1, 200, 1, 200, 4, width});
    EXPECT_EQ(found, kernel == square_tw   ? Kernels{"runs"}
                     : kernel == square_sg ? Kernels(3, "square")  // two regions on a side
                                           : Kernels{"square"})
        << kernel_name(kernel);
  }
  EXPECT_EQ(kernels_of({runs, 1, 50, 1, 50, 12, 0}), Kernels{"runs"});
  EXPECT_EQ(kernels_of({cells, 1, 50, 1, 40, 48, 64}),
            (Kernels{"cut_cells", "cells", "cut_cells"}));
  EXPECT_EQ(kernels_of({skinny, 1, 200, 1, 5, 4, 200}), Kernels{"skinny"});
  EXPECT_EQ(kernels_of({skinny, 1, 203, 1, 5, 4, 20}),
            (Kernels{"skinny_heads", "skinny", "skinny_heads", "cut_cells", "cells", "cut_cells"}));
  const Kernels on_chip{"column_shuffle", "row_shuffle", "column_shuffle"};
  for (const InplaceKernel kernel : {c2r, r2c}) {
    EXPECT_EQ(kernels_of({kernel, 1, 100, 1, 40, 4, 0}), on_chip);
  }
  const Kernels found = kernels_of({c2r, 1, 999, 1, 1000, 4, 0}, 3 << 10);
  const auto count = [&](const char* name) { return std::ranges::count(found, name); };
  EXPECT_GT(count("column_gather"), 1);  // out of the array and back
  EXPECT_GT(count("row_gather"), 0);
  EXPECT_EQ(count("copy"), count("row_gather"));
  EXPECT_EQ(count("column_gather") + 2 * count("row_gather"), std::ssize(found));
}

// Where CUDA cannot number the blocks, and where a mode is walked backwards.
TEST_F(Execute, LaunchesEveryPartOfAGridWhereItBegins) {
  Request request = test::paper_request({1 << 20, 3, 5, 1 << 20}, {3, 2, 1, 0}, 4);
  // NumPy's first axis is the slowest.
  request.in_byte_strides[1] = -request.in_byte_strides[1];
  const Executable plan(test::built(request, 256, {Schema::orthogonal_distinct, {1, 1, 32, 32}}));
  ASSERT_EQ(plan.grid.launches, 15);
  execute(plan, kSource, kResult, 1, 7, 7);
  const std::int64_t row = std::int64_t{4} << 20;
  std::vector<FakeCuda::KernelLaunch> expected;
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const std::int64_t from = (i - 3 * j) * row;
      const std::int64_t to = (5 * i + j) * row;
      expected.push_back({"distinct", kSource + from, kResult + to});
    }
  }
  ASSERT_EQ(fake_cuda().launches.size(), expected.size());
  for (const auto& launch : expected) {
    EXPECT_EQ(std::ranges::count(fake_cuda().launches, launch), 1);
  }
}

class ExecuteInplace : public Execute {
 protected:
  // A rotation, a shuffle of rows and one of columns: three kernels.
  static void run(std::byte* workspace = nullptr) {
    static const InplaceExecutable plan(
        make_inplace_plan(test::inplace_request({100, 40}, {1, 0}, 4),
                          std::make_shared<const DeviceModel>(test::analytic_model()), {}));
    execute_inplace(plan, kSource, workspace, 1, 7);
  }

  static std::string error_of(std::byte* workspace = nullptr) {
    return test::message_of<Error>([&] { run(workspace); });
  }
};

TEST_F(ExecuteInplace, LaunchesOneKernelAfterAnother) {
  run();
  EXPECT_EQ(fake_cuda().done, (Log{"launch on 7", "launch on 7", "launch on 7"}));
  EXPECT_EQ(fake_cuda().launched_under.front(), cudaStreamCaptureModeRelaxed);
  EXPECT_TRUE(fake_cuda().stack.empty());
}

TEST_F(ExecuteInplace, ChecksThePointersBeforeItLaunches) {
  fake_cuda().host_pointer = kSource;
  expect_contains(error_of(), "x points to host memory");
  fake_cuda().host_pointer = kResult;
  expect_contains(error_of(kResult), "the workspace points to host memory");
  EXPECT_TRUE(fake_cuda().done.empty());
}

TEST_F(ExecuteInplace, SaysWhichKernelFailed) {
  fake_cuda().failures = {{"launch", cudaErrorLaunchFailure}};
  expect_contains(error_of(), "launching kernel 1 of 3 in place on cuda:1");
  EXPECT_EQ(fake_cuda().done, Log{"launch on 7"});
}

}  // namespace
}  // namespace ttlg::cuda
