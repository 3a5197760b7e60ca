// In which context, on which stream and in which order the executor launches, under a CUDA that
// only notes it.
#include "cuda/execute.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cuda/fake_cuda/fake_cuda.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::cuda {
namespace {

using test::fake_cuda;
using test::FakeCuda;
using Log = std::vector<std::string>;

// Addresses that nobody reads.
std::byte* const kIn = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
std::byte* const kOut = kIn + 4 * 4096;

class Execute : public testing::Test {
 protected:
  void SetUp() override { test::reset_fake_cuda(); }

  // Moves memory of `device` on a stream, for an owner of the output that goes on with it on
  // another.
  static void run(int device = 1, std::uintptr_t stream = 7, std::uintptr_t out_stream = 7) {
    static const Executable plan(test::built(test::paper_request({4096}, {0}, 4), 16, {}));
    execute(plan, kIn, kOut, device, stream, out_stream);
  }

  static std::string error_of(int device, std::uintptr_t stream, std::uintptr_t out_stream) {
    try {
      run(device, stream, out_stream);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

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
  fake_cuda().host_pointer = kIn;
  expect_contains(error_of(1, 7, 7), "x points to host memory");
  fake_cuda().host_pointer = kOut;
  expect_contains(error_of(1, 7, 7), "out points to host memory");
  fake_cuda().host_pointer = nullptr;
  fake_cuda().memory_of = 0;
  expect_contains(error_of(1, 7, 7), "x points to memory of cuda:0");
  fake_cuda().memory_of = 1;
  fake_cuda().failures = {{"enqueue", cudaErrorLaunchFailure}};
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

TEST_F(Execute, LaunchesNothingThatNobodyCouldFollow) {
  fake_cuda().failures = {{"cudaEventCreateWithFlags", cudaErrorInvalidValue}};
  expect_contains(error_of(1, 7, 9), "cudaEventCreateWithFlags on cuda:1");
  fake_cuda().failures = {{"cudaStreamIsCapturing", cudaErrorInvalidResourceHandle}};
  expect_contains(error_of(1, 7, 9), "the stream may be destroyed");
  EXPECT_TRUE(fake_cuda().done.empty());
}

TEST_F(Execute, SaysThatNobodyFollows) {
  for (const char* function : {"cudaEventRecord", "cudaStreamWaitEvent"}) {
    fake_cuda().failures = {{function, cudaErrorInvalidResourceHandle}};
    expect_contains(error_of(1, 7, 9), std::string(function) + " on cuda:1");
    EXPECT_TRUE(fake_cuda().events.empty());
  }
}

class ExecuteInplace : public Execute {
 protected:
  // A rotation, a shuffle of rows and one of columns: three kernels.
  static void run(std::byte* workspace = nullptr) {
    static const InplaceExecutable plan(
        make_inplace_plan({.shape = {100, 40},
                           .in_byte_strides = {160, 4},
                           .axes = {1, 0},
                           .itemsize = 4,
                           .out_byte_strides = {},
                           .inplace = true},
                          std::make_shared<const DeviceModel>(test::analytic_model()), {}));
    execute_inplace(plan, kIn, workspace, 1, 7);
  }

  static std::string error_of(std::byte* workspace = nullptr) {
    try {
      run(workspace);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(ExecuteInplace, LaunchesOneKernelAfterAnother) {
  run();
  EXPECT_EQ(fake_cuda().done, (Log{"launch on 7", "launch on 7", "launch on 7"}));
  EXPECT_EQ(fake_cuda().launched_under.front(), cudaStreamCaptureModeRelaxed);
  EXPECT_TRUE(fake_cuda().stack.empty());
}

TEST_F(ExecuteInplace, ChecksThePointersBeforeItLaunches) {
  fake_cuda().host_pointer = kIn;
  expect_contains(error_of(), "x points to host memory");
  fake_cuda().host_pointer = kOut;
  expect_contains(error_of(kOut), "the workspace points to host memory");
  EXPECT_TRUE(fake_cuda().done.empty());
}

TEST_F(ExecuteInplace, SaysWhichKernelFailed) {
  fake_cuda().failures = {{"enqueue", cudaErrorLaunchFailure}};
  expect_contains(error_of(), "launching kernel 1 of 3 in place on cuda:1");
  EXPECT_EQ(fake_cuda().done, Log{"launch on 7"});
}

}  // namespace
}  // namespace ttlg::cuda
