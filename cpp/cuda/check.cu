#include <unistd.h>

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

}  // namespace ttlg::cuda
