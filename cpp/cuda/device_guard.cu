#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/device_guard.hpp"

namespace ttlg::cuda {
namespace {

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
