#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cctype>
#include <string>

#include "cuda/enqueue.hpp"
#include "cuda/execute.hpp"

namespace ttlg::cuda {
namespace {

// Share of a GPU's nominal memory rate that a copy reaches.
constexpr double kCopyShare = 0.9;

const pid_t kLoadedBy = getpid();

std::string device_text(int device) { return "cuda:" + std::to_string(device); }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

// What to do about errors that say little to somebody who did not build this.
std::string hint_for(cudaError_t error, int device) {
  switch (error) {
    case cudaErrorInsufficientDriver: {
      int driver = 0;
      cudaDriverGetVersion(&driver);
      if (driver == 0) return "; no driver was found: install NVIDIA's";
      return "; the driver knows CUDA " + version_text(driver) + " and this build of ttlg needs " +
             version_text(CUDART_VERSION) +
             ": update the driver, or rebuild ttlg with an older toolkit";
    }
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidKernelImage: {
      const int major = attribute(cudaDevAttrComputeCapabilityMajor, device);
      const int minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
      const std::string architecture = std::to_string(major) + std::to_string(minor);
      return "; this build of ttlg holds kernels for the architectures " TTLG_CUDA_ARCHITECTURES
             " and the device is of " +
             architecture + ": rebuild ttlg with -DCMAKE_CUDA_ARCHITECTURES=" + architecture;
    }
    case cudaErrorInvalidResourceHandle:
      return "; the stream may be destroyed or belong to another device: pass one of " +
             device_text(device);
    case cudaErrorInitializationError:
      if (getpid() == kLoadedBy) return "";
      return "; a child of fork() cannot use CUDA after its parent has: start processes by "
             "multiprocessing.get_context('spawn')";
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
      return "; a kernel failed that was launched before, by any library, and this process cannot "
             "use the device any more: CUDA_LAUNCH_BLOCKING=1 makes the call that launched it fail";
    default:
      return "";
  }
}

// `about` follows the device in the message.
[[noreturn]] void fail(cudaError_t error, const std::string& call, int device,
                       const std::string& about = "") {
  const std::string hint = hint_for(error, device);
  cudaGetLastError();  // so that whoever asks next does not find this error
  throw Error(call + " on " + device_text(device) + about + ": " + cudaGetErrorString(error) +
              " (" + cudaGetErrorName(error) + ")" + hint);
}

void check(cudaError_t error, const char* call, int device) {
  if (error != cudaSuccess) fail(error, call, device);
}

std::string problem_text(const cuda::Plan& plan) {
  std::string text = " for the extents";
  for (const Mode& mode : plan.problem.modes) text += " " + std::to_string(mode.extent);
  text += ", perm";
  for (const int mode : plan.problem.perm) text += " " + std::to_string(mode);
  return text + " (fastest mode first), elements of " + std::to_string(plan.problem.element_bytes) +
         " bytes";
}

// Makes a device current for as long as it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice", device);
    if (before_ == device) return;
    check(cudaSetDevice(device), "cudaSetDevice", device);
    changed_ = true;
  }
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

// While it lives, this thread may do what captures forbid, its own or another thread's: the first
// launch of a kernel loads it, which takes memory.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // the thread's own, after the first
};

// A kernel that follows a pointer of the host or of another device would end the whole context.
void check_pointer(const void* pointer, const char* name, int device) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes", device);
  if (attributes.type == cudaMemoryTypeManaged) return;
  if (attributes.type != cudaMemoryTypeDevice) {
    throw Error(std::string(name) + " points to host memory, not to memory of " +
                device_text(device) + "; copy the array to the device first");
  }
  if (attributes.device != device) {
    throw Error(std::string(name) + " points to memory of " + device_text(attributes.device) +
                ", not of " + device_text(device) + "; copy the array to that device first");
  }
}

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

}  // namespace

void execute(const Executable& plan, const std::byte* in, std::byte* out, int device,
             std::uintptr_t stream) {
  if (plan.problem.bytes() == 0) return;
  const Launch launch = plan.bind(in, out);
  const DeviceGuard guard(device);
  check_pointer(in, "x", device);
  check_pointer(out, "out", device);
  const RelaxedCapture relaxed;
  const cudaError_t error =
      enqueue(launch, plan.grid, in, out, reinterpret_cast<cudaStream_t>(stream));
  if (error != cudaSuccess) {
    fail(error, "launching " + std::string(schema_name(plan.parameters.schema)), device,
         problem_text(plan));
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
