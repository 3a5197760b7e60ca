// Plans timed on a device, on arrays of their own: for users who let measurements choose.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/executable.hpp"
#include "cuda/launch_timer.hpp"

namespace ttlg::cuda {

// The memory that the plans of a request need, of random bytes. Other plans of the same request are
// timed in the same memory.
class Measurement {
 public:
  // An input and an output, aligned as the plan is planned for; or an array and a workspace. Throws
  // std::bad_alloc where the device has no room for them.
  Measurement(const Executable& plan, int device);
  Measurement(const InplaceExecutable& plan, std::int64_t workspace_bytes, int device);
  ~Measurement();
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // The seconds of `calls` calls one after another. Waits for them.
  double seconds(const Executable& plan, int calls);
  double seconds(const InplaceExecutable& plan, int calls);

 private:
  struct Memory;

  template <typename Call>
  double timed(int calls, const Call& call);

  int device_;
  LaunchTimer timer_;
  std::unique_ptr<Memory> in_;
  std::unique_ptr<Memory> out_;  // or the workspace
};

}  // namespace ttlg::cuda
