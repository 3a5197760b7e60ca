// Errors of CUDA as exceptions that say what to do about them.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "cuda/execute.hpp"

namespace ttlg::cuda {

std::string device_text(int device);

// An attribute of a device, 0 where it is not known.
int attribute(cudaDeviceAttr which, int device);

// `about` follows the device in the message.
[[noreturn]] void fail(cudaError_t error, const std::string& call, int device,
                       const std::string& about = "");

// Throws for all but cudaSuccess.
void check(cudaError_t error, const char* call, int device);

}  // namespace ttlg::cuda
