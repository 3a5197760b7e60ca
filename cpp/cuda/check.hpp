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

// Throws unless this is memory that kernels on the device may use: one that follows a pointer of
// the host or of another device would end the whole context. `name` begins the message.
void check_pointer(const void* pointer, const std::string& name, int device);

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

}  // namespace ttlg::cuda
