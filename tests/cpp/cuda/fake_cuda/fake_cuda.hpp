// A CUDA runtime and driver that launch nothing, with two devices, for any number of threads. They
// behave as CUDA's documentation says of contexts, streams and events, and note what was asked of
// them. Their time goes by as tests say that launches take it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

struct CUctx_st {
  int device;
};

namespace ttlg::cuda {
struct Launch;
}

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
  static inline thread_local std::vector<CUcontext> stack;  // the current context last

  int memory_of = 1;  // the device that every pointer belongs to, except for
  const void* host_pointer = nullptr;
  static inline thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  static inline thread_local cudaError_t last_error = cudaSuccess;
  // Memory of the host, by where it begins: its bytes.
  std::map<void*, std::size_t> allocated;
  std::size_t most_allocated = SIZE_MAX;  // bytes together
  std::set<StreamNumber> captured;
  bool default_stream_is_blocked = false;       // by the capture of a stream that waits for it
  std::map<std::string, cudaError_t> failures;  // by the function that fails
  struct Event {
    StreamNumber recorded_by = 0;
    double seconds = 0;  // when that was
    bool is_timed = false;
    CUcontext context = nullptr;  // in which alone it is recorded
  };
  std::map<cudaEvent_t, Event> events;  // those that exist
  bool events_are_ready = true;         // once they are recorded
  // What calls about events were made under; all but the relaxed mode break captures of others.
  std::set<cudaStreamCaptureMode> events_under;
  double now = 0;
  static constexpr double kEventSeconds = 1e-9;
  // What a launch takes, and launches until now; none where there is none.
  std::function<double(const std::string& kernel, const cuda::Launch& launch)> seconds_of;
};

FakeCuda& fake_cuda();

// Forgets all but the contexts that are retained.
void reset_fake_cuda();

}  // namespace ttlg::test
