// A CUDA runtime and driver that launch nothing, with two devices, for one thread. They behave as
// CUDA's documentation says of contexts and streams, and note what was asked of them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

struct CUctx_st {
  int device;
};

namespace ttlg::test {

// Handles 1 and 2 stand for default streams, of which the first is never captured.
using StreamNumber = int;

struct FakeCuda {
  static constexpr int kDevices = 2;

  // What was done on streams, in order: "launch on 7", "record 7", "9 waits for 7", which kernels
  // were launched between which pointers, and the devices in whose contexts.
  std::vector<std::string> done;
  struct KernelLaunch {
    std::string kernel;
    const std::byte* in;
    std::byte* out;

    bool operator==(const KernelLaunch&) const = default;
  };
  std::vector<KernelLaunch> launches;
  std::vector<CUcontext> launched_in;
  std::vector<cudaStreamCaptureMode> launched_under;

  std::array<CUctx_st, kDevices> primary{{{0}, {1}}};
  std::array<bool, kDevices> is_active{};  // whether there is a primary context
  std::array<int, kDevices> retained{};
  std::vector<CUcontext> stack;  // of the thread, the current context last

  int memory_of = 1;  // the device that every pointer belongs to, except for
  const void* host_pointer = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::set<StreamNumber> captured;
  bool default_stream_is_blocked = false;       // by the capture of a stream that waits for it
  std::map<std::string, cudaError_t> failures;  // by the function that fails
  std::map<cudaEvent_t, StreamNumber> events;   // those that exist, with what recorded them
};

FakeCuda& fake_cuda();

// Forgets all but the contexts that are retained.
void reset_fake_cuda();

}  // namespace ttlg::test
