// Which device the calling thread works on.
#pragma once

namespace ttlg::cuda {

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
