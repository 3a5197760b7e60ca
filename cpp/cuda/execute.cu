#include <cuda_runtime_api.h>

#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/execute.hpp"
#include "plan/trials.hpp"

namespace ttlg::cuda {
namespace {

// Share of a GPU's nominal memory rate that a copy reaches.
constexpr double kCopyShare = 0.9;

std::string problem_text(const PlanBase& plan) {
  std::string text = " for the extents";
  for (const Mode& mode : plan.problem.modes) text += ' ' + std::to_string(mode.extent);
  text += ", perm";
  for (const int mode : plan.problem.perm) text += ' ' + std::to_string(mode);
  return text + " (fastest mode first), elements of " +
         std::to_string(plan.problem.element_bytes()) + " bytes";
}

bool is_captured(cudaStream_t stream, int device) {
  cudaStreamCaptureStatus status{};
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  // So answers the default stream while another one is captured, which it never is itself.
  if (error == cudaErrorStreamCaptureImplicit) {
    cudaGetLastError();
    return false;
  }
  check(error, "cudaStreamIsCapturing", device);
  return status != cudaStreamCaptureStatusNone;
}

// Whether events may be recorded there that belong to no capture. What is wrong with a stream is
// for the launch to say.
bool takes_events(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) {
    return status == cudaStreamCaptureStatusNone;
  }
  cudaGetLastError();
  return false;
}

// Ends the call that a timer times, however it ends.
struct Finish {
  LaunchTimer* timer;
  ~Finish() {
    if (timer != nullptr) timer->finish();
  }
};

// Lets a stream wait for what another one does up to some point. Made before there is anything to
// wait for, so that what can fail fails with nothing launched. Inside a capture that both streams
// take part in, it becomes an edge of the graph; a capture of one of them is refused, because the
// other would either be drawn into it, to end it in an error unless somebody joined the two again,
// or be outside of it, where the event means nothing.
class Follower {
 public:
  Follower(cudaStream_t follower, cudaStream_t leader, int device)
      : follower_(follower), leader_(leader), device_(device) {
    if (is_captured(follower, device) != is_captured(leader, device)) {
      throw Error("on " + device_text(device) +
                  " one of the streams of x and of out is captured in a CUDA graph, and the other "
                  "is not: make one stream current in the libraries of both, or pass stream=");
    }
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags",
          device);
  }
  // Legal while it is still waited for.
  ~Follower() { cudaEventDestroy(event_); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void wait_for_leader() const {
    check(cudaEventRecord(event_, leader_), "cudaEventRecord", device_);
    check(cudaStreamWaitEvent(follower_, event_, 0), "cudaStreamWaitEvent", device_);
  }

 private:
  cudaStream_t follower_;
  cudaStream_t leader_;
  int device_;
  cudaEvent_t event_ = nullptr;
};

// "NVIDIA H200" as "nvidia-h200".
std::string slug_of(const char* name) {
  std::string slug;
  for (const char* c = name; *c != '\0'; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) != 0) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug;
}

// All launches of a grid, between the pointers that `launch` was bound to. Returns the first error
// of any.
cudaError_t enqueue(const Launch& launch, const LaunchGrid& grid, const std::byte* in,
                    std::byte* out, cudaStream_t stream) {
  if (launch.blocks == 0) return cudaSuccess;
  for (std::int64_t i = 0; i < grid.launches; ++i) {
    const Shift shift = grid.shift(i);
    const cudaError_t error = std::visit(
        [&](const auto& p) {
          return enqueue_kernel(p, Launching{launch, grid, in + shift.in, out + shift.out, stream});
        },
        launch.arguments);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

void execute(const Executable& plan, const std::byte* in, std::byte* out, int device,
             std::uintptr_t stream, std::uintptr_t out_stream, LaunchTimer* timer) {
  if (plan.problem.bytes() == 0) return;
  const Launch launch = plan.bind(in, out);
  const DeviceGuard guard(device);
  check_pointer(in, "x", device);
  check_pointer(out, "out", device);
  const RelaxedCapture relaxed;
  const auto own = reinterpret_cast<cudaStream_t>(stream);
  std::optional<Follower> follower;
  if (out_stream != stream) {
    follower.emplace(reinterpret_cast<cudaStream_t>(out_stream), own, device);
  }
  if (timer != nullptr) timer->start(own);
  const cudaError_t error = enqueue(launch, plan.grid, in, out, own);
  if (timer != nullptr && error == cudaSuccess) timer->stop(own);
  if (error != cudaSuccess) {
    fail(error, "launching " + std::string(schema_name(plan.parameters.schema)), device,
         problem_text(plan));
  }
  if (follower) follower->wait_for_leader();
}

std::shared_ptr<const Executable> execute_and_learn(Learner& learner,
                                                    const std::shared_ptr<const Executable>& chosen,
                                                    const std::byte* in, std::byte* out, int device,
                                                    std::uintptr_t stream,
                                                    std::uintptr_t out_stream) {
  const auto run_chosen = [&] { execute(*chosen, in, out, device, stream, out_stream); };
  if (!is_learning() || !Learner::can_learn(*chosen)) return run_chosen(), nullptr;
  const DeviceGuard guard(device);
  const RelaxedCapture relaxed;
  if (!takes_events(reinterpret_cast<cudaStream_t>(stream))) return run_chosen(), nullptr;
  const Learner::Call call = learner.begin(chosen, device);
  const Finish finish{call.timer};
  execute(*call.plan, in, out, device, stream, out_stream, call.timer);
  return call.kept;
}

void execute_inplace(const InplaceExecutable& plan, std::byte* data, std::byte* workspace,
                     int device, std::uintptr_t stream) {
  const std::vector<InplaceLaunch> launches = plan.bind(data);
  if (launches.empty()) return;
  const DeviceGuard guard(device);
  check_pointer(data, "x", device);
  if (workspace != nullptr) check_pointer(workspace, "the workspace", device);
  const RelaxedCapture relaxed;
  static const LaunchGrid kNoGrid;
  const auto at = [&](const InplaceLaunch::Location& location) {
    return (location.in_workspace ? workspace : data) + location.offset;
  };
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& [launch, from, to] = launches[i];
    const cudaError_t error =
        enqueue(launch, kNoGrid, at(from), at(to), reinterpret_cast<cudaStream_t>(stream));
    if (error == cudaSuccess) continue;
    fail(error,
         "launching kernel " + std::to_string(i + 1) + " of " + std::to_string(launches.size()) +
             " in place",
         device, problem_text(plan));
  }
}

void synchronize(int device, std::uintptr_t stream) {
  const DeviceGuard guard(device);
  check(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(stream)), "cudaStreamSynchronize",
        device);
}

DeviceModel device_model(int device) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties", device);
  DeviceModel model{.name = slug_of(properties.name),
                    .multiprocessors = properties.multiProcessorCount,
                    .l2_cache_bytes = properties.l2CacheSize,
                    .shared_bytes_per_multiprocessor =
                        static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor),
                    .threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor};
  // Attributes, since CUDA 13 has dropped the clocks from the properties. Virtual GPUs may hide
  // them as 0, where the model's defaults stay.
  const double clock_hz = 1e3 * attribute(cudaDevAttrClockRate, device);
  const double memory_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate, device);
  const double bus_bytes = attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;
  if (clock_hz > 0) model.clock_hz = clock_hz;
  if (memory_hz * bus_bytes > 0) {
    model.memory_bytes_per_second = 2 * memory_hz * bus_bytes * kCopyShare;
  }
  return model;
}

}  // namespace ttlg::cuda
