#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "cuda/check.hpp"

namespace ttlg::cuda {
namespace {

const pid_t kLoadedBy = getpid();

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
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

// The version of CUDA whose functions these are: those that cuda.h has declared since.
constexpr unsigned kDriverVersion = 12000;

// The runtime has the driver's numbers for the errors that both know.
void check_driver(CUresult result, const char* call, int device) {
  check(static_cast<cudaError_t>(result), call, device);
}

// Asks the runtime for a function of the driver: linked to, the driver's library would have to be
// there when this one is loaded.
template <typename Function>
void find(Function*& function, const char* name, int device) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult outcome{};
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &found, kDriverVersion, cudaEnableDefault, &outcome),
        name, device);
#else
  check(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &outcome), name, device);
#endif
  if (found == nullptr) fail(cudaErrorNotSupported, name, device);
  function = reinterpret_cast<Function*>(found);
}

struct Driver {
  decltype(cuInit)* init;
  decltype(cuDeviceGetCount)* device_count;
  decltype(cuDeviceGet)* device_of;
  decltype(cuDevicePrimaryCtxRetain)* retain;
  decltype(cuCtxGetDevice)* current_device;
  decltype(cuCtxPushCurrent)* push;
  decltype(cuCtxPopCurrent)* pop;
  std::vector<std::atomic<CUcontext>> primary;  // of each device; null until somebody asks

  explicit Driver(int device);
};

// `device` is only what the messages name.
Driver::Driver(int device) {
  find(init, "cuInit", device);
  find(device_count, "cuDeviceGetCount", device);
  find(device_of, "cuDeviceGet", device);
  find(retain, "cuDevicePrimaryCtxRetain", device);
  find(current_device, "cuCtxGetDevice", device);
  find(push, "cuCtxPushCurrent", device);
  find(pop, "cuCtxPopCurrent", device);
  check_driver(init(0), "cuInit", device);
  int count = 0;
  check_driver(device_count(&count), "cuDeviceGetCount", device);
  primary = std::vector<std::atomic<CUcontext>>(static_cast<std::size_t>(count));
}

// Never destroyed: a daemon thread may use it while the process ends.
Driver& driver(int device) {
  static Driver& driver = *new Driver(device);
  return driver;
}

// Retained, and never released: kernels may run in it and stay loaded there. Threads that get here
// together retain the same context twice, which does no harm.
CUcontext primary_context(Driver& driver, int device, CUdevice number) {
  std::atomic<CUcontext>& kept = driver.primary[static_cast<std::size_t>(device)];
  CUcontext context = kept;
  if (context == nullptr) {
    check_driver(driver.retain(&context, number), "cuDevicePrimaryCtxRetain", device);
    kept = context;
  }
  return context;
}

}  // namespace

std::string device_text(int device) { return "cuda:" + std::to_string(device); }

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

void fail(cudaError_t error, const std::string& call, int device, const std::string& about) {
  const std::string hint = hint_for(error, device);
  cudaGetLastError();  // so that the next query does not find this error
  throw Error(call + " on " + device_text(device) + about + ": " + cudaGetErrorString(error) +
              " (" + cudaGetErrorName(error) + ")" + hint);
}

void check(cudaError_t error, const char* call, int device) {
  if (error != cudaSuccess) fail(error, call, device);
}

void check_pointer(const void* pointer, const std::string& name, int device) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes", device);
  if (attributes.type == cudaMemoryTypeManaged) return;
  if (attributes.type != cudaMemoryTypeDevice) {
    throw Error(name + " points to host memory, not to memory of " + device_text(device) +
                "; copy the array to the device first");
  }
  if (attributes.device != device) {
    throw Error(name + " points to memory of " + device_text(attributes.device) + ", not of " +
                device_text(device) + "; copy the array to that device first");
  }
}

DeviceGuard::DeviceGuard(int device) {
  Driver& cuda = driver(device);
  CUdevice number = 0;
  check_driver(cuda.device_of(&number, device), "cuDeviceGet", device);
  CUdevice current = 0;
  // Asking fails where no context is current.
  if (cuda.current_device(&current) == CUDA_SUCCESS && current == number) return;
  check_driver(cuda.push(primary_context(cuda, device, number)), "cuCtxPushCurrent", device);
  pushed_ = true;
}

DeviceGuard::~DeviceGuard() {
  CUcontext popped = nullptr;
  if (pushed_) driver(0).pop(&popped);
}

}  // namespace ttlg::cuda
