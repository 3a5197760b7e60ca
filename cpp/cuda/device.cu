#include <cuda_runtime_api.h>

#include "cuda/device.hpp"

namespace ttlg::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Config query() {
  Config config;
  config.built = true;
  config.toolkit = version_text(CUDART_VERSION);
  config.architectures = TTLG_CUDA_ARCHITECTURES;
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) {
    config.driver = version_text(driver);
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  config.status = error == cudaSuccess ? "ok" : cudaGetErrorString(error);
  if (error != cudaSuccess) return config;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    config.devices.push_back({.name = properties.name,
                              .compute_capability = std::to_string(properties.major) + "." +
                                                    std::to_string(properties.minor),
                              .memory_bytes = properties.totalGlobalMem,
                              .multiprocessors = properties.multiProcessorCount});
  }
  return config;
}

}  // namespace ttlg::cuda
