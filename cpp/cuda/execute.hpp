// The executor for CUDA devices: carries a plan out on a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "cuda/executable.hpp"
#include "cuda/launch_timer.hpp"
#include "cuda/learner.hpp"

namespace ttlg::cuda {

// What the driver or the runtime refused: names the call and, in a launch, kernel and problem.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Launches the plan's kernel between two pointers to the device's memory, ordered on the stream: a
// cudaStream_t of that device, where 1 and 2 stand for the legacy and the per-thread default
// stream. `in` and `out` point at element (0, ..., 0) of the request's arrays. What `out_stream`
// does afterwards, on which the owner of `out` will use it, waits for the kernel; what it did
// before is the caller's to order, as DLPack's exchange does. Allocates, copies and waits for
// nothing, so that it can be captured in a graph; an empty problem launches nothing. The calling
// thread's current device stays what it was, and no context is created but one of `device`.
// `timer`, if there is one, times the launches.
void execute(const Executable& plan, const std::byte* in, std::byte* out, int device,
             std::uintptr_t stream, std::uintptr_t out_stream, LaunchTimer* timer = nullptr);

// As `execute`, by a plan of the planner cache, or by another that is being tried for its layout if
// calls learn. Returns the plan to keep in place of the chosen one, if it is known now, else null.
// A captured graph gets the chosen one and no event.
std::shared_ptr<const Executable> execute_and_learn(Learner& learner,
                                                    const std::shared_ptr<const Executable>& chosen,
                                                    const std::byte* in, std::byte* out, int device,
                                                    std::uintptr_t stream,
                                                    std::uintptr_t out_stream);

// Launches the steps of a plan in place on the memory of `data`, with `workspace_bytes` of the plan
// in `workspace`, null where it needs none. Both are free to be used, or given back, on this stream
// as soon as this returns.
void execute_inplace(const InplaceExecutable& plan, std::byte* data, std::byte* workspace,
                     int device, std::uintptr_t stream);

// Waits for all work on a stream.
void synchronize(int device, std::uintptr_t stream);

// What the driver tells of a device, for the analytic model; asked again at every call.
DeviceModel device_model(int device);

}  // namespace ttlg::cuda
