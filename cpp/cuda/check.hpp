// Errors of CUDA as exceptions that say what to do about them, and the device of a thread.
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

// Makes a device current to the calling thread for as long as it lives.
//
// A context of the device that is current already, one that a library has made for itself too, is
// left alone; any other is covered by the device's primary context, the one that the runtime uses,
// on the thread's stack of contexts. Popping it restores what was there, "no context" included.
// cudaSetDevice could not: since CUDA 12 it creates the context of the device that it makes
// current, and so restoring the thread's device would take hundreds of megabytes on a GPU that the
// process does not use, because a thread that has chosen none counts as on device 0. The device
// that the runtime would choose on such a thread is state of its own, which the stack leaves alone.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace ttlg::cuda
